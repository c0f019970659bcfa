import CSndfile

/// Sample format of a file.
public enum SampleFormat: String, Sendable, CaseIterable {
  /// Floating point or whole numbers of that many bits.
  case float32, pcm24, pcm16

  /// Supported file name extensions.
  public static let endings = SoundContainer.allCases.map(\.rawValue)

  /// The extension of a name with an unsupported format; nil if there is none.
  public static func unknownEnding(of path: String) -> String? {
    guard let ending = SoundContainer.ending(of: path) else { return nil }
    return endings.contains(ending) ? nil : ending
  }

  /// The extension of a name, in lower case, if it is that of a supported format.
  public static func ending(of path: String) -> String? { SoundContainer(of: path)?.rawValue }

  /// True where a file of that name has no numbers beyond full scale.
  func hasCeiling(in path: String) -> Bool {
    switch SoundContainer(of: path) ?? .wav {
    case .wav: self != .float32
    case .flac: true
    case .ogg, .opus: false
    }
  }

  /// libsndfile's format code for a file of that name: .flac, .ogg (always Vorbis), .opus, otherwise WAV, or RF64
  /// if the file may exceed 4 GB.
  public func code(for path: String, bytes: Int64) -> Int32 {
    let container = SoundContainer(of: path) ?? .wav
    let code: Int =
      switch container {
      case .wav: bytes > 4_000_000_000 ? SF_FORMAT_RF64 : SF_FORMAT_WAV
      case .flac: SF_FORMAT_FLAC
      case .ogg, .opus: SF_FORMAT_OGG
      }
    if container == .ogg { return Int32(code | SF_FORMAT_VORBIS) }
    if container == .opus { return Int32(code | SF_FORMAT_OPUS) }
    return switch self {
    // FLAC has no float format; 24 bits are its most.
    case .float32: Int32(code | (container == .flac ? SF_FORMAT_PCM_24 : SF_FORMAT_FLOAT))
    case .pcm24: Int32(code | SF_FORMAT_PCM_24)
    case .pcm16: Int32(code | SF_FORMAT_PCM_16)
    }
  }

  /// The whole number for a sample, rounded, and clipped at full scale; 0 for one that is no number.
  public func number(_ sample: Float) -> Int32 {
    let scale: Float = self == .pcm16 ? 0x8000 : 0x80_0000
    if sample.isNaN { return 0 }
    return Int32(max(-scale, min(scale - 1, (sample * scale).rounded(.toNearestOrEven))))
  }

  /// Places by which the numbers are below those of 32 bits, where libsndfile writes them as they are; nil: it makes them of
  /// samples itself. It rounds them for FLAC, and not for WAV.
  public func shift(in path: String) -> Int32? {
    guard self != .float32, SoundContainer(of: path) ?? .wav == .wav else { return nil }
    return Int32(32 - 8 * width)
  }

  /// Bytes of a sample in a WAV file.
  var width: Int {
    switch self {
    case .float32: 4
    case .pcm24: 3
    case .pcm16: 2
    }
  }
}

/// Container of a sound file, by the extension of its name.
enum SoundContainer: String, CaseIterable {
  case wav, flac, ogg, opus

  /// nil: no extension, or an unknown one.
  init?(of path: String) {
    guard let ending = Self.ending(of: path) else { return nil }
    self.init(rawValue: ending)
  }

  /// The extension in lower case; nil: the name has none.
  static func ending(of path: String) -> String? {
    let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
    return name[name.index(after: dot)...].lowercased()
  }
}
