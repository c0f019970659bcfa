import Patch
import Realtime

/// Worker-side object of a running cable.
final class EngineCable {
  /// Seconds of a crossfade unless an edit asks for another length.
  static let standardFade = 0.010

  enum Destination: Hashable {
    case audio(Int)
    /// Added to the parameter at this position, or to an element that the kernel modulates itself.
    case parameter(Int, element: Int? = nil)
    case events
  }

  /// Identity of a cable. A change of map, depth or delay is a new cable, and the two crossfade.
  struct Key: Hashable {
    var source: Int32
    var sourcePort: String
    var destination: Int32
    var destinationPort: String
    var map: ChannelMap?
    var mixing: ChannelMixing
    /// Depth of a modulation; nil: its signal is added as it is.
    var depth: ModulationDepth?
    /// True when it closes a cycle.
    var isFeedback: Bool
    /// Counts the renewals of the cable by changes of channel counts.
    var generation: Int32
    /// Frames: `CableSlot.feedbackDelay` if it closes a cycle; otherwise the latency compensation of parallel
    /// paths.
    var delay: Int32

    /// A hash without `Hasher`. Renewals of a cable are told apart, as they fade at the same time.
    func _rawHashValue(seed: Int) -> Int {
      let source = UInt64(truncatingIfNeeded: source) ^ UInt64(truncatingIfNeeded: generation) << 33
      let destination = UInt64(truncatingIfNeeded: destination) ^ UInt64(truncatingIfNeeded: delay) << 33
      return QuickHash.value(from: source, sourcePort, to: destination, destinationPort, seed: seed)
    }
  }

  let key: Key
  /// Unique over the engine's lifetime. Cables between the same two ports are summed by age.
  let number: Int32
  let source: EngineNode
  /// Position among the source's audio outputs; nil for events. A feedback cable uses the source's
  /// ahead-of-time output if there is one.
  let output: Int?
  let destination: EngineNode
  let input: Destination
  /// Linear gain.
  var target: Float { didSet { refreshRow() } }
  var isLeaving = false {
    didSet {
      if !isLeaving { (leavingSince, leavingAt) = (nil, nil) }
      refreshRow()
      refreshWanted()
    }
  }
  /// A map moves its gain, of which the worker learns afterwards.
  var isMapped = false { didSet { refreshRow() } }
  /// Frames after creation until its signal is complete: its delay has to fill, and so have the delays inside
  /// new nodes upstream. Fades wait for it.
  var wait: Int32 = 0
  /// The engine frame at which the signal is complete, as far as known.
  var opensAt = Int64.max
  /// The patch has removed the source with its tail. The cable passes the tail on, and settles when that is
  /// over.
  var isTail = false { didSet { refreshWanted() } }
  /// True while an event cable ends the notes that it holds.
  var isClosing = false
  /// Member of the graph's unsettled cables.
  var isUnsettled = false
  /// Removed from the graph.
  var isGone = false
  var isMixed: Bool { row.pointee.isMixed }
  /// End of its fade, while it fades.
  enum Settling {
    case unsent(frames: Int)
    /// `frames` after the transaction with this serial number is executed.
    case after(transaction: Int, frames: Int)
    case at(Int64)
  }

  /// Channel counts at both ends, as used for its gains.
  private struct Ends: Equatable {
    var from = PortChannels.one
    var to = PortChannels.one
  }
  private var ends = Ends()
  /// Width of the destination's first input then.
  private var main = 1
  /// Gains that it keeps while a successor takes over.
  private var fixed: ChannelSpread?
  /// It keeps the gains from before a change of channel counts.
  var isFixed: Bool { fixed != nil }
  var settling: Settling? { didSet { refreshRow() } }
  let row: CableRow.Pointer
  private let rows: RowPool
  private let pools: NodePools
  /// Memory of its delay, for the channels of its source; nil: it has none.
  private(set) var ring: KernelMemory?
  /// Gain with which it began.
  private var firstGain: Float = 0
  /// nil: its gain has not moved yet, as that of most cables of a large patch.
  private var mirror: GainMirror?
  /// The transaction that removed it, and the engine frame of its execution, once known.
  var leavingSince: Int?
  var leavingAt: Int64?

  private(set) var slot: UnsafeMutablePointer<CableSlot>! {
    didSet { row.pointee.slot = slot }
  }

  init(
    key: Key, number: Int32, route: CableIntent.Route, target: Float, rows: RowPool, pools: NodePools
  ) {
    self.key = key
    self.number = number
    source = route.source
    output = key.isFeedback ? route.source.type?.aheadOutput ?? route.output : route.output
    destination = route.destination
    input = route.input
    self.target = target
    let code =
      switch input {
      case .audio(let port): Int32(port)
      case .events: CableRow.events
      case .parameter(let parameter, let element):
        CableRow.code(
          of: CableRow.Target(parameter: parameter, element: element ?? -1),
          isRatio: key.depth?.isRatio == true)
      }
    self.rows = rows
    self.pools = pools
    row = rows.allocate(MemoryLayout<CableRow>.stride).bindMemory(to: CableRow.self, capacity: 1)
    row.initialize(
      to: CableRow(
        source: source.row, cable: .passUnretained(self), output: output.map(Int32.init) ?? -1, input: code,
        mapCount: Int32(key.map?.sources.count ?? 0), isDelayed: key.delay > 0, isFeedback: key.isFeedback))
    refreshRow()
  }

  deinit { rows.recycle(row, MemoryLayout<CableRow>.stride) }

  private func refreshRow() {
    var isSettled = false
    if case nil = settling { isSettled = true }
    row.pointee.target = target
    row.pointee.isSettled = isSettled
    let isDirect =
      target == 1 && isSettled && !isLeaving && !isMapped && key.delay == 0 && key.depth?.isShaped != true
    guard row.pointee.isDirect != isDirect else { return }
    row.pointee.isDirect = isDirect
    destination.row.markStale()
  }

  /// Marks the destination, since channel counts follow the cables of the patch.
  private func refreshWanted() {
    let isWanted = !isLeaving && !isTail
    guard row.pointee.isWanted != isWanted else { return }
    row.pointee.isWanted = isWanted
    destination.row.markPending()
    if !isWanted { destination.row.pointee.mayNarrow = true }
  }

  /// Frames that a fade beginning at `time` has to wait for this cable.
  func remainingWait(at time: Int64) -> Int32 { opensAt <= time ? 0 : wait }

  /// `Ramp.pace` of its gain at `time`, as far as the worker knows.
  func pace(at time: Int64) -> Int { mirror?.pace(at: time) ?? 0 }

  /// Follows a gain command that takes effect at `time`.
  func follow(_ move: GainMirror.Move, at time: Int64) { makeMirror().follow(move, at: time) }

  /// Follows a gain command as soon as it is known when its transaction is executed.
  func follow(_ move: GainMirror.Move, of transaction: Int) { makeMirror().follow(move, of: transaction) }

  private func makeMirror() -> GainMirror {
    if let mirror { return mirror }
    let made = GainMirror(firstGain)
    mirror = made
    return made
  }

  /// Takes note that a transaction was executed at `time`.
  func beginMoves(of transaction: Int, at time: Int64) { mirror?.beginMoves(of: transaction, at: time) }

  /// True while a fade of an edit is under way.
  var isAmidFade: Bool {
    if case nil = settling { return false }
    return !isTail
  }

  /// True when the cable is below -120 dB at `time`, although edits keep its fade from ending. `isKnown`: nothing but the
  /// frame decides about it.
  func isInaudible(at time: Int64, isExact: Bool) -> (isInaudible: Bool, isKnown: Bool) {
    guard !carriesEvents, target == 0 else { return (false, true) }
    let hasMirror = !isMapped && (!isExact || mirror?.isExact != false)
    if !isExact || !hasMirror {
      // The gain may rise until the command to leave is executed.
      guard let leavingAt, leavingAt < time, slot != nil else { return (false, true) }
    }
    if hasMirror { return ((mirror?.ceiling(at: time) ?? abs(firstGain)) < 1e-6, true) }
    return (Float(bitPattern: slot.pointee.ceilingNow.load(ordering: .relaxed)) < 1e-6, false)
  }

  /// Stretches the rest of its fade to the same time in seconds at another rate, from `time` on. No audio
  /// thread runs.
  func stretch(by factor: Double, at time: Int64) {
    guard let slot else { return }
    slot.pointee.gain.stretch(by: factor)
    mirror?.stretch(by: factor, at: time)
    guard case .at(let end) = settling, end > time else { return }
    settling = .at(time + Int64((Double(end - time) * max(factor, 1)).rounded(.up)) + 1)
  }

  var carriesEvents: Bool { output == nil }

  /// True when its source compensates for the delay of this feedback cable.
  func isCompensated(rate: Double) -> Bool {
    guard key.isFeedback, let type = source.type, type.aheadOutput == output else { return false }
    return type.compensatesFeedback(source.values, rate)
  }

  // MARK: Channels

  private var isModulation: Bool { if case .parameter = input { true } else { false } }

  /// The channels that its ends have now.
  private var endsNow: Ends {
    guard let output else { return Ends() }
    let to =
      switch input {
      case .audio(let port): destination.inputPort(port)
      case .parameter(let parameter, _): destination.parameterChannels(parameter)
      case .events: PortChannels.one
      }
    return Ends(from: source.outputPort(output), to: to)
  }

  /// Channels of its source's buffers.
  var sourceWidth: Int { ends.from.width }

  private func isForAll(_ ends: Ends) -> Bool {
    // Ends that have both become narrower keep their channels apart, as `spread` has it.
    if !isModulation || ends.from == ends.to && ends.to.width > 1 && key.map == nil { return false }
    return ends.to.count == 1
      || ChannelConversion.isForAll(from: ends.from.count, map: key.map, mixing: key.mixing)
  }

  private func conversion(_ ends: Ends) -> ChannelConversion {
    if isModulation {
      return .modulation(from: ends.from.count, to: ends.to.count, map: key.map, mixing: key.mixing)
    }
    return ChannelConversion(from: ends.from.count, to: ends.to.count, map: key.map, mixing: key.mixing)
  }

  /// Channels of an input that the destination adds up, where each of them counts: those beyond are silent. One channel stands
  /// for as many as come out.
  private func foldWidth(_ ends: Ends) -> Int {
    guard !isModulation, destination.foldsInputs else { return .max }
    return max(ends.to.count, ends.to.count == 1 ? destination.outputChannels[0] : 1)
  }

  private func spread(_ ends: Ends) -> ChannelSpread {
    ChannelSpread(
      conversion(ends), from: ends.from, to: ends.to, isMixed: source.hasMemoryOfChannels,
      isDiscrete: source.hasDiscreteChannels, most: foldWidth(ends))
  }

  /// Name of its conversion to an input with this many channels; nil where channels pass straight through.
  func conversionName(to channels: Int) -> String? {
    isForAll(ends) && channels == 1 && ends.from.count == 1 ? nil : conversion(ends).name
  }

  /// Gains from the source's buffer channels to the input's channels.
  func gains(to channels: Int) -> [ChannelGain] {
    let gains = (fixed ?? spread(ends)).gains.filter { $0.destination < channels }
    guard let depth = key.depth else { return gains }
    return gains.map {
      ChannelGain(source: $0.source, destination: $0.destination, gain: $0.gain * depth.amount)
    }
  }

  private var mainWidth: Int { destination.inputs.isEmpty ? 1 : destination.inputPort(0).width }

  /// Adopts the present channel counts of its ends.
  func adoptSpread() {
    (ends, main) = (endsNow, mainWidth)
    fixed = nil
    refreshSpread()
  }

  private func refreshSpread() {
    row.pointee.isForAll = fixed == nil && isForAll(ends)
    row.pointee.isStraight =
      fixed == nil && key.map == nil && key.depth == nil && ends.from == ends.to
      && ends.to.width <= foldWidth(ends)
    row.pointee.isSpread =
      fixed == nil && !isModulation && ends.from == .one && ends.to == PortChannels(count: 2, width: 2)
      && ChannelConversion.isForAll(from: 1, map: key.map, mixing: key.mixing)
    destination.row.markStale()
    touchSum()
  }

  /// The sum that it is part of writes it again.
  func touchSum() {
    guard let sum = destination.wideSum else { return }
    let place = EngineGraph.place(of: self)
    if place < sum.cables.count, sum.cables[place] == row {
      sum.touch(place)
    } else {
      destination.wideSum = nil
    }
  }

  /// Its input repeats its channels where the node has more: a further one that takes as many as its cables bring.
  private var isRepeated: Bool {
    guard case .audio(let port) = input, port > 0 else { return false }
    return destination.inputs[port].format == .flexible
  }

  /// Adopts the present channel counts of its ends if that causes no audible step. Otherwise keeps the old
  /// gains and returns false: a successor must crossfade with it.
  func followEnds() -> Bool {
    let (old, new) = (ends, endsNow)
    guard old != new else {
      main = mainWidth
      return true
    }
    let source = ChannelSpread.widening(
      from: old.from.width, to: new.from.width, isDiscrete: source.hasDiscreteChannels)
    let destination = ChannelSpread.widening(
      from: old.to.width, to: new.to.width, byNumber: destination.countPosition != nil,
      isDiscrete: destination.hasDiscreteChannels,
      repeats: isRepeated ? destination.hasDiscreteChannels ? main : .max : 0)
    main = mainWidth
    ends = new
    defer { refreshSpread() }
    if let fixed {
      self.fixed = destination.after(fixed).after(source.reversed)
      return true
    }
    if bringsSound(old, new) {
      fixed = destination.after(spread(old)).after(source.reversed)
      return false
    }
    if isForAll(old), isForAll(new) {
      let (before, now) = (spread(Ends(from: old.from, to: .one)), spread(Ends(from: new.from, to: .one)))
      if now.after(source).isEqual(to: before) { return true }
    }
    let kept = destination.after(spread(old))
    if spread(new).after(source).isEqual(to: kept) { return true }
    fixed = kept.after(source.reversed)
    return false
  }

  /// The source has new channels that are heard, and do not begin in silence. A channel of notes rests until it is given one.
  private func bringsSound(_ old: Ends, _ new: Ends) -> Bool {
    guard old.from.width < new.from.width, source.maySoundAlone, !source.hasDiscreteChannels else {
      return false
    }
    let widths = (old.from.width, new.from.width)
    return spread(new).gains.contains {
      $0.gain != 0
        && Widening.source(of: $0.source, from: widths.0, to: widths.1, isDiscrete: false) < 0
    }
  }

  /// The patch ports that it joins.
  var patchEnds: Cable.Ends {
    Cable.Ends(
      PortReference(source.id, key.sourcePort), PortReference(destination.id, key.destinationPort))
  }

  func prepare(gain: Float) {
    firstGain = gain
    mirror = nil
    adoptSpread()
    let delay = Int(key.delay)
    if delay > 0 { ring = pools.rings.allocate(CableSlot.ringBytes(delay: delay, channels: sourceWidth)) }
    slot = pools.slots.allocate(MemoryLayout<CableSlot>.stride).bindMemory(to: CableSlot.self, capacity: 1)
    slot.initialize(to: CableSlot(gain: gain, delay: delay, ring: ring?.base, carriesEvents: carriesEvents))
  }

  /// Memory of its delay for a source that has widened; nil: it has no delay, or room enough. `width`: channels of the source
  /// before. The old memory is in use until the command is executed.
  func widenRing(from width: Int) -> (command: Command, garbage: KernelMemory)? {
    guard let old = ring, sourceWidth > width else { return nil }
    let wide = old.another(CableSlot.ringBytes(delay: Int(key.delay), channels: sourceWidth))
    ring = wide
    let command = Command.widenRing(
      slot, memory: wide.base, from: Int32(width), to: Int32(sourceWidth),
      isDiscrete: source.hasDiscreteChannels)
    return (command, old)
  }

  func free() {
    guard let slot else { return }
    slot.pointee.deallocate()
    slot.deinitialize(count: 1)
    pools.slots.recycle(slot, MemoryLayout<CableSlot>.stride)
    ring?.deallocate()
    self.slot = nil
  }
}
