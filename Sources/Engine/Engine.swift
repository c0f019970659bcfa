import Patch
import Realtime

/// Makes the sound follow the patch without disturbing nodes that stay.
///
/// All methods: Worker, one thread at a time. The audio thread sees `renderer` only.
public final class Engine: ReconcilerHost {
  /// Seconds of a crossfade unless an edit asks for another length.
  public static let standardFade = EngineCable.standardFade

  /// The node kinds that the engine can run.
  public internal(set) var kinds: KindRegistry
  /// The audio thread's side of the engine.
  public let renderer: Renderer
  /// Sample rate, Hz.
  public internal(set) var rate: Double
  /// Rendering threads, the driver's included.
  public let threads: Int
  /// Frames of the driver's period. The engine renders any number of frames; this value is for display.
  public var period: Int
  /// Channels that the driver has for each `input` and `output`; for display too.
  public var device = DeviceChannels()
  var log = TraceLog()
  var edits: EditLog

  let graph = EngineGraph()
  private var resources: [NodeID: Resource] = [:]
  private var faults: [NodeID: String] = [:]
  private var loads: [NodeID: FileLoad] = [:]
  private(set) var wanted = Patch()
  /// Runs the preparation of nodes that takes long, on any thread. At once by default, so that everything is
  /// ready with the edit.
  public var background: (@escaping @Sendable () -> Void) -> Void = { $0() }
  /// Called when the rate changes, before the first frame of the new one.
  public var retuning: () -> Void = {}
  var taps: [Tap] = []
  var endedTaps: [Tap] = []
  /// Number of taps so far.
  private var tapCount: UInt64 = 0
  /// Number for the transactions that are sent from now on; `takeStamps` tells when they were executed. 0: none.
  public var stamp = 0
  /// Number for those that follow the ends of fades.
  static let settling = -1
  /// Until `takeStamps`, in order.
  var stamps: [Stamp] = []
  /// Events and transactions are stamped for a journal.
  var isTaping = false
  /// Maps of controllers.
  let maps = EngineMaps()
  /// Movements that have been read and not been taken yet.
  var unread: [MapSlot.Movement] = []
  /// Movements of maps that have been taken, those that an edit had overruled included, in total.
  public internal(set) var movementsTaken = 0
  /// Lengths of notes.
  let notes = EngineNotes()
  private(set) var mappedCables: Set<Cable.Ends> = []
  var listens = false
  /// Replaced resources that voices may still play.
  var oldResources: [Resource] = []

  private var nextNumber: Int32 = 1
  private var nextCableNumber: Int32 = 1
  private(set) var nextTransaction = 1
  var unsent: [Transaction] = []
  var sent: [Transaction] = []
  var executedCount = 0
  private let noEvents: UnsafeMutablePointer<EventQueue>
  private let quality: SampleQuality?
  let pools = NodePools()
  let rows = RowPool()
  /// Cached: drivers ask in every period, and the answer changes with plans and names only.
  private var knownEndpoints: [Endpoint]?
  /// The plan that the audio thread runs.
  var running: CompiledPlan?
  /// Structure of the running plan for reports, made at the first report.
  var picture: PlanPicture?
  let planMemory = PlanCompiler.PlanMemory()
  /// The plan that has been running when memory was last prepared for the next one.
  var preparedPlan = 0
  var numbers: [Int32: (id: NodeID, name: String)] = [:]

  /// Engine frame at which the latest plan was compiled, and whether fades have ended since.
  var plannedAt: Int64 = 0
  var needsRecompile = false
  /// Engine frame of the latest transaction that is known to be executed.
  var latestExecution: Int64 = -1
  /// Engine frame before which the latest decision knew all.
  var latestKnown: Int64 = -1
  /// Engine frame of the first decision that a replay may make otherwise; nil: there is none. Worker.
  public internal(set) var firstGuess: Int64?
  /// True in a replay whose journal tells by `settle` when fades have ended, so that the engine does not look itself. Worker.
  public var isTold = false
  /// Engine frame from which on nothing is known yet, in a replay. Worker.
  public var toldUntil = Int64.max
  /// Engine frame before which all is known to the next decision, in a replay; nil: it is made for its own frame. Worker.
  public var knownFrame: Int64?

  /// Plans sent to the audio thread, in total.
  public private(set) var plansSent = 0
  /// Plans that are out of use again, in total.
  public internal(set) var plansReturned = 0

  /// `threads`: rendering threads, 1...16, used where a patch gains from them; the output is the same, bit
  /// for bit. `quality`: sample interpolation for nodes that do not set it. `kinds`: the node kinds that it
  /// can run.
  public init(
    rate: Double, period: Int, threads: Int = 1, quality: SampleQuality? = .four,
    kinds: KindRegistry = .builtIn
  ) {
    self.kinds = kinds
    self.rate = rate
    self.quality = quality
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

  /// Makes the sound follow `patch`: prepares new nodes and cables, compiles a plan, and sends it with the
  /// changes of parameters and gains as one transaction.
  ///
  /// - Parameters:
  ///   - patch: the new document.
  ///   - touched: parts of the patch that may differ from the patch adopted last; nil: both are compared.
  ///   - ramps: duration in seconds for named parameters; the others take `fade`.
  ///   - tails: nodes that ring out if they leave.
  ///   - fade: seconds of each crossfade.
  ///   - time: engine frame of the edit; nil for the next block.
  ///   - edit: text for the edit log, as a line of the language; nil: no entry.
  ///   - isUndo: an edit is undone, with the orders that it gave.
  ///   - isMoved: maps have moved the values already (`accept`).
  public func adopt(
    _ patch: Patch, touched: Touched? = nil,
    ramps: [(node: NodeID, path: ParameterPath, seconds: Double)] = [], tails: [NodeID] = [],
    fade: Double = Engine.standardFade, at time: Int64? = nil, describing edit: String? = nil,
    isUndo: Bool = false, isMoved: Bool = false
  ) {
    let old = wanted
    let changes = TransportChange.changes(from: old.settings, to: patch.settings)
    let known = beginDecision(at: time, isOfTaps: patch.revision === old.revision, isMoved: isMoved)
    let isAmidFades = graph.unsettled.contains(where: \.isAmidFade)
    wanted = patch
    // Nothing sounds before the first frame, so nothing has to fade.
    let isFirst = max(time ?? 0, renderer.time) == 0
    var extent = touched ?? Touched(from: old, to: patch)
    if extent.since !== old.revision { extent = Touched(from: old, to: patch) }
    // Orders that are given again leave the patch as it was.
    extent.add(ramps.lazy.filter { $0.seconds == 0 }.map(\.node))
    let request = Reconciler.Request(
      patch: patch, touched: extent, fade: isFirst ? 0 : frames(fade),
      ramps: RampTimes(ramps, rate: rate, in: patch, kinds), tails: Set(tails), isFirst: isFirst,
      isUndo: isUndo, isMoved: isMoved, time: time, known: known, serial: nextTransaction)
    let reconciler = Reconciler(engine: self, request, now: renderer.time)
    let mapped = mappedCables
    mappedCables = cables(mappedBy: patch)
    reconciler.followMaps(from: mapped)
    var work = reconciler.run()
    work.commands += changes.map { .transport($0) }
    send(work, at: time, known: known, describing: isFirst ? nil : edit, isAmidFades: isAmidFades)
  }

  func frames(_ seconds: Double) -> Int { Int((seconds * rate).rounded()) }

  /// Sends the reconciler's result as one transaction.
  func send(
    _ work: Reconciler.Work, at time: Int64?, known: Int64?, describing edit: String? = nil, isAmidFades: Bool
  ) {
    var work = work
    followMaps(&work, serial: nextTransaction)
    followNotes(&work)
    if work.compiler != nil { knownEndpoints = nil }
    guard work.compiler != nil || !work.commands.isEmpty || !work.garbage.isEmpty else {
      if let edit { edits.begin(edit, at: renderer.time, frames: 0, isMeasured: isWatching) }
      return
    }
    let transaction = Transaction(serial: nextTransaction, time: time ?? .min)
    nextTransaction += 1
    transaction.stamp = stamp
    (transaction.known, transaction.isAmidFades) = (known, isAmidFades)
    latestKnown = max(latestKnown, known ?? -1)
    if work.hasGuessed { guess(at: known ?? time ?? renderer.time) }
    transaction.isLocal = work.isLocal
    transaction.commands = work.commands
    transaction.garbage = work.garbage
    transaction.starting = work.started
    transaction.leaving = work.left
    transaction.edit = edit
    transaction.fade = transaction.fadeFrames(crossfade: work.crossfade)
    if let compiler = work.compiler {
      let plan = compiler.makePlan(serial: plansSent + 1, threads: threads, zeros: renderer.zeros)
      transaction.garbage.append(.crossings(compiler.takeRetired(), planMemory.crossings))
      plansSent += 1
      transaction.commands.append(.swap(plan.plan))
      transaction.plan = plan
      plannedAt = renderer.time
      needsRecompile = false
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

  private func send(_ command: Command, at time: Int64?) { send([command], at: time) }

  func send(_ commands: [Command], at time: Int64? = nil) {
    let transaction = Transaction(serial: nextTransaction, time: time ?? .min)
    nextTransaction += 1
    transaction.stamp = stamp
    transaction.commands = commands
    unsent.append(transaction)
    flush()
  }

  func flush() {
    while let transaction = unsent.first {
      var sealed = transaction.seal()
      guard renderer.commands.push(&sealed) else { return }
      transaction.isAhead = transaction.time > renderer.time
      sent.append(transaction)
      unsent.removeFirst()
    }
  }

  /// Sends a note, pedal or transport event straight to a node.
  public func perform(_ event: Event, on node: NodeID, at time: Int64? = nil) {
    guard let node = graph.current[node], node.takesEvents else { return }
    if event.kind == .play || event.kind == .cue { node.resource?.expect(seconds: event.time) }
    send(.event(node.slot, event), at: time)
  }

  /// Fades out every voice at once.
  public func panic() {
    for node in graph.current.values where node.takesEvents {
      send(.event(node.slot, Event(.allSoundOff)), at: nil)
    }
  }

  /// Gives a node its instrument or file. Voices on the old one end as they would have. No effect if the node
  /// has it already.
  public func use(_ resource: Resource?, for id: NodeID) {
    if let old = resources[id], old !== resource { oldResources.append(old) }
    resources[id] = resource
    faults[id] = nil
    loads[id] = nil
    guard let node = graph.current[id] else { return }
    node.fault = nil
    node.loading = nil
    guard node.resource !== resource else { return }
    node.resource = resource
    send(.use(node.slot, resource?.header), at: nil)
    if let resource { log.record(.loaded(resource.name), node.id, node.name, at: renderer.time) }
  }

  /// Drops the file of a node that the patch no longer has, as soon as its fade is over. If the node comes
  /// back later, it needs its file again.
  public func releaseResource(of id: NodeID) {
    if let resource = resources.removeValue(forKey: id) { oldResources.append(resource) }
    faults[id] = nil
    loads[id] = nil
  }

  /// Shows the progress of a file that a node will play; nil: none is loading.
  public func setLoading(_ load: FileLoad?, for id: NodeID) {
    guard loads[id] != load else { return }
    loads[id] = load
    graph.current[id]?.loading = load
  }

  /// Marks a node whose file is missing. The node stays, goes on with its old file or passes nothing, and
  /// shows the reason. nil removes the mark.
  public func markPlaceholder(_ id: NodeID, _ reason: String?) {
    guard faults[id] != reason else { return }
    faults[id] = reason
    guard let node = graph.current[id] else { return }
    node.fault = reason
    if let reason { log.record(.failed(reason), id, node.name, at: renderer.time) }
  }

  /// Enables the level meters of all outputs for `report`.
  public var isMetering: Bool {
    get { renderer.isMetering.load(ordering: .relaxed) }
    set { renderer.isMetering.store(newValue, ordering: .relaxed) }
  }

  /// Transactions not executed yet, as far as `collect` knows.
  var pending: [Transaction] { sent + unsent }

  /// Something was to happen by now, or more is to happen than should be held, and the audio thread does nothing.
  public var isKeptWaiting: Bool {
    pending.count > Self.mostHeld || pending.contains { $0.time <= renderer.time }
  }
  /// Transactions ahead of their time; the plans of large patches need memory.
  private static let mostHeld = 64

  /// Monitors a port of a node by name, whichever node has the name at a time, on driver channels of its own.
  /// Call it after the first `adopt`. nil: no such port.
  public func addTap(node name: String, port: String?) -> Endpoint? {
    guard let id = wanted[named: name]?.id, let found = output(port, of: id) else { return nil }
    let tap = Tap(id: makeTapID(), subject: .name(name), port: found.name, channels: found.channels)
    guard driverChannels(found.channels, isInput: false, name: tap.name, device: "") != nil else {
      return nil
    }
    taps.append(tap)
    adopt(wanted)
    return endpoints.first { $0.node == tap.id }
  }

  func makeTapID() -> NodeID {
    defer { tapCount += 1 }
    return NodeID(raw: .max - tapCount)
  }

  /// An audio output of a node, the first where none is named.
  func output(_ port: String?, of id: NodeID) -> (name: String, channels: Int)? {
    guard let node = graph.current[id],
      let index = node.outputs.firstIndex(where: { !$0.isEvents && (port == nil || $0.name == port) })
    else { return nil }
    return (node.outputs[index].name, node.outputPort(index).count)
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

  func prepare(_ node: EngineNode, adopting old: EngineNode?) {
    node.prepare(rate: rate, quality: quality, noEvents: noEvents, pools: pools, adopting: old)
    if let fault = faults[node.id] { node.fault = fault }
    node.loading = loads[node.id]
    guard !node.id.isTap else { return }
    if let words = node.lackWords {
      log.record(.lacking(words), node.id, node.name, at: renderer.time)
      return
    }
    log.record(.allocated(bytes: node.bytes), node.id, node.name, at: renderer.time)
    log.record(.prepared, node.id, node.name, at: renderer.time)
  }

  func followNotes(of node: EngineNode) { notes.nodes[node.id] = node.noteLengths.isEmpty ? nil : node }

  func rename(_ node: EngineNode) {
    numbers[node.number] = (node.id, node.name)
    knownEndpoints = nil
  }

  func record(_ happening: TraceEntry.Happening, _ node: EngineNode) {
    guard !node.id.isTap else { return }
    log.record(happening, node.id, node.name, at: renderer.time)
  }

  func resource(for id: NodeID) -> Resource? { resources[id] }

  // MARK: Endpoints

  /// Driver channels wanted now, including those of leaving nodes; each once.
  public var endpoints: [Endpoint] {
    if let known = knownEndpoints { return known }
    let found = findEndpoints()
    knownEndpoints = found
    return found
  }
}
