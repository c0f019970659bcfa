import Engine
import Realtime
import Synchronization

// Not static members: the type of a class is no matter for the audio thread.
/// Largest period, in frames.
private var longest: Int { @_noLocks get { 8192 } }
/// In place of the first frame, before that is known.
private var closed: Int { @_noLocks get { -1 } }

/// The way between the engine and a card with a clock of its own, in one direction: a ring of frames, and one of stamps
/// that tell the card's thread when the engine was where.
///
/// Playback: the audio thread writes each period, and drops it if the ring is full. Capture: the card's thread writes;
/// `begin` names the engine's frame of the first one. If the ring is empty too early the last frame fades out, and
/// the line waits to be begun anew.
final class CardLine: Sendable {
  /// The engine's time and place at the begin of a period.
  struct Stamp: BitwiseCopyable {
    var time: Int64
    /// Frames before it: of playback those that were written, of capture all.
    var position: Int
    var frames: Int
  }

  let isInput: Bool
  /// Channels of a frame.
  let channels: Int
  let ring: Ring
  let stamps: Ring
  let routing: Routing

  /// Frame of the engine that is the first in the ring, or `closed`. Capture.
  private let first: Atomic<Int>
  private let isDry = Atomic<Bool>(false)
  /// Its sound has faded out for the engine. Capture.
  private let isSilent = Atomic<Bool>(true)

  // Audio thread only.
  nonisolated(unsafe) private let position: UnsafeMutablePointer<Int>
  nonisolated(unsafe) private let fade: UnsafeMutablePointer<Ramp>
  nonisolated(unsafe) private let last: UnsafeMutablePointer<Float>
  nonisolated(unsafe) private let factors: UnsafeMutablePointer<Float>
  /// Memory of each channel of the engine, made when it is first routed.
  nonisolated(unsafe) private let planes: UnsafeMutablePointer<Atomic<UInt>>
  private let fadeLength: Int

  /// Frames in the ring: at 192 kHz a third of a second.
  private static let capacity = 1 << 16

  /// `rate`: the engine's, Hz.
  init(isInput: Bool, channels: Int, rate: Double) {
    first = Atomic(closed)
    self.isInput = isInput
    self.channels = channels
    routing = Routing(rate: rate)
    ring = Ring(capacity: Self.capacity, size: channels * 4, stride: channels * 4)
    stamps = Ring(capacity: 4096, of: Stamp.self)
    position = .allocate(capacity: 1)
    position.initialize(to: 0)
    fade = .allocate(capacity: 1)
    fade.initialize(to: Ramp(0))
    last = .allocate(capacity: channels)
    last.initialize(repeating: 0, count: channels)
    factors = .allocate(capacity: blockCapacity)
    factors.initialize(repeating: 0, count: blockCapacity)
    planes = .allocate(capacity: channelCapacity)
    for channel in 0..<channelCapacity { (planes + channel).initialize(to: Atomic(0)) }
    fadeLength = max(1, Int(rate * OutputFades.seconds))
  }

  deinit {
    for channel in 0..<channelCapacity { plane(channel)?.deallocate() }
    planes.deallocate()
    position.deallocate()
    fade.deallocate()
    last.deallocate()
    factors.deallocate()
    routing.deallocate()
    ring.deallocate()
    stamps.deallocate()
  }

  /// Sets which channels of the engine it carries. Worker.
  func update(_ endpoints: [Endpoint]) {
    for endpoint in endpoints {
      for channel in endpoint.firstChannel..<endpoint.firstChannel + endpoint.channels
      where channel < channelCapacity && plane(channel) == nil {
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: longest)
        memory.initialize(repeating: 0, count: longest)
        planes[channel].store(UInt(bitPattern: memory), ordering: .releasing)
      }
    }
    routing.update(endpoints)
  }

  @_noLocks private func plane(_ channel: Int) -> UnsafeMutablePointer<Float>? {
    UnsafeMutablePointer(bitPattern: planes[channel].load(ordering: .acquiring))
  }

  // MARK: Audio thread

  /// Gives the renderer this line's channels for a period that begins now.
  @_noLocks func lend(
    _ inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int
  ) {
    guard frames <= longest else { return }
    if isInput { read(frames) }
    var channel = 0
    while channel < channelCapacity {
      if isInput {
        if routing.source(channel) != Routing.none { inputs[channel] = UnsafePointer(plane(channel)) }
      } else if routing.target(channel) != Routing.none {
        outputs[channel] = plane(channel)
      }
      channel &+= 1
    }
  }

  /// Takes the channels back after the period. `time`: when it began.
  @_noLocks func take(
    _ inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, frames: Int, time: Int64
  ) {
    guard frames <= longest else { return }
    var stamp = Stamp(time: time, position: position.pointee, frames: frames)
    var isWritten = true
    if !isInput { isWritten = write(outputs, frames) }
    if isWritten {
      _ = stamps.push(&stamp)
      position.pointee &+= frames
    }
    var channel = 0
    while channel < channelCapacity {
      if isInput {
        if routing.source(channel) != Routing.none { inputs[channel] = nil }
      } else if routing.target(channel) != Routing.none {
        outputs[channel] = nil
      }
      channel &+= 1
    }
  }

  @_noLocks private func write(
    _ outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, _ frames: Int
  ) -> Bool {
    guard ring.room >= frames else { return false }
    var done = 0
    while done < frames {
      let place = ring.reserve(upTo: frames &- done)
      let target = place.first.assumingMemoryBound(to: Float.self)
      routing.mix(outputs, from: done, into: target, channels: channels, frames: place.count)
      ring.commit(place.count)
      done &+= place.count
    }
    return true
  }

  /// Fills the planes with what was captured.
  @_noLocks private func read(_ frames: Int) {
    fill(frames)
    // One condition: the compiler retains the line for the second of two.
    let isSounding = fade.pointee.isMoving ? true : fade.pointee.target != 0
    isSilent.store(!isSounding, ordering: .releasing)
  }

  @_noLocks private func fill(_ frames: Int) {
    let first = first.load(ordering: .acquiring)
    let begin = first &- position.pointee
    let wasDry = isDry.load(ordering: .relaxed)
    if first == closed || wasDry {
      ring.pop(ring.count)
      return rest(from: 0, frames)
    }
    if begin >= frames { return rest(from: 0, frames) }
    var done = 0
    if begin > 0 {
      rest(from: 0, begin)
      done = begin
    }
    while done < frames {
      let place = ring.peek(upTo: frames &- done)
      guard place.count > 0 else {
        rest(from: done, frames)
        return isDry.store(true, ordering: .releasing)
      }
      let samples = place.first.assumingMemoryBound(to: Float.self)
      spread(samples, place.count, to: done)
      let end = samples + (place.count &- 1) &* channels
      copyMemory(last, end, channels &* 4)
      fade.pointee = Ramp(1)
      ring.pop(place.count)
      done &+= place.count
    }
  }

  @_noLocks private func spread(_ samples: UnsafePointer<Float>, _ frames: Int, to place: Int) {
    var channel = 0
    while channel < channelCapacity {
      let source = routing.source(channel)
      if source >= 0, source < channels, let plane = plane(channel) {
        var frame = 0
        while frame < frames {
          plane[place &+ frame] = samples[frame &* channels &+ source]
          frame &+= 1
        }
      }
      channel &+= 1
    }
  }

  /// Frames for which nothing was captured: the last one fades out.
  @_noLocks private func rest(from begin: Int, _ end: Int) {
    if fade.pointee.target != 0 { fade.pointee.move(to: 0, over: fadeLength) }
    var done = begin
    while done < end {
      let count = end &- done < blockCapacity ? end &- done : blockCapacity
      fade.pointee.fill(factors, frames: count)
      var channel = 0
      while channel < channelCapacity {
        let source = routing.source(channel)
        if source >= 0, let plane = plane(channel) {
          var frame = 0
          while frame < count {
            plane[done &+ frame] = source < channels ? last[source] * factors[frame] : 0
            frame &+= 1
          }
        }
        channel &+= 1
      }
      done &+= count
    }
  }

  // MARK: The thread of a card that captures

  /// The ring's first frame is the engine's `frame`. It must be empty.
  func begin(at frame: Int) { first.store(frame, ordering: .releasing) }

  /// Throws away what is in the ring; true when that has happened, and what was heard has faded out.
  func close() -> Bool {
    first.store(closed, ordering: .releasing)
    guard ring.count == 0, isSilent.load(ordering: .acquiring) else { return false }
    isDry.store(false, ordering: .releasing)
    return true
  }

  /// The engine found the ring empty.
  var ranDry: Bool { isDry.load(ordering: .acquiring) }
}
