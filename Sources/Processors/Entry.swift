import Realtime

/// Gain of the sound that goes into memory of the past, such as a delay line.
///
/// In a node that is created while its input sounds it rises within 10 ms. What comes out of the memory is then as smooth as
/// its source, and the engine's fade of the new node is over when it comes.
struct Entry: BitwiseCopyable {
  /// Engine time up to which it has advanced; negative before the first block.
  private var time: Int64 = -1
  private var gain = Ramp(1)

  @_noLocks init() {}

  /// The gains in this block, in `room`; nil while it rests at one. Audio thread.
  @inline(__always) @_noLocks mutating func follow(_ block: Block, _ room: UnsafeMutablePointer<Float>)
    -> UnsafePointer<Float>?
  {
    let before = time
    time = block.time &+ Int64(block.frames)
    return before >= 0 && !gain.isMoving ? nil : rise(block, since: before, room)
  }

  @inline(never) @_noLocks private mutating func rise(
    _ block: Block, since before: Int64, _ room: UnsafeMutablePointer<Float>
  ) -> UnsafePointer<Float>? {
    // A node that starts with the engine has no sound before it.
    if before < 0, block.time > 0 {
      gain = Ramp(0)
      gain.move(to: 1, over: Int(block.rate * 0.01))
    } else if block.time > before, gain.isMoving {
      gain.skip(Int(block.time &- before))
    }
    guard gain.isMoving else { return nil }
    gain.fill(room, frames: block.frames)
    return UnsafePointer(room)
  }

  /// The same time at another rate. Worker.
  mutating func stretch(by factor: Double) { gain.stretch(by: factor) }
}
