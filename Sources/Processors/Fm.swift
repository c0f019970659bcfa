import CVector
import Patch
import Realtime

/// Four sines of which some move the phases of others (J. Chowning, "The synthesis of complex audio spectra by means of
/// frequency modulation", 1973; as phase modulation, which has the same spectra and no drift).
///
/// Each operator has a phase of its own that wraps exactly, so that a chord at rest is the same for any split of the
/// frames. Only the feedback of operator 4 is a recursion: it runs frame by frame, eight channels at once.
public struct Fm: Kernel {
  public static let description = KindDescription(
    name: "fm", summary: "Four operators: sines that move each other's phases.", category: .source,
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .frequency(
        "freq", "Frequency; operators have multiples of it. A list gives one a channel.", default: 440,
        range: 0...24_000, isPerChannel: true),
      .gain("level", "Peak of an operator that is heard, at 100 %.", default: -12, isPerChannel: true),
      .count(
        "algorithm",
        "Who moves whom, and who is heard (numbers as four-operator synthesizers have them). "
          + "1: 4>3>2>1. 2: 3+4>2>1. 3: 3>2>1, 4>1. 4: 4>3>1, 2>1. 5: 4>3, 2>1. 6: 4>1, 4>2, 4>3. "
          + "7: 4>3, 2, 1. 8: all are heard.",
        default: 1, range: 1...8, smoothing: .crossfade),
      .number(
        "feedback", "How far operator 4 moves itself; 100 % is half a turn.", default: 0, range: -100...100,
        unit: .percent, isPerChannel: true),
      .count(
        "channels",
        "How many voices, one a channel; at least one for each channel of cables into parameters.",
        default: 1, smoothing: .kernel),
    ] + (1...4).flatMap(operatorParameters),
    amplification: .byModulation(of: ["level"] + (1...4).map { "op\($0).level" }),
    cost: .init(60, perChannel: 130))

  private static func operatorParameters(_ number: Int) -> [ParameterDescription] {
    [
      .number(
        "op\(number).ratio", "Frequency of operator \(number), as a multiple of `freq`.", default: 1,
        range: 0...64, isPerChannel: true),
      .number(
        "op\(number).level",
        "Where operator \(number) is heard, its amplitude; where it moves others, 100 % is a whole turn.",
        default: number == 1 ? 100 : number == 2 ? 25 : 0, range: 0...400, unit: .percent, isPerChannel: true),
    ]
  }

  /// Positions in `description.parameters`; operators count from 0.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var level: Int { @_noLocks get { 1 } }
  public static var algorithm: Int { @_noLocks get { 2 } }
  public static var feedback: Int { @_noLocks get { 3 } }
  public static var channels: Int { @_noLocks get { 4 } }
  @_noLocks public static func ratio(_ number: Int) -> Int { 5 &+ 2 &* number }
  @_noLocks public static func level(_ number: Int) -> Int { 6 &+ 2 &* number }

  private var count: Int
  /// Phases of the four operators of each channel.
  private var phases: UnsafeMutablePointer<Int32>
  /// The last two phases of operator 4 with their feedback, of eight channels each: in half turns, and as far as a quarter turn,
  /// beyond which the sine has the same values again.
  private var states: UnsafeMutablePointer<Double>
  private var mute = QuietCell()

  private struct Layout {
    let phases: UnsafeMutablePointer<Int32>
    let states: UnsafeMutablePointer<Double>

    @_noLocks init(_ arena: inout Arena, _ channels: Int) {
      phases = arena.take(Int32.self, 4 &* channels)
      states = arena.reserve((channels &+ 7) / 8 &* 128).assumingMemoryBound(to: Double.self)
    }
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(&$0, configuration.outputs[0]) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    var arena = Arena(memory)
    let layout = Layout(&arena, count)
    (phases, states) = (layout.phases, layout.states)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = Layout(&arena, wide)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      var number = 0
      while number < 4 {
        new.phases[4 &* channel &+ number] = from >= 0 ? phases[4 &* from &+ number] : 0
        number &+= 1
      }
      number = 0
      while number < 2 {
        new.states[Self.state(channel, number)] = from >= 0 ? states[Self.state(from, number)] : 0
        number &+= 1
      }
      channel &+= 1
    }
    (phases, states, count) = (new.phases, new.states, wide)
  }

  /// Place of one of the last two phases of a channel's operator 4.
  @inline(__always) @_noLocks private static func state(_ channel: Int, _ number: Int) -> Int {
    (channel &>> 3) &* 16 &+ (channel & 7) &+ 8 &* number
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let isMute = block.parameters[Self.level].isZero(block)
    mute.update(block, silent: isMute)
    let isFed = !block.parameters[Self.feedback].isZero(block)
    var first = 0
    while first < count {
      var room = Arena(block.scratch)
      let many = count &- first < 8 ? count &- first : 8
      var sines: UnsafeMutablePointer<Float>?
      if isFed { sines = turnBack(block, first, many, &room) }
      var work = FmWork(&room)
      var channel = first
      while channel < first &+ many {
        if channel == first || !work.isForAll { work.findCourses(block, channel) }
        if !isMute { prepare(block, channel, &work) }
        if let sines {
          takeSines(block, channel, sines + (channel &- first) &* blockCapacity, &work)
        } else {
          keepLast(block.frames, channel, work.courses.3)
        }
        advance(channel, work)
        if !isMute { write(block, channel, work) }
        channel &+= 1
      }
      first &+= many
    }
    return isMute ? .silent : .sounding
  }

  /// Writes phases and amplitudes of the operators of a channel.
  @inline(__always) @_noLocks private func prepare(
    _ block: Block, _ channel: Int, _ work: inout FmWork
  ) {
    work.sounding = 0
    prepare(block, channel, 0, work.courses.0, &work)
    prepare(block, channel, 1, work.courses.1, &work)
    prepare(block, channel, 2, work.courses.2, &work)
    prepare(block, channel, 3, work.courses.3, &work)
  }

  /// An operator that is silent needs none.
  @inline(__always) @_noLocks private func prepare(
    _ block: Block, _ channel: Int, _ number: Int, _ course: PhaseCourse, _ work: inout FmWork
  ) {
    let level = block.parameters[Self.level(number)]
    if level.isSteady, level.value(channel) == 0 { return }
    work.sounding |= 1 &<< number
    let phase = phases[4 &* channel &+ number]
    let (phasesTo, to) = (work.phases(number), work.amplitudes(number))
    let mayAlias = course.size > MovingPhases.highest
    var frame = 0
    while frame < block.frames {
      UnsafeMutableRawPointer(phasesTo + frame).storeBytes(
        of: course.phases(from: phase, frame), as: SIMD16<Int32>.self)
      var amplitude = level.vector(channel, frame) * 0.01
      if mayAlias { amplitude *= course.fade(frame) }
      to.store(amplitude, frame)
      frame &+= 16
    }
  }

  /// Goes on to the next block.
  @inline(__always) @_noLocks private func advance(_ channel: Int, _ work: FmWork) {
    let phase = phases + 4 &* channel
    phase[0] &+= work.courses.0.end
    phase[1] &+= work.courses.1.end
    phase[2] &+= work.courses.2.end
    phase[3] &+= work.courses.3.end
  }

  /// Sines of operator 4 with its feedback, of up to eight channels, in rows of a block each.
  @inline(never) @_noLocks private mutating func turnBack(
    _ block: Block, _ first: Int, _ many: Int, _ room: inout Arena
  ) -> UnsafeMutablePointer<Float> {
    let rows = room.take(Float.self, 8 &* blockCapacity)
    // Memory that the operators use afterwards.
    var rest = room
    let turned = rest.take(Float.self, 8 &* blockCapacity)
    let fed = rest.take(Float.self, 8 &* blockCapacity)
    let frames = Int64(truncatingIfNeeded: block.frames)
    // So few are not worth a turn to frames.
    if many <= 2 {
      let (last, feedback) = ((many &- 1) &* blockCapacity, block.parameters[Self.feedback])
      let work = UnsafeMutableRawPointer(turned).assumingMemoryBound(to: Double.self)
      if feedback.isSteady {
        fed[0] = Self.turns(feedback.value(first))
        fed[last] = Self.turns(feedback.value(first &+ many &- 1))
      } else {
        feed(block, first, many, many, to: fed)
      }
      fill(block, first, many, rows, &rest)
      sostenuto_turn_back_two(
        rows, rows + last, fed, fed + last, feedback.isSteady, states + 2 &* first, work, frames)
      return rows
    }
    feed(block, first, many, 8, to: rows)
    turn(rows, blockCapacity, to: fed, 8, block.frames)
    fill(block, first, many, rows, &rest)
    turn(rows, blockCapacity, to: turned, 8, block.frames)
    sostenuto_turn_back_eight(turned, fed, states + 2 &* first, frames)
    var frame = 0
    while frame < block.frames {
      sostenuto_turn_eight(turned + 8 &* frame, 8, rows + frame, Int64(truncatingIfNeeded: blockCapacity))
      frame &+= 8
    }
    return rows
  }

  /// Writes the feedback in turns, in a row for each channel. What is no number would never leave a phase.
  @inline(__always) @_noLocks private func feed(
    _ block: Block, _ first: Int, _ many: Int, _ rows: Int, to: UnsafeMutablePointer<Float>
  ) {
    let feedback = block.parameters[Self.feedback]
    var lane = 0
    while lane < rows {
      let row = to + lane &* blockCapacity
      var frame = 0
      while frame < block.frames {
        row.store(
          lane < many
            ? limited(feedback.vector(first &+ lane, frame) * 0.005, -1000, 1000) : Frames(repeating: 0),
          frame)
        frame &+= 16
      }
      lane &+= 1
    }
  }

  /// The same of one frame.
  @inline(__always) @_noLocks private static func turns(_ feedback: Float) -> Float {
    limited(feedback * 0.005, -1000, 1000)
  }

  /// Writes the phases of operator 4, in a row for each channel.
  @inline(__always) @_noLocks private func fill(
    _ block: Block, _ first: Int, _ many: Int, _ rows: UnsafeMutablePointer<Float>, _ room: inout Arena
  ) {
    let (moving, product) = (MovingPhases(&room), room.take(Float.self, blockCapacity))
    let isForAll = FmWork.isForAll(block, 3)
    var course = FmWork.course(block, first, 3, moving, product)
    var lane = 0
    while lane < many {
      if lane > 0, !isForAll { course = FmWork.course(block, first &+ lane, 3, moving, product) }
      let (start, row) = (phases[4 &* (first &+ lane) &+ 3], rows + lane &* blockCapacity)
      var frame = 0
      while frame < block.frames {
        row.store(unsafeBitCast(course.phases(from: start, frame), to: Frames.self), frame)
        frame &+= 16
      }
      lane &+= 1
    }
  }

  /// Rows of eight channels become frames.
  @inline(__always) @_noLocks private func turn(
    _ from: UnsafePointer<Float>, _ stride: Int, to: UnsafeMutablePointer<Float>, _ width: Int, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      sostenuto_turn_eight(
        from + frame, Int64(truncatingIfNeeded: stride), to + frame &* width,
        Int64(truncatingIfNeeded: width))
      frame &+= 8
    }
  }

  /// Takes the sines of operator 4 with its feedback. Where this is zero, it has the same bits as without: how frames are
  /// split decides which of both calculates them.
  @inline(__always) @_noLocks private func takeSines(
    _ block: Block, _ channel: Int, _ sines: UnsafeMutablePointer<Float>, _ work: inout FmWork
  ) {
    let feedback = block.parameters[Self.feedback]
    work.fourth = nil
    if feedback.isSteady {
      if feedback.value(channel) != 0 { work.fourth = UnsafePointer(sines) }
      return
    }
    work.fourth = UnsafePointer(sines)
    guard work.sounding & 8 != 0 else { return }
    var frame = 0
    while frame < block.frames {
      let unmoved = Corners.sine(work.phaseVector(3, frame))
      sines.store(
        sostenuto_where_zero(feedback.vector(channel, frame), unmoved, sines.vector(frame)), frame)
      frame &+= 16
    }
  }

  /// Keeps the last two phases of operator 4 for a feedback that begins later.
  @inline(__always) @_noLocks private func keepLast(_ frames: Int, _ channel: Int, _ course: PhaseCourse) {
    let (state, start) = (states + Self.state(channel, 0), phases[4 &* channel &+ 3])
    state[8] = frames > 1 ? Self.halfTurns(start &+ course.phase(frames &- 2)) : state[0]
    state[0] = Self.halfTurns(start &+ course.phase(frames &- 1))
  }

  /// The phase between -0.5 and 0.5 half turns that has the same sine.
  @inline(__always) @_noLocks private static func halfTurns(_ phase: Int32) -> Double {
    let all = Double(phase) * (1 / 2_147_483_648)
    return all > 0.5 ? 1 - all : all < -0.5 ? -1 - all : all
  }

  /// The channel's sound; while the algorithm changes, by both.
  @_noLocks private func write(_ block: Block, _ channel: Int, _ work: FmWork) {
    let (algorithm, level) = (block.crossfades[Self.algorithm], block.parameters[Self.level])
    let (old, new) = (Self.targets(algorithm.old), Self.targets(algorithm.new))
    let to = block.outputs[0][channel]
    var frame = 0
    while frame < block.frames {
      var y = work.sum(new, frame)
      if let blend = algorithm.blend {
        let share = blend.vector(frame)
        y = work.sum(old, frame) * (1 - share) + y * share
      }
      to.store(y * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }

  /// Targets of operators 4, 3 and 2, four bits each: operators 1 to 3, and the output.
  @inline(__always) @_noLocks private static func targets(_ algorithm: Float) -> Int {
    switch algorithm {
    case 1: 0b0001_0010_0100
    case 2: 0b0001_0010_0010
    case 3: 0b0001_0010_0001
    case 4: 0b0001_0001_0100
    case 5: 0b0001_1000_0100
    case 6: 0b1000_1000_0111
    case 7: 0b1000_1000_0100
    default: 0b1000_1000_1000
    }
  }
}
