import Realtime

/// A playing position in a file.
struct PlayerHead {
  /// Scratch memory of `render`: 64 values each, padded for whole vectors.
  struct Scratch {
    var gains: UnsafeMutablePointer<Float>
    var fades: UnsafeMutablePointer<Float>
    /// Positions (32.32), and the frames of the file per frame of output without their sign.
    var places: UnsafeMutablePointer<Int64>
    var paces: UnsafeMutablePointer<Float>
    /// Numbers of the kernels.
    var mixes: UnsafeMutablePointer<Float>
    var partials: UnsafeMutablePointer<Float>
    /// The frames around a position near a loop's seam, for two channels.
    var strips: UnsafeMutablePointer<Float>
    var kernels: SincKernels.Tables

    /// Worker.
    init(_ arena: inout Arena) {
      gains = arena.take(Float.self, 80)
      fades = arena.take(Float.self, 80)
      places = arena.take(Int64.self, 80)
      paces = arena.take(Float.self, 80)
      mixes = arena.take(Float.self, 80)
      partials = arena.take(Float.self, SincTable.partials)
      strips = arena.take(Float.self, 128)
      kernels = SincKernels.shared.tables
    }
  }

  /// Frames of the file per frame below which the player counts as stopped.
  private static var slowest: Float { @_noLocks get { 1 / 256 } }

  var image: UnsafeMutablePointer<AudioImage>?
  /// 32.32 fixed point, in frames of the file.
  var position: Int64 = 0
  var fade = Ramp(1)
  /// Fading out.
  var isLeaving = false
  var hasEnded = false
  /// A stopped tape is silent: the gain falls over 10 ms when the player stops, and rises when it goes on.
  private var presence = Ramp(1)
  private var isMoving = true
  private var isNew = true

  /// 0: four points, 1: eight, 2: 32.
  private let quality: UInt8

  @_noLocks init(quality: UInt8) { self.quality = quality }

  /// Adds the frames `from..<to` of the block to the outputs. Audio thread.
  @_noLocks mutating func render(
    _ block: Block, from: Int, to: Int, isLooping: Bool, rate: Double, _ scratch: Scratch
  ) {
    guard let image else { return }
    let speed = block.parameters[Player.Parameter.rate]
    let base = image.pointee.rate / rate
    fade.fill(scratch.gains, frames: to &- from)
    let step = fixedPoint(Double(speed.value(0)) * base)
    let frames =
      speed.frames(0).map { advance(image, to &- from, isLooping, $0 + from, base, step, scratch) }
      ?? advance(image, to &- from, isLooping, nil, base, step, scratch)
    guard frames > 0 else { return }
    follow(frames, rate, scratch)
    let level = block.parameters[Player.Parameter.level]
    if let levels = level.frames(0) {
      for index in 0..<frames { scratch.gains[index] *= levels[from &+ index] }
    } else {
      let steady = level.value(0)
      for index in 0..<frames { scratch.gains[index] *= steady }
    }
    if let stream = image.pointee.stream,
      !isRead(stream, image, frames, isLooping, pace: Double(speed.value(0)) * base, scratch)
    {
      return
    }
    read(image, block.outputs[0], from, frames, isLooping, quality, scratch)
  }

  /// Writes the next positions and paces. Returns their number, fewer at the end of the file.
  @_noLocks @inline(__always) private mutating func advance(
    _ image: UnsafeMutablePointer<AudioImage>, _ count: Int, _ isLooping: Bool,
    _ speeds: UnsafePointer<Float>?, _ base: Double, _ steady: Int64, _ scratch: Scratch
  ) -> Int {
    let length = Int64(image.pointee.frames) &<< 32
    var step = steady
    var place = position
    for index in 0..<count {
      if UInt64(bitPattern: place) >= UInt64(bitPattern: length) {
        guard isLooping else {
          hasEnded = true
          position = place
          return index
        }
        place = place % length
        if place < 0 { place = place &+ length }
      }
      scratch.places[index] = place
      if let speeds { step = fixedPoint(Double(speeds[index]) * base) }
      scratch.paces[index] = Float(step < 0 ? 0 &- step : step) * (1 / 4_294_967_296)
      place = place &+ step
    }
    position = place
    return count
  }

  /// Multiplies the gains by the presence.
  @_noLocks private mutating func follow(_ frames: Int, _ rate: Double, _ scratch: Scratch) {
    var index = 0
    while index < frames {
      let moves = scratch.paces[index] >= Self.slowest
      if isNew {
        presence = Ramp(moves ? 1 : 0)
      } else if moves != isMoving {
        // Slower to come back, since a move that turns is steeper than one from rest.
        presence.move(to: moves ? 1 : 0, over: Int((moves ? 0.020 : 0.010) * rate))
      }
      isNew = false
      isMoving = moves
      var end = index &+ 1
      while end < frames, (scratch.paces[end] >= Self.slowest) == moves { end &+= 1 }
      if presence.isMoving || !moves {
        presence.fill(scratch.fades, frames: end &- index)
        for frame in index..<end { scratch.gains[frame] *= scratch.fades[frame &- index] }
      }
      index = end
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
      let (low, high) = (at &- SamplePlane.margin, at &+ SamplePlane.margin)
      if low < 0 || low &>> StreamTable.shift != known || high &>> StreamTable.shift != known {
        if !stream.pointee.has(low, high, header) { isThere = false }
        known = low &>> StreamTable.shift == high &>> StreamTable.shift ? low &>> StreamTable.shift : -1
      }
      guard isLooping else { continue }
      if low < 0, !stream.pointee.has(length &+ low, length &- 1, header) { isThere = false }
      if high >= length, !stream.pointee.has(0, high &- length, header) { isThere = false }
    }
    let at = Int(scratch.places[frames &- 1] >> 32)
    stream.pointee.expect(at, pace: pace)
    if isLooping {
      if pace < 0, at < 2 &* StreamTable.chunkFrames { stream.pointee.expect(length &- 1, pace: pace) }
      if pace > 0, at &+ 2 &* StreamTable.chunkFrames >= length { stream.pointee.expect(0, pace: pace) }
    }
    return isThere
  }
}
