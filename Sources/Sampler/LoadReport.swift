import Glibc

/// Why an instrument or an audio file cannot be played, in words for people.
public struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
  public var path: String
  /// 1-based, where a line is to blame.
  public var line: Int?
  public var message: String
  /// Other findings on the way.
  public var findings: [Finding] = []
  /// `errno` of the system call that failed, or 0.
  package var code: Int32 = 0

  public init(path: String, line: Int? = nil, _ message: String) {
    self.path = path
    self.line = line
    self.message = message
  }

  /// A system call that failed.
  init(path: String, code: Int32) {
    self.init(path: path, String(cString: strerror(code)))
    self.code = code
  }

  public var description: String {
    line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)"
  }
}

/// Something that the user should know about a file that did load.
public struct Finding: Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    /// An opcode or header (its name) that has no effect here.
    case notUnderstood(String)
    /// A sample that could not be loaded; the regions that play it are left out.
    case missingSample(String)
    /// A value that was out of range or unreadable, and what was done about it.
    case corrected
    /// Something to know, nothing wrong.
    case note
  }

  public var kind: Kind
  public var file: String
  /// 1-based; 0 when no line is to blame.
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

/// What an instrument is made of, and what of it was not understood.
public struct InstrumentReport: Sendable {
  public var path: String
  /// "SFZ", or the audio format ("WAV, 16-bit").
  public var format: String
  public var regions: Int
  /// Different sample files in memory.
  public var samples: Int
  /// Memory that the samples and the tables hold.
  public var bytes: Int
  /// The lowest and the highest key that sounds.
  public var keys: ClosedRange<Int>
  /// In the order of the file; each opcode that is not understood appears once.
  public var findings: [Finding]
  /// Of an SFZ instrument: every opcode, in the order of first use.
  public var opcodes: [OpcodeUse] = []

  /// The names of the opcodes and headers without effect, in the order of their first use.
  public var notUnderstood: [String] {
    findings.compactMap { if case .notUnderstood(let name) = $0.kind { name } else { nil } }
  }

  /// The samples that are missing or unreadable.
  public var missingSamples: [String] {
    findings.compactMap { if case .missingSample(let name) = $0.kind { name } else { nil } }
  }
}

/// What an audio file for a `player` is.
public struct AudioFileReport: Sendable {
  public var path: String
  /// For example "FLAC, 24-bit".
  public var format: String
  public var channels: Int
  /// Frames in the file, and its rate.
  public var frames: Int
  public var rate: Double
  /// The rate that it was converted to.
  public var playedAt: Double
  public var bytes: Int
  public var findings: [Finding]
  /// As the file states it, inclusive; and the key of its pitch.
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
