import Realtime

/// A playing position in a file.
struct PlayerHead {
  /// Scratch memory of `render`.
  struct Scratch {
    /// 64 gains (padded for whole vectors), increments and positions.
    var gains: UnsafeMutablePointer<Float>
    var places: UnsafeMutablePointer<Int64>
  }

  var image: UnsafeMutablePointer<AudioImage>?
  /// 32.32 fixed point, in frames of the file.
  var position: Int64 = 0
  var fade = Ramp(1)
  /// Fading out.
  var isLeaving = false
  var hasEnded = false
  /// Smoothed distance from standstill, 0...1; negative before its first frame.
  private var presence: Float = -1

  @_noLocks init() {}

  /// Adds the frames `from..<to` of the block to the outputs. Audio thread.
  @_noLocks mutating func render(
    _ block: Block, from: Int, to: Int, isLooping: Bool, rate: Double, _ scratch: Scratch
  ) {
    guard let image else { return }
    var frames = to &- from
    let speed = block.parameters[Player.Parameter.rate]
    let level = block.parameters[Player.Parameter.level]
    let base = image.pointee.rate / rate
    let length = Int64(image.pointee.frames) &<< 32
    let step = Float(1 / (0.010 * rate))
    fade.fill(scratch.gains, frames: frames)
    for index in 0..<frames {
      if position < 0 || position >= length {
        guard isLooping else {
          hasEnded = true
          frames = index
          break
        }
        position = position % length
        if position < 0 { position = position &+ length }
      }
      scratch.places[index] = position
      let factor = speed.value(0, at: from &+ index)
      position = position &+ fixedPoint(Double(factor) * base)
      // A stopped tape is silent: below 1/64 of normal speed the sound fades with the speed, over at least 10
      // ms.
      let pace = (factor < 0 ? -factor : factor) * 64
      follow(pace < 1 ? pace : 1, step)
      scratch.gains[index] *= level.value(0, at: from &+ index) * loudness
    }
    if let stream = image.pointee.stream, frames > 0,
      !isRead(stream, image, frames, isLooping, pace: Double(speed.value(0)) * base, scratch)
    {
      return
    }
    let outputs = block.outputs[0]
    let channels = image.pointee.channels
    if outputs.count == 1, channels == 2 {
      // Both sides of a stereo file into one output, each at half gain, as for a cable.
      for index in 0..<frames { scratch.gains[index] *= 0.5 }
      add(image, 0, to: outputs[0] + from, frames, isLooping, scratch)
      add(image, 1, to: outputs[0] + from, frames, isLooping, scratch)
      return
    }
    for channel in 0..<outputs.count where channels == 1 || channel < channels {
      add(image, channels == 1 ? 0 : channel, to: outputs[channel] + from, frames, isLooping, scratch)
    }
  }

  @_noLocks private mutating func follow(_ wanted: Float, _ step: Float) {
    if presence < 0 || (wanted - presence).magnitude <= step {
      presence = wanted
    } else {
      presence += wanted > presence ? step : -step
    }
  }

  /// The shape of a fade (see `Ramp`) as a function of `presence`.
  private var loudness: Float {
    @_noLocks get {
      let x = presence
      return x < 1 ? x * x * x * (x * (x * 6 - 15) + 10) : 1
    }
  }

  /// True when the data of these frames is in memory. Requests the data needed next. Audio thread.
  @_noLocks private func isRead(
    _ stream: UnsafeMutablePointer<StreamTable>, _ image: UnsafeMutablePointer<AudioImage>, _ frames: Int,
    _ isLooping: Bool, pace: Double, _ scratch: Scratch
  ) -> Bool {
    let header = UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self)
    let length = image.pointee.frames
    var isThere = true
    var known = -1
    for index in 0..<frames {
      let at = Int(scratch.places[index] >> 32)
      let (low, high) = (at &- 1, at &+ 2)
      if low < 0 || low &>> StreamTable.shift != known || high &>> StreamTable.shift != known {
        if !stream.pointee.has(low, high, header) { isThere = false }
        known = low &>> StreamTable.shift == high &>> StreamTable.shift ? low &>> StreamTable.shift : -1
      }
      guard isLooping else { continue }
      if at == 0, !stream.pointee.has(length &- 1, length &- 1, header) { isThere = false }
      if high >= length, !stream.pointee.has(0, 2, header) { isThere = false }
    }
    let at = Int(scratch.places[frames &- 1] >> 32)
    stream.pointee.expect(at, pace: pace)
    if isLooping {
      if pace < 0, at < 2 &* StreamTable.chunkFrames { stream.pointee.expect(length &- 1, pace: pace) }
      if pace > 0, at &+ 2 &* StreamTable.chunkFrames >= length { stream.pointee.expect(0, pace: pace) }
    }
    return isThere
  }

  @_noLocks private func add(
    _ image: UnsafeMutablePointer<AudioImage>, _ channel: Int, to output: UnsafeMutablePointer<Float>,
    _ frames: Int, _ isLooping: Bool, _ scratch: Scratch
  ) {
    let first = image.pointee.plane
    let plane = SamplePlane(base: first.base + image.pointee.stride &* channel, isShort: first.isShort)
    let length = image.pointee.frames
    for index in 0..<frames {
      let place = scratch.places[index]
      let at = Int(place >> 32)
      var value = plane[at]
      if UInt32(truncatingIfNeeded: place) != 0 {
        let fraction = Float(UInt32(truncatingIfNeeded: place) &>> 9) / 8_388_608
        var before = plane[at &- 1]
        var after = plane[at &+ 1]
        var second = plane[at &+ 2]
        if isLooping {
          if at == 0 { before = plane[length &- 1] }
          if at &+ 1 >= length { after = plane[(at &+ 1) % length] }
          if at &+ 2 >= length { second = plane[(at &+ 2) % length] }
        }
        // The spline of `Taps.interpolated`.
        let c1 = (after - before) * 0.5
        let c2 = before - value * 2.5 + after * 2 - second * 0.5
        let c3 = (second - before) * 0.5 + (value - after) * 1.5
        value = ((c3 * fraction + c2) * fraction + c1) * fraction + value
      }
      output[index] += value * scratch.gains[index]
    }
  }
}
