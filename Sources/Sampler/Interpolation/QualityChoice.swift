import Realtime

/// The interpolation of voices and heads that begin: fixed, or as the load allows.
struct QualityChoice: BitwiseCopyable {
  /// 0: four points, 1: eight, 2: 32, 3: as the load allows.
  private let number: UInt8

  @_noLocks init(_ quality: SampleQuality?) {
    if let quality { number = Self.points(quality) } else { number = 3 }
  }

  /// 0: four points, 1: eight, 2: 32. Audio thread.
  @_noLocks func points(load: Float) -> UInt8 {
    number < 3 ? number : Self.points(.fitting(load: load))
  }

  @_noLocks private static func points(_ quality: SampleQuality) -> UInt8 {
    switch quality {
    case .four: 0
    case .eight: 1
    case .sinc: 2
    }
  }
}
