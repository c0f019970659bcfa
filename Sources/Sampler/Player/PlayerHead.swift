import CVector
import Realtime

/// A playing position in a file.
struct PlayerHead {
  /// Scratch memory of `render`, which is the block's: 64 values each, padded for whole vectors.
  struct Scratch {
    var gains: UnsafeMutablePointer<Float>
    var fades: UnsafeMutablePointer<Float>
    /// Positions (32.32), and the frames of the file per frame of output without their sign.
    var places: UnsafeMutablePointer<Int64>
    var paces: UnsafeMutablePointer<Float>
    /// Numbers of the kernels.
    var mixes: UnsafeMutablePointer<Float>
    var partials: UnsafeMutablePointer<Float>
    /// The four frames around each of sixteen positions of which some are near a loop's seam.
    var strips: UnsafeMutablePointer<Float>
    /// The sound of two channels.
    var left: UnsafeMutablePointer<Float>
    var right: UnsafeMutablePointer<Float>
    var kernels: SincKernels.Tables

    /// Audio thread.
    @_noLocks init(_ memory: UnsafeMutableRawPointer, _ kernels: SincKernels.Tables) {
      var arena = Arena(memory)
      gains = arena.take(Float.self, 80)
      fades = arena.take(Float.self, 80)
      places = arena.reserve(80 &* 8).assumingMemoryBound(to: Int64.self)
      paces = arena.take(Float.self, 80)
      mixes = arena.take(Float.self, 80)
      partials = arena.take(Float.self, SincTable.partials)
      strips = arena.take(Float.self, 64)
      left = arena.take(Float.self, 80)
      right = arena.take(Float.self, 80)
      self.kernels = kernels
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
  private var choice = KernelChoice()

  @_noLocks init(quality: UInt8) { self.quality = quality }

  /// Adds the frames `from..<to` of the block to the outputs. Audio thread.
  @_noLocks mutating func render(
    _ block: Block, from: Int, to: Int, isLooping: Bool, rate: Double, _ scratch: Scratch
  ) {
    guard let image else { return }
    let speed = block.parameters[Player.Parameter.rate]
    let base = image.pointee.rate / rate
    if isNew, position == 0, !isLooping, speed.frames(0).map({ $0[from] }) ?? speed.value(0) < 0 {
      // Backwards it begins at the end.
      position = image.pointee.end(false) &- (1 &<< 32)
    }
    let course =
      speed.frames(0).map { advance(image, to &- from, isLooping, $0 + from, base, scratch) }
      ?? advance(image, to &- from, isLooping, speed.value(0), base, scratch)
    let frames = course.frames
    guard frames > 0 else { return }
    pad(frames, scratch)
    let level = block.parameters[Player.Parameter.level]
    setGains(to &- from, level, from, scratch)
    follow(course, rate, scratch)
    if let stream = image.pointee.stream,
      !isRead(stream, image, frames, isLooping, pace: Double(speed.value(0)) * base, scratch)
    {
      return
    }
    let kernel = quality > 1 ? choice.follow(course, scratch) : 0
    read(image, block.outputs[0], from, course, isLooping, quality, kernel, scratch)
  }

  /// The frames for which positions and paces have been written.
  struct Course {
    /// Fewer at the end of the file.
    var frames: Int
    /// The first and the last frame of the file at a position.
    var least: Int
    var most: Int
    /// The least and the largest pace.
    var slowest: Float = 4096
    var fastest: Float = 0
    /// All paces are the same.
    var isEven = false
    /// The positions are successive frames of the file.
    var isPlain = false
  }

  /// Repeats the last position and pace up to whole vectors.
  @_noLocks @inline(__always) private func pad(_ frames: Int, _ scratch: Scratch) {
    var frame = frames
    while frame & 15 != 0 {
      scratch.places[frame] = scratch.places[frames &- 1]
      scratch.paces[frame] = scratch.paces[frames &- 1]
      frame &+= 1
    }
  }

  /// Writes the next positions and paces, at one speed.
  @_noLocks @inline(__always) private mutating func advance(
    _ image: UnsafeMutablePointer<AudioImage>, _ count: Int, _ isLooping: Bool, _ speed: Float,
    _ base: Double, _ scratch: Scratch
  ) -> Course {
    let step = fixedPoint(Double(speed) * base)
    let length = UInt64(bitPattern: image.pointee.end(isLooping))
    let last = position &+ step &* Int64(count &- 1)
    let pace = Self.pace(speed, base)
    setPaces(pace, count, scratch)
    var course: Course
    if UInt64(bitPattern: position) < length, UInt64(bitPattern: last) < length {
      sostenuto_write_places(position, step, 0, Int64(count), scratch.places)
      let (first, final) = (Int(position >> 32), Int(last >> 32))
      course = Course(
        frames: count, least: first < final ? first : final, most: first < final ? final : first)
      course.isPlain = step == 1 &<< 32 && UInt32(truncatingIfNeeded: position) == 0
      position = last &+ step
    } else {
      course = Course(frames: 0, least: .max, most: 0)
      while course.frames < count, wrap(image, isLooping) { take(position, step, &course, scratch) }
    }
    (course.slowest, course.fastest) = (pace, pace)
    course.isEven = true
    return course
  }

  /// The same with a speed of each frame's own.
  @_noLocks @inline(never) private mutating func advance(
    _ image: UnsafeMutablePointer<AudioImage>, _ count: Int, _ isLooping: Bool,
    _ speeds: UnsafePointer<Float>, _ base: Double, _ scratch: Scratch
  ) -> Course {
    var course = Course(frames: 0, least: .max, most: 0)
    let played = sostenuto_play_places(
      speeds, base, position, Int64(truncatingIfNeeded: count & ~15), scratch.places, scratch.paces)
    // A run that leaves the file, or goes round in it, is followed frame by frame.
    if count > 15, played.least >= 0, played.most < image.pointee.end(isLooping) {
      course = Course(
        frames: count & ~15, least: Int(played.least >> 32), most: Int(played.most >> 32),
        slowest: played.slowest, fastest: played.fastest)
      position = played.end
    }
    while course.frames < count, wrap(image, isLooping) {
      let speed = speeds[course.frames]
      let pace = Self.pace(speed, base)
      scratch.paces[course.frames] = pace
      course.slowest = pace < course.slowest ? pace : course.slowest
      course.fastest = pace > course.fastest ? pace : course.fastest
      take(position, fixedPoint(Double(speed) * base), &course, scratch)
    }
    return course
  }

  /// Frames of the file per frame of output, without their sign.
  @_noLocks @inline(__always) private static func pace(_ speed: Float, _ base: Double) -> Float {
    let pace = (speed < 0 ? 0 - speed : speed) * Float(base)
    return pace < 4096 ? pace : 4096
  }

  @_noLocks @inline(__always) private func setPaces(_ pace: Float, _ count: Int, _ scratch: Scratch) {
    var index = 0
    while index < count {
      store(SIMD16(repeating: pace), scratch.paces + index)
      index &+= 16
    }
  }

  /// One frame more, at `place`.
  @_noLocks @inline(__always)
  private mutating func take(_ place: Int64, _ step: Int64, _ course: inout Course, _ scratch: Scratch) {
    let at = Int(place >> 32)
    scratch.places[course.frames] = place
    course.least = at < course.least ? at : course.least
    course.most = at > course.most ? at : course.most
    course.frames &+= 1
    position = place &+ step
  }

  /// Brings the position of a loop back into the file; false, and the head has ended, where there is none.
  @_noLocks @inline(__always)
  private mutating func wrap(_ image: UnsafeMutablePointer<AudioImage>, _ isLooping: Bool) -> Bool {
    let length = image.pointee.end(isLooping)
    guard UInt64(bitPattern: position) >= UInt64(bitPattern: length) else { return true }
    guard isLooping else {
      hasEnded = true
      return false
    }
    position = position % length
    if position < 0 { position = position &+ length }
    return true
  }

  /// The gains of the fade and of the level.
  @_noLocks @inline(__always) private mutating func setGains(
    _ frames: Int, _ level: ParameterStream, _ from: Int, _ scratch: Scratch
  ) {
    if level.isSteady, !fade.isMoving {
      let gain = SIMD16(repeating: fade.target * level.value(0))
      var index = 0
      while index < frames {
        store(gain, scratch.gains + index)
        index &+= 16
      }
      return
    }
    var index = 0
    // Mostly the level moves and no fade does.
    if !fade.isMoving, from == 0, frames == blockCapacity, let levels = level.frames(0) {
      while index < frames {
        store(vector(levels + index) * fade.target, scratch.gains + index)
        index &+= 16
      }
      return
    }
    fade.fill(scratch.gains, frames: frames)
    if let levels = level.frames(0) {
      // Whole vectors of a block that begins with one end within its memory.
      while from & 15 == 0, index < frames {
        store(vector(scratch.gains + index) * vector(levels + (from &+ index)), scratch.gains + index)
        index &+= 16
      }
      while index < frames {
        scratch.gains[index] *= levels[from &+ index]
        index &+= 1
      }
    } else {
      let steady = level.value(0)
      while index < frames {
        store(vector(scratch.gains + index) * steady, scratch.gains + index)
        index &+= 16
      }
    }
  }

  /// Multiplies the gains by the presence.
  @_noLocks private mutating func follow(_ course: Course, _ rate: Double, _ scratch: Scratch) {
    let frames = course.frames
    if !isNew, isMoving, !presence.isMoving, course.slowest >= Self.slowest { return }
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
      var end = course.isEven ? frames : index &+ 1
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
