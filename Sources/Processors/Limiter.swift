import CVector
import Patch
import Realtime

/// Keeps peaks below a ceiling, those between frames too.
///
/// It looks ahead: each peak asks for a gain, which holds for as long as the least of a window (`sostenuto_least_of_last`),
/// rises again in the release's time, and is smoothed by two moving averages. The window is as long as both, and longer by
/// what a peak between frames is made from, so that the whole neighbourhood of a peak has the gain that it asks for. The
/// averages are of whole numbers, so that no rounding adds up, and 1 is 1. The sound is late by the same time: `latency`.
public struct Limiter: Kernel {
  public static let description = KindDescription(
    name: "limiter", summary: "Keeps peaks below a ceiling, those between frames too.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .level("ceiling", "Peaks never exceed it.", default: -1, range: -60...0),
      .number(
        "release", "Time of 63 % of the way back to where it was.", default: 0.1, range: 0.001...2,
        unit: .seconds),
      ParameterDescription(
        "peaks",
        "`true`: also between frames, as BS.1770 has it. `sample` limits sample peaks only; it costs less CPU and has less latency (62 instead of 82 frames at 48 kHz).",
        form: .choice(["true", "sample"]), range: 0...1, default: .text("true"), smoothing: .structural),
      Dynamics.link,
    ], amplification: .never, cost: .init(60, perChannel: 60),
    readings: [ReadingDescription("reduction", "By how much it makes softer now.", unit: .decibels)])

  /// Positions in `description.parameters`.
  public static var ceiling: Int { @_noLocks get { 0 } }
  public static var release: Int { @_noLocks get { 1 } }
  public static var peaks: Int { @_noLocks get { 2 } }
  public static var link: Int { @_noLocks get { 3 } }

  private let span: LimiterSpan
  private var memory: LimiterMemory
  private var quiet = QuietCell()
  private var quietFrames = 0
  private var isAsleep = true

  public static var worksInPlace: Bool { true }

  public static func latency(_ configuration: KernelConfiguration) -> Int {
    LimiterSpan(configuration).latency
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { LimiterMemory(configuration.inputs[0], isLinked: isLinked(configuration), &$0) }
  }

  private static func isLinked(_ configuration: KernelConfiguration) -> Bool {
    configuration.value(link) > 0.5
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    span = LimiterSpan(configuration)
    var arena = Arena(memory)
    self.memory = LimiterMemory(
      configuration.inputs[0], isLinked: Self.isLinked(configuration), &arena)
    self.memory.reset(span)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = LimiterMemory(inputs, isLinked: self.memory.isLinked, &arena)
    wide.reset(span)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: self.memory.channels, to: inputs)
      if from >= 0 { wide.copy(channel, self.memory, from) }
      channel &+= 1
    }
    if wide.isLinked { wide.gain(0).copy(self.memory.gain(0)) }
    self.memory = wide
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    guard quietFrames > span.latency &+ blockCapacity else { return false }
    var gain = 0
    while gain < memory.gains {
      guard memory.gain(gain).isIdle(span) else { return false }
      gain &+= 1
    }
    isAsleep = true
    return true
  }

  /// The reduction of the most reduced channel, in decibels.
  @_noLocks public func reading(_ position: Int) -> Float {
    var least: Float = 1
    var gain = 0
    while gain < memory.gains {
      let now = memory.gain(gain).state.pointee.now
      if now < least { least = now }
      gain &+= 1
    }
    if least == 1 { return 0 }
    return -6.020_6 * logarithm2(least > 1e-6 ? least : 1e-6)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, output) = (block.inputs[0], block.outputs[0])
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { quietFrames = 0 }
    var channel = 0
    while channel < memory.channels {
      copyMemory(memory.sound(channel), input[channel], blockCapacity &* 4)
      channel &+= 1
    }
    var gain = 0
    while gain < memory.gains {
      let first = memory.isLinked ? 0 : gain
      let end = memory.isLinked ? memory.channels : gain &+ 1
      let isIdle = reduce(block, memory.gain(gain), first, end)
      channel = first
      while channel < end {
        let late = memory.sound(channel) - span.latency
        if isIdle {
          multiplyWhole(late, 1, to: output[channel])
        } else {
          multiplyWhole(late, UnsafePointer(memory.gain(gain).parts), to: output[channel])
        }
        keepHistory(memory.sound(channel) - span.history, span.history, block.frames)
        channel &+= 1
      }
      gain &+= 1
    }
    return .sounding
  }

  /// Brings the gain of some channels to this block's frames; true: it is 1 throughout.
  @inline(__always) @_noLocks private mutating func reduce(
    _ block: Block, _ row: LimiterGain, _ first: Int, _ end: Int
  ) -> Bool {
    let ceiling = block.parameters[Self.ceiling]
    let isQuiet = ceiling.isSteady && loudest(first, end) * 2.31 <= ceiling.value(0)
    if isQuiet, row.isIdle(span) { return true }
    smooth(block, row, first, end, isQuiet: isQuiet)
    return false
  }

  /// The loudest frame of those from which this block's peaks are made. What is behind its frames may make it louder.
  @inline(__always) @_noLocks private mutating func loudest(_ first: Int, _ end: Int) -> Float {
    var most = SIMD16<UInt32>(repeating: 0)
    var channel = first
    while channel < end {
      let sound = memory.sound(channel)
      var frame = -32
      while frame < blockCapacity {
        most = sostenuto_larger(
          most, unsafeBitCast(magnitude(sound.vector(frame)), to: SIMD16<UInt32>.self))
        frame &+= 16
      }
      channel &+= 1
    }
    return Float(bitPattern: largest(most))
  }

  @inline(never) @_noLocks private mutating func smooth(
    _ block: Block, _ row: LimiterGain, _ first: Int, _ end: Int, isQuiet: Bool
  ) {
    let frames = block.frames
    let ceiling = block.parameters[Self.ceiling]
    let release = block.parameters[Self.release]
    let one = Frames(repeating: 1)
    var least = one
    var frame = 0
    while frame < frames {
      var asked = one
      if !isQuiet {
        // A hundredth of a decibel for what a gain that moves adds between frames.
        let limit = atLeast(1e-6, ceiling.vector(0, frame)) * 0.999
        asked = atMost(1, limit / atLeast(1e-9, peaks(first, end, frame)))
        asked = sostenuto_join(asked, one, Int32(truncatingIfNeeded: frames &- frame))
      }
      least = sostenuto_lesser(least, asked)
      row.asked.store(asked, frame)
      frame &+= 16
    }
    var arena = Arena(block.scratch)
    let work = arena.take(Float.self, blockCapacity, after: 464)
    let shares = arena.take(Float.self, blockCapacity)
    sostenuto_least_of_last(row.asked, work, Int64(truncatingIfNeeded: span.window))
    frame = 0
    while frame < frames {
      shares.store(sostenuto_approaches(release.vector(0, frame) * block.rate), frame)
      frame &+= 16
    }
    let state = row.state
    state.pointee.below = sostenuto_recover(
      work, state.pointee.below, shares, Int64(truncatingIfNeeded: frames))
    average(row, work, frames)
    let isOne = !sostenuto_has_below(least, 1) && state.pointee.below == 0
    let idle = isOne ? state.pointee.idle &+ Int32(truncatingIfNeeded: frames) : 0
    state.pointee.idle = idle < 1 << 20 ? idle : 1 << 20
    keepHistory(row.asked - 288, 288, frames)
  }

  /// Smooths the gains in `work`, to `row.parts` as floats.
  @inline(__always) @_noLocks private mutating func average(
    _ row: LimiterGain, _ work: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    let (count, order) = (Int64(truncatingIfNeeded: frames), Int64(truncatingIfNeeded: span.order))
    let state = row.state
    var frame = 0
    while frame < frames {
      row.first.store(unsafeBitCast(sostenuto_parts(work.vector(frame)), to: Frames.self), frame)
      frame &+= 16
    }
    state.pointee.firstSum = sostenuto_sums_of_last(
      LimiterGain.whole(row.first), LimiterGain.whole(row.parts), state.pointee.firstSum, order, count)
    frame = 0
    while frame < frames {
      let sums = unsafeBitCast(row.parts.vector(frame), to: SIMD16<Int32>.self)
      let means = sostenuto_means(sums, Int32(truncatingIfNeeded: span.order))
      row.second.store(unsafeBitCast(means, to: Frames.self), frame)
      frame &+= 16
    }
    state.pointee.secondSum = sostenuto_sums_of_last(
      LimiterGain.whole(row.second), LimiterGain.whole(row.parts), state.pointee.secondSum, order, count)
    frame = 0
    while frame < frames {
      let sums = unsafeBitCast(row.parts.vector(frame), to: SIMD16<Int32>.self)
      row.parts.store(sostenuto_gains(sostenuto_means(sums, Int32(truncatingIfNeeded: span.order))), frame)
      frame &+= 16
    }
    state.pointee.now = row.parts[frames &- 1]
    keepHistory(row.first - LimiterGain.history, LimiterGain.history, frames)
    keepHistory(row.second - LimiterGain.history, LimiterGain.history, frames)
  }

  /// The loudest peaks of some channels.
  @inline(__always) @_noLocks private mutating func peaks(_ first: Int, _ end: Int, _ frame: Int) -> Frames {
    var most = Frames(repeating: 0)
    var channel = first
    while channel < end {
      let sound = memory.sound(channel) + frame
      let peaks = span.isTrue ? sostenuto_true_peaks(sound) : magnitude(sound.vector(0))
      most = unsafeBitCast(
        sostenuto_larger(
          unsafeBitCast(most, to: SIMD16<UInt32>.self), unsafeBitCast(peaks, to: SIMD16<UInt32>.self)),
        to: Frames.self)
      channel &+= 1
    }
    return most
  }
}

/// How far a limiter looks, in frames: two thirds of a millisecond in each average. It keeps them at another rate, since other
/// paths wait for it.
private struct LimiterSpan: BitwiseCopyable {
  /// An average has 2^order frames.
  let order: Int
  let isTrue: Bool

  init(_ configuration: KernelConfiguration) {
    isTrue = configuration.value(Limiter.peaks) < 0.5
    var order = 3
    while order < 7, Double(1 << order) * 1500 < configuration.rate { order += 1 }
    self.order = order
  }

  /// Frames on either side of a peak between frames that keep its gain.
  private var edge: Int { @inline(__always) @_noLocks get { isTrue ? 8 : 0 } }
  /// Frames after which a peak is known.
  private var ahead: Int { @inline(__always) @_noLocks get { isTrue ? 12 : 0 } }
  var latency: Int { @inline(__always) @_noLocks get { (2 &<< order) &- 2 &+ edge &+ ahead } }
  /// Frames for which a peak's gain holds.
  var window: Int { @inline(__always) @_noLocks get { (2 &<< order) &+ 2 &* edge } }
  /// Frames of sound that are kept.
  var history: Int { @inline(__always) @_noLocks get { latency < 32 ? 32 : (latency &+ 15) & ~15 } }
}

/// State of one gain.
private struct LimiterGain {
  struct State: BitwiseCopyable {
    /// Distance of the gain below 1.
    var below: Float = 0
    /// The gain after both averages.
    var now: Float = 1
    var firstSum: Int32 = 0
    var secondSum: Int32 = 0
    /// Frames for which nothing has asked for less than 1.
    var idle: Int32 = 0
  }

  /// Frames that the averages need, at most.
  static var history: Int { @inline(__always) @_noLocks get { 128 } }

  let state: UnsafeMutablePointer<State>
  /// The gains that peaks ask for.
  let asked: UnsafeMutablePointer<Float>
  /// Averaged gains, as whole numbers.
  let first, second: UnsafeMutablePointer<Float>
  /// The gains in the end, after sums as whole numbers. Only in use within a block.
  let parts: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    state = arena.reserve(MemoryLayout<State>.size).assumingMemoryBound(to: State.self)
    asked = arena.take(Float.self, blockCapacity, after: 288)
    first = arena.take(Float.self, blockCapacity, after: Self.history)
    second = arena.take(Float.self, blockCapacity, after: Self.history)
    parts = arena.take(Float.self, blockCapacity)
  }

  /// Every number in its rows, and those that its sums are made from, is 1.
  @inline(__always) @_noLocks func isIdle(_ span: LimiterSpan) -> Bool {
    Int(state.pointee.idle) >= span.window &+ (2 &<< span.order)
  }

  @inline(__always) @_noLocks static func whole(_ row: UnsafeMutablePointer<Float>) -> UnsafeMutablePointer<
    Int32
  > {
    UnsafeMutableRawPointer(row).assumingMemoryBound(to: Int32.self)
  }

  @_noLocks func reset(_ span: LimiterSpan) {
    state.pointee = State()
    state.pointee.firstSum = 4_194_304 &<< Int32(truncatingIfNeeded: span.order)
    state.pointee.secondSum = state.pointee.firstSum
    state.pointee.idle = 1 << 20
    var frame = -288
    while frame < 0 {
      asked[frame] = 1
      frame &+= 1
    }
    frame = 0 &- Self.history
    while frame < 0 {
      Self.whole(first)[frame] = 4_194_304
      Self.whole(second)[frame] = 4_194_304
      frame &+= 1
    }
  }

  @_noLocks func copy(_ other: LimiterGain) {
    state.pointee = other.state.pointee
    copyMemory(asked - 288, other.asked - 288, 288 &* 4)
    copyMemory(first - Self.history, other.first - Self.history, Self.history &* 4)
    copyMemory(second - Self.history, other.second - Self.history, Self.history &* 4)
  }
}

/// Memory of a limiter, of the same size for any rate.
private struct LimiterMemory: BitwiseCopyable {
  let channels: Int
  let isLinked: Bool
  private let rows: UnsafeMutableRawPointer
  private let rowSize: Int
  private let sounds: UnsafeMutablePointer<Float>

  private static var soundHistory: Int { @inline(__always) @_noLocks get { 288 } }

  @_noLocks init(_ channels: Int, isLinked: Bool, _ arena: inout Arena) {
    self.channels = channels
    self.isLinked = isLinked
    var row = Arena(measuring: ())
    _ = LimiterGain(&row)
    rowSize = row.bytes
    rows = arena.reserve((isLinked ? 1 : channels) &* rowSize)
    sounds = arena.take(Float.self, channels &* (Self.soundHistory &+ blockCapacity))
  }

  var gains: Int { @inline(__always) @_noLocks get { isLinked ? 1 : channels } }

  @inline(__always) @_noLocks func gain(_ number: Int) -> LimiterGain {
    var arena = Arena(rows + number &* rowSize)
    return LimiterGain(&arena)
  }

  /// A channel's frames of this block, behind those before.
  @inline(__always) @_noLocks func sound(_ channel: Int) -> UnsafeMutablePointer<Float> {
    sounds + (channel &* (Self.soundHistory &+ blockCapacity) &+ Self.soundHistory)
  }

  @_noLocks func reset(_ span: LimiterSpan) {
    var number = 0
    while number < gains {
      gain(number).reset(span)
      number &+= 1
    }
  }

  @_noLocks func copy(_ channel: Int, _ other: Self, _ from: Int) {
    copyMemory(
      sound(channel) - Self.soundHistory, other.sound(from) - Self.soundHistory, Self.soundHistory &* 4)
    if !isLinked { gain(channel).copy(other.gain(from)) }
  }
}
