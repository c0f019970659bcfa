import Patch

/// What the engine is running, read from the plan that the audio thread executes and from the state
/// that it moves: the source of every view and of `sostenuto print`. A plain value.
public struct GraphReport: Sendable {
  public var isRunning = false
  public var rate = 48000.0
  /// Frames of the driver's period.
  public var period = 64
  /// Serial number of the running plan.
  public var plan = 0
  /// Steps of the plan that the renderer executes each block.
  public var steps = 0
  /// Parts of the plan that may run on different threads; 1: it runs on one.
  public var segments = 1
  /// Frames from input to output that nodes add.
  public var latency = 0
  /// Events for which the queue of a node had no room, ever.
  public var lostEvents = 0
  /// Entries that the lifecycle trace lacks, since nobody took them in time.
  public var lostTraceEntries = 0
  /// Engine time of the last finished block.
  public var time: Int64 = 0
  /// From the driver's outputs upwards, each node once.
  public var nodes: [NodeReport] = []

  public init() {}
}

public struct NodeReport: Sendable, Identifiable {
  public enum State: Sendable, Hashable {
    case active
    /// Silent input, no tail left: skipped.
    case silent
    /// Fades in.
    case entering(secondsLeft: Double)
    /// No longer in the patch, still heard.
    case leaving(secondsLeft: Double)
    /// No longer in the patch, heard until nothing more comes from it, or for so long at most.
    case ringing(secondsLeft: Double)
    /// Muted by the blast shield, with what it emitted.
    case muted(String)
    /// Not loaded: an unknown kind or a missing file, with the reason. Passes nothing.
    case placeholder(String)
  }

  public var id: NodeID
  public var name: String
  public var kind: String
  public var state: State
  public var inputs: [PortReport] = []
  public var outputs: [PortReport] = []
  /// Frames that its sound is late.
  public var latency = 0
  /// Sounding voices, for kinds that have them.
  public var voices = 0
  public var polyphony = 0
  /// The file that it plays, by its short name.
  public var file: String?
  /// Bytes that the file takes in memory now, whoever else plays it.
  public var memory = 0
  /// How often a part of the file was not read in time and played as silence.
  public var underruns = 0
  /// The file that is being loaded for it; until it is whole, the node plays `file`.
  public var loading: FileLoad?
  /// Why its setting's file cannot be played, where it goes on playing `file` instead.
  public var fault: String?
  /// When it was made, in engine frames; a node that is never reset keeps it.
  public var startedAt: Int64 = 0
  /// Of an `input` or `output`: how many of its channels, the last ones, the driver does not have. They are
  /// silent until it does.
  public var lackingChannels = 0
  /// Notes that it has been given and not yet taken back.
  public var heldNotes = 0

  public var isMuted: Bool {
    if case .muted = state { true } else { false }
  }

  /// Without the optional ones from which no cable goes.
  public var shownOutputs: [PortReport] { outputs.filter { !$0.isOptional || !$0.cables.isEmpty } }
}

/// A file that is on its way.
public struct FileLoad: Sendable, Hashable {
  /// Short name.
  public var name: String
  /// 0...1.
  public var fraction: Double

  public init(name: String, fraction: Double) {
    self.name = name
    self.fraction = fraction
  }

  /// For example "45 %".
  public var percent: String { "\(Int(fraction * 100)) %" }
  /// For example "grand.sf2 45 %".
  public var words: String { "\(name) \(percent)" }
}

public struct PortReport: Sendable {
  public var name: String
  public var isEvents: Bool
  public var channels: Int
  public var cables: [CableReport] = []
  /// Peak of each channel since the last report, linear; empty for events and where not metered.
  public var peaks: [Float] = []
  /// Root of the mean square of each channel, linear, as a volume indicator follows it (99 % of the way in
  /// 300 ms); empty for events and where not metered.
  public var means: [Float] = []
  /// Views show it only where something is connected.
  public var isOptional = false
}

public struct CableReport: Sendable {
  public enum State: Sendable, Hashable {
    case active, silent
    case fadingIn(secondsLeft: Double), fadingOut(secondsLeft: Double)
  }

  public var from: String
  public var fromPort: String
  public var to: String
  public var toPort: String
  public var fromChannels: Int
  public var toChannels: Int
  /// Linear gain now, and where it goes.
  public var gain: Float
  public var target: Float
  public var map: ChannelMap?
  public var isDiscrete = false
  public var state: State
  /// Goes through the 64-frame feedback delay.
  public var isFeedback: Bool
  /// The node that it leaves makes up for these frames: a round through the cycle takes no longer than its
  /// nodes say.
  public var isMadeUp = false
  /// Frames by which the engine delays it to make up for the latency of parallel paths.
  public var compensation = 0
  /// Frames that its sound is late where it arrives, from where it came into the graph; cycles left out.
  public var latency = 0
  /// Inserted by the engine: "mono to stereo", "5.1 to stereo".
  public var conversion: String?
  /// Which of how many cables share the source ("splitter 1/2"), and the destination ("sum 1/2").
  public var splitter: (index: Int, count: Int)
  public var sum: (index: Int, count: Int)
}
