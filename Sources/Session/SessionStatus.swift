import Engine
import Recording

/// Figures for the status line: all of them measured.
public struct SessionStatus: Sendable, Equatable {
  /// "jack", "alsa", "clock", or "none".
  public var driver = "none"
  /// The session shows connections, and plays nothing.
  public var isPatchbay = false
  /// Programs with ports on the server, and their connections; of a patchbay.
  public var programs = 0
  /// Connections on the server; of a patchbay.
  public var connections = 0
  /// Sample rate, Hz.
  public var rate = 48000.0
  /// Period, in frames.
  public var period = 256
  /// Round-trip latency in seconds; 0 if unknown.
  public var roundTrip = 0.0
  /// The JACK server freewheels: it goes as fast as its clients, and nothing is heard.
  public var isFreewheeling = false
  /// DSP load and its peak: 0...1.
  public var load = 0.0
  /// Highest load of any period.
  public var peakLoad = 0.0
  /// Xruns since the start.
  public var xruns = 0
  /// Sounding voices.
  public var voices = 0
  /// Largest number of voices.
  public var polyphony = 0
  /// The driver with the reason for its choice, or the latest trouble with the plan for it.
  public var driverMessage = ""
  /// A fault lasts: its message replaces the status line.
  public var isDisturbed = false
  /// Files being loaded.
  public var loading: [FileLoad] = []
  /// Bytes of all instruments and files in memory, each once; including those kept for undo.
  public var memory = 0
  /// Number of reads that came too late and were replaced by silence.
  public var underruns = 0
  /// MIDI messages lost because they came too fast.
  public var lostMidi = 0
  /// Reason why edits are not safe from a crash; nil while they are.
  public var journalFault: String?
  /// Events dropped because a node's queue was full.
  public var lostEvents = 0
  /// Lost entries of the lifecycle trace.
  public var lostTraceEntries = 0
  /// Musical time.
  public var transport = TransportStatus()
  /// Sound cards that nodes have for themselves, by the nodes' names.
  public var cards: [String: CardState] = [:]
  /// The MIDI file that plays; nil: none does.
  public var song: SongStatus?
  /// Takes under way.
  public var takes: [Take.Status] = []
  /// Names of nodes muted by the blast shield.
  public var muted: [String] = []

  /// Status of a session without a driver.
  public init() {}
}
