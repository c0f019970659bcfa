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
  private var due: Int64?
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
  /// Positions that controllers have been told of, or have set.
  var echoed: [MapName: Int] = [:]
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
    let report = engine.report()
    knownReport = report
    return report
  }
  private var knownReport: GraphReport?
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
  /// In a replay: files that nodes get when the journal says so.
  var heldFiles: [NodeID: Resource]?
  /// Number of edits in this session.
  public private(set) var editCount = 0
  /// Longest time of an edit in seconds, from its line to the command ring.
  public private(set) var longestEdit = 0.0

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
  private func withStates(_ edit: Edit) -> Edit {
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

  /// Reports nodes muted by the blast shield since the last call.
  func noticeBlasts() {
    for entry in engine.trace(since: nextTrace) {
      nextTrace = entry.id + 1
      if case .muted(let reason) = entry.happening {
        notice("`\(entry.name)` gave \(reason) and is muted; an edit of it or of its cables revives it")
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

  // MARK: Edits

  /// True when there are unsaved edits.
  public var isModified: Bool { patch != saved || !surroundings.kept.isEmpty || !surroundings.split.isEmpty }
  /// Undoable edits, the latest first, as lines of the language.
  public var undoList: [String] { history.undoList }
  /// Redoable edits, the next one first, as lines of the language.
  public var redoList: [String] { history.redoList }

  /// Performs one line of the language, from the prompt, a script or remote control. Returns an answer;
  /// throws a `Diagnostic` with the place in the line. A refused line changes nothing. `frame`: engine time
  /// of its effect; nil: the next block. Later lines wait for it.
  @discardableResult public func perform(
    _ line: String, file: String = "", line number: Int = 1, column: Int = 1, at frame: Int64? = nil
  ) throws(Diagnostic) -> String {
    due = frame
    defer { due = nil }
    let statement = try StatementParser.parse(
      line, patch: patch, catalogue: catalogue, file: file, line: number, column: column)
    do throws(EditError) {
      return try perform(statement)
    } catch {
      throw StatementParser.diagnostic(for: error, in: line, file: file, line: number, column: column)
    }
  }

  /// Performs lines from a clipboard or an editor as one edit. A new node whose name is taken gets another. Returns an
  /// answer; throws a `Diagnostic` with the line.
  @discardableResult public func perform(pasted text: String) throws(Diagnostic) -> String {
    let pasted = try PastedLines(text, patch: patch, catalogue: catalogue)
    do throws(EditError) {
      return try perform(pasted.statement)
    } catch {
      throw pasted.diagnostic(for: error, on: patch, catalogue: catalogue)
    }
  }

  /// Performs a statement. Returns an answer.
  @discardableResult public func perform(_ statement: Statement) throws(EditError) -> String {
    followMaps()
    switch statement {
    case .nothing: return ""
    case .edit(let edit): return try perform(edit)
    case .undo: return try undo().map { "undone: \($0)" } ?? "nothing to undo"
    case .redo: return try redo().map { "redone: \($0)" } ?? "nothing to redo"
    case .record(let order): return try record(order, at: due)
    case .transport(let order): return direct(order, at: due)
    case .panic:
      song = nil
      taping(.panic) { engine.panic() }
      return "all notes end"
    case .perform(let performance):
      play(performance)
      return performance.line
    case .sequence(let statements):
      // Checked as a whole first, so that a refused line changes nothing.
      var rehearsal = Rehearsal(patch: patch, history: history, catalogue: catalogue)
      for statement in statements { try rehearsal.perform(statement) }
      var answers: [String] = []
      let (takes, edits) = (runningTakes.count, editCount)
      do throws(EditError) {
        for statement in statements { answers.append(try perform(statement)) }
      } catch {
        // Only a file that could not be made is known no earlier.
        discardTakes(behind: takes)
        for _ in edits..<editCount { _ = try? undo() }
        throw error
      }
      return answers.joined(separator: " ; ")
    }
  }

  /// Number of the edit that undo would revert; nil if there is none.
  public var newestEdit: Int? { history.newest }

  /// Performs an edit in its canonical form, so that history and journal do not depend on its origin. `step`:
  /// replaces the newest edit if it has this number, so that all steps of a gesture are undone together.
  @discardableResult public func perform(
    _ edit: Edit, amending step: Int? = nil
  ) throws(EditError) -> String {
    followMaps()
    return try perform(edit, amending: step, acceptsUnknownKinds: false)
  }

  /// `isMoved`: maps have moved its values already.
  @discardableResult func perform(
    _ edit: Edit, amending step: Int? = nil, acceptsUnknownKinds: Bool, isMoved: Bool = false
  ) throws(EditError) -> String {
    let start = monotonicTime()
    let edit = try withFoundPrograms(edit)
    let (change, line): (Change, String)
    var isAmending = false
    // An edit that is no longer in the journal (after a save) cannot be replaced.
    if let step, step == history.newest, journal == nil || journaled.undo > 0,
      let amended = try history.amend(patch, by: edit, catalogue: catalogue, at: .now)
    {
      (change, line) = amended
      isAmending = true
      record(.amend(line))
      journaled.redo = 0
    } else {
      let applied = try patch.applyingCanonically(
        withStates(edit), catalogue: catalogue, acceptsUnknownKinds: acceptsUnknownKinds)
      (change, line) = (applied.change, applied.edit.line)
      try change.patch.checkTargets(of: applied.edit, catalogue: catalogue)
      record(.edit(line))
      journaled = (journaled.undo + 1, 0)
      history.record(change, describing: line, at: .now)
    }
    let taped = tapedEdit(line, isAmending: isAmending)
    // A replay hears the same controllers.
    if isMoved {
      tape?.hasMoved = true
      adopt(change)
    } else {
      taping(taped) { adopt(change, describing: line) }
    }
    if isMoved { return line }
    editCount += 1
    longestEdit = max(longestEdit, Double(monotonicTime() - start) * 1e-9)
    return line
  }

  /// Performs an edit that says all that happens, also inside sub-patches that share a file.
  func perform(exactly edit: Edit) throws(EditError) {
    let change = try patch.applying(exactly: edit, catalogue: catalogue)
    history.record(change, describing: edit.line, at: .now)
    recordStep(change)
    taping(tapedStep(change, isUndo: false)) { adopt(change, describing: edit.line) }
    editCount += 1
  }

  /// Undoes the newest edit and returns it as a line; nil when there is none.
  @discardableResult public func undo() throws(EditError) -> String? {
    followMaps()
    guard let step = try history.undo(patch, catalogue: catalogue) else { return nil }
    recordUndo(step.change)
    taping(tapedStep(step.change, isUndo: true)) {
      adopt(step.change, describing: "undo: \(step.description)", isUndo: true)
    }
    return step.description
  }

  /// Repeats the edit that was undone last and returns it as a line; nil when there is none.
  @discardableResult public func redo() throws(EditError) -> String? {
    followMaps()
    guard let step = try history.redo(patch, catalogue: catalogue) else { return nil }
    recordRedo(step.change)
    taping(tapedStep(step.change, isUndo: false)) {
      adopt(step.change, describing: "redo: \(step.description)")
    }
    return step.description
  }

  /// `line`: nil if there is nothing left to do for the sound.
  private func adopt(_ change: Change, describing line: String? = nil, isUndo: Bool = false) {
    moveTakes(to: change.patch)
    patch = change.patch
    maintainJournal()
    followTransport()
    if !change.ended.isEmpty { endFound(change.ended, isUndone: isUndo) }
    guard !change.isSilent else { return }
    engine.adopt(
      patch, touched: change.touched, ramps: change.ramps, tails: change.tails,
      fade: max(change.fade ?? 0, Engine.standardFade),
      // No audio thread runs offline, so the next block's frame is known.
      at: line == nil ? nil : due ?? (options.isOffline ? engine.renderer.time : nil), describing: line)
    requestFiles(of: change.touched.nodes)
    // A replay has the journal for this.
    if !options.isOffline { holdOutputs(among: change.touched.nodes) }
    if !options.isOffline { supervisor.poll() }
  }

  // MARK: Playing

  /// Sends a note, pedal or transport event straight to a node.
  public func play(_ event: Event, on node: NodeID) { play(event, on: node, at: nil) }

  func play(_ event: Event, on node: NodeID, at frame: Int64?) {
    taping(.event(node: patch[node]?.name ?? "", event)) { engine.perform(event, on: node, at: frame) }
  }

  private func play(_ performance: Performance) {
    guard let node = patch[named: performance.node] else { return }
    play(Event(performance.event), on: node.id, at: due)
  }
}
