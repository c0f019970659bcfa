import CAlsa
import Engine
import Realtime

/// One use of a card's device, from opening to its end. The card's thread.
final class CardStream {
  let card: Card
  let device: AlsaDevice
  let line: CardLine
  let resampler: Resampler
  var servo: Servo
  var fade: FrameFade
  /// Frames in the line's channels, and in the device's.
  let frames: UnsafeMutablePointer<Float>
  let deviceFrames: UnsafeMutablePointer<Float>
  /// Frames that `frames` holds.
  let capacity: Int
  /// The paths fit: sound passes.
  var isLocked = false
  /// The distance is wrong: fades out, and begins anew.
  var isLost = false
  private var nextReport = 0

  init?(_ card: Card, _ device: AlsaDevice) {
    guard let resampler = Resampler(channels: card.line.channels) else { return nil }
    self.card = card
    self.device = device
    self.resampler = resampler
    line = card.line
    servo = Servo(engineRate: card.rate, cardRate: device.rate, now: nanoseconds())
    fade = FrameFade(channels: line.channels, rate: device.rate)
    capacity = 2 * device.period + Int(2 * Double(device.period) * card.rate / device.rate) + 64
    frames = .allocate(capacity: capacity * line.channels)
    frames.initialize(repeating: 0, count: capacity * line.channels)
    deviceFrames = .allocate(capacity: device.period * device.channels)
    deviceFrames.initialize(repeating: 0, count: device.period * device.channels)
  }

  deinit {
    frames.deallocate()
    deviceFrames.deallocate()
  }

  /// Frames of the engine by which one side has to be ahead of the other: a period of each, and what makes up for late
  /// wakeups.
  var reserve: Double {
    let ofCard = Double(device.period) * card.rate / device.rate
    return Double(servo.period) + ofCard + (card.margin * card.rate + max(Double(servo.period), ofCard) / 4)
  }

  /// A distance is wrong that cannot be made up for in a few seconds.
  func isTooFar(_ excess: Double) -> Bool { abs(excess) > 0.5 * reserve + 0.002 * card.rate }

  /// A stamp that contradicts all before: begins anew, after a fade if there is still sound to fade.
  func lose() { if isLocked { isLost = true } }

  /// Sound did not come in time.
  func fallDry() {
    isLocked = false
    card.dryTime = nanoseconds()
  }

  /// The paths fit again. If sound was missing for a short time only, it was late, and the next time may be as late.
  private func lock() {
    (isLocked, isLost) = (true, false)
    if let dry = card.dryTime, nanoseconds() - dry < 1_000_000_000 {
      card.margin = min(1.5 * card.margin, 0.1)
      card.publish { $0.xruns += 1 }
    }
    card.dryTime = nil
  }

  /// Tells the figures ten times a second. `latency`: seconds.
  func report(latency: Double) {
    nextReport -= device.period
    guard nextReport <= 0 else { return }
    nextReport = Int(device.rate / 10)
    let drift = servo.drift
    card.publish { ($0.stage, $0.latency, $0.drift) = (.running, latency, drift) }
  }

  // MARK: Playback

  /// Plays until the device fails, or has played the end. Returns ALSA's error number.
  func play() -> Int32 {
    drop(line.ring.count)
    var pace = Pace(rate: device.rate, buffer: device.buffer, now: nanoseconds())
    var written = 0
    // The device takes these at once.
    var settled = device.buffer + device.period
    var silent = 0
    while silent < device.buffer || !card.isStopping {
      var result = device.awaitTurn { card.isOver }
      if result == .done {
        if written >= settled, !servo.take(card: written, at: nanoseconds()) { lose() }
        if !servo.take(line.stamps) { lose() }
        fill()
        silent = fade.isSilent ? silent + device.period : 0
        convert(from: frames, line.channels, to: deviceFrames, device.channels)
        result = device.write(deviceFrames, frames: device.period) { card.isOver }
        written += device.period
      }
      switch result {
      case .done: break
      case .xrun:
        card.publish { $0.xruns += 1 }
        pace.restart(now: nanoseconds())
        servo.restartCard()
        settled = written + device.buffer + device.period
        (isLocked, isLost) = (false, false)
        fade = FrameFade(channels: line.channels, rate: device.rate)
      case .timeout: return card.isOver ? 0 : -ETIMEDOUT
      case .failed(let code): return code
      }
      if let due = pace.due(after: device.period, now: nanoseconds()) { sleep(until: due) }
    }
    return 0
  }

  private func drop(_ count: Int) {
    line.ring.pop(count)
    card.position += count
  }

  /// Makes a period for the card.
  private func fill() {
    let period = device.period
    // A new beginning needs silence: a fade-out, because sound was missing or at the wrong place, ends first.
    if !isLocked || isLost, fade.isSilent { lockPlayback() }
    guard isLocked else { return fade.rest(frames, frames: period) }
    let distance = servo.enginePosition - resampler.place
    let excess = distance - reserve - Resampler.lookahead(ratio: servo.rates)
    if isTooFar(excess) { lose() }
    let ratio = servo.rates * (1 - servo.correction(excess))
    let isFed =
      resampler.available(in: line.ring, ratio: ratio) >= period
      && resampler.give(frames, frames: period, ratio: ratio, from: line.ring)
    card.position = resampler.taken
    guard isFed else {
      fallDry()
      return fade.rest(frames, frames: period)
    }
    fade.apply(frames, frames: period, isOpen: !isLost && !card.isClosed)
    report(latency: distance / card.rate + Double(device.buffer - period) / device.rate)
  }

  /// Takes up the engine's sound at the right distance.
  private func lockPlayback() {
    (isLocked, isLost) = (false, false)
    guard servo.isReady, !card.isStopping else { return drop(max(0, line.ring.count - Int(card.rate / 4))) }
    let ratio = servo.rates
    let lookahead = Resampler.lookahead(ratio: ratio)
    let first = Int(servo.enginePosition - reserve - lookahead) - card.position
    drop(max(0, min(first, line.ring.count)))
    // Where the engine is late, the next period is not there yet.
    let needed = Int(Double(device.period) / ratio + lookahead) + 2
    guard first >= 0, line.ring.count >= needed else { return }
    resampler.restart(at: card.position, ratio: ratio)
    lock()
  }

  // MARK: Capture

  /// Records until the device fails or the card is to stop. Returns ALSA's error number.
  func record() -> Int32 {
    // Captured frames that are not yet converted.
    let staged = Ring(capacity: 4 * capacity + 1024, size: line.channels * 4, stride: line.channels * 4)
    defer { staged.deallocate() }
    var pace = Pace(rate: device.rate, buffer: device.buffer, now: nanoseconds())
    var captured = 0
    /// Frame of the engine that is given next.
    var next = 0
    _ = line.close()
    defer { _ = line.close() }
    while !card.isStopping {
      let result = device.capture(deviceFrames, frames: device.period) { card.isStopping }
      switch result {
      case .done: break
      case .xrun:
        card.publish { $0.xruns += 1 }
        pace.restart(now: nanoseconds())
        servo.restartCard()
        isLocked = false
      case .timeout: return card.isStopping ? 0 : -ETIMEDOUT
      case .failed(let code): return code
      }
      captured += device.period
      if !servo.take(card: captured, at: nanoseconds()) { lose() }
      if !servo.take(line.stamps) { lose() }
      convert(from: deviceFrames, device.channels, to: frames, line.channels)
      push(frames, device.period, to: staged)
      if isLocked, line.ranDry { fallDry() }
      if !isLocked || isLost && fade.isSilent { lockCapture(captured, staged, &next) }
      if isLocked { give(captured, staged, &next) }
      if let due = pace.due(after: device.period, now: nanoseconds()) { sleep(until: due) }
    }
    return 0
  }

  private func lockCapture(_ captured: Int, _ staged: Ring, _ next: inout Int) {
    (isLocked, isLost) = (false, false)
    staged.pop(staged.count)
    guard line.close(), servo.isReady else { return }
    let ratio = 1 / servo.rates
    fade = FrameFade(channels: line.channels, rate: card.rate)
    resampler.restart(at: captured, ratio: ratio)
    next = Int(servo.enginePosition + reserve + Resampler.lookahead(ratio: ratio) * ratio) + 1
    line.begin(at: next)
    lock()
  }

  private func give(_ captured: Int, _ staged: Ring, _ next: inout Int) {
    let ratio = 1 / servo.rates
    let lookahead = Resampler.lookahead(ratio: ratio)
    // The engine's frame that the latest captured one becomes.
    let latest = Double(next) + (Double(captured) - resampler.place) * ratio
    let excess = latest - lookahead * ratio - servo.enginePosition - reserve
    if isTooFar(excess) { lose() }
    let corrected = ratio * (1 - servo.correction(excess))
    let count = min(resampler.available(in: staged, ratio: corrected), line.ring.room, capacity)
    guard count > 0 else { return }
    guard resampler.give(frames, frames: count, ratio: corrected, from: staged) else {
      isLocked = false
      return
    }
    fade.apply(frames, frames: count, isOpen: !isLost && !card.isClosed)
    push(frames, count, to: line.ring)
    next += count
    report(latency: (latest - servo.enginePosition) / card.rate)
  }

  private func push(_ samples: UnsafePointer<Float>, _ count: Int, to ring: Ring) {
    var done = 0
    while done < count {
      let place = ring.reserve(upTo: count - done)
      guard place.count > 0 else { return }
      place.first.copyMemory(
        from: samples + done * line.channels, byteCount: place.count * line.channels * 4)
      ring.commit(place.count)
      done += place.count
    }
  }

  /// Copies a period of the channels that both sides have; others are silent.
  private func convert(
    from source: UnsafePointer<Float>, _ sources: Int, to target: UnsafeMutablePointer<Float>, _ targets: Int
  ) {
    for frame in 0..<device.period {
      for channel in 0..<targets {
        target[frame * targets + channel] = channel < sources ? source[frame * sources + channel] : 0
      }
    }
  }
}
