import Patch

/// Snapshot of the running graph, read from the plan that the audio thread executes and from its live state:
/// the source of every view and of `sostenuto print`. A plain value.
public struct GraphReport: Sendable {
  /// True once the audio thread runs a plan.
  public var isRunning = false
  /// Sample rate, Hz.
  public var rate = 48000.0
  /// Frames of the driver's period.
  public var period = 64
  /// Serial number of the running plan.
  public var plan = 0
  /// Identity of all that stays while a plan runs: the nodes with their names, ports and cables, at their places. nil: a
  /// report that no engine made.
  public var form: ReportForm?
  /// Steps of the plan, executed in each block.
  public var steps = 0
  /// Segments of the plan that may run on different threads; 1: it runs on one.
  public var segments = 1
  /// Latency of the nodes from input to output, in frames.
  public var latency = 0
  /// Events dropped because a node's queue was full, in total.
  public var lostEvents = 0
  /// Trace entries lost because nobody read them in time.
  public var lostTraceEntries = 0
  /// Engine time of the last finished block.
  public var time: Int64 = 0
  /// All nodes in reverse execution order: destinations before their sources, feedback cables aside.
  public var nodes: [NodeReport] = []

  /// Something sounds or fades.
  public var isMoving = false
  /// Number of changes of a node's state while the plan runs.
  public var stateChanges = 0
  /// Places of the nodes whose figures are of this moment; nil: all are. What rests in a patch of many nodes is looked at in
  /// turns.
  public var looked: [Int]?

  /// An empty report: nothing runs.
  public init() {}
}

/// Identity of the fixed part of reports, by reference.
public final class ReportForm: Sendable {}

/// One node of a report.
public struct NodeReport: Sendable, Identifiable {
  /// State of a node.
  public enum State: Sendable, Hashable {
    /// Renders.
    case active
    /// Silent input and no tail left: skipped.
    case silent
    /// Fades in.
    case entering(secondsLeft: Double)
    /// Removed from the patch, still fading.
    case leaving(secondsLeft: Double)
    /// Removed from the patch, audible until its tail is over, or for this time at most.
    case ringing(secondsLeft: Double)
    /// Muted by the blast shield; with the value that it emitted.
    case muted(String)
    /// Not loaded: an unknown kind or a missing file; with the reason. Passes nothing.
    case placeholder(String)
  }

  /// Identity in the patch.
  public var id: NodeID
  /// Name in the patch.
  public var name: String
  /// Kind, as in `sostenuto kinds`.
  public var kind: String
  /// Connection of the kind to the driver; nil: none.
  public var endpoint: KindDescription.Endpoint?
  /// The kind has a gain from every input to every output.
  public var isMatrix = false
  /// State at the time of the report.
  public var state: State
  /// Input ports, in the description's order.
  public var inputs: [PortReport] = []
  /// Output ports, in the description's order.
  public var outputs: [PortReport] = []
  /// Latency, in frames.
  public var latency = 0
  /// Sounding voices, for kinds that have them.
  public var voices = 0
  /// Largest number of voices, for kinds that have them.
  public var polyphony = 0
  /// Figures that it reports, in the description's order, for kinds that have them.
  public var readings: [ReadingReport] = []
  /// Short name of the file that it plays.
  public var file: String?
  /// Bytes of the file in memory now, shared with other nodes or not.
  public var memory = 0
  /// Number of times that a part of the file arrived late and was replaced by silence.
  public var underruns = 0
  /// The file being loaded for it. The node plays `file` until the load is complete.
  public var loading: FileLoad?
  /// Reason why the file of its setting cannot be played; the node plays `file` instead.
  public var fault: String?
  /// Engine frame of its creation. A node that is never reset keeps it.
  public var startedAt: Int64 = 0
  /// Number of channels of an `input` or `output`, counted from the last, that the driver lacks. They are
  /// silent until the driver has them.
  public var lackingChannels = 0
  /// An `output` of which no port is connected to another program or to a sound card.
  public var isUnheard = false
  /// Sound card of its own, of an `input` or `output` that has one.
  public var card: CardState?
  /// Notes that it holds: begun and not yet ended.
  public var heldNotes = 0

  /// True when the blast shield muted it.
  public var isMuted: Bool {
    if case .muted = state { true } else { false }
  }

  /// Outputs without the optional ones that no cable leaves.
  public var shownOutputs: [PortReport] { outputs.filter { !$0.isOptional || !$0.cables.isEmpty } }
}

/// A figure that a node reports.
public struct ReadingReport: Sendable, Hashable {
  /// Name and unit.
  public var description: ReadingDescription
  /// The figure after the latest block in which the node ran.
  public var value: Double
}

/// One port of a node report.
public struct PortReport: Sendable {
  /// Name in the kind's description.
  public var name: String
  /// True for events, false for audio.
  public var isEvents: Bool
  /// Number of audio channels.
  public var channels: Int
  /// Cables at the port.
  public var cables: [CableReport] = []
  /// Peak of each channel since the last report, linear. Empty for events and without metering.
  public var peaks: [Float] = []
  /// RMS of each channel, linear, with the ballistics of a volume indicator (99 % in 300 ms). Empty for
  /// events and without metering.
  public var means: [Float] = []
  /// Shown only when a cable is connected.
  public var isOptional = false
}

/// One cable of a report.
public struct CableReport: Sendable {
  /// State of a cable.
  public enum State: Sendable, Hashable {
    /// Carries a signal, or silence.
    case active, silent
    /// In a fade that takes this much longer.
    case fadingIn(secondsLeft: Double), fadingOut(secondsLeft: Double)
  }

  /// Name of the source node.
  public var from: String
  /// Output port of the source.
  public var fromPort: String
  /// Name of the destination node.
  public var to: String
  /// Input port of the destination.
  public var toPort: String
  /// Channels at the source.
  public var fromChannels: Int
  /// Channels at the destination.
  public var toChannels: Int
  /// Linear gain now.
  public var gain: Float
  /// Linear gain that it moves to.
  public var target: Float
  /// Channel map, if the cable has one.
  public var map: ChannelMap?
  /// Depth of a modulation; nil: its signal is added as it is.
  public var depth: ModulationDepth?
  /// True for `mix=discrete`.
  public var isDiscrete = false
  /// State at the time of the report.
  public var state: State
  /// Goes through the 64-frame feedback delay.
  public var isFeedback: Bool
  /// The source node compensates for the feedback delay: a round through the cycle takes exactly the time of
  /// its nodes.
  public var isCompensated = false
  /// Latency compensation of parallel paths, in frames.
  public var compensation = 0
  /// Latency of its sound at the destination since it entered the graph, in frames; cycles left out.
  public var latency = 0
  /// Conversion inserted by the engine: "mono to stereo", "5.1 to stereo".
  public var conversion: String?
  /// Position among the cables that share the source ("splitter 1/2").
  public var splitter: (index: Int, count: Int)
  /// Position among the cables that share the destination ("sum 1/2").
  public var sum: (index: Int, count: Int)
}

extension NodeReport.State {
  /// True while it fades in or out.
  public var isFading: Bool {
    switch self {
    case .entering, .leaving, .ringing: true
    default: false
    }
  }
}

extension CableReport.State {
  /// True while it fades in or out.
  public var isFading: Bool {
    switch self {
    case .fadingIn, .fadingOut: true
    default: false
    }
  }
}
