import CVector
import Patch
import Realtime

/// A cloud of grains of a sound.
///
/// Grains begin by a count of their own, and what each one is follows from its number and the seed, so that any split gives the
/// same bits. What a grain is stays as it was when it began, also its file.
public struct Granular: Kernel {
  public static let description = KindDescription(
    name: "granular", summary: "A cloud of short grains of a file: from anywhere in it, at any pitch.",
    category: .source,
    outputs: [PortDescription("out", .channels(2))],
    parameters: [
      ParameterDescription(
        "file", "The sound, up to ten minutes; of its channels the first two.", form: .file(.sample),
        default: .text(""), smoothing: .none),
      .percent("position", "Place in the file where the next grains begin.", default: 0),
      .number(
        "jitter", "How far they begin from there, either way, by chance.", default: 0.05, range: 0...60,
        unit: .seconds),
      .number("size", "Length of the next grains.", default: 0.1, range: 0.001...4, unit: .seconds),
      .number(
        "density", "Grains a second; fewer where more than 63 would sound at a time.", default: 25,
        range: 0...2000, unit: .hertz),
      .number(
        "scatter", "0 %: they follow evenly; 100 %: by chance, as drops of rain do.", default: 100,
        range: 0...100, unit: .percent),
      .number("pitch", "How much higher the next grains are.", default: 0, range: -48...48, unit: .semitones),
      .number(
        "detune", "How much higher or lower than that by chance.", default: 0, range: 0...24, unit: .semitones
      ),
      .percent("spread", "How far they are to the left or right by chance.", default: 50),
      .gain("level", "Loudness; many grains are as loud as few.", default: -6),
      ParameterDescription(
        "seed", "Another number gives other grains; 0: by the node's name.", form: .integer,
        range: 0...999_999, default: .number(0, .none), smoothing: .structural),
    ], cost: .init(2300))

  /// Positions in `description.parameters`.
  public static var position: Int { @_noLocks get { 1 } }
  public static var jitter: Int { @_noLocks get { 2 } }
  public static var size: Int { @_noLocks get { 3 } }
  public static var density: Int { @_noLocks get { 4 } }
  public static var scatter: Int { @_noLocks get { 5 } }
  public static var pitch: Int { @_noLocks get { 6 } }
  public static var detune: Int { @_noLocks get { 7 } }
  public static var spread: Int { @_noLocks get { 8 } }
  public static var level: Int { @_noLocks get { 9 } }
  public static var seed: Int { @_noLocks get { 10 } }

  /// Grains that sound at a time.
  private static var most: Int { @inline(__always) @_noLocks get { 64 } }
  /// How many are wanted at a time: one less, since grains that follow evenly begin before the first has quite ended.
  private static var wanted: Float { @inline(__always) @_noLocks get { Float(most &- 1) } }

  private let key: UInt64
  private let grains: UnsafeMutablePointer<Grain>
  private var sample: UnsafeMutablePointer<GrainSample>?
  /// Grains so far; how much of the way to the next one is gone, and how long it is (1 in the mean).
  private var number: UInt32 = 0
  private var gone = 0.0
  private var way = 0.0
  private var count = 0
  private var mute = QuietCell()

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    most * MemoryLayout<Grain>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    let seed = configuration.value(Self.seed)
    key = seed > 0 ? UInt64(seed) : configuration.seed
    grains = memory.assumingMemoryBound(to: Grain.self)
    for index in 0..<Self.most { grains[index] = Grain() }
  }

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    if let sample { sample.pointee.header.count(-1) }
    sample = nil
    if let resource, resource.pointee.type == GrainSample.type {
      sample = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: GrainSample.self)
      resource.pointee.count(1)
    }
  }

  public mutating func release() {
    sample?.pointee.header.returned += 1
    sample = nil
    for index in 0..<Self.most { grains[index].release() }
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    for index in 0..<Self.most where grains[index].isSounding { grains[index].retune(by: new / old) }
  }

  public var voices: Int { @_noLocks get { count } }

  /// While it is mute it ends the grains.
  @_noLocks public mutating func isFinished() -> Bool {
    guard mute.isQuiet else { return false }
    var index = 0
    while index < Self.most {
      grains[index].end()
      index &+= 1
    }
    count = 0
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let level = block.parameters[Self.level]
    let isMute = level.isZero(block)
    mute.update(block, silent: isMute || (sample == nil && count == 0))
    if sample == nil, count == 0 { return .silent }
    let rows = Rows(block)
    let (left, right) = (rows[0], rows[1])
    var frame = 0
    while frame < 96 {
      left.store(Frames(repeating: 0), frame)
      right.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
    run(block, rows)
    frame = 0
    while frame < block.frames {
      let gain = level.vector(0, frame)
      block.outputs[0][0].store(left.vector(frame) * gain + 0, frame)
      block.outputs[0][1].store(right.vector(frame) * gain + 0, frame)
      frame &+= 16
    }
    return isMute ? .silent : .sounding
  }

  /// Goes from grain to grain, so that any split adds them up in the same order.
  @inline(__always) @_noLocks private mutating func run(_ block: Block, _ rows: Rows) {
    let (density, size) = (block.parameters[Self.density], block.parameters[Self.size])
    let isSteady = density.isSteady && size.isSteady
    let perFrame = 1 / Double(block.rate)
    var step = Self.pace(density.value(0), size.value(0)) * perFrame
    var (frame, done) = (0, 0)
    while frame < block.frames {
      if !isSteady { step = Self.pace(density.value(0, at: frame), size.value(0, at: frame)) * perFrame }
      // Without density no grain begins, not even the first.
      if gone >= way, step > 0 {
        gone -= way
        add(done, frame, rows)
        done = frame
        start(block, frame)
      }
      gone += step
      frame &+= 1
    }
    add(done, block.frames, rows)
  }

  /// Grains that begin in a second: those that find no room would leave gaps, in which all others end at once.
  @inline(__always) @_noLocks private static func pace(_ density: Float, _ size: Float) -> Double {
    Double(limited(density, 0, limited(wanted / limited(size, 0.001, 4), 0, 2000)))
  }

  /// Adds the grains' frames from one to another.
  @_noLocks private mutating func add(_ first: Int, _ end: Int, _ rows: Rows) {
    guard end > first else { return }
    count = 0
    var index = 0
    while index < Self.most {
      if grains[index].isSounding {
        grains[index].add(rows[0] + first, rows[1] + first, end &- first, rows[2])
        if grains[index].isSounding { count &+= 1 }
      }
      index &+= 1
    }
  }

  /// The place of a grain that begins at `last` at most, so that all of it is within the file as far as that is long enough.
  /// Places beyond an end of the file are reflected there: else many grains would begin at the very same frame.
  @inline(__always) @_noLocks private static func place(
    _ position: Double, _ jitter: Double, upTo last: Double
  ) -> Double {
    guard last >= 1 else { return 0 }
    let there = (position < last ? position : last) + jitter
    let turns = Transport.floor(there / (2 * last))
    let rest = there - turns * (2 * last)
    let place = rest < last ? rest : 2 * last - rest
    return place > 0 ? (place < last ? place : last) : 0
  }

  /// A random number of the present grain, 0..<1.
  @inline(__always) @_noLocks private func chance(_ which: UInt32) -> Float {
    let low = UInt32(truncatingIfNeeded: key) &+ which &* 0x9e37_79b9
    let hash = Noise.mixed(Noise.mixed(number ^ low) &+ UInt32(truncatingIfNeeded: key &>> 32))
    return Float(hash &>> 8) * (1 / 16_777_216)
  }

  @inline(never) @_noLocks private mutating func start(_ block: Block, _ frame: Int) {
    let parameters = block.parameters
    @inline(__always) @_noLocks func value(_ parameter: Int) -> Float {
      parameters[parameter].value(0, at: frame)
    }
    number &+= 1
    let scatter = limited(value(Self.scatter) * 0.01, 0, 1)
    way = Double(1 - scatter - scatter * logarithm(1 - chance(0)))
    // A pause without density ends at once when it comes back.
    if gone > way { gone = way }
    var index = 0
    while index < Self.most, grains[index].isSounding { index &+= 1 }
    guard index < Self.most, let sample else { return }
    let size = limited(value(Self.size), 0.001, 4)
    let length = Int(size * block.rate) &+ 1
    let semitones = value(Self.pitch) + value(Self.detune) * (2 * chance(1) - 1)
    let ratio = exponential2(Double(limited(semitones, -96, 96)) * (1 / 12))
    let frames = Double(sample.pointee.frames)
    let jitter = Double(limited(value(Self.jitter), -60, 60) * block.rate * (2 * chance(2) - 1))
    let place = Self.place(
      Double(limited(value(Self.position) * 0.01, 0, 1)) * frames, jitter,
      upTo: frames - Double(length) * ratio)
    let side = limited(value(Self.spread) * 0.01, 0, 1) * (2 * chance(3) - 1)
    let part = 0.5 + 0.5 * side
    let sides = sineOfQuarters(sostenuto_join(Frames(repeating: 1 - part), Frames(repeating: part), 8))
    let overlap = limited(value(Self.density), 0, 2000) * size
    let gain = 1.414_213_6 / squareRoot(limited(overlap, 1, Self.wanted))
    grains[index] = Grain(
      sample, start: Double(Int(place)), ratio: ratio, length: length, left: sides[0] * gain,
      right: sides[8] * gain)
  }
}
