import Engine
import Realtime

/// The part of each output channel that is heard on the right besides its own place: all of a single channel, which goes
/// to both sides, and nothing of the others. It fades where an output that sounds gets a single channel or more of them.
/// Audio thread.
struct RightShares: BitwiseCopyable {
  private let shares: UnsafeMutablePointer<Ramp>
  private let wereRouted: UnsafeMutablePointer<Bool>
  private let factors: UnsafeMutablePointer<Float>
  private let length: Int

  init(rate: Double) {
    shares = .allocate(capacity: channelCapacity)
    shares.initialize(repeating: Ramp(0), count: channelCapacity)
    wereRouted = .allocate(capacity: channelCapacity)
    wereRouted.initialize(repeating: false, count: channelCapacity)
    factors = .allocate(capacity: blockCapacity)
    factors.initialize(repeating: 0, count: blockCapacity)
    length = max(1, Int(rate * OutputFades.seconds))
  }

  func deallocate() {
    shares.deallocate()
    wereRouted.deallocate()
    factors.deallocate()
  }

  /// Sets where a channel goes from now on. One that went nowhere begins without a fade: the renderer fades it in.
  @_noLocks func set(_ channel: Int, isRouted: Bool, isSingle: Bool) {
    let share: Float = isSingle ? 1 : 0
    if !wereRouted[channel] {
      shares[channel] = Ramp(share)
    } else if shares[channel].target != share {
      shares[channel].move(to: share, over: length)
    }
    wereRouted[channel] = isRouted
  }

  /// Adds a channel's share to interleaved frames of `width` channels.
  @_noLocks func add(
    _ samples: UnsafePointer<Float>, of channel: Int, to mixed: UnsafeMutablePointer<Float>, width: Int,
    frames: Int
  ) {
    var share = shares[channel]
    guard width > 1, share.isMoving || share.target != 0 else { return }
    var done = 0
    while done < frames {
      let count = frames &- done < blockCapacity ? frames &- done : blockCapacity
      share.fill(factors, frames: count)
      for frame in 0..<count {
        mixed[(done &+ frame) &* width &+ 1] += samples[done &+ frame] * factors[frame]
      }
      done &+= count
    }
  }

  /// Goes on by a number of frames.
  @_noLocks func skip(_ channel: Int, _ frames: Int) { shares[channel].skip(frames) }
}
