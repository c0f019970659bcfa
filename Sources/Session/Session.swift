import Drivers
import Engine
import Patch
import PatchLanguage
import Realtime
import Sampler

public struct SessionOptions: Sendable {
  public var driver = DriverOptions()
  /// How many threads render together where a patch is worth it, 1 to 16; the sound is the same.
  public var threads = 1
  /// How samples are read where the patch leaves it open.
  public var quality = SampleQuality.four
  /// Offline: files are loaded before anything else happens, and no driver is started.
  public var isOffline = false
  /// Edits are written to a journal before they are acknowledged.
  public var keepsJournal = true

  public init() {}
}

/// One open patch: its document, history and journal, the engine that sounds it and the driver that
/// plays it. Everything that changes any of them goes through here, in the edit language.
@MainActor public final class Session {
  public let options: SessionOptions
  public let engine: Engine
  public let supervisor: Supervisor
  public internal(set) var patch = Patch()
  public internal(set) var history = History()
  /// nil until the patch has been saved or opened.
  public internal(set) var file: String?
  /// What was last read from or written to the file.
  var saved = Patch()
  /// The file's content when it was last read or written: others may write it too. nil: there was none.
  var savedBytes: [UInt8]?
  /// What the edits that are not saved yet start from.
  var common = Patch()
  /// Its text; nil: `savedBytes`.
  var commonBytes: [UInt8]?
  /// The file is not what the edits start from.
  var isForeign = false
  var journal: Journal?
  /// Why edits are not journaled now; nil while they are.
  public internal(set) var journalFault: String?
  /// Monotonic time before which a journal that failed is not tried again.
  var nextMending: Int64 = 0
  /// What a replay of the journal could undo and redo. Less than `history` can: saving empties it.
  var journaled = (undo: 0, redo: 0)
  /// Engine frame of what is being performed; nil: the next block.
  private var due: Int64?
  /// Another session holds the file's journal.
  public internal(set) var isLocked = false
  /// What was wrong with the file when it was opened.
  public internal(set) var diagnostics: [Diagnostic] = []
  /// Things to tell, oldest first, taken by whoever shows them.
  private var notices: [String] = []
  let library: FileLibrary
  /// What each node's file setting was when it was last looked at.
  var wishes: [NodeID: FileWish] = [:]
  var tunings: [NodeID: TuningWish] = [:]
  /// What each node is tuned to; of a wish that cannot be read, what it was tuned to before.
  var heardTunings: [NodeID: Tuning] = [:]
  private var toldLostMidi = 0
  private var toldLostEvents = 0
  private var toldLostTrace = 0
  /// The trace up to here has been looked through for what to tell.
  private var nextTrace = 0
  /// What ran when it was first asked for after a `tick` or `refreshReport`: nobody has to look.
  public var report: GraphReport {
    if let knownReport { return knownReport }
    let report = engine.report()
    knownReport = report
    return report
  }
  private var knownReport: GraphReport?
  public private(set) var editCount = 0
  /// Seconds that the longest edit took from its line to the command ring.
  public private(set) var longestEdit = 0.0

  public init(options: SessionOptions = SessionOptions()) {
    self.options = options
    library = FileLibrary(isOffline: options.isOffline)
    engine = Engine(
      rate: options.driver.rate, period: options.driver.period, threads: options.threads,
      quality: options.quality)
    supervisor = Supervisor(engine: engine, options: options.driver)
  }

  /// Something to show to the person, once each.
  public func takeNotices() -> [String] {
    defer { notices = [] }
    return notices
  }

  func notice(_ text: String) { notices.append(text) }

  // MARK: Sound

  /// Opens a driver; there is always one, the clock at worst.
  public func start() {
    engine.isMetering = true
    engine.isWatching = true
    library.isGentle = true
    supervisor.start()
  }

  /// Ends the sound and gives the driver back.
  public func stop() { supervisor.stop() }

  /// To be called 30 to 60 times a second: takes up what the audio thread did, what was loaded, and how
  /// the driver fares.
  public func tick() {
    takeUpLoaded()
    showLoads()
    supervisor.poll()
    if let fault = supervisor.takeMidiFault() { notice(fault) }
    tendJournal()
    noticeLosses()
    // A JACK server may change its period at any time.
    if let driver = supervisor.driver { engine.period = driver.period }
    engine.collect()
    engine.makeReady()
    noticeBlasts()
    refreshReport()
  }

  /// Tells of MIDI and events that came faster than they could be taken: notes are missing, and nobody would
  /// know why.
  func noticeLosses() {
    let lost = supervisor.status.lostMidi
    if lost > toldLostMidi {
      notice(
        "\(lost - toldLostMidi) MIDI messages came in too fast and were lost; no note hangs for that")
    }
    toldLostMidi = lost
    let (events, entries) = (engine.lostEvents, engine.lostTraceEntries)
    if events > toldLostEvents {
      notice(
        "\(events - toldLostEvents) events were lost: more than \(EventQueue.capacity) came to a node at once"
      )
    }
    if entries > toldLostTrace {
      notice("\(entries - toldLostTrace) lines of the trace were lost: too many came at once")
    }
    (toldLostEvents, toldLostTrace) = (events, entries)
  }

  /// Tells of nodes that the blast shield has muted since last asked.
  func noticeBlasts() {
    for entry in engine.trace(since: nextTrace) {
      nextTrace = entry.id + 1
      if case .muted(let reason) = entry.happening {
        notice("`\(entry.name)` gave \(reason) and is muted; an edit of it or of its cables revives it")
      }
    }
  }

  /// Has the next who asks take a fresh look at the running graph.
  public func refreshReport() { knownReport = nil }

  public func trace(since id: Int) -> [TraceEntry] { engine.trace(since: id) }

  /// What each edit did to the sound, the latest included although what follows them was not heard.
  public func finishedEditLog() -> [EditEntry] {
    engine.closeEditLog()
    return engine.editLog()
  }

  /// The share of the period that rendering takes.
  public var load: Double { supervisor.status.load }

  public var status: SessionStatus {
    var status = SessionStatus()
    let driver = supervisor.status
    status.driver = supervisor.driver?.name ?? "none"
    status.rate = engine.rate
    status.period = engine.period
    status.roundTrip = driver.roundTrip
    status.load = driver.load
    status.peakLoad = driver.peakLoad
    status.xruns = driver.xruns
    status.voices = report.nodes.reduce(0) { $0 + $1.voices }
    status.polyphony = report.nodes.reduce(0) { $0 + $1.polyphony }
    status.driverMessage = supervisor.message
    status.isDisturbed = supervisor.isDisturbed
    status.loading = library.loading
    status.memory = library.bytes
    status.underruns = library.underruns
    status.lostMidi = driver.lostMidi
    status.journalFault = journalFault
    status.lostEvents = engine.lostEvents
    status.lostTraceEntries = engine.lostTraceEntries
    status.muted = report.nodes.filter(\.isMuted).map(\.name)
    return status
  }

  // MARK: Edits

  public var isModified: Bool { patch != saved }
  /// The latest first, as lines of the language.
  public var undoList: [String] { history.undoList }
  public var redoList: [String] { history.redoList }

  /// One line of the language, from the prompt, a script, from afar. Returns what to answer; throws a
  /// `Diagnostic` with the place in the line. A refused line changes nothing. `frame`: engine time at which
  /// it is to be heard, nil: at the next block; what is performed later waits for it.
  @discardableResult public func perform(
    _ line: String, file: String = "", line number: Int = 1, column: Int = 1, at frame: Int64? = nil
  ) throws(Diagnostic) -> String {
    due = frame
    defer { due = nil }
    let statement = try StatementParser.parse(
      line, patch: patch, catalogue: Engine.catalogue, file: file, line: number, column: column)
    do throws(EditError) {
      return try perform(statement)
    } catch {
      throw StatementParser.diagnostic(for: error, in: line, file: file, line: number, column: column)
    }
  }

  @discardableResult public func perform(_ statement: Statement) throws(EditError) -> String {
    switch statement {
    case .nothing: return ""
    case .edit(let edit): return try perform(edit)
    case .undo: return undo().map { "undone: \($0)" } ?? "nothing to undo"
    case .redo: return redo().map { "redone: \($0)" } ?? "nothing to redo"
    case .panic:
      engine.panic()
      return "all notes end"
    case .perform(let performance):
      play(performance)
      return performance.line
    case .sequence(let statements):
      // Refused as a whole, so that a refused line changes nothing.
      var rehearsal = Rehearsal(patch: patch, history: history)
      for statement in statements { try rehearsal.perform(statement) }
      var answers: [String] = []
      for statement in statements { answers.append(try perform(statement)) }
      return answers.joined(separator: " ; ")
    }
  }

  /// The edit that undo would take back, by a number of its own; nil where there is none.
  public var newestEdit: Int? { history.newest }

  /// Performs an edit in its canonical form: the same wish is the same edit in history and journal, wherever
  /// it was made. `step`: it takes the place of the newest edit if that has this number, so that what a
  /// gesture does in many steps is undone at once.
  @discardableResult public func perform(
    _ edit: Edit, amending step: Int? = nil
  ) throws(EditError) -> String {
    try perform(edit, amending: step, acceptsUnknownKinds: false)
  }

  @discardableResult func perform(
    _ edit: Edit, amending step: Int? = nil, acceptsUnknownKinds: Bool
  ) throws(EditError) -> String {
    let start = monotonicTime()
    let edit = patch.canonical(edit, catalogue: Engine.catalogue)
    let line = edit.line
    let change: Change
    // What the journal no longer knows, since the file was saved, it cannot take back.
    if let step, step == history.newest, journal == nil || journaled.undo > 0,
      let amended = try history.amend(patch, by: edit, catalogue: Engine.catalogue)
    {
      change = amended
      record(.amend(line))
      journaled.redo = 0
    } else {
      change = try patch.applying(
        edit, catalogue: Engine.catalogue, acceptsUnknownKinds: acceptsUnknownKinds)
      record(.edit(line))
      journaled = (journaled.undo + 1, 0)
      history.record(change, describing: line)
    }
    adopt(change, describing: line)
    editCount += 1
    longestEdit = max(longestEdit, Double(monotonicTime() - start) * 1e-9)
    return line
  }

  /// The edit that was undone, as a line; nil when there is none.
  @discardableResult public func undo() -> String? {
    guard let step = try? history.undo(patch, catalogue: Engine.catalogue) else { return nil }
    recordUndo(step.change)
    adopt(step.change, describing: "undo: \(step.description)")
    return step.description
  }

  @discardableResult public func redo() -> String? {
    guard let step = try? history.redo(patch, catalogue: Engine.catalogue) else { return nil }
    recordRedo(step.change)
    adopt(step.change, describing: "redo: \(step.description)")
    return step.description
  }

  private func adopt(_ change: Change, describing line: String) {
    patch = change.patch
    tendJournal()
    guard !change.isSilent else { return }
    engine.adopt(
      patch, touched: change.touched, ramps: change.ramps, tails: change.tails,
      // Nobody renders meanwhile: the next block's frame is known.
      at: due ?? (options.isOffline ? engine.renderer.time : nil), describing: line)
    wishForFiles(of: change.touched.nodes)
    if !options.isOffline { supervisor.poll() }
  }

  // MARK: Playing

  public func play(_ event: Event, on node: NodeID) { engine.perform(event, on: node) }

  private func play(_ performance: Performance) {
    guard let node = patch[named: performance.node] else { return }
    engine.perform(Event(performance.event), on: node.id, at: due)
  }
}

extension Event {
  /// What the language calls it, as ports carry it.
  init(_ event: Performance.Event) {
    switch event {
    case .noteOn(let key, let velocity): self.init(.noteOn, key: UInt8(key), value: Float(velocity))
    case .noteOff(let key): self.init(.noteOff, key: UInt8(key))
    case .pedal(let pedal, let isDown):
      let controller: UInt8 =
        switch pedal {
        case .sustain: 64
        case .sostenuto: 66
        case .soft: 67
        }
      self.init(.control, key: controller, value: isDown ? 127 : 0)
    case .control(let number, let value): self.init(.control, key: UInt8(number), value: Float(value))
    case .bend(let value): self.init(.bend, value: Float(value))
    case .play(let position): self.init(.play, time: position ?? .nan)
    case .stop: self.init(Event.Kind.stop)
    case .cue(let position): self.init(.cue, time: position)
    }
  }
}
