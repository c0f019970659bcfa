import Realtime

/// A kernel's own signal at an input that it is normalled to: what is plugged in takes its place.
///
/// While the engine fades such a cable in or out, the own signal fades the other way.
struct Normalled: BitwiseCopyable {
  /// Seconds of the fade, as long as the engine's own fades.
  private static var fade: Float { @_noLocks get { 0.01 } }

  /// Gain of the own signal.
  private var share = Ramp(1)
  private var isNew = true

  @_noLocks init() {}

  /// The own signal fades.
  var isMoving: Bool { @inline(__always) @_noLocks get { share.isMoving } }
  /// Some of the own signal is heard.
  var isHeard: Bool { @inline(__always) @_noLocks get { share.isMoving || share.target > 0 } }

  /// The signal that is plugged in has taken its place.
  var isReplaced: Bool { @inline(__always) @_noLocks get { !isNew && !share.isMoving && share.target == 0 } }

  /// Begins to fade the own signal when a cable came or went. Audio thread.
  @inline(__always) @_noLocks mutating func follow(_ isConnected: Bool, _ rate: Float) {
    if isNew || share.target != (isConnected ? 0 : 1) { turn(isConnected, rate) }
  }

  @inline(never) @_noLocks private mutating func turn(_ isConnected: Bool, _ rate: Float) {
    let target: Float = isConnected ? 0 : 1
    if isNew {
      share = Ramp(target)
      isNew = false
    } else {
      share.move(to: target, over: Int(Self.fade * rate))
    }
  }

  /// True while the own signal has come to where it is to be with or without a cable. Audio thread.
  @inline(__always) @_noLocks mutating func hasCome(_ isConnected: Bool, _ rate: Float) -> Bool {
    if isNew { turn(isConnected, rate) }
    return !share.isMoving && share.target == (isConnected ? 0 : 1)
  }

  /// Writes the own signal's gain in each of the next frames, and advances. Audio thread.
  @_noLocks mutating func fill(_ shares: UnsafeMutablePointer<Float>, frames: Int) {
    share.fill(shares, frames: frames)
  }

  /// The same time at another rate. Worker.
  mutating func stretch(by factor: Double) { share.stretch(by: factor) }
}
