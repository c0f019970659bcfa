import Drivers
import Engine
import Instruments
import Patch
import PatchLanguage
import Realtime
import Recording

/// Options of a session.
public struct SessionOptions: Sendable {
  /// Choice of the driver.
  public var driver = DriverOptions()
  /// Rendering threads, 1 to 16, used where a patch gains from them; the sound is the same.
  public var threads = 1
  /// Sample interpolation for nodes that do not set it; nil: as the load allows.
  public var quality: SampleQuality? = .four
  /// Offline: files are loaded before anything else happens, and no driver is started.
  public var isOffline = false
  /// The session shows and makes the connections of a JACK server, and plays nothing: no driver is started.
  public var isPatchbay = false
  /// Edits are written to a journal before they are acknowledged.
  public var keepsJournal = true
  /// Seconds of what the outputs play that are held for `keep`; 0: none.
  public var heldSeconds = 0.0

  /// Takes are written; otherwise `record` and `keep` do nothing.
  public var mayRecord = true
  /// Events are written down, for the journals of takes.
  public var keepsTape = false
  /// True when changes of the patch's file by others are taken as edits.
  public var followsFile = false
  /// Sound from `input` nodes is recorded beside takes, for their replays; only with a tape.
  public var keepsInputs = true

  /// A live session with a journal and an automatic driver.
  public init() {}
}

/// One open patch: its document, history and journal, its engine and its driver. All changes go through here,
/// in the edit language.
@MainActor public final class Session {
  /// The options it was made with.
  public let options: SessionOptions
  /// The engine that renders the patch.
  public let engine: Engine
  /// The driver's supervisor.
  public let supervisor: Supervisor
  /// The document.
  public internal(set) var patch = Patch()
  /// Undo and redo stacks.
  public internal(set) var history = History()
  /// Path of the file; nil until the patch has been saved or opened.
  public internal(set) var file: String? {
    didSet { if file != oldValue { definitions = library(for: file) } }
  }
  /// Contents of the files of sub-patches.
  var shelf = DefinitionLibrary.Shelf()
  private lazy var definitions = library(for: file)
  /// The patch last read from or written to the file.
  var saved = Patch()
  /// The file's bytes when last read or written, since others may write it too. nil: there was none.
  var savedBytes: [UInt8]?
  /// The patch that the unsaved edits start from.
  var common = Patch()
  /// Its text; nil: `savedBytes`.
  var commonBytes: [UInt8]?
  /// The file differs from the patch that the edits start from.
  var isForeign = false
  var fileWatch = FileWatch()
  /// True while changes of the file by others wait, as on a locked stage.
  public var holdsFileBack = false
  /// True when changes of the file by others are looked for only when it is saved.
  public var ignoresFile = false
  /// Version of the file that others wrote, with its conflicts here; nil: nothing, or it is settled.
  public internal(set) var versionConflict: VersionConflict?
  var journal: Journal?
  /// Reason why edits are not journaled; nil while they are.
  public internal(set) var journalFault: String?
  /// Monotonic time before which a failed journal is not tried again.
  var nextMending: Int64 = 0
  /// Numbers of undo and redo steps in the journal; fewer than in `history`, since saving empties the
  /// journal.
  var journaled = (undo: 0, redo: 0)
  /// Engine frame of the statement being performed; nil: the next block.
  var due: Int64?
  /// Changes that the line being performed has made, if it has several statements: a refusal takes them back.
  var changesOfLine: [Change]?
  /// Another session holds the file's journal.
  public internal(set) var isLocked = false
  /// Errors and warnings of the file when it was opened.
  public internal(set) var diagnostics: [Diagnostic] = []
  /// Notices for the user, oldest first.
  private var notices: [Notice] = []
  let library: FileLibrary
  /// Other programs on the server.
  var programs = ProgramsState()
  private(set) var hasStarted = false
  /// Last file request of each node.
  var fileRequests: [NodeID: FileRequest] = [:]
  var tunings: [NodeID: TuningRequest] = [:]
  /// Effective tuning of each node; after a failed request, the one before.
  var tuningsInUse: [NodeID: Tuning] = [:]
  /// Values that maps move at present.
  var mapGesture: MapGesture?
  /// In a replay: movements of maps that the patch of the take had by now, in total; nil: all that there are.
  var knownMovements: Int?
  /// Positions of values that controllers have been told of, or have set, each with where the controller was moved last.
  var echoed: [MapName: (place: Int, heard: Int?)] = [:]
  /// True when the patch uses the transport.
  var knownUse: (revision: Revision, isUsed: Bool)?
  /// The present scene, as of a state.
  var knownScene: (revision: Revision, newest: Int?, scene: PresentScene?)?
  /// Orders to a server's transport that are not due yet, in order of their frames.
  var waitingOrders: [(order: TransportOrder, frame: Int64)] = []
  /// Told to the user last.
  var knownRole = TransportRole.own
  private var reportedLostMidi = 0
  /// Channels without a place on the server or device, since when, and which of them have been told of.
  private var lackingPorts: (found: [NodeID: Int], since: Int64, told: [NodeID: Int]) = ([:], 0, [:])
  private var reportedLostEvents = 0
  private var reportedLostTrace = 0
  /// First trace entry not yet searched for notices.
  private var nextTrace = 0
  /// Report of the running graph, made at the first access after `tick` or `refreshReport`.
  public var report: GraphReport {
    if let knownReport { return knownReport }
    let report = engine.report(inTurns: looksInTurns)
    knownReport = report
    return report
  }
  private var knownReport: GraphReport?
  /// Reports come many times a second: in patches of many nodes those at rest are looked at in turns.
  public var looksInTurns = false
  /// Writes takes, and holds what was heard.
  let recorder: Recorder
  /// Takes under way.
  var runningTakes: [RunningTake] = []
  var held: HeldOutputs?
  /// The MIDI file that plays.
  var song: Song?
  /// The port that a view looks at, and its capture.
  var wantedPort: ListenedPort?
  var listening: Listening?
  /// Facts about the instruments that nodes play.
  public internal(set) var instruments: [NodeID: InstrumentFacts] = [:]
  var tape: SessionTape?
  let journals = JournalsUnderWay()
  /// In a replay: files that nodes get when the journal says so.
  var heldFiles: [NodeID: Resource]?
  /// Number of edits in this session.
  public internal(set) var editCount = 0
  /// Longest time of an edit in seconds, from its line to the command ring.
  public internal(set) var longestEdit = 0.0

  /// Descriptions of the node kinds that it can open, edit and run.
  public var catalogue: KindCatalogue { engine.kinds.catalogue.with(definitions: definitions) }

  /// A session with an empty patch; no driver runs yet. `kinds`: the node kinds that its engine can run.
  public init(options: SessionOptions = SessionOptions(), kinds: KindRegistry = .builtIn) {
    self.options = options
    library = FileLibrary(isOffline: options.isOffline)
    engine = Engine(
      rate: options.driver.rate, period: options.driver.period, threads: options.threads,
      quality: options.quality, kinds: kinds)
    supervisor = Supervisor(engine: engine, options: options.driver)
    recorder = Self.makeRecorder(engine.renderer, isOffline: options.isOffline)
    engine.retuning = { [weak self] in self?.cutTakes() }
    guard !options.isOffline else { return }
    engine.background = { [library] in library.run($0) }
  }

  /// Adds a node kind. Nodes of its name that were placeholders begin to sound.
  public func add(_ kind: NodeKind) throws(KindError) {
    try engine.add(kind)
    tape?.doubt("the kind `\(kind.description.name)` was added")
    requestFiles()
  }

  /// Writes the states of nodes whose kinds have more than their settings into the patch, as edits.
  public func storeStates() throws(EditError) {
    for node in patch.nodes.values {
      guard let name = catalogue[node.kind]?.stateParameter, let state = engine.captureState(of: node.id)
      else { continue }
      try perform(.set(node.name, ParameterPath(name), .text(state), over: nil))
    }
  }

  /// The edit, in which states of copied nodes follow as settings: only the engine knows them.
  func withStates(_ edit: Edit) -> Edit {
    switch edit {
    case .all(let edits): return .all(edits.map(withStates))
    case .copy(let name, let newName):
      guard let node = patch[named: name], let parameter = catalogue[node.kind]?.stateParameter,
        let state = engine.state(of: node.id)
      else { return edit }
      return .all([edit, .set(newName, ParameterPath(parameter), .text(state), over: nil)])
    default: return edit
    }
  }

  /// New notices for the user, oldest first.
  public func takeNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }

  /// Adds a message about something that is wrong.
  func notice(_ text: String) { notice(.warning(text)) }

  func notice(_ notice: Notice) { notices.append(notice) }

  // MARK: Sound

  /// Starts a driver. There is always one: the clock at worst.
  public func start() {
    engine.isMetering = true
    engine.isWatching = true
    library.isGentle = true
    mendTakes()
    holdOutputs()
    if !options.isPatchbay { supervisor.start() }
    hasStarted = true
    findPrograms()
  }

  /// Stops the driver, and completes takes.
  public func stop() {
    stopFindingPrograms()
    supervisor.stop()
    finishTakes()
    finishJournals()
    if runningTakes.isEmpty { tape?.hide() }
  }

  /// Call this before the process is stopped (ctrl-z): the sound fades out, and no server waits for it.
  public func withdraw() { supervisor.withdraw() }

  /// Call this when the process goes on after `withdraw`.
  public func rejoin() { supervisor.rejoin() }

  /// Call this 30 to 60 times a second: processes the audio thread's results, loaded files, and the driver's
  /// state.
  public func tick() {
    useLoadedFiles()
    showLoads()
    supervisor.poll()
    followTransport()
    if let fault = supervisor.takeMidiFault() { notice(fault) }
    if let card = supervisor.takeCardNotice() {
      let names = card.nodes.compactMap { patch[$0]?.name }.joined(separator: ", ")
      notice(names.isEmpty ? card.words : "\(names): \(card.words)")
    }
    maintainJournal()
    followFile()
    followDefinitions()
    followFailedFiles()
    noticeLosses()
    // A JACK server may change its period at any time.
    if let driver = supervisor.driver { engine.period = driver.period }
    // Nobody else takes the engine's transactions.
    if options.isPatchbay { try? renderOneBlock() }
    engine.collect()
    followMaps()
    echoMaps()
    followTape()
    followTakes()
    followSong()
    engine.prepareMemory()
    findPrograms()
    noticeBlasts()
    refreshReport()
    noticeLackingPorts()
  }

  /// Reports channels of inputs and outputs for which the server or device has no place.
  private func noticeLackingPorts() {
    guard supervisor.driver != nil, !options.isPatchbay else { return }
    let lacking = engine.lackingChannels
    // Ports come one after the other: what lacks for half a second has not come.
    if lacking != lackingPorts.found { lackingPorts = (lacking, nanoseconds(), lackingPorts.told) }
    guard lacking != lackingPorts.told, nanoseconds() - lackingPorts.since > 500_000_000 else { return }
    for (id, count) in lacking.sorted(by: { $0.key < $1.key }) where lackingPorts.told[id] != count {
      guard let name = patch[id]?.name else { continue }
      let isOurs = endpointChannels > DriverChannels.capacity
      notice(
        "`\(name)` lacks \(count) channel\(count == 1 ? "" : "s"): "
          + (isOurs
            ? "a patch has \(DriverChannels.capacity) at most" : "the server or device has no more of them"))
    }
    lackingPorts.told = lacking
  }

  /// Channels of all outputs, or of all inputs if these are more.
  private var endpointChannels: Int {
    let endpoints = engine.endpoints
    let inputs = endpoints.filter(\.isInput).reduce(0) { $0 + $1.channels }
    return max(inputs, endpoints.reduce(0) { $0 + $1.channels } - inputs)
  }

  /// Reports lost MIDI messages and events: otherwise nobody would know why notes are missing.
  func noticeLosses() {
    let lost = supervisor.status.lostMidi
    if lost > reportedLostMidi {
      notice(
        "\(lost - reportedLostMidi) MIDI messages came in too fast and were lost; no note hangs for that")
    }
    reportedLostMidi = lost
    let (events, entries) = (engine.lostEvents, engine.lostTraceEntries)
    if events > reportedLostEvents {
      notice(
        "\(events - reportedLostEvents) events were lost: more than \(EventQueue.capacity) came to a node at once"
      )
    }
    if entries > reportedLostTrace {
      notice("\(entries - reportedLostTrace) lines of the trace were lost: too many came at once")
    }
    (reportedLostEvents, reportedLostTrace) = (events, entries)
  }

  /// Reports nodes that fell silent since the last call: muted by the blast shield, or without memory.
  func noticeBlasts() {
    for entry in engine.trace(since: nextTrace) {
      nextTrace = entry.id + 1
      if case .muted(let reason) = entry.happening {
        notice("`\(entry.name)` gave \(reason) and is muted; an edit of it or of its cables revives it")
      } else if case .lacking(let reason) = entry.happening {
        notice("`\(entry.name)` is silent, as \(reason); an edit of it or of its cables tries again")
      }
    }
  }

  /// Makes the next access to `report` take a new snapshot.
  public func refreshReport() { knownReport = nil }

  /// Entries of the lifecycle trace from serial number `id` on.
  public func trace(since id: Int) -> [TraceEntry] { engine.trace(since: id) }

  /// The complete edit log, including the latest edits, whose steady signal afterwards has not been measured.
  public func finishedEditLog() -> [EditEntry] {
    engine.closeEditLog()
    return engine.editLog()
  }
}
