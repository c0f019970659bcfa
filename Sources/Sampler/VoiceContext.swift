import Realtime

/// The sums that a sampler's voices make, by number: its stereo outputs, then what goes to a reverb and to a
/// chorus. Each has two sides.
enum Sum {
  static var outputs: Int { @_noLocks @inline(__always) get { 4 } }
  static var reverb: Int { @_noLocks @inline(__always) get { 4 } }
  static var chorus: Int { @_noLocks @inline(__always) get { 5 } }
  static var count: Int { @_noLocks @inline(__always) get { 6 } }
  /// Floats of a side: a block, and room for whole vectors behind it.
  static var side: Int { @_noLocks @inline(__always) get { 80 } }

  /// Where the left side of one begins; the right one follows.
  @_noLocks @inline(__always) static func place(_ number: Int) -> Int { number &* 2 &* side }
}

/// Where the voices of a sampler write, and what they share in one stretch of frames.
struct VoiceContext {
  /// As `Sum` says.
  var sums: UnsafeMutablePointer<Float>
  /// The reverb's or the chorus's sum is read.
  var isSending = false
  /// For the sixteen voices of a group, what each one plays and the gains of its sides: rows of
  /// `FilterBank.stride` floats.
  var rows: UnsafeMutablePointer<Float>
  var rightRows: UnsafeMutablePointer<Float>
  var gainRows: UnsafeMutablePointer<Float>
  var rightGainRows: UnsafeMutablePointer<Float>
  /// And how much of it goes to the reverb, and to the chorus.
  var reverbRows: UnsafeMutablePointer<Float>
  var chorusRows: UnsafeMutablePointer<Float>
  /// From 0 to 15: in memory, as the compiler makes more of numbers that it knows than is good.
  var numbers: UnsafePointer<Float>
  var window: SampleWindow
  /// For interpolation by more than four points.
  var kernels: SincKernels.Tables
  /// Room for the slow path: 16 x 4 taps of each side, and 16 low halves of positions.
  var gathered: UnsafeMutablePointer<Float>
  var low: UnsafeMutablePointer<UInt32>
  var fade: UnsafeMutablePointer<Float>
  var steps: UnsafeMutablePointer<Int64>
  /// What the sampler's tuning makes of the pitch: the same for all frames, or one a frame.
  var factor: Double
  var factors: UnsafePointer<Double>?
}
