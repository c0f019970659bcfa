import Engine
import Realtime
import Synchronization

/// Fades of a driver's outputs. The renderer plays on while no driver or no connection takes its sound, so what becomes
/// audible fades in: at the start, when an output is connected, after an interruption. What a driver stops fades out
/// before. When the renderer is taken away at once, the last sample fades out in its place.
struct OutputFades: BitwiseCopyable, @unchecked Sendable {
  private enum Level {
    static var unheard: UInt8 { @_noLocks get { 0 } }
    static var heard: UInt8 { @_noLocks get { 1 } }
    static var heardAtOnce: UInt8 { @_noLocks get { 2 } }
  }

  /// Seconds of a fade.
  static let seconds = 0.01

  /// A `Level` for each output: it leads somewhere or not.
  private let levels: UnsafeMutablePointer<Atomic<UInt8>>
  private let isClosing: UnsafeMutablePointer<Atomic<Bool>>
  /// Stored by the audio thread: no output is above silence.
  private let isSilent: UnsafeMutablePointer<Atomic<Bool>>
  private let length: Int

  // Audio thread only.
  private let ramps: UnsafeMutablePointer<Ramp>
  /// Last sample of each output.
  private let last: UnsafeMutablePointer<Float>
  private let factors: UnsafeMutablePointer<Float>
  private let isInterrupted: UnsafeMutablePointer<Bool>

  /// `isHeard`: every output leads to the device; otherwise none, until `setHeard`.
  init(rate: Double, isHeard: Bool) {
    length = max(1, Int(rate * Self.seconds))
    levels = .allocate(capacity: channelCapacity)
    for channel in 0..<channelCapacity {
      (levels + channel).initialize(to: Atomic(isHeard ? Level.heard : Level.unheard))
    }
    isClosing = .allocate(capacity: 1)
    isClosing.initialize(to: Atomic(false))
    isSilent = .allocate(capacity: 1)
    isSilent.initialize(to: Atomic(true))
    ramps = .allocate(capacity: channelCapacity)
    ramps.initialize(repeating: Ramp(0), count: channelCapacity)
    last = .allocate(capacity: channelCapacity)
    last.initialize(repeating: 0, count: channelCapacity)
    factors = .allocate(capacity: 64)
    factors.initialize(repeating: 0, count: 64)
    isInterrupted = .allocate(capacity: 1)
    isInterrupted.initialize(to: false)
  }

  func deallocate() {
    levels.deallocate()
    isClosing.deallocate()
    isSilent.deallocate()
    ramps.deallocate()
    last.deallocate()
    factors.deallocate()
    isInterrupted.deallocate()
  }

  // MARK: Any thread but the audio thread

  /// Tells whether an output leads anywhere. `atOnce`: its sound went on until now through another output.
  func setHeard(_ channel: Int, _ isHeard: Bool, atOnce: Bool = false) {
    let level = isHeard ? (atOnce ? Level.heardAtOnce : Level.heard) : Level.unheard
    levels[channel].store(level, ordering: .relaxed)
  }

  func isHeard(_ channel: Int) -> Bool { levels[channel].load(ordering: .relaxed) != Level.unheard }

  /// Fades all outputs out, and returns when they are silent or after `seconds`. Worker.
  func close(within seconds: Double) {
    isSilent.pointee.store(false, ordering: .relaxed)
    isClosing.pointee.store(true, ordering: .releasing)
    let deadline = nanoseconds() + Int64(seconds * 1e9)
    while !isSilent.pointee.load(ordering: .acquiring), nanoseconds() < deadline {
      sleep(until: nanoseconds() + 1_000_000)
    }
  }

  /// Fades in again. Worker.
  func open() { isClosing.pointee.store(false, ordering: .releasing) }

  // MARK: Audio thread

  /// Fades what has been rendered.
  @_noLocks func apply(_ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int) {
    if isInterrupted.pointee {
      // A short interruption ends when its fade has.
      if isFading(outputs) { return interrupt(outputs, frames: frames) }
      restart()
    }
    let isClosing = isClosing.pointee.load(ordering: .acquiring)
    var isAudible = false
    var channel = 0
    while channel < channelCapacity {
      if let samples = outputs[channel] {
        let ramp = ramps + channel
        let wanted = goal(channel, isClosing)
        if ramp.pointee.target != wanted { ramp.pointee.move(to: wanted, over: length) }
        if ramp.pointee.isMoving {
          fade(samples, frames, ramp)
          isAudible = true
        } else if wanted == 0 {
          setMemory(samples, 0, frames &* 4)
        } else {
          isAudible = true
        }
        last[channel] = samples[frames &- 1]
      } else {
        ramps[channel] = Ramp(0)
        last[channel] = 0
      }
      channel &+= 1
    }
    isSilent.pointee.store(!isAudible, ordering: .releasing)
  }

  /// The final factor of an output.
  @_noLocks private func goal(_ channel: Int, _ isClosing: Bool) -> Float {
    let level = levels[channel].load(ordering: .relaxed)
    let wanted: Float = isClosing || level == Level.unheard ? 0 : 1
    if level == Level.heardAtOnce {
      let result = levels[channel].compareExchange(
        expected: Level.heardAtOnce, desired: Level.heard, ordering: .relaxed)
      if result.exchanged { ramps[channel] = Ramp(wanted) }
    }
    return wanted
  }

  @_noLocks private func fade(
    _ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ ramp: UnsafeMutablePointer<Ramp>
  ) {
    var done = 0
    while done < frames {
      let count = frames &- done < 64 ? frames &- done : 64
      ramp.pointee.fill(factors, frames: count)
      var frame = 0
      while frame < count {
        samples[done &+ frame] *= factors[frame]
        frame &+= 1
      }
      done &+= count
    }
  }

  /// Fills the outputs when nothing is rendered: the last samples fade out, and silence follows. JACK would repeat the
  /// old contents of the buffers.
  @_noLocks func interrupt(_ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int) {
    let isFirst = !isInterrupted.pointee
    isInterrupted.pointee = true
    var channel = 0
    while channel < channelCapacity {
      let ramp = ramps + channel
      if isFirst {
        ramp.pointee = Ramp(last[channel] == 0 ? 0 : 1)
        ramp.pointee.move(to: 0, over: length)
      }
      if let samples = outputs[channel] {
        if ramp.pointee.isMoving {
          var frame = 0
          while frame < frames {
            samples[frame] = last[channel]
            frame &+= 1
          }
          fade(samples, frames, ramp)
        } else {
          setMemory(samples, 0, frames &* 4)
        }
      }
      channel &+= 1
    }
  }

  @_noLocks private func isFading(_ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>) -> Bool {
    var channel = 0
    while channel < channelCapacity {
      if outputs[channel] != nil, ramps[channel].isMoving { return true }
      channel &+= 1
    }
    return false
  }

  /// Begins from silence, after a pause in which nobody heard anything of us.
  @_noLocks func restart() {
    isInterrupted.pointee = false
    var channel = 0
    while channel < channelCapacity {
      ramps[channel] = Ramp(0)
      channel &+= 1
    }
  }
}
