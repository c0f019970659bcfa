import Realtime

/// Fade of interleaved frames. A card's thread.
struct FrameFade {
  private var ramp = Ramp(0)
  private var factors = [Float](repeating: 0, count: blockCapacity)
  private var last: [Float]
  private let length: Int

  /// Closed at first.
  init(channels: Int, rate: Double) {
    last = [Float](repeating: 0, count: channels)
    length = max(1, Int(rate * OutputFades.seconds))
  }

  /// Closed, and nothing fades any more.
  var isSilent: Bool { ramp.target == 0 && !ramp.isMoving }

  /// Fades in or out.
  mutating func apply(_ samples: UnsafeMutablePointer<Float>, frames: Int, isOpen: Bool) {
    let goal: Float = isOpen ? 1 : 0
    if ramp.target != goal { ramp.move(to: goal, over: length) }
    let channels = last.count
    for channel in 0..<channels { last[channel] = samples[(frames - 1) * channels + channel] }
    guard ramp.isMoving || goal == 0 else { return }
    eachFactor(frames) { frame, factor in
      for channel in 0..<channels { samples[frame * channels + channel] *= factor }
    }
  }

  /// In place of frames that are missing, the last one fades out.
  mutating func rest(_ samples: UnsafeMutablePointer<Float>, frames: Int) {
    if ramp.target != 0 { ramp.move(to: 0, over: length) }
    let channels = last.count
    let last = last
    eachFactor(frames) { frame, factor in
      for channel in 0..<channels { samples[frame * channels + channel] = last[channel] * factor }
    }
  }

  private mutating func eachFactor(_ frames: Int, _ body: (Int, Float) -> Void) {
    var done = 0
    while done < frames {
      let count = min(frames - done, blockCapacity)
      factors.withUnsafeMutableBufferPointer { ramp.fill($0.baseAddress!, frames: count) }
      for frame in 0..<count { body(done + frame, factors[frame]) }
      done += count
    }
  }
}
