import Patch
import Processors
import Realtime
import Sampler

/// Makes what sounds follow the patch, without ever disturbing what stays.
///
/// All methods: Worker, one thread at a time. The audio thread sees `renderer` only.
public final class Engine {
  public static let catalogue = KindCatalogue(processorKinds + samplerKinds)
  public static let standardFade = 0.010

  public let renderer: Renderer
  public internal(set) var rate: Double
  /// Threads that render, the driver's included.
  public let threads: Int
  /// Frames of the driver's period; the engine renders any, this is for the views.
  public var period: Int
  /// What the driver has for each `input` and `output`; this, too, is for the views.
  public var device = DeviceChannels()
  var log = TraceLog()
  var edits: EditLog

  let graph = EngineGraph()
  private var resources: [NodeID: Resource] = [:]
  private var faults: [NodeID: String] = [:]
  /// How often nodes were revived after the blast shield muted them.
  var lives: [NodeID: Int] = [:]
  private(set) var wanted = Patch()
  var taps: [Tap] = []
  /// Replaced resources that voices may still play.
  private var oldResources: [Resource] = []

  private var nextNumber: Int32 = 1
  private var nextCableNumber: Int32 = 1
  private var nextTransaction = 1
  private var unsent: [Transaction] = []
  private var sent: [Transaction] = []
  private var executedCount = 0
  private var arena = BufferArena(capacity: 64)
  private let noEvents: UnsafeMutablePointer<EventQueue>
  private let pools = NodePools()
  let rows = RowPool()
  /// Drivers ask in every period; the answer changes with plans and names only.
  private var knownEndpoints: [Endpoint]?
  /// The plan that the audio thread runs.
  private(set) var running: CompiledPlan?
  /// What the running plan looks like, once somebody has looked.
  var picture: PlanPicture?
  /// Memory of plans that are out of use, for the next ones: its pages are there already.
  var spareMemory: [PlanMemory] = []
  private var numbers: [Int32: (id: NodeID, name: String)] = [:]

  /// Plans sent and plans that came back, ever.
  public private(set) var plansSent = 0
  public private(set) var plansReturned = 0

  /// `threads`: how many render together, 1...16, where a patch is worth it. The sound is the same, bit
  /// for bit.
  public init(rate: Double, period: Int, threads: Int = 1) {
    self.rate = rate
    self.period = period
    self.threads = min(max(threads, 1), RenderTeam.mostThreads)
    renderer = Renderer(rate: rate, threads: self.threads)
    edits = EditLog(rate: rate)
    noEvents = .allocate(capacity: 1)
    noEvents.initialize(to: EventQueue())
  }

  /// No driver may run any more.
  deinit {
    for transaction in sent + unsent { transaction.dispose() }
    graph.removeAll()
    noEvents.pointee.deallocate()
    noEvents.deallocate()
  }

  // MARK: Edits

  /// Makes the sound follow `patch`: prepares what is new, compiles a plan, sends it with the changes
  /// of parameters and gains as one transaction.
  ///
  /// - Parameters:
  ///   - touched: what an edit of the patch adopted last may have changed; nil: it is compared.
  ///   - ramps: how long named parameters take, in seconds; the others take `fade`.
  ///   - tails: nodes that shall ring out, if they leave.
  ///   - fade: seconds of each crossfade.
  ///   - time: engine frame at which it happens; nil for the next block.
  ///   - edit: what is to stand in the log of edits, as a line of the language; nil: nothing.
  public func adopt(
    _ patch: Patch, touched: Touched? = nil,
    ramps: [(node: NodeID, path: ParameterPath, seconds: Double)] = [], tails: [NodeID] = [],
    fade: Double = Engine.standardFade, at time: Int64? = nil, describing edit: String? = nil
  ) {
    let old = wanted
    if let time { endFades(inTurnUntil: time) }
    wanted = patch
    // Before the first frame nothing sounds, so nothing has to fade.
    let begin = max(time ?? 0, renderer.time)
    let isFirst = begin == 0
    let frames = isFirst ? 0 : Int((fade * rate).rounded())
    let reconciler = Reconciler(
      engine: self, patch: patch, fade: frames, isFirst: isFirst, time: time)
    reconciler.tails = Set(tails)
    for ramp in ramps {
      reconciler.ramps[Reconciler.RampKey(node: ramp.node, path: ramp.path)] = Int(
        (ramp.seconds * rate).rounded())
    }
    var extent = touched ?? Touched(from: old, to: patch)
    if extent.since !== old.revision { extent = Touched(from: old, to: patch) }
    send(reconciler.run(extent), at: time, describing: isFirst ? nil : edit)
  }

  /// Compiles the union anew after fades have ended.
  private func tidy(at time: Int64? = nil) {
    let reconciler = Reconciler(
      engine: self, patch: wanted, fade: Int((Engine.standardFade * rate).rounded()), isFirst: false,
      time: time)
    send(reconciler.run(Touched(from: wanted, to: wanted), mustCompile: true), at: time)
  }

  /// What reconciling found to do.
  private func send(_ work: Reconciler.Work, at time: Int64?, describing edit: String? = nil) {
    if work.needsPlan { knownEndpoints = nil }
    guard work.needsPlan || !work.commands.isEmpty || !work.garbage.isEmpty else {
      if let edit { edits.begin(edit, at: renderer.time, frames: 0, isMeasured: isWatching) }
      return
    }
    let transaction = Transaction(serial: nextTransaction, time: time ?? .min)
    nextTransaction += 1
    transaction.commands = work.commands
    transaction.garbage = work.garbage
    transaction.starting = work.started
    transaction.leaving = work.left
    transaction.edit = edit
    transaction.fade = transaction.fadeFrames(work.fading)
    if var compiler = work.compiler {
      let plan = compiler.makePlan(
        serial: plansSent + 1, threads: threads, arena: &arena, zeros: renderer.zeros)
      plansSent += 1
      transaction.commands.append(.swap(plan.plan))
      transaction.plan = plan
    }
    for cable in work.fading {
      if case .unsent(let frames) = cable.settling {
        cable.settling = .after(transaction: transaction.serial, frames: frames)
      }
      if cable.isLeaving, cable.leavingSince == nil { cable.leavingSince = transaction.serial }
    }
    transaction.fading = work.fading
    transaction.opening = work.opening
    unsent.append(transaction)
    flush()
  }

  private func send(_ command: Command, at time: Int64?) {
    let transaction = Transaction(serial: nextTransaction, time: time ?? .min)
    nextTransaction += 1
    transaction.commands = [command]
    unsent.append(transaction)
    flush()
  }

  private func flush() {
    while let transaction = unsent.first {
      var envelope = transaction.seal()
      guard renderer.commands.push(&envelope) else { return }
      transaction.isAhead = transaction.time > renderer.time
      sent.append(transaction)
      unsent.removeFirst()
    }
  }

  /// A note, a pedal, a transport: straight to the node.
  public func perform(_ event: Event, on node: NodeID, at time: Int64? = nil) {
    guard let node = graph.current[node], node.takesEvents else { return }
    send(.event(node.slot, event), at: time)
  }

  /// Every voice fades at once.
  public func panic() {
    for node in graph.current.values where node.takesEvents {
      send(.event(node.slot, Event(.allSoundOff)), at: nil)
    }
  }

  /// Gives a node its instrument or file; what sounds with the old one ends as it would have.
  public func use(_ resource: Resource?, for id: NodeID) {
    if let old = resources[id], old !== resource { oldResources.append(old) }
    resources[id] = resource
    faults[id] = nil
    guard let node = graph.current[id] else { return }
    node.fault = nil
    node.resource = resource
    send(.use(node.slot, resource?.header), at: nil)
    if let resource { log.note(.loaded(resource.name), node.id, node.name, at: renderer.time) }
  }

  /// A file that is missing: the node stays, passes nothing, and says why. nil takes it back.
  public func markPlaceholder(_ id: NodeID, _ reason: String?) {
    guard faults[id] != reason else { return }
    faults[id] = reason
    guard let node = graph.current[id] else { return }
    node.fault = reason
    if let reason { log.note(.failed(reason), id, node.name, at: renderer.time) }
  }

  /// Whether the levels of all outputs are measured for `report`.
  public var isMetering: Bool {
    get { renderer.isMetering.load(ordering: .relaxed) }
    set { renderer.isMetering.store(newValue, ordering: .relaxed) }
  }

  /// What has not been executed, as far as `collect` knows.
  var pending: [Transaction] { sent + unsent }

  /// Listens to a port of a node by name, whatever the node of that name is at a time: its sound goes
  /// to driver channels of its own. To be called after the first `adopt`. nil: no such port.
  public func addTap(node name: String, port: String?) -> Endpoint? {
    guard let node = wanted[named: name].flatMap({ graph.current[$0.id] }) else { return nil }
    guard let output = node.outputs.firstIndex(where: { !$0.isEvents && (port == nil || $0.name == port) })
    else { return nil }
    let tap = Tap(
      id: NodeID(raw: .max - UInt64(taps.count)), node: name, port: node.outputs[output].name,
      channels: node.outputChannels[output])
    taps.append(tap)
    adopt(wanted)
    return endpoints.first { $0.node == tap.id }
  }

  // MARK: For the reconciler

  func makeNumber(for id: NodeID, name: String) -> Int32 {
    defer { nextNumber += 1 }
    numbers[nextNumber] = (id, name)
    return nextNumber
  }

  func makeCableNumber() -> Int32 {
    defer { nextCableNumber += 1 }
    return nextCableNumber
  }

  func prepare(_ node: EngineNode) {
    node.prepare(rate: rate, noEvents: noEvents, pools: pools)
    node.fault = faults[node.id]
    log.note(.allocated(bytes: node.bytes), node.id, node.name, at: renderer.time)
    log.note(.prepared, node.id, node.name, at: renderer.time)
  }

  func rename(_ node: EngineNode) {
    numbers[node.number] = (node.id, node.name)
    knownEndpoints = nil
  }

  func note(_ happening: TraceEntry.Happening, _ node: EngineNode) {
    log.note(happening, node.id, node.name, at: renderer.time)
  }

  func resource(for id: NodeID) -> Resource? { resources[id] }

  // MARK: Housekeeping

  /// Takes up what the audio thread has done: frees what it no longer uses, ends fades, reads the
  /// trace. To be called about 60 times a second live, after each period offline.
  ///
  /// `frame`: the engine frame before which nothing more will be asked for. Fades that end by then are
  /// followed up at their very frames, whenever this is called: a script is heard live as in a file.
  public func collect(expectingNothingBefore frame: Int64? = nil) {
    flush()
    // Read first: every transaction that was executed before it is counted below.
    let watched = renderer.time
    let done = renderer.executed.load(ordering: .acquiring)
    while executedCount < done, !sent.isEmpty {
      finish(sent.removeFirst())
      executedCount += 1
    }
    readTrace()
    readWatch(until: watched)
    for node in graph.leaving where node.isRinging && !node.hasRungOut { hearOut(node) }
    if let frame {
      endFades(inTurnUntil: frame)
    } else if endFades(until: renderer.time) {
      tidy()
    }
    graph.forgetSettled()
    oldResources.removeAll { !$0.header.pointee.isUsed && sent.isEmpty && unsent.isEmpty }
  }

  /// Takes the fades that end by `time` for ended, each at its own frame: what was delayed because of them
  /// becomes direct by a fade that begins there.
  private func endFades(inTurnUntil time: Int64) {
    while let end = graph.unsettled.compactMap({ end(of: $0.settling) }).min(), end <= time {
      if endFades(until: end) { tidy(at: end) }
    }
  }

  /// Takes the fades that end by `time` for ended; says whether there is less to run without them.
  private func endFades(until time: Int64) -> Bool {
    var isOver = false
    for cable in graph.unsettled {
      guard let end = end(of: cable.settling), end <= time else { continue }
      cable.settling = nil
      // A gain that has come to rest is mixed as before, unless it is none any more.
      if cable.isLeaving || cable.isTail || cable.key.isFeedback || cable.target == 1 { isOver = true }
    }
    return isOver
  }

  /// The engine frame at which a fade ends, if that is known.
  private func end(of settling: EngineCable.Settling?) -> Int64? {
    switch settling {
    case .at(let end): return end
    case .after(let serial, let frames):
      // What has its frame and was in the queue before it, is executed there, taken up or not.
      // Serial numbers follow each other.
      guard let first = sent.first, sent.indices.contains(serial - first.serial) else { return nil }
      let transaction = sent[serial - first.serial]
      guard transaction.isAhead else { return nil }
      return transaction.time + Int64(frames)
    case .unsent, nil: return nil
    }
  }

  private func finish(_ transaction: Transaction) {
    let time = transaction.executedAt
    if let edit = transaction.edit {
      edits.begin(edit, at: time, frames: transaction.fade, isMeasured: isWatching)
    } else if transaction.plan != nil {
      edits.replan(at: time)
    }
    if let plan = transaction.plan {
      if let running {
        plansReturned += 1
        if spareMemory.count < 2 { spareMemory.append(running.memory) }
        for node in transaction.leaving {
          log.note(.retired(plan: running.serial), node.id, node.name, at: time)
        }
      }
      running = plan
    }
    for node in transaction.starting {
      node.startedAt = time
      log.note(.started, node.id, node.name, at: time)
    }
    for cable in transaction.opening {
      cable.opensAt = CableSlot.start(after: Int(cable.wait), from: time)
    }
    for cable in transaction.fading {
      if cable.leavingSince == transaction.serial { cable.leavingAt = time }
      if case .after(transaction.serial, let frames) = cable.settling {
        cable.settling = .at(time + Int64(frames))
      }
    }
    for node in transaction.leaving { log.note(.freed, node.id, node.name, at: time) }
    for item in transaction.garbage {
      if case .node(let node) = item { numbers[node.number] = nil }
    }
    transaction.dispose()
  }

  private func readTrace() {
    var records: [TraceRecord] = []
    for index in 0..<threads {
      let ring = renderer.team.pointee.runners[index].trace
      while let raw = ring.peek() {
        records.append(raw.assumingMemoryBound(to: TraceRecord.self).pointee)
        ring.pop()
      }
    }
    // In an order that does not depend on how many threads there are.
    let sorted = records.enumerated().sorted {
      ($0.element.time, $0.element.node, $0.offset) < ($1.element.time, $1.element.node, $1.offset)
    }
    for (_, record) in sorted {
      guard let node = numbers[record.node], let happening = TraceEntry.Happening(record) else { continue }
      log.note(happening, node.id, node.name, at: record.time)
    }
  }

  /// The lifecycle trace from the entry with this serial number on.
  public func trace(since id: Int) -> [TraceEntry] { log.entries(since: id) }

  /// The engine frame at which the next fade ends, and a driver that wants the same bits for every period
  /// has to call `collect`: what a cycle becomes after its fade begins there. nil: none is under way.
  public var nextFadeEnd: Int64? {
    let now = renderer.time
    return graph.unsettled.compactMap { cable in
      switch cable.settling {
      case .at(let end): end
      case .after(_, let frames), .unsent(let frames): now + Int64(frames)
      case nil: nil
      }
    }.min()
  }

  /// Whether everything that was asked for has happened and no fade is under way.
  public var isSettled: Bool {
    unsent.isEmpty && sent.isEmpty && graph.unsettled.allSatisfy { $0.settling == nil && !$0.isLeaving }
  }

  // MARK: Endpoints

  /// The driver channels that are wanted now, those of leaving nodes included; each once.
  public var endpoints: [Endpoint] {
    if let known = knownEndpoints { return known }
    let found = findEndpoints()
    knownEndpoints = found
    return found
  }
}
