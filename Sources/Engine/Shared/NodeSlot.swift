import Realtime
import Synchronization

/// Smoothing state of a parameter, in fixed storage beside its kernel.
struct ParameterState {
  enum Kind: UInt8 {
    /// Not smoothed by the renderer: structural, a file, or smoothed by the kernel.
    case none
    case ramp
    case crossfade
  }

  let kind: Kind
  var isMoving = false
  var isRamp: Bool {
    @_noLocks get {
      switch kind {
      case .ramp: true
      default: false
      }
    }
  }
  /// Elements in use: 1, or one per channel.
  var elements: Int
  /// Capacity of `ramps`: 1, or 64 once there has been one per channel.
  private(set) var capacity: Int
  private(set) var ramps: UnsafeMutablePointer<Ramp>
  /// Storage of a single value, beside the slot.
  let single: UnsafeMutablePointer<Float>
  /// Storage of several values, for ramps; nil where there can be none. Room for 64, since a modulator may have more channels than the parameter
  /// has elements.
  private(set) var many: UnsafeMutablePointer<Float>?
  var crossfade: Crossfade

  /// Largest capacity that a parameter can come to.
  static func capacity(isPerChannel: Bool, values: Int) -> Int {
    min(max(isPerChannel ? 64 : 1, values, 1), 64)
  }

  /// Moves into memory for more elements. Audio thread.
  @_noLocks mutating func move(into room: ParameterRoom) {
    if let values = room.many { many = values }
    guard let memory = room.ramps else { return }
    var element = 0
    while element < elements {
      memory[element] = ramps[element]
      element &+= 1
    }
    ramps = memory
    capacity = Int(room.capacity)
  }

  /// `ramps` has room for `capacity`, `many` for 64, if there is any. Worker.
  init(
    kind: Kind, values initial: [Float], capacity: Int, ramps: UnsafeMutablePointer<Ramp>,
    single: UnsafeMutablePointer<Float>, many: UnsafeMutablePointer<Float>?
  ) {
    self.kind = kind
    self.capacity = capacity
    self.ramps = ramps
    self.single = single
    self.many = many
    elements = min(max(initial.count, 1), 64)
    for element in 0..<64 {
      let value = initial.isEmpty ? 0 : initial[min(element, initial.count - 1)]
      if element < capacity { (ramps + element).initialize(to: Ramp(value)) }
      if let many { (many + element).initialize(to: value) }
    }
    single.initialize(to: initial.first ?? 0)
    crossfade = Crossfade(initial.first ?? 0)
  }

  /// Storage for `elements` values at a block's first frame.
  @_noLocks func values(_ elements: Int) -> UnsafeMutablePointer<Float> {
    elements == 1 ? single : many ?? single
  }

  /// Where an element is, or is on its way to. Audio thread.
  @_noLocks func target(_ element: Int) -> Float {
    switch kind {
    case .crossfade: crossfade.target
    default: ramps[element < elements ? element : elements &- 1].target
    }
  }

  /// Audio thread.
  @_noLocks mutating func move(element: Int, to value: Float, over frames: Int, law: Ramp.Law) {
    switch kind {
    case .none: return
    case .crossfade:
      crossfade.move(to: value, over: frames)
    case .ramp:
      guard element < capacity else { return }
      // On its way already, by a map: it stays so, whether the worker knows yet or not.
      if element < elements, frames > 0, ramps[element].target == value { return }
      if element >= elements { spread(element &+ 1) }
      ramps[element].move(to: value, over: frames, law: law)
    }
    isMoving = true
  }

  /// Copies each channel's state from the channel that it continues, from `from` to `to` channels. Audio
  /// thread.
  @_noLocks mutating func widen(_ widening: Widening, from: Int, to: Int) {
    guard isRamp, capacity == 64, elements > 1 else { return }
    if elements < to { spread(to) }
    // Downwards, since a channel never continues one behind it.
    var channel = to &- 1
    while channel >= 0 {
      let source = widening.source(of: channel, from: from, to: to)
      if source >= 0 { ramps[channel] = ramps[source] }
      channel &-= 1
    }
  }

  /// Splits one value for all channels into one per channel. Audio thread.
  @_noLocks private mutating func spread(_ count: Int) {
    var element = elements
    while element < count {
      ramps[element] = ramps[elements &- 1]
      element &+= 1
    }
    elements = count
  }
}

/// Memory for more elements of a parameter; nil: what it has will do.
struct ParameterRoom: BitwiseCopyable {
  var ramps: UnsafeMutablePointer<Ramp>?
  /// Number of the ramps.
  var capacity: Int32 = 0
  var many: UnsafeMutablePointer<Float>?
}

/// Level meter of a channel, read by the worker as bit patterns of floats.
struct ChannelMeter: ~Copyable {
  /// Largest magnitude since the last read.
  let peak = Atomic<UInt32>(0)
  /// Mean square with the ballistics of a volume indicator; it keeps its last value while the node sleeps.
  let power = Atomic<UInt32>(0)

  /// Time constant of the indicator in seconds: 99 % in 300 ms (IEC 60268-17).
  static let time: Float = 0.3 / 4.6
}

/// Audio-thread state of a node. It stays at one address from preparation until it is freed, whatever plans
/// come and go: rewiring cannot touch it.
///
/// It fills one and a half cache lines: first the data for changes and reports, then the data of every block. The
/// parameter streams, single values, crossfades and the kernel lie behind it, so that a small node at rest, such as a
/// gain, takes one cache line per block.
struct NodeSlot: ~Copyable {
  let parameters: UnsafeMutablePointer<ParameterState>
  let streams: UnsafeMutablePointer<ParameterStream>
  let crossfades: UnsafeMutablePointer<CrossfadeStream>
  /// Event queue of kinds that take events; the others share one queue that stays empty.
  let events: UnsafeMutablePointer<EventQueue>
  let eventOutput: UnsafeMutablePointer<EventQueue>?
  /// One per audio output channel. Audio thread; the worker knows them by `NodeMemory`.
  private(set) var meters: UnsafeMutablePointer<ChannelMeter>
  let parameterCount: Int32
  /// Number in the trace.
  let number: Int32
  // Read by the worker.
  let voices = Atomic<Int32>(0)
  let held = Atomic<Int32>(0)
  /// Engine time at which it fell asleep; -1 while awake.
  let asleepSince = Atomic<Int64>(-1)
  /// Engine frame at which all its notes end; `.max`: none.
  var endsAt = Int64.max

  // A new cache line.
  let kernel: UnsafeMutableRawPointer
  /// A bit for each parameter modulated in the last block; see `bit(ofParameter:)`.
  var modulated: UInt64 = 0
  let tag: KernelTag
  let tracesNotes: Bool
  /// It has neither events nor the driver's channels: its inputs and outputs are all that the frames of a block are.
  let runsInParts: Bool
  /// The transaction within this block commands it. Audio thread.
  var isReached = false
  private(set) var conditions: UInt8 = 0
  /// Every block of this 64-frame cell had silent inputs.
  var isCellSilent = true
  /// Read by the worker.
  let isSilent = Atomic<Bool>(false)
  /// Figures that its kernel reports.
  let readingCount: UInt8
  private(set) var meterCount: UInt16
  /// The output that made the blast shield mute it, as the bit pattern of a float; 0: not muted. A muted node
  /// sleeps, and nothing wakes it.
  let blast = Atomic<UInt32>(0)
  var isMuted: Bool { @_noLocks get { blast.load(ordering: .relaxed) != 0 } }

  /// True for a node at rest and awake, which neither amplifies nor reports figures: a block is its kernel's work alone. The
  /// conditions are bits of one number, so that one comparison tells.
  var isPlain: Bool { @_noLocks get { conditions == 0 } }
  /// True while at least one parameter moves.
  var isMoving: Bool {
    @_noLocks get { conditions & 1 != 0 }
    @_noLocks set { conditions = newValue ? conditions | 1 : conditions & ~1 }
  }
  var isAsleep: Bool {
    @_noLocks get { conditions & 2 != 0 }
    @_noLocks set { conditions = newValue ? conditions | 2 : conditions & ~2 }
  }
  /// Its output may exceed its input, so it is checked by the blast shield.
  var amplifies: Bool {
    @_noLocks get { conditions & 4 != 0 }
    @_noLocks set { conditions = newValue ? conditions | 4 : conditions & ~4 }
  }
  /// Its kernel reports figures.
  var hasReadings: Bool {
    @_noLocks get { conditions & 8 != 0 }
    @_noLocks set { conditions = newValue ? conditions | 8 : conditions & ~8 }
  }

  /// The bit of a parameter in a set: the last bit is for all from the 64th on.
  @_noLocks static func bit(ofParameter parameter: Int) -> UInt64 {
    parameter < 63 ? 1 &<< UInt64(truncatingIfNeeded: parameter) : lateParameters
  }
  /// The bit that several parameters share.
  static var lateParameters: UInt64 { @_noLocks get { 1 &<< 63 } }

  /// Latest figures of its kernel's report, as bit patterns of floats; they lie behind the parameters' states.
  var readings: UnsafeMutablePointer<Atomic<UInt32>> {
    @_noLocks get {
      UnsafeMutableRawPointer(parameters + Int(parameterCount)).assumingMemoryBound(to: Atomic<UInt32>.self)
    }
  }

  /// Measures with other meters from now on, which go on where these are. Audio thread.
  @_noLocks mutating func use(_ meters: UnsafeMutablePointer<ChannelMeter>, count: Int) {
    var index = 0
    while index < Int(meterCount) {
      meters[index].power.store(self.meters[index].power.load(ordering: .relaxed), ordering: .relaxed)
      index &+= 1
    }
    self.meters = meters
    meterCount = UInt16(truncatingIfNeeded: count)
  }

  /// Wakes it; a muted node sleeps on. Audio thread.
  @_noLocks mutating func wake() {
    guard isAsleep, !isMuted else { return }
    isAsleep = false
    asleepSince.store(-1, ordering: .relaxed)
  }

  /// Widens the per-channel parameters with the kernel. Parameters at rest are filled in with the next block.
  /// Audio thread.
  @_noLocks mutating func widenParameters(_ widening: Widening) {
    let hasInputs = widening.inputs[0] > 0
    let from = hasInputs ? widening.oldInputs[0] : widening.oldOutputs[0]
    let to = hasInputs ? widening.inputs[0] : widening.outputs[0]
    var index = 0
    while index < Int(parameterCount) {
      if parameters[index].elements > 1 {
        parameters[index].widen(widening, from: from, to: to)
        parameters[index].isMoving = true
        isMoving = true
      }
      index &+= 1
    }
  }
}

/// Audio-thread state of a cable: one smoothed gain, and a delay if it closes a cycle or compensates latency.
/// It follows the cable's identity as a node's state follows the node's.
struct CableSlot: ~Copyable {
  /// Delay of feedback cables, in frames.
  static var feedbackDelay: Int { @_noLocks get { blockCapacity } }

  var gain: Ramp
  /// Linear gain at the last block, as the bit pattern of a float.
  let gainNow: Atomic<UInt32>
  /// `Ramp.ceiling` of its gain at the last block, likewise.
  let ceilingNow: Atomic<UInt32>
  let isSilent = Atomic<Bool>(false)
  /// Start of a move that waits: for delays to fill, until a multiple of 64, where a block begins whatever the driver's
  /// period; or within this block. `.max`: none.
  var nextStart = Int64.max
  private var nextTarget: Float = 0
  private var nextFrames = 0
  private var nextPace = 0

  /// Delayed cables only. Per channel: `ringFrames`, a copy of the first cell so that reads can run past the
  /// end, and padding for whole vectors.
  private(set) var ring: UnsafeMutablePointer<Float>?
  let delay: Int
  /// A power of two.
  let ringFrames: Int
  var ringStride: Int { @_noLocks get { ringFrames &+ 80 } }
  /// Engine frame from which on the ring holds silence; a multiple of 64, so that the end of silence does not
  /// depend on where blocks begin.
  private var silentSince = Int64.min
  /// `silentSince` before the latest cell of sound.
  private var silentBefore = Int64.min
  /// Engine frame from which on nothing but zeros has been written.
  private var zerosSince = Int64.min

  /// True if what leaves the ring from the engine frame `now` on is silent. Audio thread.
  @_noLocks func isSilent(at now: Int64) -> Bool {
    // In a cycle the cell that is read has ended, and whether the present one has begun to be written depends on the
    // order of the nodes, which nothing may depend on.
    guard delay == Self.feedbackDelay else { return silentSince <= now &- (Int64(delay &+ 63) & ~63) }
    let end = now & ~63
    return silentSince != end && silentBefore != end
  }

  /// A block of sound that ends before the engine frame `end` was written into the ring. Audio thread.
  @_noLocks mutating func markSound(until end: Int64) {
    let since = (end &+ 63) & ~63
    guard since != silentSince else { return }
    silentBefore = silentSince
    silentSince = since
  }

  /// True if the ring holds zeros only, so that no more have to be written before the engine frame `now`. Audio thread.
  @_noLocks func holdsZeros(at now: Int64) -> Bool { zerosSince <= now &- Int64(ringFrames) }

  /// The sound written last ends before the engine frame `end`, and is not zeros. Audio thread.
  @_noLocks mutating func markWritten(until end: Int64) { zerosSince = end }

  /// True if no sound was written into the cell that ends at `end`. Audio thread.
  @_noLocks func isSilentCell(endingAt end: Int64) -> Bool { silentSince < end }

  /// Event cables only: notes and pedals that passed and have not ended.
  let held: HeldNotes?
  /// Engine frame at which it ends its held notes; until then it passes note-offs only. `.max`: open.
  var closesAt = Int64.max

  private static func ringFrames(delay: Int) -> Int {
    var frames = 128
    while frames < delay + blockCapacity { frames *= 2 }
    return frames
  }

  /// Bytes of the ring of a delayed cable.
  static func ringBytes(delay: Int, channels: Int) -> Int { channels * (ringFrames(delay: delay) + 80) * 4 }

  /// `ring`: zeroed memory of `ringBytes` for a delayed cable, in use until the slot is freed or widens. Worker.
  init(gain: Float, delay: Int, ring: UnsafeMutableRawPointer?, carriesEvents: Bool) {
    self.gain = Ramp(gain)
    gainNow = Atomic(gain.bitPattern)
    ceilingNow = Atomic(abs(gain).bitPattern)
    self.delay = delay
    ringFrames = Self.ringFrames(delay: delay)
    self.ring = ring?.assumingMemoryBound(to: Float.self)
    if carriesEvents {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: HeldNotes.size, alignment: 8)
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: HeldNotes.size)
      held = HeldNotes(memory: memory)
    } else {
      held = nil
    }
  }

  /// Start of a move that waits for this many frames.
  @_noLocks static func start(after wait: Int, from time: Int64) -> Int64 {
    (time &+ Int64(wait) &+ 63) & ~63
  }

  /// Moves the gain from the engine frame `time` on, in the block that begins at `now`. `pace`: see `Ramp.move`. Audio
  /// thread.
  @_noLocks mutating func move(
    to value: Float, over frames: Int, pace: Int, after wait: Int, at time: Int64, now: Int64
  ) {
    if time > now, nextStart <= now { beginMove() }
    let start = wait > 0 ? Self.start(after: wait, from: time) : time
    guard start > now else {
      gain.move(to: value, over: frames, pace: pace)
      nextStart = .max
      return
    }
    nextStart = start
    nextTarget = value
    nextFrames = frames
    nextPace = pace
  }

  /// Moves the gain to another target from now on, or when the move that waits begins. Audio thread.
  @_noLocks mutating func redirect(to value: Float, over frames: Int) {
    if nextStart < .max { nextTarget = value } else { gain.move(to: value, over: frames) }
  }

  /// Follows the widening of its source: the ring's channels move, as the source's do, into zeroed `memory` for all of them.
  /// Audio thread.
  @_noLocks mutating func widen(
    from: Int, to: Int, isDiscrete: Bool, into memory: UnsafeMutableRawPointer
  ) {
    guard let old = ring else { return }
    let new = memory.assumingMemoryBound(to: Float.self)
    var channel = 0
    while channel < to {
      let source = Widening.source(of: channel, from: from, to: to, isDiscrete: isDiscrete)
      if source >= 0 { copyMemory(new + channel &* ringStride, old + source &* ringStride, ringStride &* 4) }
      channel &+= 1
    }
    ring = new
  }

  /// Begins the waiting move. Audio thread.
  @_noLocks mutating func beginMove() {
    gain.move(to: nextTarget, over: nextFrames, pace: nextPace)
    nextStart = .max
  }

  /// Advances over a block that begins at `now`, in which the waiting move may begin. `output`: where the gains go, with
  /// room for 80 floats; nil: nowhere. Audio thread.
  @_noLocks mutating func advance(
    _ frames: Int, at now: Int64, writing output: UnsafeMutablePointer<Float>? = nil
  ) {
    var done = 0
    if nextStart < now &+ Int64(frames) {
      done = Int(nextStart &- now)
      advanceGain(done, writing: output)
      beginMove()
    }
    advanceGain(frames &- done, writing: output.map { $0 + done })
  }

  @_noLocks private mutating func advanceGain(_ frames: Int, writing output: UnsafeMutablePointer<Float>?) {
    if let output { gain.fill(output, frames: frames) } else { gain.skip(frames) }
  }

  /// Worker.
  func deallocate() { held?.deallocate() }
}
