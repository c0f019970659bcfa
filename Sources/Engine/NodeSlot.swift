import Realtime
import Synchronization

/// A parameter's moving state, in fixed storage beside its kernel.
struct ParameterState {
  enum Kind: UInt8 {
    /// Not the renderer's business: structural, a file, or smoothed by the kernel.
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
  /// Elements in use: 1, or one a channel.
  var elements: Int
  /// Ramps that there is room for: 1, or one for each of 64 channels.
  let capacity: Int
  let ramps: UnsafeMutablePointer<Ramp>
  /// Where the stream's values are while there is one of them: beside the slot.
  let single: UnsafeMutablePointer<Float>
  /// Where they are else. Room for 64, since what is connected to the parameter's port may have more
  /// channels than it.
  let many: UnsafeMutablePointer<Float>
  var crossfade: Crossfade

  static func capacity(isPerChannel: Bool, values: Int) -> Int {
    min(max(isPerChannel ? 64 : 1, values, 1), 64)
  }

  /// `ramps` has room for `capacity`, `many` for 64. Worker.
  init(
    kind: Kind, values initial: [Float], capacity: Int, ramps: UnsafeMutablePointer<Ramp>,
    single: UnsafeMutablePointer<Float>, many: UnsafeMutablePointer<Float>
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
      (many + element).initialize(to: value)
    }
    single.initialize(to: initial.first ?? 0)
    crossfade = Crossfade(initial.first ?? 0)
  }

  /// Room for the values at a block's first frame, while there are so many.
  @_noLocks func values(_ elements: Int) -> UnsafeMutablePointer<Float> { elements == 1 ? single : many }

  /// Audio thread.
  @_noLocks mutating func move(element: Int, to value: Float, over frames: Int) {
    switch kind {
    case .none: return
    case .crossfade:
      crossfade.move(to: value, over: frames)
    case .ramp:
      guard element < capacity else { return }
      if element >= elements { spread(element &+ 1) }
      ramps[element].move(to: value, over: frames)
    }
    isMoving = true
  }

  /// Each channel of `to` has what it goes on from had, of `from`. Audio thread.
  @_noLocks mutating func widen(from: Int, to: Int) {
    guard isRamp, capacity == 64, elements > 1 else { return }
    if elements < to { spread(to) }
    // What a channel goes on from never stands behind it.
    var channel = to &- 1
    while channel >= 0 {
      let source = Widening.source(of: channel, from: from, to: to)
      if source >= 0 { ramps[channel] = ramps[source] }
      channel &-= 1
    }
  }

  /// From one value for all channels to one a channel. Audio thread.
  @_noLocks private mutating func spread(_ count: Int) {
    var element = elements
    while element < count {
      ramps[element] = ramps[elements &- 1]
      element &+= 1
    }
    elements = count
  }
}

/// How loud a channel is, told to the worker as bit patterns of floats.
struct ChannelMeter: ~Copyable {
  /// The largest magnitude since last read.
  let peak = Atomic<UInt32>(0)
  /// The mean square as a volume indicator follows it; what it was last, while the node is silent.
  let power = Atomic<UInt32>(0)

  /// Seconds of the indicator's exponential: 99 % of the way in 300 ms (IEC 60268-17).
  static let time: Float = 0.3 / 4.6
}

/// The state of a node on the audio thread. It lives at one address from preparation until it is
/// freed, whatever plans come and go: rewiring cannot touch it.
///
/// It fills a cache line and a third: what only changes and reports touch, then what every block
/// does. Behind it lie the parameters' streams and single values, the crossfades' and the kernel, so
/// that a small node at rest is one line.
struct NodeSlot: ~Copyable {
  let parameters: UnsafeMutablePointer<ParameterState>
  let streams: UnsafeMutablePointer<ParameterStream>
  let crossfades: UnsafeMutablePointer<CrossfadeStream>
  /// For kinds that take events; the others share one queue that stays empty.
  let events: UnsafeMutablePointer<EventQueue>
  let eventOutput: UnsafeMutablePointer<EventQueue>?
  /// One for each audio output channel.
  let meters: UnsafeMutablePointer<ChannelMeter>
  let parameterCount: Int32
  /// Number in the trace.
  let number: Int32
  // Told to the worker.
  let voices = Atomic<Int32>(0)
  let held = Atomic<Int32>(0)
  /// Engine time at which it fell asleep; -1 while it is awake.
  let asleepSince = Atomic<Int64>(-1)
  /// The engine frame at which all its notes end; `.max`: none.
  var endsAt = Int64.max

  // A new cache line.
  let kernel: UnsafeMutableRawPointer
  let tag: KernelTag
  let tracesNotes: Bool
  /// Some parameter moves.
  var isMoving = false
  /// Something was connected to a parameter in the last block that it ran in.
  var isModulated = false
  var isAsleep = false
  /// Every block of this 64-frame cell had silent inputs.
  var isCellSilent = true
  /// It may give more than it takes: what it gives is looked at.
  var amplifies: Bool
  /// Told to the worker.
  let isSilent = Atomic<Bool>(false)
  let meterCount: UInt16
  /// What it gave when the blast shield muted it, as the bit pattern of a float; 0 while it has not. A
  /// muted node sleeps, and nothing wakes it.
  let blast = Atomic<UInt32>(0)
  var isMuted: Bool { @_noLocks get { blast.load(ordering: .relaxed) != 0 } }

  /// Its kernel has widened. What rests is filled in with the next block. Audio thread.
  @_noLocks mutating func widenParameters(from: Int, to: Int) {
    var index = 0
    while index < Int(parameterCount) {
      if parameters[index].elements > 1 {
        parameters[index].widen(from: from, to: to)
        parameters[index].isMoving = true
        isMoving = true
      }
      index &+= 1
    }
  }
}

/// The state of a cable on the audio thread: one smoothed gain, and a delay where it closes a cycle or
/// makes up for the latency of parallel paths. It follows the cable's identity as a node's state follows
/// the node's.
struct CableSlot: ~Copyable {
  /// Frames by which cables are delayed that close a cycle.
  static var feedbackDelay: Int { @_noLocks get { 64 } }

  var gain: Ramp
  /// Linear gain at the last block, as the bit pattern of a float.
  let gainNow: Atomic<UInt32>
  /// `Ramp.ceiling` of its gain there, likewise.
  let ceilingNow: Atomic<UInt32>
  let isSilent = Atomic<Bool>(false)
  /// The move that waits until the delays are full which it fades to, and when it begins: on a multiple
  /// of 64, where a block begins whatever the driver's period. `.max`: none.
  var nextStart = Int64.max
  private var nextTarget: Float = 0
  private var nextFrames = 0

  /// Delayed cables only: for each channel `ringFrames`, then the first cell once more, so that reading
  /// goes on over the end, and room for reading whole vectors.
  let ring: UnsafeMutablePointer<Float>?
  let delay: Int
  /// A power of two.
  let ringFrames: Int
  var ringStride: Int { @_noLocks get { ringFrames &+ 80 } }
  /// Frames of silence last written into the ring.
  var quietFrames: Int

  /// Cables of events only: what went through and has not ended.
  let held: HeldNotes?
  /// The engine frame at which it ends what it holds; before that, it passes endings alone. `.max`: it is
  /// open.
  var closesAt = Int64.max

  /// Worker.
  init(gain: Float, delay: Int, channels: Int, carriesEvents: Bool) {
    self.gain = Ramp(gain)
    gainNow = Atomic(gain.bitPattern)
    ceilingNow = Atomic(abs(gain).bitPattern)
    self.delay = delay
    var frames = 128
    while frames < delay + 64 { frames *= 2 }
    ringFrames = frames
    quietFrames = frames
    if channels > 0 {
      let count = channels * (frames + 80)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
      ring = memory.initializeMemory(as: Float.self, repeating: 0, count: count)
    } else {
      ring = nil
    }
    if carriesEvents {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: HeldNotes.size, alignment: 8)
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: HeldNotes.size)
      held = HeldNotes(memory: memory)
    } else {
      held = nil
    }
  }

  /// When a move begins that waits for so many frames.
  @_noLocks static func start(after wait: Int, from time: Int64) -> Int64 {
    (time &+ Int64(wait) &+ 63) & ~63
  }

  /// Audio thread.
  @_noLocks mutating func move(to value: Float, over frames: Int, after wait: Int, at time: Int64) {
    guard wait > 0 else {
      gain.move(to: value, over: frames)
      nextStart = .max
      return
    }
    nextStart = Self.start(after: wait, from: time)
    nextTarget = value
    nextFrames = frames
  }

  /// Its source has widened: what is in the ring goes where the source's sound goes. Audio thread.
  @_noLocks func widen(from: Int, to: Int) {
    guard let ring else { return }
    // What a channel goes on from never stands behind it.
    var channel = to &- 1
    while channel >= 0 {
      let source = Widening.source(of: channel, from: from, to: to)
      let target = ring + channel &* ringStride
      if source < 0 {
        setMemory(target, 0, ringStride &* 4)
      } else if source != channel {
        copyMemory(target, ring + source &* ringStride, ringStride &* 4)
      }
      channel &-= 1
    }
  }

  /// Begins the move that has waited. Audio thread.
  @_noLocks mutating func beginMove() {
    gain.move(to: nextTarget, over: nextFrames)
    nextStart = .max
  }

  /// Worker.
  func deallocate() {
    ring?.deallocate()
    held?.deallocate()
  }
}
