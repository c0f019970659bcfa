/// A message about a file that did load.
public struct Finding: Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    /// An opcode or header (its name) without effect here.
    case notUnderstood(String)
    /// A sample that could not be loaded; its regions are left out.
    case missingSample(String)
    /// An include that could not be read; its lines are left out.
    case missingInclude(String)
    /// A value that was out of range or unreadable, with its replacement.
    case corrected
    /// Information, no error.
    case note
  }

  public var kind: Kind
  public var file: String
  /// Line number, from 1; 0 without a line.
  public var line: Int
  public var message: String

  public init(_ kind: Kind, file: String, line: Int, _ message: String) {
    self.kind = kind
    self.file = file
    self.line = line
    self.message = message
  }

  public var description: String {
    line > 0 ? "\(file):\(line): \(message)" : "\(file): \(message)"
  }
}

/// Summary of a loaded instrument, with its unsupported parts.
public struct InstrumentReport: Sendable {
  public var path: String
  /// "SFZ", or the audio format ("WAV, 16-bit").
  public var format: String
  public var regions: Int
  /// Number of different sample files in memory.
  public var samples: Int
  /// Memory of the samples and the tables.
  public var bytes: Int
  /// The lowest and the highest key that sounds.
  public var keys: ClosedRange<Int>
  /// Findings in file order; each unsupported opcode appears once.
  public var findings: [Finding]
  /// Every opcode of an SFZ instrument, in the order of first use.
  public var opcodes: [OpcodeUse] = []

  /// Names of the opcodes and headers without effect, in the order of first use.
  public var notUnderstood: [String] {
    findings.compactMap { if case .notUnderstood(let name) = $0.kind { name } else { nil } }
  }

  /// Missing or unreadable samples.
  public var missingSamples: [String] {
    findings.compactMap { if case .missingSample(let name) = $0.kind { name } else { nil } }
  }
}

/// Use of one opcode in an instrument's text.
public struct OpcodeUse: Hashable, Sendable {
  /// Name with N for numbers: `pan_onccN`.
  public var name: String
  public var count: Int
  public var isUnderstood: Bool
  /// Its first place; `line` counts from 1.
  public var file: String
  public var line: Int
}

/// Properties of an audio file for a `player`.
public struct AudioFileReport: Sendable {
  public var path: String
  /// Description, for example "FLAC, 24-bit".
  public var format: String
  public var channels: Int
  /// Frames in the file, and its rate.
  public var frames: Int
  public var rate: Double
  /// Rate after conversion.
  public var playedAt: Double
  public var bytes: Int
  public var findings: [Finding]
  /// Loop as stated in the file, inclusive; and the key of its pitch.
  public var loop: Loop?
  public var key: Int?

  /// A loop of a sound file.
  public struct Loop: Sendable, Hashable {
    public var start: Int
    public var end: Int
    /// "forward", "backward" or "alternate".
    public var type: String
  }

  public var seconds: Double { Double(frames) / rate }
}
