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
    ] + (1...4).flatMap(operatorParameters), amplification: .possible, cost: .init(60, perChannel: 130))

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
  /// The last two values of operator 4, of eight channels each.
  private var states: UnsafeMutablePointer<Float>
  private var mute = QuietCell()

  private struct Layout {
    let phases: UnsafeMutablePointer<Int32>
    let states: UnsafeMutablePointer<Float>

    @_noLocks init(_ arena: inout Arena, _ channels: Int) {
      phases = arena.take(Int32.self, 4 &* channels)
      states = arena.take(Float.self, (channels &+ 7) / 8 &* 16)
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
      let from = Widening.source(of: channel, from: count, to: wide)
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

  /// Place of one of the last two values of a channel's operator 4.
  @inline(__always) @_noLocks private static func state(_ channel: Int, _ number: Int) -> Int {
    (channel &>> 3) &* 16 &+ (channel & 7) &+ 8 &* number
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let isMute = block.parameters[Self.level].isZero
    mute.update(block, silent: isMute)
    let isFed = !block.parameters[Self.feedback].isZero
    var first = 0
    while first < count {
      var room = Arena(block.scratch)
      let many = count &- first < 8 ? count &- first : 8
      var sines: UnsafeMutablePointer<Float>?
      if isFed { sines = turnBack(block, first, many, &room) }
      var work = FmWork(&room)
      var channel = first
      while channel < first &+ many {
        prepare(block, channel, &work)
        if let sines {
          work.fourth = UnsafePointer(sines + (channel &- first) &* blockCapacity)
        } else {
          keepLast(block.frames, channel, work)
        }
        if !isMute { write(block, channel, work) }
        channel &+= 1
      }
      first &+= many
    }
    return isMute ? .silent : .sounding
  }

  /// Phases of an operator in this block, of one channel.
  @inline(__always) @_noLocks private func course(
    _ block: Block, _ channel: Int, _ number: Int, _ room: MovingPhases,
    _ product: UnsafeMutablePointer<Float>
  ) -> PhaseCourse {
    let (freq, ratio) = (block.parameters[Self.freq], block.parameters[Self.ratio(number)])
    let scale = MovingPhases.scale(block.rate)
    if freq.isSteady, ratio.isSteady {
      return PhaseCourse(freq.value(channel) * ratio.value(channel), scale, block.frames)
    }
    var frame = 0
    while frame < block.frames {
      product.store(freq.vector(channel, frame) * ratio.vector(channel, frame), frame)
      frame &+= 16
    }
    return PhaseCourse(product, scale, block.frames, room)
  }

  /// Writes phases and amplitudes of the operators of a channel, and advances it.
  @_noLocks private mutating func prepare(_ block: Block, _ channel: Int, _ work: inout FmWork) {
    work.sounding = 0
    var number = 0
    while number < 4 {
      let course = course(block, channel, number, work.moving, work.product)
      let phase = phases + (4 &* channel &+ number)
      let level = block.parameters[Self.level(number)]
      let (phasesTo, to) = (work.phases(number), work.amplitudes(number))
      if !level.isSteady || level.value(channel) != 0 { work.sounding |= 1 &<< number }
      var frame = 0
      while frame < block.frames {
        UnsafeMutableRawPointer(phasesTo + frame).storeBytes(
          of: course.phases(from: phase.pointee, frame), as: SIMD16<Int32>.self)
        to.store(level.vector(channel, frame) * 0.01 * course.fade(frame), frame)
        frame &+= 16
      }
      phase.pointee &+= course.end
      number &+= 1
    }
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
    let feedback = block.parameters[Self.feedback]
    var lane = 0
    while lane < 8 {
      let row = rows + lane &* blockCapacity
      var frame = 0
      while frame < block.frames {
        row.store(lane < many ? feedback.vector(first &+ lane, frame) * 0.005 : Frames(repeating: 0), frame)
        frame &+= 16
      }
      lane &+= 1
    }
    turn(rows, blockCapacity, to: fed, 8, block.frames)
    var courses = rest
    let (moving, product) = (MovingPhases(&courses), courses.take(Float.self, blockCapacity))
    lane = 0
    while lane < many {
      let course = course(block, first &+ lane, 3, moving, product)
      let (start, row) = (phases[4 &* (first &+ lane) &+ 3], rows + lane &* blockCapacity)
      var frame = 0
      while frame < block.frames {
        row.store(unsafeBitCast(course.phases(from: start, frame), to: Frames.self), frame)
        frame &+= 16
      }
      lane &+= 1
    }
    turn(rows, blockCapacity, to: turned, 8, block.frames)
    sostenuto_turn_back_eight(turned, fed, states + 2 &* first, Int64(truncatingIfNeeded: block.frames))
    var frame = 0
    while frame < block.frames {
      sostenuto_turn_eight(turned + 8 &* frame, 8, rows + frame, Int64(truncatingIfNeeded: blockCapacity))
      frame &+= 8
    }
    return rows
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

  /// Keeps the last two values of operator 4 for a feedback that begins later.
  @inline(__always) @_noLocks private func keepLast(_ frames: Int, _ channel: Int, _ work: FmWork) {
    let row = work.phases(3)
    let state = states + Self.state(channel, 0)
    let last = row[frames &- 1]
    let before = frames > 1 ? row[frames &- 2] : last
    let sines = Corners.sine(sostenuto_row(last, before &- last))
    state[8] = frames > 1 ? sines[1] : state[0]
    state[0] = sines[0]
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

/// Work of one channel's operators in a block.
struct FmWork: BitwiseCopyable {
  private let rows: UnsafeMutablePointer<Float>
  let product: UnsafeMutablePointer<Float>
  let moving: MovingPhases
  /// Operators that are not silent, one bit each.
  var sounding = 0
  /// Sines of operator 4 where it has a feedback.
  var fourth: UnsafePointer<Float>?

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    rows = room.take(Float.self, 8 &* blockCapacity)
    product = room.take(Float.self, blockCapacity)
    moving = MovingPhases(&room)
  }

  @inline(__always) @_noLocks func phases(_ number: Int) -> UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(rows + number &* blockCapacity).assumingMemoryBound(to: Int32.self)
  }

  @inline(__always) @_noLocks func amplitudes(_ number: Int) -> UnsafeMutablePointer<Float> {
    rows + (4 &+ number) &* blockCapacity
  }

  /// Sixteen frames of an operator whose phases are moved by `turns`.
  @inline(__always) @_noLocks private func wave(_ number: Int, _ frame: Int, _ turns: Frames) -> Frames {
    let phase = UnsafeRawPointer(phases(number) + frame).loadUnaligned(as: SIMD16<Int32>.self)
    return Corners.sine(phase &+ sostenuto_turns(turns)) * amplitudes(number).vector(frame)
  }

  /// Sixteen frames of what is heard. `targets`: of operators 4, 3 and 2 (`Fm.targets`).
  @inline(__always) @_noLocks func sum(_ targets: Int, _ frame: Int) -> Frames {
    var (one, two, three) = (Frames(repeating: 0), Frames(repeating: 0), Frames(repeating: 0))
    var heard = Frames(repeating: 0)
    if sounding & 8 != 0 {
      let phase = UnsafeRawPointer(phases(3) + frame).loadUnaligned(as: SIMD16<Int32>.self)
      let y = (fourth?.vector(frame) ?? Corners.sine(phase)) * amplitudes(3).vector(frame)
      if targets & 1 != 0 { one += y }
      if targets & 2 != 0 { two += y }
      if targets & 4 != 0 { three += y }
      if targets & 8 != 0 { heard += y }
    }
    if sounding & 4 != 0 {
      let y = wave(2, frame, three)
      if targets & 0x10 != 0 { one += y }
      if targets & 0x20 != 0 { two += y }
      if targets & 0x80 != 0 { heard += y }
    }
    if sounding & 2 != 0 {
      let y = wave(1, frame, two)
      if targets & 0x100 != 0 { one += y }
      if targets & 0x800 != 0 { heard += y }
    }
    if sounding & 1 != 0 { heard += wave(0, frame, one) }
    return heard
  }
}
