import Engine
import Patch
import PatchLanguage
import Realtime
import Session

/// A session as the front end sees it. Main thread.
@MainActor public final class SessionWorkbench: Workbench {
  public let session: Session
  public private(set) var scene = Scene()
  /// The terminal reports key releases; set by the owner of the terminal.
  public var hasKeyRelease = false {
    didSet { scene.hasKeyRelease = hasKeyRelease }
  }
  /// True when changes of the file by others are taken at once; set by the owner of the settings.
  public var followsFile: Bool {
    get { !session.ignoresFile }
    set { session.ignoresFile = !newValue }
  }
  /// Number of trace entries kept for the view.
  private static let traceLimit = 5000
  /// Change of the load that is shown.
  private static let loadStep = 0.007
  private var nextTrace = 0
  /// Plays files that are chosen among.
  private(set) var player: Preview?
  private var previewFault = ""
  /// The file whose name the scene has.
  private var knownFile: String?
  /// The state of the document whose history the scene has.
  private var knownHistory: (revision: Revision, newest: Int?)?

  public init(session: Session) {
    self.session = session
    session.looksInTurns = true
    refresh()
  }

  public var file: String? { session.file }

  @discardableResult public func perform(_ edit: Edit, amending step: Int?) throws -> String {
    defer { refreshDocument() }
    return try session.perform(edit, amending: step)
  }

  public var newestEdit: Int? { session.newestEdit }

  @discardableResult public func perform(line: String) throws -> String {
    defer { refreshDocument() }
    return try session.perform(line)
  }

  @discardableResult public func perform(pasted text: String) throws -> String {
    defer { refreshDocument() }
    return try session.perform(pasted: text)
  }

  public func undo() throws -> String? {
    defer { refreshDocument() }
    return try session.undo()
  }

  public func redo() throws -> String? {
    defer { refreshDocument() }
    return try session.redo()
  }

  public func patch(after steps: Int) -> Patch? {
    var (history, patch) = (session.history, session.patch)
    for _ in 0..<abs(steps) {
      let step =
        try? steps < 0
        ? history.undo(patch, catalogue: session.catalogue)
        : history.redo(patch, catalogue: session.catalogue)
      guard let step else { return nil }
      patch = step.change.patch
    }
    return patch
  }

  @discardableResult public func save(
    as path: String?, despite accepted: Set<SaveObstacle.Reason>
  ) throws -> String {
    defer { refreshDocument() }
    return try session.save(as: path, despite: accepted)
  }

  public func reload() throws -> String {
    defer { refreshDocument() }
    return try session.reload()
  }

  public func merge() throws -> String {
    defer { refreshDocument() }
    return try session.merge()
  }

  public func holdFileBack(_ isHeld: Bool) { session.holdsFileBack = isHeld }

  public func play(_ event: Event, on node: NodeID) { session.play(event, on: node) }

  public func learn(_ isLearning: Bool) { session.isLearning = isLearning }

  public func takeHeard() -> [(node: String, event: Event)] { session.takeHeard() }

  public func listen(to port: ListenedPort?) { session.listen(to: port) }

  public func takeListened() -> ListenedSound? { session.takeListened() }

  public func open(_ path: String) throws -> ViewState.Message {
    defer {
      scene.effects = [:]
      refreshDocument()
    }
    let isNew = !PatchFile.exists(path)
    try session.openOther(path)
    guard let (text, isError) = session.diagnostics.summary else {
      if let song = session.songName { return .init(Self.songPlays(song)) }
      return .init(isNew ? "\(PatchFile.split(path).name) is a new patch" : "opened \(path)")
    }
    return .init(text, isError: isError)
  }

  /// Message for a song that begins.
  public nonisolated static func songPlays(_ name: String) -> String {
    "plays \(name): Space stops it and lets it go on, ! ends it"
  }

  public func preview(_ path: String?) {
    if path == nil, player == nil { return }
    let player = player ?? Preview(beside: session.options)
    self.player = player
    previewFault = ""
    guard let path else { return player.silence() }
    do { try player.play(path) } catch { previewFault = "\(error)" }
  }

  public func endPreview() {
    player?.close()
    (player, previewFault, scene.preview) = (nil, "", "")
  }

  public func showPrograms(_ isShown: Bool) {
    session.showsPrograms = isShown
    refreshDocument()
  }

  public func panic() { _ = try? session.perform("panic") }

  public func takeNotices() -> [String] { session.takeNotices().words }

  public var isStirring: Bool {
    player != nil || scene.status.song != nil || scene.status.transport.isUsed || session.engine.isStirring
      || session.supervisor.isStill
  }

  public func tick() {
    // Otherwise the engine would copy what it changes in its report.
    scene.report = GraphReport()
    session.tick()
    if let player {
      player.tick()
      scene.preview = previewFault.isEmpty ? player.words : previewFault
    }
    refresh()
  }

  private func refresh() {
    refreshDocument()
    scene.report = session.report
    scene.findPlaces()
    scene.instruments = session.instruments
    let load = scene.status.load
    scene.status = session.status
    // A load between two figures does not flicker.
    if abs(scene.status.load - load) < Self.loadStep { scene.status.load = load }
    scene.mapPlaces = session.mapPlaces
    let fresh = session.trace(since: nextTrace)
    guard let last = fresh.last else { return }
    nextTrace = last.id + 1
    scene.trace += fresh
    for case .edited(let entry) in fresh.map(\.happening) { note(entry) }
    // Removed in batches, so that a tick costs little.
    if scene.trace.count > Self.traceLimit + 1000 {
      scene.trace.removeFirst(scene.trace.count - Self.traceLimit)
    }
  }

  /// Notes the effect of an edit, which is measured some time after it.
  private func note(_ entry: EditEntry) {
    guard let step = scene.history.last(where: { $0.line == entry.line }) else { return }
    if scene.effects.count > 2 * History.depth {
      let known = Set(scene.history.map(\.key))
      scene.effects = scene.effects.filter { known.contains($0.key) }
    }
    scene.effects[step.key] = Printout.effect(of: entry)
  }

  /// Writes the edits that are done into a script.
  public func exportHistory(to path: String, despite accepted: Set<SaveObstacle.Reason>) throws -> String {
    try session.exportHistory(to: path, despite: accepted)
  }

  /// Updates the parts that an edit changes; the report follows with the next tick.
  private func refreshDocument() {
    let around = session.surroundings
    scene.patch = around.patch
    scene.programs = around.programs
    scene.outsideCables = around.cables
    scene.surroundings = around.number
    scene.showsPrograms = session.showsPrograms
    scene.catalogue = session.catalogue
    scene.isModified = session.isModified
    if knownFile != session.file {
      knownFile = session.file
      scene.fileName = session.file.map { PatchFile.split($0).name } ?? "untitled"
    }
    let newest = session.newestEdit
    if knownHistory.map({ $0.revision !== session.patch.revision || $0.newest != newest }) ?? true {
      knownHistory = (session.patch.revision, newest)
      scene.history = session.history.steps
      scene.undo = scene.history.last { !$0.isUndone }?.line
      scene.redo = scene.history.first { $0.isUndone }?.line
    }
    scene.presentScene = session.presentScene
    scene.changedByOthers = session.changedByOthers
    scene.versionConflict = session.versionConflict
  }
}
