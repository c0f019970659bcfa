import Engine

/// What the status line says of the session: all of it measured, nothing wished for.
public struct SessionStatus: Sendable, Equatable {
  /// "jack", "alsa", "clock", or "none".
  public var driver = "none"
  public var rate = 48000.0
  /// Frames.
  public var period = 256
  /// Seconds from input to output, 0 when the driver cannot say.
  public var roundTrip = 0.0
  /// Share of the period that rendering takes, and its peak: 0...1.
  public var load = 0.0
  public var peakLoad = 0.0
  public var xruns = 0
  public var voices = 0
  public var polyphony = 0
  /// What plays and why, or what went wrong and what is done about it.
  public var driverMessage = ""
  /// A fault that has not passed: the message takes the status line over.
  public var isDisturbed = false
  /// Files being loaded.
  public var loading: [FileLoad] = []
  /// Bytes of all instruments and files in memory, each once; those that undo would want again included.
  public var memory = 0
  /// How often parts of files were not read from disk in time and played as silence.
  public var underruns = 0
  /// MIDI messages that came in faster than they could be taken.
  public var lostMidi = 0
  /// Why edits are not safe from a crash now; nil while they are.
  public var journalFault: String?
  /// Events for which the queue of a node had no room.
  public var lostEvents = 0
  /// Lines that the lifecycle trace lacks.
  public var lostTraceEntries = 0
  /// Nodes that the blast shield has muted, by name.
  public var muted: [String] = []

  public init() {}
}
