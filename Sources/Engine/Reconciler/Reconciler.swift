import OrderedCollections
import Patch
import Realtime

/// Changes the running graph into the one that a patch asks for: new, leaving and returning nodes and cables,
/// and values of parameters. One instance per change; it looks only at the parts that the change touched.
///
/// `run` is the order of its phases. Each returns what the later ones need to know, and adds what must be
/// sent to `work`. Worker.
final class Reconciler {
  /// The patch to reconcile with, and how.
  struct Request {
    var patch: Patch
    /// Parts of the patch that may differ from the running graph.
    var touched: Touched
    /// Frames of each crossfade.
    var fade: Int
    /// Frames of parameters that take another time than `fade`.
    var ramps = RampTimes()
    /// Nodes that ring out if they leave.
    var tails: Set<NodeID> = []
    /// Nothing sounds yet, so everything starts at its target.
    var isFirst = false
    /// Fades have ended, so the plan can be reduced; there is no edit.
    var isRecompiling = false
    /// It takes an edit back.
    var isUndo = false
    /// The edit follows a movement that maps have made on the audio thread: it changes values only, and revives no muted
    /// node.
    var isMoved = false
    /// Engine frame of execution, if it was requested exactly; nil: the start of a later block.
    var time: Int64?
    /// The frame before which all is known that has happened; nil: it is decided for its frame of execution.
    var known: Int64?
    /// Number of the transaction.
    var serial = 0
  }

  /// Everything to be sent.
  struct Work {
    var commands: [Command] = []
    /// Frames of the longest crossfade of a parameter. One under way is not counted, since it belongs to the
    /// audio thread.
    var crossfade = 0
    /// Nodes with lengths of notes have come, or such values have changed.
    var changesNotes = false
    /// Moves to lengths of notes.
    var noteMoves: [NoteMove: (frames: Int, law: Ramp.Law)] = [:]
    var garbage: [Transaction.Garbage] = []
    /// It may take effect within a block: what it adds is silent before, nothing goes that might still be heard, and no
    /// more changes than what nodes are told and the gains of their inputs.
    var isLocal = true
    /// The audio thread needs another plan.
    var needsPlan = false
    /// The plan, ready to be compiled; nil: the running one stays.
    var compiler: PlanCompiler?
    /// Event cables that begin to close.
    var closing: [EngineCable] = []
    /// Cables that fade or close.
    var fading: [EngineCable] = []
    /// New cables whose signal is complete only after some frames.
    var opening: [EngineCable] = []
    var started: [EngineNode] = []
    var left: [EngineNode] = []
    /// It was decided by what the audio thread did meanwhile.
    var hasGuessed = false
  }

  /// An element that is the length of a note.
  struct NoteMove: Hashable {
    /// Number of the node.
    var node: Int32
    /// Position of the parameter.
    var parameter: Int
    var element: Int
  }

  /// Gains of a node that have the same switches.
  struct SwitchedGroup: Hashable {
    var node: NodeID
    /// Position of the parameter.
    var parameter: Int
  }

  let engine: any ReconcilerHost
  let graph: EngineGraph
  let request: Request
  let patch: Patch
  let fade: Int
  let isFirst: Bool
  /// Engine frame for which it is decided: that of execution, or, if that is not known, the one before which all is known.
  let time: Int64
  var isExact: Bool { request.time != nil && request.known == nil }
  var work = Work()
  /// Cables that were found inaudible. The audio thread goes on meanwhile, and one that did not count for the order must
  /// not be in the plan.
  var inaudible: Set<ObjectIdentifier> = []
  /// The gains into which cables lead, as far as looked at.
  var switchedGains: [SwitchedGroup: SwitchedGains] = [:]
  /// Frames of crossfades at gains whose switches are turned over another time than `fade`.
  var switchTimes: [Junction: Int] = [:]
  /// Cables whose gain starts to move.
  var moving: [EngineCable] = []

  /// `now`: engine frame at present.
  init(engine: any ReconcilerHost, _ request: Request, now: Int64) {
    self.engine = engine
    self.request = request
    patch = request.patch
    fade = request.fade
    isFirst = request.isFirst
    graph = engine.graph
    time = request.known ?? max(request.time ?? 0, now)
    work.needsPlan = request.isFirst || request.isRecompiling
  }

  func run() -> Work {
    let nodes = reconcileNodes()
    let cables = reconcileIntents(at: nodes.cables)
    if request.isRecompiling { endTails() }
    let arrangement = mayNeedPlan(cables) ? arrange(arriving: nodes.arrived, changed: cables.changed) : nil
    let newCables = realize(cables.changed + (arrangement?.changed ?? []), arrangement)
    for cable in newCables { if case .parameter = cable.input { grow(cable.destination) } }
    fadeOutOrphans(of: nodes.returned)
    if arrangement != nil { removeFinished() }
    assignFreePorts()
    if let arrangement, work.needsPlan { work.compiler = makePlan(arrangement, nodes.arrived, newCables) }
    handOverNotes(since: newCables)
    start(alignedFades())
    return work
  }

  /// True when the graph's order may change, or a part of it may go. A gain that the running plan applies
  /// moves without a plan.
  private func mayNeedPlan(_ cables: IntentChanges) -> Bool {
    work.needsPlan || cables.areRewired || cables.changed.contains { !isGainMove($0) }
      || !request.isMoved && hasFinished
  }

  /// Fixes the channel counts of the graph, and prepares what is new in it.
  private func makePlan(
    _ arrangement: Arrangement, _ newNodes: [EngineNode], _ newCables: [EngineCable]
  ) -> PlanCompiler {
    let successors = settleChannelCounts(arrangement)
    for node in newNodes { prepare(node) }
    // Last, since cables point at their nodes' slots.
    let arrived = Set(newNodes.map(\.number))
    for cable in newCables + successors { prepare(cable, arrived: arrived) }
    return PlanCompiler(order: graph.order, memory: engine.planMemory)
  }

  private func prepare(_ node: EngineNode) {
    let old = graph.shelf.take(node.key)
    engine.prepare(node, adopting: old)
    if request.time != nil { work.commands.append(.begin(node.slot)) }
    if let old { adopt(old, by: node) }
    if !node.noteLengths.isEmpty { tellCycles(of: node) }
    if let resource = engine.resource(for: node.id), node.type != nil {
      node.resource = resource
      work.commands.append(.use(node.slot, resource.header))
    }
    if let instance = node.instance { work.commands += engine.handOver(instance, to: node) }
    work.started.append(node)
  }

  /// Hands the state of a removed node's kernel over, and the values that may have changed since.
  private func adopt(_ old: EngineNode, by node: EngineNode) {
    guard let type = node.type, let oldSlot = old.slot else { return }
    work.commands.append(
      .adopt(node.slot, kernel: oldSlot.pointee.kernel, bytes: Int32(clamping: type.size)))
    for (index, parameter) in type.description.parameters.enumerated()
    where parameter.smoothing == .kernel && !parameter.isOrder {
      for (element, value) in node.values[index].enumerated() {
        work.commands.append(
          .kernel(
            node.slot, parameter: Int32(index), element: Int32(clamping: element), value: value, frames: 0))
      }
    }
    work.garbage.append(.node(old))
  }
}
