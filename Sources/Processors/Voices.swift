import Patch
import Realtime

/// The way from events into polyphonic patching: each note has a channel of signals.
///
/// A note's identity is the channel and the key of its events, which stay with the channel of signals that it has taken,
/// so that a release finds it. Channels are taken in turn, the one that has been free for longest first: what rings behind
/// it has the most time to end. When none is free, the oldest note gives up its channel: at first of those that only a
/// pedal holds, then of those whose keys are down, but for the lowest. The gate falls for one frame, from where an
/// envelope begins anew at the level that it has, so that nothing clicks.
public struct Voices: Kernel {
  public static let description = KindDescription(
    name: "voices", summary: "Notes as signals: each note has a channel, for polyphonic patches.",
    category: .control,
    inputs: [PortDescription("in", .events, "Notes, pedals, controllers, pitch bend.")],
    outputs: [
      PortDescription(
        "pitch", .parameter("polyphony"),
        "In octaves from A4, 440 Hz, with bend, tuning and glide. A frequency of 440 Hz moved by 1oct is the note's.",
        role: .pitch, isDiscrete: true),
      PortDescription(
        "gate", .parameter("polyphony"),
        "1 while a key or a pedal holds the note, otherwise 0; 0 for one frame where a note takes a channel that is held.",
        role: .gate, swing: .unipolar, isDiscrete: true),
      PortDescription(
        "velocity", .parameter("polyphony"),
        "From 0 to 1, from the frame of the note's gate on and until the channel's next note.",
        swing: .unipolar, isDiscrete: true),
      PortDescription(
        "pressure", .parameter("polyphony"),
        "From 0 to 1: the note's or its MIDI channel's, whichever is more.",
        isOptional: true, swing: .unipolar, isDiscrete: true),
      PortDescription(
        "timbre", .parameter("polyphony"), "Controller 74 from -1 to 1, with 0 in the middle.",
        isOptional: true, swing: .bipolar, isDiscrete: true),
      PortDescription(
        "place", .parameter("polyphony"),
        "The place of a copy among those of its note, from -1 to 1; see `unison`.",
        isOptional: true, swing: .bipolar, isDiscrete: true),
    ],
    parameters: [
      .count(
        "polyphony", "Channels; held notes stay when more are added.", default: 16, smoothing: .kernel),
      ParameterDescription(
        "mode",
        "poly: a channel for each note. mono: the last key that is down sounds. legato: likewise, and notes that overlap "
          + "have one gate.",
        form: .choice(["poly", "mono", "legato"]), range: 0...2, default: .text("poly"), smoothing: .kernel),
      .number(
        "glide", "Time from the last note's pitch to a new one's; with mode=legato only where notes overlap.",
        default: 0, range: 0...10, unit: .seconds),
      .count(
        "unison", "Channels for each note, which `detune` and `place` tell apart.", default: 1, range: 1...16,
        smoothing: .kernel),
      .number(
        "detune",
        "Distance from a note's pitch to that of its outer copies; a change takes effect with the next note.",
        default: 10, range: 0...1200, unit: .cents, smoothing: .kernel),
      .number(
        "bend", "Range of the pitch wheel, up and down; registered parameter 0 changes it too.", default: 2,
        range: 0...96, unit: .semitones, smoothing: .kernel),
      ParameterDescription(
        "mpe",
        "Bend (48 semitones), pressure and timbre by note: channel 1 (lower) or 16 (upper) is for all notes, the others "
          + "have one each; registered parameter 6 sets how many.",
        form: .choice(["off", "lower", "upper"]), range: 0...2, default: .text("off"), smoothing: .kernel),
      ParameterDescription(
        "tuning", "A scale of the Scala archive (.scl); the next notes have it.", form: .file(.scale),
        default: .text(""), smoothing: .none),
      ParameterDescription(
        "keymap", "Which keys have which degrees of the scale (.kbm).", form: .file(.keyMap),
        default: .text(""), smoothing: .none),
    ], amplification: .never, cost: .init(20, perChannel: 20))

  /// Positions in `description.parameters`.
  public static var polyphony: Int { @_noLocks get { 0 } }
  public static var mode: Int { @_noLocks get { 1 } }
  public static var glide: Int { @_noLocks get { 2 } }
  public static var unison: Int { @_noLocks get { 3 } }
  public static var detune: Int { @_noLocks get { 4 } }
  public static var bend: Int { @_noLocks get { 5 } }
  public static var mpe: Int { @_noLocks get { 6 } }

  enum Mode: Int { case poly, mono, legato }

  var rate: Float
  /// Number of channels in memory, and of those that notes may take.
  private(set) var count: Int
  var limit: Int
  var mode: Mode
  var copies: Int
  /// Cents.
  var detune: Float
  /// Semitones.
  var bendRange: Float
  /// State of MIDI's channels and keys.
  let keys: VoiceKeys
  private(set) var channels: UnsafeMutablePointer<VoiceChannel>
  var tuning: UnsafeMutablePointer<TuningTable>?
  /// Counts what notes do, to tell which did it first.
  var turn: Int64 = 0
  /// Pitch of the last note, in octaves; NaN: there was none.
  var lastPitch = Float.nan
  /// Some note has been played: the outputs are not all zero.
  private var hasBegun = false
  /// The block under way.
  private var outputs: UnsafePointer<OutputPort>?
  private var scratch: UnsafeMutablePointer<Float>?
  var glides: ParameterStream?

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(configuration.outputs[0], &$0) }
  }

  private struct Layout {
    let keys: VoiceKeys
    let channels: UnsafeMutablePointer<VoiceChannel>

    @_noLocks init(_ count: Int, _ arena: inout Arena) {
      keys = VoiceKeys(&arena)
      channels = arena.reserve(count &* MemoryLayout<VoiceChannel>.stride)
        .assumingMemoryBound(to: VoiceChannel.self)
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    rate = Float(configuration.rate)
    count = configuration.outputs[0]
    limit = Int(configuration.value(Self.polyphony))
    mode = Mode(rawValue: Int(configuration.value(Self.mode))) ?? .poly
    copies = Int(configuration.value(Self.unison))
    detune = configuration.value(Self.detune)
    bendRange = configuration.value(Self.bend)
    var arena = Arena(memory)
    let layout = Layout(count, &arena)
    (keys, channels) = (layout.keys, layout.channels)
    for channel in 0..<count { channels[channel] = VoiceChannel() }
    keys.begin(MPEZones(Int(configuration.value(Self.mpe))), bend: bendRange)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let layout = Layout(wide, &arena)
    layout.keys.copy(keys)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      // Two channels with the same note would end it twice: only one keeps it.
      let isFirst =
        from >= 0 && (channel == 0 || widening.source(of: channel &- 1, from: count, to: wide) != from)
      layout.channels[channel] = isFirst ? channels[from] : VoiceChannel()
      channel &+= 1
    }
    (self, channels) = (Voices(self, layout.keys), layout.channels)
    count = wide
  }

  /// The same with other memory for its keys.
  @_noLocks private init(_ other: Voices, _ keys: VoiceKeys) {
    (rate, count, limit, mode, copies) = (other.rate, other.count, other.limit, other.mode, other.copies)
    (detune, bendRange, self.keys, channels) = (other.detune, other.bendRange, keys, other.channels)
    (tuning, turn, lastPitch, hasBegun) = (other.tuning, other.turn, other.lastPitch, other.hasBegun)
  }

  /// Number of channels that notes may take now.
  var free: Int { @_noLocks get { limit < count ? limit : count } }

  public var voices: Int {
    @_noLocks get {
      var number = 0
      var channel = 0
      while channel < count {
        if channels[channel].isHeld { number &+= 1 }
        channel &+= 1
      }
      return number
    }
  }

  @_noLocks public mutating func isFinished() -> Bool { !hasBegun }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    let whole = value > 0 ? (value < 65 ? Int(value) : 64) : 0
    switch parameter {
    case Self.polyphony:
      limit = whole
      var channel = limit
      while channel < count {
        if channels[channel].isHeld { end(channel, at: 0) }
        channel &+= 1
      }
    case Self.mode: mode = whole == 1 ? .mono : whole == 2 ? .legato : .poly
    case Self.unison: copies = whole
    case Self.detune: detune = value
    case Self.bend:
      bendRange = value
      var channel = 0
      while channel < VoiceKeys.count {
        if !keys.zones.isMember(channel) { keys.setRange(channel, bend: value) }
        channel &+= 1
      }
      followAll(at: 0)
    case Self.mpe:
      releaseAll(at: 0)
      keys.begin(MPEZones(whole), bend: bendRange)
      followAll(at: 0)
    default: break
    }
  }

  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    if let tuning { tuning.pointee.header.count(-1) }
    tuning = nil
    guard let resource, resource.pointee.type == TuningTable.type else { return }
    let new = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: TuningTable.self)
    new.pointee.header.count(1)
    tuning = new
  }

  public mutating func release() {
    tuning?.pointee.header.returned += 1
    tuning = nil
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    rate = Float(new)
    for channel in 0..<count { channels[channel].stretch(by: new / old) }
  }

  // MARK: Blocks

  // Never inlined: the registers of the loops would be saved before every kind's call.
  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    let events = block.events.pointee.count
    guard hasBegun || events > 0 else { return .silent }
    outputs = block.outputs
    scratch = block.scratch.assumingMemoryBound(to: Float.self)
    glides = block.parameters[Self.glide]
    var index = 0
    while index < events {
      let event = block.events.pointee[index]
      let offset = Int(event.offset)
      handle(event, at: offset < block.frames ? (offset > 0 ? offset : 0) : block.frames &- 1)
      index &+= 1
    }
    var channel = 0
    while channel < count {
      write(channel, to: block.frames)
      channels[channel].written = 0
      channel &+= 1
    }
    outputs = nil
    return hasBegun ? .sounding : .silent
  }

  /// Notes that the outputs are not zero any more. What a change finds written before has its frames.
  @_noLocks mutating func willChange(_ channel: Int, at frame: Int) { write(channel, to: frame) }

  @_noLocks mutating func noteBegin() { hasBegun = true }

  /// Writes the frames of a channel up to `frame`, as they are before something changes there.
  @_noLocks private mutating func write(_ channel: Int, to frame: Int) {
    guard let outputs, let scratch else { return }
    let voice = channels + channel
    let from = Int(voice.pointee.written)
    guard frame > from else { return }
    voice.pointee.written = Int32(truncatingIfNeeded: frame)
    writePitch(voice, outputs[0], channel, from, frame, scratch)
    writeGate(voice, outputs[1], channel, from, frame)
    fill(&voice.pointee.velocity, outputs[2], channel, from, frame, scratch)
    fill(&voice.pointee.pressure, outputs[3], channel, from, frame, scratch)
    fill(&voice.pointee.timbre, outputs[4], channel, from, frame, scratch)
    if outputs[5].isRead { Self.rest(voice.pointee.place, outputs[5][channel], from) }
  }

  @_noLocks private func writePitch(
    _ voice: UnsafeMutablePointer<VoiceChannel>, _ output: OutputPort, _ channel: Int, _ from: Int,
    _ frame: Int,
    _ room: UnsafeMutablePointer<Float>
  ) {
    let to = output[channel]
    guard voice.pointee.pitch.isMoving || voice.pointee.bend.isMoving else {
      return Self.rest(voice.pointee.pitch.target + voice.pointee.bend.target, to, from)
    }
    let bends = room + 2 &* blockCapacity
    voice.pointee.pitch.fill(room, frames: frame &- from)
    voice.pointee.bend.fill(bends, frames: frame &- from)
    var index = from
    while index < frame {
      to[index] = room[index &- from] + bends[index &- from]
      index &+= 1
    }
  }

  @_noLocks private func writeGate(
    _ voice: UnsafeMutablePointer<VoiceChannel>, _ output: OutputPort, _ channel: Int, _ from: Int,
    _ frame: Int
  ) {
    let to = output[channel]
    var from = from
    while from < frame, voice.pointee.hasGap || voice.pointee.hasPulse {
      to[from] = voice.pointee.hasGap ? 0 : 1
      if voice.pointee.hasGap { voice.pointee.hasGap = false } else { voice.pointee.hasPulse = false }
      voice.pointee.gate = to[from]
      from &+= 1
    }
    guard from < frame else { return }
    voice.pointee.gate = voice.pointee.isHeld ? 1 : 0
    if output.isRead { Self.rest(voice.pointee.gate, to, from) }
  }

  @_noLocks private func fill(
    _ ramp: inout Ramp, _ output: OutputPort, _ channel: Int, _ from: Int, _ frame: Int,
    _ room: UnsafeMutablePointer<Float>
  ) {
    guard ramp.isMoving else {
      if output.isRead { Self.rest(ramp.target, output[channel], from) }
      return
    }
    // In whole vectors, which would reach into the next channel.
    ramp.fill(room, frames: frame &- from)
    let to = output[channel]
    var index = from
    while index < frame {
      to[index] = room[index &- from]
      index &+= 1
    }
  }

  /// Writes a value from a frame on, to the end of a whole block.
  @inline(__always) @_noLocks private static func rest(
    _ value: Float, _ to: UnsafeMutablePointer<Float>, _ from: Int
  ) {
    var index = from
    while index & 15 != 0 {
      to[index] = value
      index &+= 1
    }
    let frames = Frames(repeating: value)
    while index < blockCapacity {
      to.store(frames, index)
      index &+= 16
    }
  }
}

/// A channel of signals, and the note that has it.
struct VoiceChannel: BitwiseCopyable {
  /// Of the note's events.
  var midi: UInt8 = 0
  var key: UInt8 = 0
  /// The key is down; a sustain pedal holds the note without it; sostenuto pedals have caught it.
  var isDown = false
  var isSustained = false
  var caught = Caught()
  /// It has had a note.
  var isUsed = false
  /// The gate is 0 in the next frame, and then 1 in one frame at least.
  var hasGap = false
  var hasPulse = false
  /// Gate of the last frame.
  var gate: Float = 0
  /// Frames of the block that are written.
  var written: Int32 = 0
  /// When it was taken, or became free.
  var turn: Int64 = 0
  /// Place among the copies of its note, -1...1.
  var place: Float = 0
  /// Octaves from A4, and what bends and tunings add.
  var pitch = Ramp(0)
  var bend = Ramp(0)
  var velocity = Ramp(0)
  var pressure = Ramp(0)
  var timbre = Ramp(0)

  @_noLocks init() {}

  var isHeld: Bool { @_noLocks get { isDown || isSustained || caught.isAny } }

  mutating func stretch(by factor: Double) {
    pitch.stretch(by: factor)
    bend.stretch(by: factor)
    velocity.stretch(by: factor)
    pressure.stretch(by: factor)
    timbre.stretch(by: factor)
  }
}
