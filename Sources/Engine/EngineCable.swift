import Patch
import Realtime

/// The worker's side of a cable that sounds.
final class EngineCable {
  enum Destination: Hashable {
    case audio(Int)
    /// Added to the parameter at this position.
    case parameter(Int)
    case events
  }

  /// A cable with another map or delay is another cable: the two crossfade.
  struct Key: Hashable {
    var source: Int32
    var sourcePort: String
    var destination: Int32
    var destinationPort: String
    var map: ChannelMap?
    var mixing: ChannelMixing
    /// Closes a cycle.
    var isFeedback: Bool
    /// Another one where channel counts at its ends have changed what an earlier one was to bring.
    var era: Int32
    /// Frames: `CableSlot.feedbackDelay` where it closes a cycle, else what makes up for the latency of
    /// parallel paths.
    var delay: Int32
  }

  let key: Key
  /// Unique among all cables that ever were: those between the same two ports are summed by age.
  let number: Int32
  let source: EngineNode
  /// Position among the source's audio outputs; nil for events. One that closes a cycle takes what its source
  /// gives ahead of time, if that does.
  let output: Int?
  let destination: EngineNode
  let input: Destination
  /// Linear.
  var target: Float { didSet { refreshRow() } }
  var isLeaving = false {
    didSet {
      if !isLeaving { (leavingSince, leavingAt) = (nil, nil) }
      refreshRow()
      refreshWanted()
    }
  }
  /// Frames from its making until what it brings is whole: its delay has to fill, and so have those inside
  /// of nodes that came with it. Fades wait for it.
  var wait: Int32 = 0
  /// The engine frame at which that is so, as far as known.
  var opensAt = Int64.max
  /// No longer in the patch, as its source is not: it passes on what that still has to say, and settles
  /// when that has been long enough.
  var isTail = false { didSet { refreshWanted() } }
  /// Of events: it is to end what it holds.
  var isClosing = false
  /// Among the graph's unsettled cables.
  var isUnsettled = false
  /// No longer in the graph.
  var isGone = false
  var isMixed: Bool { row.pointee.isMixed }
  /// The end of its fade, while it fades.
  enum Settling {
    case unsent(frames: Int)
    /// So many frames after the transaction of this serial is executed.
    case after(transaction: Int, frames: Int)
    case at(Int64)
  }

  /// Channels of its ends, as it spreads them.
  private struct Ends: Equatable {
    var from = PortChannels.one
    var to = PortChannels.one
  }
  private var ends = Ends()
  /// What it goes on with while another takes over.
  private var fixed: ChannelSpread?
  /// It brings what the patch said before channel counts changed.
  var isFixed: Bool { fixed != nil }
  var settling: Settling? { didSet { refreshRow() } }
  let row: CableRow.Pointer
  private let rows: RowPool
  /// What the audio thread's ramp does, followed from here to know when a fade is as good as over
  /// although edits keep arriving.
  private var mirror: Ramp
  private var mirrorTime: Int64 = 0
  /// Every one of its moves had a frame of its own. What is asked for at “the next block” is executed later
  /// than when it was prepared, and the mirror runs ahead.
  private var isMirrorExact = true
  /// The transaction that made it leave, and the engine frame at which that was executed, once known.
  var leavingSince: Int?
  var leavingAt: Int64?
  private var nextMove: (start: Int64, target: Float, frames: Int)?
  private(set) var slot: UnsafeMutablePointer<CableSlot>! {
    didSet { row.pointee.slot = slot }
  }

  init(key: Key, number: Int32, route: CableWish.Route, target: Float, rows: RowPool) {
    self.key = key
    self.number = number
    source = route.source
    output = key.isFeedback ? route.source.type?.aheadOutput ?? route.output : route.output
    destination = route.destination
    input = route.input
    self.target = target
    mirror = Ramp(target)
    let code =
      switch input {
      case .audio(let port): Int32(port)
      case .events: CableRow.events
      case .parameter(let parameter): -2 - Int32(parameter)
      }
    self.rows = rows
    row = rows.take(MemoryLayout<CableRow>.stride).bindMemory(to: CableRow.self, capacity: 1)
    row.initialize(
      to: CableRow(
        source: source.row, cable: .passUnretained(self), output: output.map(Int32.init) ?? -1, input: code,
        mapCount: Int32(key.map?.sources.count ?? 0), isDelayed: key.delay > 0))
    refreshRow()
  }

  deinit { rows.give(row, MemoryLayout<CableRow>.stride) }

  private func refreshRow() {
    var isSettled = false
    if case nil = settling { isSettled = true }
    row.pointee.target = target
    row.pointee.isSettled = isSettled
    row.pointee.isDirect = target == 1 && isSettled && !isLeaving && key.delay == 0
  }

  /// Channel counts follow the cables of the patch.
  private func refreshWanted() {
    let isWanted = !isLeaving && !isTail
    guard row.pointee.isWanted != isWanted else { return }
    row.pointee.isWanted = isWanted
    destination.row.pointee.isPending = true
    if !isWanted { destination.row.pointee.mayNarrow = true }
  }

  /// Frames that a fade which begins at `time` has to wait for it.
  func remainingWait(at time: Int64) -> Int32 { opensAt <= time ? 0 : wait }

  /// Follows a gain command that takes effect at `time`.
  func mirrorMove(over frames: Int, after wait: Int, at time: Int64, isExact: Bool) {
    if !isExact { isMirrorExact = false }
    advanceMirror(to: time)
    if wait == 0 {
      mirror.move(to: target, over: frames)
      nextMove = nil
    } else {
      nextMove = (CableSlot.start(after: wait, from: time), target, frames)
    }
  }

  /// Whether nobody hears it any more, at `time`, although edits keep its fade from ending: -120 dB.
  func isInaudible(at time: Int64, isExact: Bool) -> Bool {
    guard !carriesEvents, target == 0 else { return false }
    if isExact, isMirrorExact {
      advanceMirror(to: time)
      return mirror.ceiling < 1e-6
    }
    // As the audio thread tells it, from a block after the command to leave.
    guard let leavingAt, leavingAt < time, slot != nil else { return false }
    return Float(bitPattern: slot.pointee.ceilingNow.load(ordering: .relaxed)) < 1e-6
  }

  private func advanceMirror(to time: Int64) {
    if let next = nextMove, next.start <= time {
      mirror.skip(Int(clamping: max(0, next.start - mirrorTime)))
      mirrorTime = next.start
      mirror.move(to: next.target, over: next.frames)
      nextMove = nil
    }
    mirror.skip(Int(clamping: max(0, time - mirrorTime)))
    mirrorTime = max(mirrorTime, time)
  }

  /// What is left of its fade takes the same time at another rate, from `time` on. No audio thread runs.
  func stretch(by factor: Double, at time: Int64) {
    guard let slot else { return }
    slot.pointee.gain.stretch(by: factor)
    advanceMirror(to: time)
    mirror.stretch(by: factor)
    guard case .at(let end) = settling, end > time else { return }
    settling = .at(time + Int64((Double(end - time) * max(factor, 1)).rounded(.up)) + 1)
  }

  var carriesEvents: Bool { output == nil }

  /// Its source makes up for the frames by which the cable is delayed because it closes a cycle.
  func isMadeUp(rate: Double) -> Bool {
    guard key.isFeedback, let type = source.type, type.aheadOutput == output else { return false }
    return type.makesUp(source.values, rate: rate)
  }

  // MARK: Channels

  private var isModulation: Bool { if case .parameter = input { true } else { false } }

  /// The channels that its ends have now.
  private var endsNow: Ends {
    guard let output else { return Ends() }
    let to =
      switch input {
      case .audio(let port): destination.inputPort(port)
      case .parameter(let parameter): destination.parameterChannels(parameter)
      case .events: PortChannels.one
      }
    return Ends(from: source.outputPort(output), to: to)
  }

  /// Channels of its source's buffers.
  var sourceWidth: Int { ends.from.width }

  private func isForAll(_ ends: Ends) -> Bool {
    isModulation
      && (ends.to.count == 1
        || ChannelConversion.isForAll(from: ends.from.count, map: key.map, mixing: key.mixing))
  }

  private func conversion(_ ends: Ends) -> ChannelConversion {
    if isModulation {
      return .modulation(from: ends.from.count, to: ends.to.count, map: key.map, mixing: key.mixing)
    }
    return ChannelConversion(from: ends.from.count, to: ends.to.count, map: key.map, mixing: key.mixing)
  }

  private func spread(_ ends: Ends) -> ChannelSpread {
    ChannelSpread(conversion(ends), from: ends.from, to: ends.to, isMixed: source.hasMemoryOfChannels)
  }

  /// Its conversion by name, where the input has so many channels; nil where they go straight through.
  func conversionName(to channels: Int) -> String? {
    isForAll(ends) && channels == 1 && ends.from.count == 1 ? nil : conversion(ends).name
  }

  /// Gains from the channels of its source's buffers to so many of the input's.
  func gains(to channels: Int) -> [ChannelGain] {
    (fixed ?? spread(ends)).gains.filter { $0.destination < channels }
  }

  /// It spreads what its ends have now.
  func takeSpread() {
    ends = endsNow
    fixed = nil
    refreshSpread()
  }

  private func refreshSpread() {
    row.pointee.isForAll = fixed == nil && isForAll(ends)
    row.pointee.isStraight = fixed == nil && key.map == nil && ends.from == ends.to
  }

  /// Follows its ends to the channels that they have now, where that is heard as no step. Else it goes on
  /// with what it brought, and false says that another is to take over.
  func followEnds() -> Bool {
    let (old, new) = (ends, endsNow)
    guard old != new else { return true }
    let source = ChannelSpread.widening(from: old.from.width, to: new.from.width)
    let destination = ChannelSpread.widening(
      from: old.to.width, to: new.to.width, byNumber: destination.countPosition != nil)
    ends = new
    defer { refreshSpread() }
    if let fixed {
      self.fixed = destination.after(fixed).after(source.reversed)
      return true
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

  /// The ports of the patch that it joins.
  var patchEnds: Cable.Ends {
    Cable.Ends(
      PortReference(source.id, key.sourcePort), PortReference(destination.id, key.destinationPort))
  }

  func prepare(gain: Float) {
    mirror = Ramp(gain)
    takeSpread()
    slot = .allocate(capacity: 1)
    slot.initialize(
      to: CableSlot(
        gain: gain, delay: Int(key.delay), channels: key.delay > 0 ? 64 : 0, carriesEvents: carriesEvents))
  }

  func free() {
    guard let slot else { return }
    slot.pointee.deallocate()
    slot.deinitialize(count: 1)
    slot.deallocate()
    self.slot = nil
  }
}
