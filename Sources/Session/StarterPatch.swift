import Glibc
import Patch

/// The patch that somebody means who opens an instrument, a sound file or a MIDI file: it plays the file.
public enum StarterPatch {
  /// Ends of names, by what such a file is.
  package static let instruments = ["sfz", "sf2", "sf3"]
  package static let sounds = [
    "wav", "w64", "rf64", "flac", "ogg", "opus", "aif", "aiff", "au", "caf", "mp3",
  ]
  package static let songs = ["mid", "midi", "smf", "kar"]

  /// Banks of General MIDI where distributions put them.
  private static let banks = [
    "/usr/share/sounds/sf2/default-GM.sf2", "/usr/share/sounds/sf3/default-GM.sf3",
    "/usr/share/soundfonts/default.sf2", "/usr/share/sounds/sf2/FluidR3_GM.sf2",
    "/usr/share/sounds/sf2/TimGM6mb.sf2",
  ]

  /// The patch's text: an instrument with the keyboard and MIDI before it, a player that plays a sound file, a bank for a
  /// song. nil for other files, by the ends of their names.
  public static func text(playing path: String) -> String? {
    let kind = FolderListing.ending(of: path)
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
    return isSong(path) ? song : nil
  }

  /// The patch of the tour: an instrument with an effect behind it. Without the instrument it is silent.
  public static func tour(instrument: String?) -> String {
    let file = instrument.map { " instrument=" + Quoting.word($0) } ?? ""
    return """
      sostenuto 1

      node keys keyboard

      node piano sampler\(file)
      connect keys -> piano

      node dist distortion drive=18dB mix=60%
      connect piano -> dist gain=-12dB

      node main matrix
      connect dist -> main map=[0,1,-1,-1]

      node out output
      connect main -> out

      """
  }

  /// True for a MIDI file, by its name.
  public static func isSong(_ path: String) -> Bool { songs.contains(FolderListing.ending(of: path)) }

  /// Sixteen parts on one bank, with room for as loud as they are together.
  private static var song: String {
    let bank = banks.first { access($0, R_OK) == 0 }
    let instrument = bank.map { " instrument=" + Quoting.word($0) } ?? ""
    return """
      sostenuto 1

      node keys keyboard

      node midi midi

      node band sampler\(instrument) polyphony=256
      connect keys -> band
      connect midi -> band

      node out output
      connect band -> out gain=-6dB

      """
  }
}
