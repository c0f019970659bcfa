import Patch

/// The patch that somebody means who opens an instrument or a sound file: it plays the file.
public enum StarterPatch {
  private static let instruments = ["sfz", "sf2", "sf3"]
  private static let sounds = [
    "wav", "w64", "rf64", "flac", "ogg", "opus", "aif", "aiff", "au", "caf", "mp3",
  ]

  /// The patch's text: an instrument with the keyboard and MIDI before it, a player that plays a sound file. nil for other
  /// files, by the ends of their names.
  public static func text(playing path: String) -> String? {
    let kind = ending(of: path)
    let file = Quoting.word(path)
    if instruments.contains(kind) {
      return """
        sostenuto 1

        node keys keyboard

        node midi midi

        node piano sampler instrument=\(file)
        connect keys -> piano
        connect midi -> piano

        node out output
        connect piano -> out

        """
    }
    if sounds.contains(kind) {
      return """
        sostenuto 1

        node tape player file=\(file) autoplay=on

        node out output
        connect tape -> out

        """
    }
    return nil
  }

  /// The reason why a file is no patch, with the way out; nil for one that may be a patch.
  public static func refusal(of path: String) -> String? {
    guard ["mid", "midi", "smf", "kar"].contains(ending(of: path)) else { return nil }
    return "\(path): a MIDI file plays a patch: sostenuto render PATCH --midi FILE --output FILE"
  }

  private static func ending(of path: String) -> String {
    let name = PatchFile.split(path).name
    return name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
  }
}
