/// Unit of a number.
public enum Unit: String, Hashable, Sendable, CaseIterable {
  /// A plain number.
  case none = ""
  /// Gain or level; `-inf` is silence.
  case decibels = "dB"
  /// Frequency; written in kHz too.
  case hertz = "Hz"
  /// Time; written in ms and µs too.
  case seconds = "s"
  /// Hundredths, 0...100.
  case percent = "%"
  /// Hundredths of a semitone.
  case cents = "cents"
  /// Twelfths of an octave.
  case semitones = "st"
  /// Doublings of a frequency.
  case octaves = "oct"
  /// A MIDI key, written as a note name (`C#4`, 60 is `C4`).
  case key = "note"
  /// Length of a note, in whole notes: `1/8`, dotted `1/8d`, of a triplet `1/8t`. The tempo says how long that is.
  case notes = "1/1"
}

/// Value of a setting, as the edit language writes it.
///
/// A number is stored in its unit's base (seconds, hertz, decibels, percent as 0...100), so that `250ms` and
/// `0.25s` are equal. Silence is `-inf` decibels.
public indirect enum Value: Hashable, Sendable {
  /// A number in its unit's base.
  case number(Double, Unit)
  /// A word or quoted text: a choice, a file, a name.
  case text(String)
  /// Values in brackets: one for each channel, or a channel map.
  case list([Value])
}

/// A setting of a node: `drive`, `band1.gain`, `in[0]`, or the crosspoint `[0,1]` (name empty).
public struct ParameterPath: Hashable, Sendable, Comparable {
  /// Name of the parameter; empty for crosspoints.
  public var name: String
  /// Indices; empty for a plain parameter.
  public var indices: [Int]

  /// The setting of a parameter's element.
  public init(_ name: String, _ indices: [Int] = []) {
    self.name = name
    self.indices = indices
  }

  /// Order by name, then by indices.
  public static func < (a: Self, b: Self) -> Bool {
    a.name != b.name ? a.name < b.name : a.indices.lexicographicallyPrecedes(b.indices)
  }
}
