import Patch
import Realtime

/// The engine as the reconciler needs it: the running graph, and what new nodes and cables are made of.
/// `Engine` conforms; the reconciler does not know its top. Worker.
protocol ReconcilerHost: AnyObject {
  var graph: EngineGraph { get }
  var kinds: KindRegistry { get }
  /// Sample rate, Hz.
  var rate: Double { get }
  var taps: [Tap] { get set }
  /// Taps that are to go.
  var endedTaps: [Tap] { get set }
  var rows: RowPool { get }
  var pools: NodePools { get }

  /// Cables whose gains maps move.
  var mappedCables: Set<Cable.Ends> { get }

  /// A number for a new node.
  func makeNumber(for id: NodeID, name: String) -> Int32
  /// A number for a new cable.
  func makeCableNumber() -> Int32
  /// Driver channels for an endpoint; nil: none are left.
  func driverChannels(_ count: Int, isInput: Bool, name: String, device: String) -> Int?
  /// The driver's MIDI port for nodes that listen to `sender`; -1: none is left.
  func midiPort(for sender: String?) -> Int
  /// The first MIDI output of the driver that no node has; -1: none is left.
  func freeMidiOutput() -> Int
  /// Begins to prepare the instance of a node whose kind is only known at run time.
  func beginPreparation(_ node: EngineNode)
  /// Commands that hand a node its instance.
  func handOver(_ instance: ForeignInstance, to node: EngineNode) -> [Command]
  /// Allocates a new node's state, or gives it the memory of a kernel whose state it adopts.
  func prepare(_ node: EngineNode, adopting old: EngineNode?)
  /// Instrument or file of a node.
  func resource(for id: NodeID) -> Resource?
  /// Memory of plans.
  var planMemory: PlanCompiler.PlanMemory { get }
  /// Takes note of a node that has lengths of notes, or none any more.
  func followNotes(of node: EngineNode)
  /// Adopts a node's new name.
  func rename(_ node: EngineNode)
  /// Writes a line of the lifecycle trace.
  func record(_ happening: TraceEntry.Happening, _ node: EngineNode)
}
