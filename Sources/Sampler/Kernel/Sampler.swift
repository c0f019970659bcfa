import Patch
import Realtime

/// The sampler: plays an instrument from events.
///
/// Its voices live in fixed slots and are summed in slot order, so that a voice's bits depend on nothing
/// else. A voice holds the instrument that it started on; a replaced instrument is freed when the last of its
/// voices has ended.
public struct Sampler: Kernel {
  /// Limit of `polyphony`, and slots for these voices and for stolen ones that still fade.
  static var mostVoices: Int { @_noLocks get { 1024 } }
  static var slots: Int { @_noLocks @inline(__always) get { 1152 } }
  /// Round robin counters; further regions share them.
  static var counters: Int { @_noLocks get { 8192 } }
  static var channels: Int { @_noLocks get { 16 } }

  private enum Parameter {
    static var program: Int { @_noLocks get { 1 } }
    static var bank: Int { @_noLocks get { 2 } }
    static var polyphony: Int { @_noLocks get { 3 } }
    static var level: Int { @_noLocks get { 4 } }
    static var tune: Int { @_noLocks get { 5 } }
    static var quality: Int { @_noLocks get { 6 } }
    static var changes: Int { @_noLocks get { 7 } }
    static var zones: Int { @_noLocks get { 8 } }
    static var outputs: Int { @_noLocks get { 11 } }
  }

  let voicePool: UnsafeMutablePointer<Voice>
  /// Modulation state by slot, and its memory.
  let shapes: UnsafeMutablePointer<VoiceShape>
  private let shapeMemory: UnsafeMutableRawPointer
  var bank: FilterBank
  /// One bit per slot.
  let active: UnsafeMutablePointer<UInt64>
  private let factors: UnsafeMutablePointer<Double>
  private(set) var context: VoiceContext
  /// 128 per channel; negative until moved.
  let controls: UnsafeMutablePointer<Float>
  /// Channel state: bend -1...1; bend range of logarithmic regions in semitones; pressure 0...127. Then key pressure
  /// 0...127 by channel and key.
  let bends: UnsafeMutablePointer<Float>
  let bendRanges: UnsafeMutablePointer<Float>
  let pressures: UnsafeMutablePointer<Float>
  let keyPressures: UnsafeMutablePointer<Float>
  /// Registered parameter selected for data entry (-1: none), and all `Parameters`; by channel.
  let parameterNumbers: UnsafeMutablePointer<Int32>
  let parameters: UnsafeMutablePointer<Int32>
  /// Cents by tuning and key; by channel and note of the octave; of the whole instrument.
  let keyTunings: UnsafeMutablePointer<Float>
  let octaveTunings: UnsafeMutablePointer<Float>
  var masterTuning: (fine: Float, coarse: Float) = (0, 0)
  var volume: MasterVolume
  let offsets: GeneratorOffsets
  /// Last key, and start key of the next portamento, by channel (-1: none).
  let portamentoKeys: UnsafeMutablePointer<Int16>
  let portamentoFrom: UnsafeMutablePointer<Int16>
  /// Facts of the notes, by slot.
  let facts: UnsafeMutablePointer<NoteFacts>
  /// 192 values for a starting voice.
  let noteValues: UnsafeMutablePointer<Float>
  /// By channel and key. `downVelocity`: velocity while down, 0 while up; `downTime`: time of the note on.
  /// `began`: 1 if that started anything. `pending`: velocity of a released key whose release regions wait
  /// for pedals; `waiting`: bit mask of these pedal sets. `caught`: bit mask of the sets whose
  /// sostenuto pedals hold the key, the channel's own in the low byte, its zone's in the high one.
  let downVelocity: UnsafeMutablePointer<UInt8>
  let downTime: UnsafeMutablePointer<Int64>
  let began: UnsafeMutablePointer<UInt8>
  let pending: UnsafeMutablePointer<UInt8>
  let waiting: UnsafeMutablePointer<UInt8>
  let caught: UnsafeMutablePointer<UInt16>
  let sequence: UnsafeMutablePointer<UInt32>
  var keysDown = 0
  var image: UnsafeMutablePointer<InstrumentImage>?
  var rate: Float
  var polyphony: Int
  /// Sounding voices, and slots in use.
  var live = 0
  var used = 0
  var order: UInt64 = 0
  /// Engine frame of the event being handled.
  var eventTime: Int64 = 0
  /// Engine frame of the block's first frame.
  private(set) var blockTime: Int64 = 0
  var random: UInt64
  var switchLast: Int32 = -1
  /// Keys of the last two notes.
  var lastKey: Int32 = -1
  var previousKey: Int32 = -1
  /// Velocities of the last two notes.
  var lastVelocity = 0
  var previousVelocity = 0
  /// Some voice may stop after a number of beats.
  var hasStops = false
  var lastNote = LastNote()
  /// Engine frame at which the instrument arrived (-1: the next block).
  var loadTime: Int64 = -1
  /// A counter of notes.
  var noteCount: UInt32 = 0
  /// State of the instrument's effects.
  var effects: EffectChains
  /// New notes use the outputs of their regions instead of the first one.
  private(set) var isSeparate: Bool
  /// Some voice may have used an output other than the first.
  private var isSpread = false
  /// Interpolation of new notes; and the default for nodes that do not set it.
  var quality: QualityChoice
  private let openQuality: QualityChoice
  /// Load of the driver in this block.
  private(set) var load: Float = 0
  var zones: MPEZones
  /// Program of each channel for its next notes.
  let choices: UnsafeMutablePointer<ProgramChoice>
  /// Program changes are followed, channel by channel.
  private(set) var followsChanges: Bool

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Self(configuration, &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    self.init(configuration, &arena)
    for slot in 0..<Self.slots {
      var own = Arena(shapeMemory + slot * VoiceShape.memorySize)
      (shapes + slot).initialize(to: VoiceShape(&own))
    }
    bank.open(groups: Self.slots / FilterBank.lanes)
    context.open()
    parameterNumbers.update(repeating: -1, count: Self.channels)
    controls.update(repeating: -1, count: Self.channels * 128)
    for channel in 0..<Self.channels {
      choices[channel] = ProgramChoice(
        bank: Self.whole(configuration.value(Parameter.bank)),
        program: Self.whole(configuration.value(Parameter.program)), isRhythm: channel == Self.drumChannel)
    }
    resetBendRanges()
    resetTunings()
  }

  /// Takes its memory without touching it.
  private init(_ configuration: KernelConfiguration, _ arena: inout Arena) {
    voicePool = arena.take(Voice.self, Self.slots)
    shapes = arena.take(VoiceShape.self, Self.slots)
    shapeMemory = arena.reserve(Self.slots * VoiceShape.memorySize)
    bank = FilterBank(groups: Self.slots / FilterBank.lanes, &arena)
    active = arena.take(UInt64.self, (Self.slots + 63) / 64)
    factors = arena.take(Double.self, blockCapacity + 16)
    context = VoiceContext(&arena)
    controls = arena.take(Float.self, Self.channels * 128)
    bends = arena.take(Float.self, Self.channels)
    bendRanges = arena.take(Float.self, Self.channels)
    pressures = arena.take(Float.self, Self.channels)
    keyPressures = arena.take(Float.self, Self.channels * 128)
    parameterNumbers = arena.take(Int32.self, Self.channels)
    parameters = arena.take(Int32.self, Self.channels * Parameters.count)
    keyTunings = arena.take(Float.self, Self.tuningPlaces)
    octaveTunings = arena.take(Float.self, Self.channels * 12)
    offsets = GeneratorOffsets(channels: Self.channels, &arena)
    volume = MasterVolume(gains: arena.take(Float.self, blockCapacity + 16))
    portamentoKeys = arena.take(Int16.self, Self.channels)
    portamentoFrom = arena.take(Int16.self, Self.channels)
    facts = arena.take(NoteFacts.self, Self.slots)
    choices = arena.take(ProgramChoice.self, Self.channels)
    noteValues = arena.take(Float.self, 192)
    downVelocity = arena.take(UInt8.self, Self.channels * 128)
    downTime = arena.take(Int64.self, Self.channels * 128)
    began = arena.take(UInt8.self, Self.channels * 128)
    pending = arena.take(UInt8.self, Self.channels * 128)
    waiting = arena.take(UInt8.self, Self.channels * 128)
    caught = arena.take(UInt16.self, Self.channels * 128)
    sequence = arena.take(UInt32.self, Self.counters)
    effects = EffectChains(&arena)
    rate = Float(configuration.rate)
    random = configuration.seed &+ 0x9E37_79B9_7F4A_7C15
    polyphony = Self.limited(configuration.value(Parameter.polyphony))
    followsChanges = configuration.value(Parameter.changes) > 0.5
    zones = MPEZones(Self.whole(configuration.value(Parameter.zones)))
    isSeparate = configuration.value(Parameter.outputs) > 0.5
    openQuality = QualityChoice(configuration.quality)
    quality = openQuality
    quality = quality(configuration.value(Parameter.quality))
  }

  @_noLocks private func quality(_ choice: Float) -> QualityChoice {
    if choice > 2.5 { return openQuality }
    return QualityChoice(choice < 0.5 ? .four : (choice < 1.5 ? .eight : .sinc))
  }

  @_noLocks private static func limited(_ polyphony: Float) -> Int {
    polyphony >= 1 ? (polyphony <= Float(mostVoices) ? Int(polyphony) : mostVoices) : 1
  }

  @_noLocks private static func whole(_ value: Float) -> Int {
    value >= 0 ? (value < 65535 ? Int(value) : 65535) : 0
  }

  public var voices: Int { @_noLocks get { live } }

  @_noLocks public mutating func isFinished() -> Bool { used == 0 && !effects.isRinging }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    switch parameter {
    case Parameter.polyphony: polyphony = Self.limited(value)
    case Parameter.program:
      for channel in 0..<Self.channels {
        choices[channel].homeProgram = Self.whole(value)
        choices[channel].program = Self.whole(value)
      }
      findPrograms()
    case Parameter.bank:
      for channel in 0..<Self.channels {
        choices[channel].homeBank = Self.whole(value)
        choices[channel].bank = Self.whole(value)
      }
      findPrograms()
    case Parameter.changes:
      followsChanges = value > 0.5
      findPrograms()
    case Parameter.quality: quality = quality(value)
    case Parameter.zones: setZones(Self.whole(value))
    case Parameter.outputs: isSeparate = value > 0.5
    default: break
    }
  }

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    if let image { image.pointee.header.count(-1) }
    image = nil
    guard let resource, resource.pointee.type == InstrumentImage.type else { return }
    let new = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: InstrumentImage.self)
    new.pointee.header.count(1)
    image = new
    effects.take(new.pointee.effects, rate: rate)
    switchLast = new.pointee.switchDefault
    loadTime = -1
    // These bits refer to the old instrument's pedal sets.
    setMemory(waiting, 0, Self.channels &* 128)
    setMemory(caught, 0, Self.channels &* 128 &* 2)
    findPrograms()
    setMemory(sequence, 0, Self.counters &* 4)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let count = block.events.pointee.count
    if loadTime < 0 { loadTime = block.time }
    if used == 0, block.time & Int64(blockCapacity &- 1) == 0 { effects.settle() }
    blockTime = block.time
    load = block.load
    volume.begin()
    if used == 0, count == 0, !effects.isRinging { return .silent }
    clearSums(block)
    prepareTuning(block)
    if block.time & Int64(blockCapacity &- 1) == 0 { settle() }
    var sounded = used > 0 || effects.isRinging
    var frame = 0
    for index in 0..<count {
      let event = block.events.pointee[index]
      let offset = Int(event.offset)
      if offset > frame {
        let end = offset < block.frames ? offset : block.frames
        play(from: frame, to: end)
        frame = end
      }
      handle(event, time: block.time &+ Int64(frame))
      if used > 0 { sounded = true }
    }
    if frame < block.frames { play(from: frame, to: block.frames) }
    volume.fill(to: block.frames, at: block.time &+ Int64(block.frames))
    guard sounded else { return .silent }
    if effects.isUsed { effects.process(context.sums, block.frames) }
    var number = 0
    while number < Sum.count {
      if block.outputs[number].isRead { write(block, number) }
      number &+= 1
    }
    return .sounding
  }

  @_noLocks private mutating func clearSums(_ block: Block) {
    setMemory(context.sums, 0, Sum.place(1) &* 4)
    if isSpread {
      isSpread = used > 0
      setMemory(context.sums + Sum.place(1), 0, Sum.place(Sum.outputs &- 1) &* 4)
    }
    context.isSending =
      block.outputs[Sum.reverb].isRead || block.outputs[Sum.chorus].isRead || effects.areSendsUsed
    if context.isSending { setMemory(context.sums + Sum.place(Sum.reverb), 0, Sum.place(2) &* 4) }
  }

  /// Notes that a voice of this output begins. Audio thread.
  @_noLocks mutating func open(_ output: UInt8) { isSpread = isSpread || output > 0 }

  /// Pitch factor of `tune`, per frame while it moves.
  @_noLocks private mutating func prepareTuning(_ block: Block) {
    let tune = block.parameters[Parameter.tune]
    if let frames = tune.frames(0) {
      for index in 0..<block.frames { factors[index] = exponential2(Double(frames[index]) / 1200) }
      context.factors = UnsafePointer(factors)
    } else {
      context.factor = exponential2(Double(tune.value(0)) / 1200)
      context.factors = nil
    }
  }

  /// Writes a sum to an output, with its level.
  @_noLocks private mutating func write(_ block: Block, _ number: Int) {
    let output = block.outputs[number]
    let level = block.parameters[Parameter.level]
    let frames = level.frames(0)
    let steady = level.value(0)
    for channel in 0..<output.count {
      let sum = context.sums + Sum.place(number) + (channel & 1) &* Sum.side
      let to = output[channel]
      if let frames {
        for index in 0..<block.frames { to[index] = sum[index] * frames[index] }
      } else {
        for index in 0..<block.frames { to[index] = sum[index] * steady }
      }
      if volume.isUsed { for index in 0..<block.frames { to[index] *= volume[index] } }
    }
  }

  /// Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    rate = Float(new)
    let factor = new / old
    for slot in 0..<Self.slots where active[slot / 64] >> UInt64(slot % 64) & 1 == 1 {
      voicePool[slot].retune(factor)
      shapes[slot].retune(factor)
      shapes[slot].wake(&voicePool[slot])
    }
    effects.retune(rate)
  }

  /// Worker.
  public mutating func release() {
    for slot in 0..<Self.slots where active[slot / 64] >> UInt64(slot % 64) & 1 == 1 {
      voicePool[slot].image?.pointee.header.returned += 1
      active[slot / 64] &= ~(1 << UInt64(slot % 64))
    }
    image?.pointee.header.returned += 1
    image = nil
  }
}
