import Realtime

/// Gain of the sound that goes into memory of the past: a delay line, or the states of a filter.
///
/// In a node that is created while its input sounds it rises within 10 ms. What comes out of the memory is then as smooth as
/// its source, and the engine's fade of the new node is over when it comes.
struct Entry: BitwiseCopyable {
  /// It rests at one, for good.
  private(set) var isOver = false
  /// Seconds of the rise.
  private let seconds: Float
  /// Engine time up to which it has advanced; negative before the first block.
  private var time: Int64 = -1
  private var gain = Ramp(1)

  @_noLocks init() { self.init(0.01) }
  @_noLocks private init(_ seconds: Float) { self.seconds = seconds }

  /// An entry into a filter, which answers at once: a rise as long as the engine's fade would be a dip of 2.5 dB in
  /// it. This one is half as long: a dip of 0.5 dB, and a resonance rings 60 dB softer than without a rise.
  static var ofFilter: Self { @_noLocks get { Self(0.005) } }

  /// The gains in this block, in `room`; nil while it rests at one. Audio thread.
  @inline(__always) @_noLocks mutating func follow(_ block: Block, _ room: UnsafeMutablePointer<Float>)
    -> UnsafePointer<Float>?
  {
    isOver ? nil : rise(block, room)
  }

  @inline(never) @_noLocks private mutating func rise(_ block: Block, _ room: UnsafeMutablePointer<Float>)
    -> UnsafePointer<Float>?
  {
    let before = time
    time = block.time &+ Int64(block.frames)
    // A node that starts with the engine has no sound before it.
    if before < 0, block.time > 0 {
      gain = Ramp(0)
      gain.move(to: 1, over: Int(block.rate * seconds))
    } else if block.time > before, gain.isMoving {
      gain.skip(Int(block.time &- before))
    }
    guard gain.isMoving else {
      isOver = true
      return nil
    }
    gain.fill(room, frames: block.frames)
    isOver = !gain.isMoving
    return UnsafePointer(room)
  }

  /// The same time at another rate. Worker.
  mutating func stretch(by factor: Double) { gain.stretch(by: factor) }
}
