import CVector
import Patch
import Realtime

/// Drums of synthesizers: each opening of the gate strikes one.
///
/// A stroke is a function of the frames since it began, so that any split gives the same bits; only the filters of its noise have
/// a state. `tune`, `tone` and `decay` are taken when it begins. The one before it fades out.
public struct Drum: Kernel {
  public static let description = KindDescription(
    name: "drum", summary: "A bass drum, snare, hat or clap, struck by a gate.", category: .source,
    inputs: [
      PortDescription(
        "gate", .flexible,
        "Each rise above 0 triggers a stroke; the value at that frame (0 to 1) is its loudness. Later values are ignored.",
        role: .gate)
    ],
    outputs: [PortDescription("out", .flexible, "One drum for each channel of the gate.")],
    parameters: [
      ParameterDescription(
        "sound",
        "Of the next strokes. Bass: a falling sine. Snare: two sines and noise. Hat: high noise. Clap: four bursts of noise.",
        form: .choice(["bass", "snare", "hat", "clap"]), range: 0...3, default: .text("bass"),
        smoothing: .kernel),
      .number(
        "tune", "How much higher the next strokes are.", default: 0, range: -48...48, unit: .semitones,
        isPerChannel: true),
      .number(
        "decay",
        "Time of the next strokes, in parts of the sound's own (bass 0.6 s, snare and clap 0.25 s, hat 0.12 s).",
        default: 100, range: 10...1000, unit: .percent, isPerChannel: true),
      .number(
        "tone",
        "Of the next strokes. Bass: from how far above it falls, up to three octaves. Snare: share of the noise. Hat and clap: how bright.",
        default: 50, range: 0...100, unit: .percent, isPerChannel: true),
      .gain("level", "The highest peak of a stroke whose gate is 1.", default: -6, isPerChannel: true),
    ], cost: .init(20, perChannel: 900))

  /// Positions in `description.parameters`.
  public static var sound: Int { @_noLocks get { 0 } }
  public static var tune: Int { @_noLocks get { 1 } }
  public static var decay: Int { @_noLocks get { 2 } }
  public static var tone: Int { @_noLocks get { 3 } }
  public static var level: Int { @_noLocks get { 4 } }

  /// Strokes of a channel that may fade out at the same time, and the one that sounds.
  private static var slots: Int { @inline(__always) @_noLocks get { 4 } }

  private struct Head: BitwiseCopyable {
    var isOpen = false
    /// Strokes so far, and frames since the last one.
    var count: UInt32 = 0
    var since = 1 << 20

    @_noLocks init() {}
  }

  private var channels: Int
  private let seed: UInt64
  private var sound: Int
  private var rate: Float
  private var heads: UnsafeMutablePointer<Head>
  private var strokes: UnsafeMutablePointer<DrumStroke>
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { layOut(configuration.inputs[0], &$0) }
  }

  @discardableResult @_noLocks private static func layOut(_ channels: Int, _ arena: inout Arena) -> (
    UnsafeMutablePointer<Head>, UnsafeMutablePointer<DrumStroke>
  ) {
    (
      arena.reserve(channels &* MemoryLayout<Head>.stride).assumingMemoryBound(to: Head.self),
      arena.reserve(slots &* channels &* MemoryLayout<DrumStroke>.stride)
        .assumingMemoryBound(to: DrumStroke.self)
    )
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    channels = configuration.inputs[0]
    seed = configuration.seed
    sound = Int(configuration.value(Self.sound))
    rate = Float(configuration.rate)
    var arena = Arena(memory)
    (heads, strokes) = Self.layOut(channels, &arena)
    for channel in 0..<channels { clear(channel) }
  }

  @_noLocks private func clear(_ channel: Int) {
    heads[channel] = Head()
    var slot = 0
    while slot < Self.slots {
      strokes[Self.slots &* channel &+ slot] = DrumStroke()
      slot &+= 1
    }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let (old, before) = (heads, strokes)
    let count = channels
    var arena = Arena(memory)
    channels = widening.inputs[0]
    (heads, strokes) = Self.layOut(channels, &arena)
    var channel = 0
    while channel < channels {
      let from = widening.source(of: channel, from: count, to: channels)
      clear(channel)
      if from >= 0 {
        heads[channel] = old[from]
        var slot = 0
        while slot < Self.slots {
          strokes[Self.slots &* channel &+ slot] = before[Self.slots &* from &+ slot]
          slot &+= 1
        }
      }
      channel &+= 1
    }
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    rate = Float(new)
    for index in 0..<Self.slots * channels { strokes[index].retune(to: rate, by: new / old) }
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if parameter == Self.sound { sound = Int(limited(value, 0, 3)) }
  }

  @_noLocks public mutating func isFinished() -> Bool { isAsleep }

  // MARK: Rendering

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (gate, output) = (block.inputs[0], block.outputs[0])
    if isAsleep, gate.isSilent { return .silent }
    isAsleep = true
    var sounds = false
    let (rows, level) = (Rows(block), block.parameters[Self.level])
    let count = output.count < channels ? output.count : channels
    var channel = 0
    while channel < count {
      let to = output[channel]
      if run(block, channel, rows) {
        sounds = true
        var frame = 0
        while frame < block.frames {
          to.store(rows[0].vector(frame) * level.vector(channel, frame) + 0, frame)
          frame &+= 16
        }
      } else {
        to.fill(0)
      }
      if heads[channel].isOpen || isSounding(channel) { isAsleep = false }
      channel &+= 1
    }
    return sounds ? .sounding : .silent
  }

  @inline(__always) @_noLocks private func isSounding(_ channel: Int) -> Bool {
    var slot = 0
    while slot < Self.slots {
      if strokes[Self.slots &* channel &+ slot].isSounding { return true }
      slot &+= 1
    }
    return false
  }

  /// Writes a block of one channel into row 0, from stroke to stroke. False: all of it is silent.
  @_noLocks private mutating func run(_ block: Block, _ channel: Int, _ rows: Rows) -> Bool {
    let open = Gates.open(block.inputs[0], channel, block.frames)
    var rises = Gates.rises(open, heads[channel].isOpen)
    heads[channel].isOpen = Gates.last(open, block.frames)
    if rises == 0, !isSounding(channel) {
      heads[channel].since &+= block.frames
      return false
    }
    var frame = 0
    while true {
      let next = rises == 0 ? block.frames : rises.trailingZeroBitCount
      if next > frame { render(channel, frame, next, rows) }
      guard rises != 0 else { return true }
      rises &= rises &- 1
      strike(block, channel, next)
      frame = next
    }
  }

  /// Renders the strokes of a channel from one frame to another.
  @_noLocks private mutating func render(_ channel: Int, _ start: Int, _ end: Int, _ rows: Rows) {
    heads[channel].since &+= end &- start
    let to = rows[0] + start
    var frame = 0
    while frame < end &- start {
      to.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
    var slot = 0
    while slot < Self.slots {
      let stroke = strokes + (Self.slots &* channel &+ slot)
      if stroke.pointee.isSounding { stroke.pointee.add(to, end &- start, rows[1]) }
      slot &+= 1
    }
  }

  /// Begins a stroke, and lets the one before it fade out. One within 2 ms of another is none.
  @_noLocks private mutating func strike(_ block: Block, _ channel: Int, _ frame: Int) {
    guard Float(heads[channel].since) > 0.002 * rate else { return }
    heads[channel].since = 0
    heads[channel].count &+= 1
    let place = Self.slots &* channel
    var (slot, free) = (0, 0)
    while slot < Self.slots {
      if strokes[place &+ slot].isSounding { strokes[place &+ slot].fade() } else { free = slot }
      slot &+= 1
    }
    let (low, high) = (UInt32(truncatingIfNeeded: seed), UInt32(truncatingIfNeeded: seed &>> 32))
    let key = Noise.mixed(low &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9)
    let gate = block.inputs[0]
    let strength = gate[channel < gate.count ? channel : channel % gate.count][frame]
    strokes[place &+ free] = DrumStroke(
      sound: sound, strength: limited(strength, 0, 1), key: Noise.mixed(key &+ heads[channel].count) ^ high,
      tune: block.parameters[Self.tune].value(channel, at: frame),
      decay: block.parameters[Self.decay].value(channel, at: frame),
      tone: block.parameters[Self.tone].value(channel, at: frame), rate)
  }
}
