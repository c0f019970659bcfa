import Realtime
import Recording

/// A file requested by a node.
struct FileRequest: FilesRequest, Sendable {
  enum Purpose: Hashable, Sendable {
    case instrument
    /// Converted to this sample rate, Hz.
    case audio(rate: Double)
    /// To convolve with, likewise.
    case impulse(rate: Double)
    /// To be held in memory, likewise.
    case sample(rate: Double)
    /// With as many frames in a wave.
    case wavetable(frames: Int)

    /// The same at another rate.
    func converted(to rate: Double) -> Self {
      switch self {
      case .instrument, .wavetable: self
      case .audio: .audio(rate: rate)
      case .impulse: .impulse(rate: rate)
      case .sample: .sample(rate: rate)
      }
    }
  }

  var path: String
  var purpose: Purpose

  var paths: [String] { [path] }
}

/// A tuning requested by a node.
struct TuningRequest: FilesRequest, Sendable {
  var scale: String?
  var keyMap: String?

  var paths: [String] { [scale, keyMap].compactMap(\.self) }
}

/// Result of a request.
struct LoadedFile: Sendable {
  var request: FileRequest
  /// nil if it could not be loaded.
  var resource: Resource?
  /// Reasons of a failure, or unsupported parts of the file.
  var findings: [Notice]
}
