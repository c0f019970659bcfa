import Realtime

/// The whole instrument's volume, as a system exclusive message states it: it moves over 5 ms, on the frames of the
/// engine.
struct MasterVolume: BitwiseCopyable {
  /// Seconds of a move.
  private static var time: Float { @_noLocks get { 0.005 } }

  /// Gains of the block's frames, where any is not 1; with room for a vector behind them.
  private let gains: UnsafeMutablePointer<Float>
  private var start: Float = 1
  private var goal: Float = 1
  /// The engine frame at which the last move began, and how many it takes.
  private var startTime: Int64 = 0
  private var length: Float = 1
  /// Frames of the block that have their gains, while these are needed.
  private var filled = 0
  private(set) var isUsed = false

  /// Room for a block's gains. Worker.
  init(gains: UnsafeMutablePointer<Float>) { self.gains = gains }

  /// 0...1 of the controller, which counts as its square, as those of channels do. Audio thread.
  @_noLocks mutating func move(to position: Float, at time: Int64, frame: Int, rate: Float) {
    fill(to: frame, at: time)
    if !isUsed {
      isUsed = true
      for earlier in 0..<frame { gains[earlier] = 1 }
      filled = frame
    }
    start = gain(time)
    goal = position > 0 ? (position < 1 ? position * position : 1) : 0
    startTime = time
    length = Self.time * rate
  }

  /// A block begins. Audio thread.
  @_noLocks mutating func begin() {
    filled = 0
    if start == goal, goal == 1 { isUsed = false }
  }

  @_noLocks private func gain(_ time: Int64) -> Float {
    let since = Float(time &- startTime)
    return since < length ? start + since * ((goal - start) / length) : goal
  }

  /// The gains of the block's frames before `end`, which is at `time`. Audio thread.
  @_noLocks mutating func fill(to end: Int, at time: Int64) {
    guard isUsed else { return }
    let scale = (goal - start) / length
    while filled < end {
      let since = lanes16 + Float(time &- Int64(end &- filled) &- startTime)
      var values = start + since * scale
      values.replace(with: goal, where: since .>= SIMD16(repeating: length))
      store(values, gains + filled)
      filled = filled &+ 16 < end ? filled &+ 16 : end
    }
    if time &- startTime >= Int64(length) { start = goal }
  }

  /// The gain of one of the block's frames. Audio thread.
  @_noLocks @inline(__always) subscript(_ frame: Int) -> Float { gains[frame] }
}
