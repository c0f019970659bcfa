import Engine
import Realtime
import Synchronization

/// Mapping between engine channels and device channels. The worker changes it while the audio thread reads
/// it.
struct Routing: BitwiseCopyable, @unchecked Sendable {
  static var none: Int { @_noLocks get { -1 } }
  /// A single channel, routed to both sides.
  static var both: Int { @_noLocks get { -2 } }

  private let targets: UnsafeMutablePointer<Atomic<Int>>
  private let sources: UnsafeMutablePointer<Atomic<Int>>
  private let rightShares: RightShares

  init(rate: Double) {
    targets = .allocate(capacity: channelCapacity)
    sources = .allocate(capacity: channelCapacity)
    for channel in 0..<channelCapacity {
      (targets + channel).initialize(to: Atomic(Self.none))
      (sources + channel).initialize(to: Atomic(Self.none))
    }
    rightShares = RightShares(rate: rate)
  }

  /// Worker.
  func deallocate() {
    targets.deallocate()
    sources.deallocate()
    rightShares.deallocate()
  }

  /// Several outputs are mixed, each from the device's first channel on. Worker.
  func update(_ endpoints: [Endpoint]) {
    var newTargets = [Int](repeating: Self.none, count: channelCapacity)
    var newSources = newTargets
    for endpoint in endpoints where !endpoint.isTap {
      for channel in 0..<endpoint.channels where endpoint.firstChannel + channel < channelCapacity {
        let slot = endpoint.firstChannel + channel
        if endpoint.isInput {
          newSources[slot] = channel
        } else {
          newTargets[slot] = endpoint.channels == 1 ? Self.both : channel
        }
      }
    }
    for channel in 0..<channelCapacity {
      targets[channel].store(newTargets[channel], ordering: .relaxed)
      sources[channel].store(newSources[channel], ordering: .relaxed)
    }
  }

  /// Audio thread.
  @_noLocks func target(_ channel: Int) -> Int { targets[channel].load(ordering: .relaxed) }
  /// Audio thread.
  @_noLocks func source(_ channel: Int) -> Int { sources[channel].load(ordering: .relaxed) }

  /// Gives the renderer a buffer for each routed output channel. Audio thread.
  func lendOutputs(of host: RenderHost, _ channels: UnsafeMutablePointer<Float>, _ period: Int) {
    for channel in 0..<channelCapacity {
      host.outputs[channel] = target(channel) == Self.none ? nil : channels + channel * period
    }
  }

  /// Mixes frames of the engine's outputs, from the frame `first` on, into interleaved ones of a device. Audio thread.
  @_noLocks func mix(
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, from first: Int,
    into mixed: UnsafeMutablePointer<Float>, channels: Int, frames: Int
  ) {
    setMemory(mixed, 0, frames &* channels &* 4)
    var channel = 0
    while channel < channelCapacity {
      let target = target(channel)
      rightShares.set(channel, isRouted: target != Self.none, isSingle: target == Self.both)
      if target != Self.none, let samples = outputs[channel] {
        let side = target == Self.both ? 0 : target
        if side < channels {
          for frame in 0..<frames { mixed[frame &* channels &+ side] += samples[first &+ frame] }
        }
        rightShares.add(samples + first, of: channel, to: mixed, width: channels, frames: frames)
        rightShares.skip(channel, frames)
      }
      channel &+= 1
    }
  }
}
