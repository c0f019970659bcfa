import CVector
import Patch
import Realtime

/// Waves from tables, from one to the next.
///
/// A frequency has a table whose harmonics fit below half the rate, and fades to the next one before its highest would
/// pass it. So nothing aliases but what the interpolation leaves.
public struct Wavetable: Kernel {
  public static let description = KindDescription(
    name: "wavetable", summary: "Waves of a file, from one to the next; of its own without one.",
    category: .source, outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      ParameterDescription(
        "file",
        "Waves one after the other, in a sound file; without it sine, triangle, saw, square, narrow pulse.",
        form: .file(.wavetable), default: .text(""), smoothing: .none),
      .count(
        "frames", "Frames of a wave in the file; a shorter file is one wave.", default: 2048,
        range: 8...65_536,
        smoothing: .none),
      .frequency(
        "freq",
        "Frequency; a list gives one a channel. Backwards where modulated below zero; silent above half the rate.",
        default: 220, range: 0...24_000, isPerChannel: true),
      .number(
        "position", "Place among the waves, from the first to the last.", default: 0, range: 0...100,
        unit: .percent, isPerChannel: true),
      .gain("level", "Gain of the waves.", default: -12, isPerChannel: true),
      .count(
        "channels",
        "How many waves, one a channel; at least one for each channel of cables into parameters.",
        default: 1, smoothing: .kernel),
    ], amplification: .byModulation(of: ["level"]), cost: .init(20, perChannel: 350))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 2 } }
  public static var position: Int { @_noLocks get { 3 } }
  public static var level: Int { @_noLocks get { 4 } }
  public static var channels: Int { @_noLocks get { 5 } }

  private var count: Int
  private let levels: WaveLevels
  private let builtIn: UnsafeMutablePointer<WavetableImage>
  private var phases: UnsafeMutablePointer<Int32>
  /// The file that is heard; nil: the program's own waves. `before`: the one that fades out.
  private var image, before: UnsafeMutablePointer<WavetableImage>?
  /// A file that waits until a fade has ended.
  private var next: UnsafeMutablePointer<WavetableImage>?
  private var hasNext = false
  private var fade = Ramp(1)
  private var rate: Double
  private var mute = QuietCell()
  /// Nothing is heard that would have to fade out.
  private var isNew = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { $0.take(Int32.self, configuration.outputs[0]) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    rate = configuration.rate
    levels = WaveLevels.shared
    builtIn = WavetableImage.builtIn
    var arena = Arena(memory)
    phases = arena.take(Int32.self, count)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    rate = new
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = arena.reserve(wide &* 4).assumingMemoryBound(to: Int32.self)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new[channel] = from >= 0 ? phases[from] : 0
      channel &+= 1
    }
    (phases, count) = (new, wide)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard mute.isQuiet, !fade.isMoving, !hasNext, before == nil else { return false }
    isNew = true
    return true
  }

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    var new: UnsafeMutablePointer<WavetableImage>?
    if let resource, resource.pointee.type == WavetableImage.type {
      new = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: WavetableImage.self)
      new?.pointee.header.count(1)
    }
    if isNew {
      image?.pointee.header.count(-1)
      image = new
    } else {
      next?.pointee.header.count(-1)
      (next, hasNext) = (new, true)
    }
  }

  /// Fades to the file that waits.
  @_noLocks private mutating func takeNext() {
    (before, image) = (image, next)
    (next, hasNext) = (nil, false)
    fade = Ramp(0)
    fade.move(to: 1, over: Int(0.010 * rate))
  }

  /// Worker.
  public mutating func release() {
    for used in [image, before, next] { used?.pointee.header.returned += 1 }
    (image, before, next) = (nil, nil, nil)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (freq, level) = (block.parameters[Self.freq], block.parameters[Self.level])
    let isMute = level.isZero(block)
    mute.update(block, silent: isMute)
    isNew = false
    if !fade.isMoving {
      before?.pointee.header.count(-1)
      before = nil
      if hasNext { takeNext() }
    }
    var room = Arena(block.scratch)
    let work = WavetableWork(&room)
    let isFading = fade.isMoving
    if isFading { fade.fill(work.fade, frames: block.frames) }
    let scale = MovingPhases.scale(block.rate)
    var course = self.course(freq, 0, scale, block.frames, work)
    let position = block.parameters[Self.position]
    var one = work.findLevels(course, levels, position, block.frames)
    var channel = 0
    while channel < count {
      // One frequency has one course, and its levels, in all channels.
      if channel > 0, freq.elements > 1 {
        course = self.course(freq, channel, scale, block.frames, work)
        one = work.findLevels(course, levels, position, block.frames)
      }
      let to = block.outputs[0][channel]
      if level.isSteady, level.value(channel) == 0 {
        // A voice that is not heard costs nothing.
        work.clear(to)
      } else {
        let places = work.place(course, phases[channel], block.frames)
        let isPlain = !isFading && level.isSteady && course.size <= MovingPhases.highest
        let gain = isPlain ? level.value(channel) : 1
        work.read(
          image ?? builtIn, course, places, position, channel, levels, one, gain, block.frames, to: to)
        if isFading {
          work.readOther(
            before ?? builtIn, course, places, position, channel, levels, one, gain, block.frames)
        }
        if !isPlain { work.finish(course, level, channel, isFading, block.frames, to) }
      }
      phases[channel] &+= course.end
      channel &+= 1
    }
    return isMute ? .silent : .sounding
  }

  /// Phases of a channel, from its own on where they move.
  @inline(__always) @_noLocks private func course(
    _ freq: ParameterStream, _ channel: Int, _ scale: Double, _ frames: Int, _ work: WavetableWork
  ) -> PhaseCourse {
    guard let frequencies = freq.frames(channel) else {
      return PhaseCourse(freq.value(channel), scale, frames)
    }
    return PhaseCourse(frequencies, scale, from: phases[channel], frames, work.moving)
  }
}

/// Scratch of one channel's block.
struct WavetableWork: BitwiseCopyable {
  let moving: MovingPhases
  let fade, other: UnsafeMutablePointer<Float>
  private let places: UnsafeMutablePointer<UInt32>
  private let phases, numbers, waves: UnsafeMutablePointer<Int32>
  private let blends, shares: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    moving = MovingPhases(&room)
    fade = room.take(Float.self, blockCapacity)
    other = room.take(Float.self, blockCapacity)
    places = room.reserve(32 &* 4).assumingMemoryBound(to: UInt32.self)
    phases = room.reserve(blockCapacity &* 4).assumingMemoryBound(to: Int32.self)
    numbers = room.reserve(blockCapacity &* 4).assumingMemoryBound(to: Int32.self)
    waves = room.reserve(blockCapacity &* 4).assumingMemoryBound(to: Int32.self)
    blends = room.take(Float.self, blockCapacity)
    shares = room.take(Float.self, blockCapacity)
  }

  @inline(__always) @_noLocks private func store(
    _ v: SIMD16<Int32>, _ to: UnsafeMutablePointer<Int32>, _ frame: Int
  ) {
    UnsafeMutableRawPointer(to + frame).storeBytes(of: v, as: SIMD16<Int32>.self)
  }

  /// A silent block.
  @inline(__always) @_noLocks func clear(_ to: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < blockCapacity {
      to.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
  }

  /// The phases of a channel that begins the block at `start`.
  @inline(__always) @_noLocks func place(_ course: PhaseCourse, _ start: Int32, _ frames: Int)
    -> UnsafeMutablePointer<Int32>
  {
    let after = start &- course.origin
    if let moving = course.moving, after == 0 { return moving.phases }
    var frame = 0
    while frame < frames {
      store(course.phases(from: after, frame), phases, frame)
      frame &+= 16
    }
    return phases
  }

  /// The level that fits all frames, where they have one place among the waves; nil: those of each frame are written.
  @inline(__always) @_noLocks func findLevels(
    _ course: PhaseCourse, _ levels: WaveLevels, _ position: ParameterStream, _ frames: Int
  ) -> Int32? {
    let (number, blend) = levels.level((course.moving?.sizes[0] ?? course.size) * (1 / 2_147_483_648))
    if position.isSteady {
      guard let moving = course.moving else { return number }
      if levels.fits(number, moving.sizes, course.size, frames) { return number }
    }
    writeLevels(course, levels, number, blend, frames)
    return nil
  }

  /// Writes which levels fit. `steady`: that of a steady frequency, with its `blend`.
  @inline(never) @_noLocks private func writeLevels(
    _ course: PhaseCourse, _ levels: WaveLevels, _ steady: Int32, _ blend: Float, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      guard let moving = course.moving else {
        store(SIMD16(repeating: steady), numbers, frame)
        blends.store(Frames(repeating: blend), frame)
        frame &+= 16
        continue
      }
      let sizes = moving.sizes.vector(frame) * (1 / 2_147_483_648)
      if let (number, few) = levels.levels(sizes) {
        store(SIMD16(repeating: number), numbers, frame)
        blends.store(few, frame)
      } else {
        var lane = frame
        while lane < frame &+ 16 {
          let (number, blend) = levels.level(moving.sizes[lane] * (1 / 2_147_483_648))
          numbers[lane] = number
          blends[lane] = blend
          lane &+= 1
        }
      }
      frame &+= 16
    }
  }

  /// Reads the waves of an image, times a gain. `one`: the level of all frames, which then have one place among the waves.
  @inline(__always) @_noLocks func read(
    _ image: UnsafeMutablePointer<WavetableImage>, _ course: PhaseCourse,
    _ phases: UnsafeMutablePointer<Int32>, _ position: ParameterStream, _ channel: Int,
    _ levels: WaveLevels, _ one: Int32?, _ gain: Float, _ frames: Int, to: UnsafeMutablePointer<Float>
  ) {
    guard let one else {
      return readMany(image, phases, position, channel, levels, gain, frames, to: to)
    }
    let last = Float(image.pointee.waves &- 1)
    let (wave, share) = DelayLine.split(limited(position.vector(channel, 0) * 0.01, 0, 1) * last)
    sostenuto_read_one_wave(
      image.pointee.tables + Int(wave[0]) &* levels.stride, Int64(truncatingIfNeeded: levels.stride),
      share[0],
      levels.levels + Int(one), phases, course.moving?.sizes, course.size, gain,
      Int64(truncatingIfNeeded: frames), to)
  }

  /// The same of the image before, amid a fade. Not inlined: it would take registers from the other.
  @inline(never) @_noLocks func readOther(
    _ image: UnsafeMutablePointer<WavetableImage>, _ course: PhaseCourse,
    _ phases: UnsafeMutablePointer<Int32>, _ position: ParameterStream, _ channel: Int,
    _ levels: WaveLevels, _ one: Int32?, _ gain: Float, _ frames: Int
  ) {
    read(image, course, phases, position, channel, levels, one, gain, frames, to: other)
  }

  @inline(never) @_noLocks private func readMany(
    _ image: UnsafeMutablePointer<WavetableImage>, _ phases: UnsafeMutablePointer<Int32>,
    _ position: ParameterStream, _ channel: Int, _ levels: WaveLevels, _ gain: Float, _ frames: Int,
    to: UnsafeMutablePointer<Float>
  ) {
    let last = Float(image.pointee.waves &- 1)
    var frame = 0
    while frame < frames {
      let place = limited(position.vector(channel, frame) * 0.01, 0, 1) * last
      let (whole, part) = DelayLine.split(place)
      store(whole, waves, frame)
      shares.store(part, frame)
      let y = sostenuto_read_waves(
        image.pointee.tables, Int64(truncatingIfNeeded: levels.stride), levels.levels, phases + frame,
        waves + frame, shares + frame, numbers + frame, blends + frame, places)
      to.store(y * gain + 0, frame)
      frame &+= 16
    }
  }

  /// Fades between files, and near half the rate.
  @inline(never) @_noLocks func finish(
    _ course: PhaseCourse, _ level: ParameterStream, _ channel: Int, _ isFading: Bool, _ frames: Int,
    _ to: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < frames {
      var y = to.vector(frame)
      if isFading {
        let share = fade.vector(frame)
        y = other.vector(frame) * (1 - share) + y * share
      }
      if course.size > MovingPhases.highest { y = y * course.fade(frame) }
      to.store(y * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }
}
