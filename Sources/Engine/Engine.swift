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
  private var loads: [NodeID: FileLoad] = [:]
  /// How often nodes were revived after the blast shield muted them.
  var lives: [NodeID: Int] = [:]
  private(set) var wanted = Patch()
  var taps: [Tap] = []
  /// Replaced resources that voices may still play.
  var oldResources: [Resource] = []

  private var nextNumber: Int32 = 1
  private var nextCableNumber: Int32 = 1
  private var nextTransaction = 1
  var unsent: [Transaction] = []
  var sent: [Transaction] = []
  var executedCount = 0
  private var arena = BufferArena(capacity: 64)
  private let noEvents: UnsafeMutablePointer<EventQueue>
  private let quality: SampleQuality
  private let pools = NodePools()
  let rows = RowPool()
  /// Drivers ask in every period; the answer changes with plans and names only.
  private var knownEndpoints: [Endpoint]?
  /// The plan that the audio thread runs.
  var running: CompiledPlan?
  /// What the running plan looks like, once somebody has looked.
  var picture: PlanPicture?
  /// Memory of plans that are out of use, for the next ones: its pages are there already.
  var spareMemory: [PlanMemory] = []
  var numbers: [Int32: (id: NodeID, name: String)] = [:]

  /// When the latest plan was compiled, in engine frames, and whether fades have ended since.
  var plannedAt: Int64 = 0
  var isUntidy = false

  /// Plans sent and plans that came back, ever.
  public private(set) var plansSent = 0
  public internal(set) var plansReturned = 0

  /// `threads`: how many render together, 1...16, where a patch is worth it. The sound is the same, bit
  /// for bit. `quality`: how samples are read where nodes leave it open.
  public init(rate: Double, period: Int, threads: Int = 1, quality: SampleQuality = .four) {
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
        limited: ramp.seconds * rate)
    }
    var extent = touched ?? Touched(from: old, to: patch)
    if extent.since !== old.revision { extent = Touched(from: old, to: patch) }
    send(reconciler.run(extent), at: time, describing: isFirst ? nil : edit)
  }

  /// Compiles the union anew after fades have ended.
  func tidy(at time: Int64? = nil) {
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
    transaction.fade = transaction.fadeFrames(crossfade: work.crossfade)
    if var compiler = work.compiler {
      let plan = compiler.makePlan(
        serial: plansSent + 1, threads: threads, arena: &arena, zeros: renderer.zeros)
      plansSent += 1
      transaction.commands.append(.swap(plan.plan))
      transaction.plan = plan
      plannedAt = renderer.time
      isUntidy = false
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

  func flush() {
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
    if event.kind == .play || event.kind == .cue { node.resource?.expect(seconds: event.time) }
    send(.event(node.slot, event), at: time)
  }

  /// Every voice fades at once.
  public func panic() {
    for node in graph.current.values where node.takesEvents {
      send(.event(node.slot, Event(.allSoundOff)), at: nil)
    }
  }

  /// Gives a node its instrument or file; what sounds with the old one ends as it would have. One that it has
  /// already changes nothing.
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
    if let resource { log.note(.loaded(resource.name), node.id, node.name, at: renderer.time) }
  }

  /// The patch no longer has the node: nothing is kept for it but what it plays while it fades. If it comes
  /// back later, it has to be given its file again.
  public func forget(_ id: NodeID) {
    if let resource = resources.removeValue(forKey: id) { oldResources.append(resource) }
    faults[id] = nil
    loads[id] = nil
  }

  /// How far the file is that a node will play; nil: none is loading.
  public func show(_ load: FileLoad?, for id: NodeID) {
    guard loads[id] != load else { return }
    loads[id] = load
    graph.current[id]?.loading = load
  }

  /// A file that is missing: the node stays, goes on with what it plays or passes nothing, and says why. nil
  /// takes it back.
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
      channels: node.outputPort(output).count)
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
    node.prepare(rate: rate, quality: quality, noEvents: noEvents, pools: pools)
    if let fault = faults[node.id] { node.fault = fault }
    node.loading = loads[node.id]
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

  // MARK: Endpoints

  /// The driver channels that are wanted now, those of leaving nodes included; each once.
  public var endpoints: [Endpoint] {
    if let known = knownEndpoints { return known }
    let found = findEndpoints()
    knownEndpoints = found
    return found
  }
}
