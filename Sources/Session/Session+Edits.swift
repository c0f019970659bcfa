import Drivers
import Engine
import Patch
import PatchLanguage
import Realtime

private let nothingToUndo = "nothing to undo"
private let nothingToRedo = "nothing to redo"

extension Session {
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
    case .undo: return try undo().map { "undone: \($0)" } ?? nothingToUndo
    case .redo: return try redo().map { "redone: \($0)" } ?? nothingToRedo
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
      let (takes, before) = (runningTakes.count, history)
      changesOfLine = []
      defer { changesOfLine = nil }
      do throws(EditError) {
        for statement in statements { answers.append(try perform(statement)) }
      } catch {
        // Only a file that could not be made is known no earlier.
        discardTakes(behind: takes)
        takeBack(changesOfLine ?? [], to: before)
        throw error
      }
      // However many steps there are not, it is told once.
      let told = answers.enumerated().filter { index, answer in
        index == 0 || answer != answers[index - 1] || answer != nothingToUndo && answer != nothingToRedo
      }
      return told.map(\.element).joined(separator: " ; ")
    }
  }

  /// Takes back the changes of a refused line, the newest first. `before`: the history as it was.
  private func takeBack(_ changes: [Change], to before: History) {
    changesOfLine = nil
    if changes.isEmpty { return }
    for change in changes.reversed() {
      guard let back = try? patch.applying(exactly: change.inverse, catalogue: catalogue) else { break }
      recordStep(back)
      // No step of the tape's own history: it has the refused edits too.
      tape?.depth = (0, 0)
      taping(tapedStep(back, isUndo: true)) { adopt(back, describing: "undo: a refused line", isUndo: true) }
    }
    history = before
    // The steps do not tell what can be undone and redone.
    if journalFault == nil { try? rewriteJournal() }
  }

  /// Number of the edit that undo would revert; nil if there is none.
  public var newestEdit: Int? { history.newest }

  /// Performs an edit in its canonical form, so that history and journal do not depend on its origin. `step`:
  /// replaces the newest edit if it has this number, so that all steps of a gesture are undone together.
  @discardableResult public func perform(
    _ edit: Edit, amending step: Int? = nil
  ) throws(EditError) -> String {
    followMaps()
    return try perform(edit, amending: step, isMoved: false)
  }

  /// `isMoved`: maps have moved its values already.
  @discardableResult func perform(
    _ edit: Edit, amending step: Int?, isMoved: Bool
  ) throws(EditError) -> String {
    let start = monotonicTime()
    let edit = try withFoundPrograms(edit)
    let (change, line): (Change, String)
    var whole: Edit?
    // An edit that is no longer in the journal (after a save) cannot be replaced.
    if let step, step == history.newest, journal == nil || journaled.undo > 0,
      let amended = try history.amend(patch, by: edit, catalogue: catalogue, at: .now)
    {
      (change, line) = (amended.change, amended.description)
      whole = amended.whole
      record(.amend(line))
      journaled.redo = 0
    } else {
      let applied = try patch.applyingCanonically(withStates(edit), catalogue: catalogue)
      (change, line) = (applied.change, applied.edit.line)
      try change.patch.checkTargets(of: applied.edit, catalogue: catalogue)
      record(.edit(line))
      journaled = (journaled.undo + 1, 0)
      history.record(change, describing: line, catalogue: catalogue, at: .now)
    }
    // A replay hears the same controllers.
    if isMoved {
      tape?.forgetSteps()
      adopt(change)
      return line
    }
    taping(tapedEdit(line, amending: whole)) { adopt(change, describing: line) }
    editCount += 1
    longestEdit = max(longestEdit, Double(monotonicTime() - start) * 1e-9)
    return line
  }

  /// Performs an edit that says all that happens, also inside sub-patches that share a file.
  func perform(exactly edit: Edit) throws(EditError) {
    let change = try patch.applying(exactly: edit, catalogue: catalogue)
    history.record(change, describing: edit.line, catalogue: catalogue, at: .now)
    recordStep(change)
    taping(tapedEdit(exactly: change)) { adopt(change, describing: edit.line) }
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

  /// `line`: nil for what maps have moved, which is heard already.
  private func adopt(_ change: Change, describing line: String? = nil, isUndo: Bool = false) {
    let isMoved = line == nil
    changesOfLine?.append(change)
    moveTakes(to: change.patch)
    patch = change.patch
    maintainJournal()
    followTransport()
    if !change.ended.isEmpty { endFound(change.ended, isUndone: isUndo) }
    guard !change.isSilent else { return }
    // No audio thread runs offline, so the next block's frame is known.
    let next = options.isOffline ? engine.renderer.time : nil
    engine.adopt(
      patch, touched: change.touched, ramps: change.ramps, tails: change.tails,
      fade: max(change.fade ?? 0, Engine.standardFade),
      at: (isMoved ? nil : due) ?? next, describing: line, isUndo: isUndo, isMoved: isMoved)
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
