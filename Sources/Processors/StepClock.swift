import CVector
import Patch
import Realtime

/// Steps of a sequence: by the gates at an input, or by a beat where nothing is connected there.
struct StepClock: BitwiseCopyable {
  private var beat: Beat
  /// Steps of the input since its reset.
  private var counted: Int64 = 0
  /// Number of the beat that counts as step 0.
  private var origin: Int64 = 0
  private var isOpen = false
  private var wasReset = false
  private var isByInput = false
  private var resets: UInt64 = 0
  /// A reset came after the last step of an earlier block.
  private var isDue = false

  var note: Float {
    @_noLocks get { beat.note }
    @_noLocks set { beat.note = newValue }
  }

  @_noLocks init(_ note: Float) { beat = Beat(note) }

  /// Goes through a block. Audio thread.
  @inline(__always) @_noLocks mutating func run(
    _ block: Block, clock: InputPort, reset: InputPort, _ settings: Beat.Settings
  ) -> Beat.Pulse {
    var pulse = beat.run(block, settings)
    isByInput = clock.isConnected
    if isByInput {
      pulse.isStopped = false
      pulse.open = Gates.open(clock, 0, block.frames)
      pulse.ticks = Gates.rises(pulse.open, isOpen)
    }
    isOpen = Gates.last(pulse.open, block.frames)
    let open = Gates.open(reset, 0, block.frames)
    if resets != 0 { isDue = true }
    resets = Gates.rises(open, wasReset)
    wasReset = Gates.last(open, block.frames)
    if pulse.starts != 0 { origin = 0 }
    next = pulse.first
    return pulse
  }

  /// True where a reset has come up to a frame; ask before `take`.
  @inline(__always) @_noLocks func restarts(_ frame: Int) -> Bool {
    isDue || resets & (UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- frame)) != 0
  }

  /// Number of the beat's next tick in the block.
  private var next: Int64 = 0

  /// The number of the step that begins in a frame; ask for each of the block's, in order.
  @inline(__always) @_noLocks mutating func take(_ pulse: Beat.Pulse, _ frame: Int) -> Int64 {
    let until = UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- frame)
    if isDue || resets & until != 0 {
      resets &= ~until
      isDue = false
      counted = 0
      origin = next
    }
    defer {
      counted &+= 1
      next &+= 1
    }
    return isByInput ? counted : next &- origin
  }
}
