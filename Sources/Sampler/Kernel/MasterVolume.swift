import Realtime

/// The whole instrument's volume, as a system exclusive message states it: it moves over 5 ms, on the frames of the
/// engine.
struct MasterVolume: BitwiseCopyable {
  /// Seconds of a move.
  private static var time: Float { @_noLocks get { 0.005 } }

  /// Gains of the block's frames, where any is not 1.
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
    let t = Float(time &- startTime) / length
    return t < 1 ? start + (goal - start) * t : goal
  }

  /// The gains of the block's frames before `end`, which is at `time`. Audio thread.
  @_noLocks mutating func fill(to end: Int, at time: Int64) {
    guard isUsed else { return }
    while filled < end {
      gains[filled] = gain(time &- Int64(end &- filled))
      filled &+= 1
    }
    if time &- startTime >= Int64(length) { start = goal }
  }

  /// The gain of one of the block's frames. Audio thread.
  @_noLocks @inline(__always) subscript(_ frame: Int) -> Float { gains[frame] }
}
