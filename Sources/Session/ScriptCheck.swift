import Engine
import Patch
import PatchLanguage
import Realtime

extension Script {
  /// Errors of the lines when performed on `patch` in order, without sound: a render of minutes should not
  /// fail at its last line.
  public static func check(
    _ lines: [ScriptLine], on patch: Patch, file: String,
    catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
  ) -> [Diagnostic] {
    rehearse(lines, Rehearsal(patch: patch, catalogue: catalogue), file: file).diagnostics
  }

  /// The patch after the lines that can be performed on it, and the errors of the others. Notes, pedals and
  /// the transport change nothing. Unknown kinds become placeholders, as in a file. A control may wait for a target
  /// that is not there, and a cable lead past the edge of a sub-patch, with a warning.
  public static func apply(
    _ lines: [ScriptLine], to patch: Patch, file: String,
    catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
  ) -> (patch: Patch, diagnostics: [Diagnostic]) {
    var rehearsal = Rehearsal(patch: patch, catalogue: catalogue)
    rehearsal.acceptsUnknownKinds = true
    return rehearse(lines, rehearsal, file: file)
  }

  /// Frames a second in a rehearsal.
  private static var rehearsalRate: Double { 48_000 }

  private static func rehearse(
    _ lines: [ScriptLine], _ rehearsal: Rehearsal, file: String
  ) -> (patch: Patch, diagnostics: [Diagnostic]) {
    var rehearsal = rehearsal
    var diagnostics: [Diagnostic] = []
    // Lines at bars come where the patch's own transport would bring them.
    var transport = Transport(rate: rehearsalRate)
    var (now, time): (Int64, PatchSettings) = (0, PatchSettings())
    var agenda = Agenda(lines, rate: rehearsalRate)
    while agenda.count > 0 {
      for change in TransportChange.changes(from: time, to: rehearsal.patch.settings) {
        transport.apply(change, at: now)
      }
      time = rehearsal.patch.settings
      // Those that it never reaches come last.
      let next = agenda.next { transport.frame(of: $0, from: now) ?? Int64.max }
      if let next, next.frame < .max { now = max(now, next.frame) }
      let line = agenda.removeNext()
      do throws(Diagnostic) {
        let statement = try StatementParser.parse(
          line.text, patch: rehearsal.patch, catalogue: rehearsal.catalogue, file: file, line: line.line,
          column: line.column)
        for order in statement.transportOrders { transport.apply(TransportChange(order), at: now) }
        func diagnostic(_ error: EditError) -> Diagnostic {
          StatementParser.diagnostic(
            for: error, in: line.text, file: file, line: line.line, column: line.column)
        }
        do throws(EditError) { try rehearsal.perform(statement) } catch { throw diagnostic(error) }
        for doubt in rehearsal.takeDoubts() {
          var warning = diagnostic(doubt)
          warning.severity = .warning
          diagnostics.append(warning)
        }
      } catch {
        diagnostics.append(error)
      }
    }
    return (rehearsal.patch, diagnostics.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }
}

extension Statement {
  /// Its orders to the transport, in their order.
  fileprivate var transportOrders: [TransportOrder] {
    switch self {
    case .transport(let order): [order]
    case .sequence(let statements): statements.flatMap(\.transportOrders)
    default: []
    }
  }
}

/// Performs statements on the document alone, to check them or to replay a journal.
struct Rehearsal {
  var patch: Patch
  var history = History()
  /// Numbers of steps that `history` can undo and redo.
  private(set) var depth = (undo: 0, redo: 0)
  var acceptsUnknownKinds = false
  /// Controls with a target that is not there, and cables that nobody would type, where unknown kinds are accepted.
  private var doubts: [EditError] = []
  let catalogue: KindCatalogue

  init(patch: Patch, history: History = History(), catalogue: KindCatalogue) {
    self.catalogue = catalogue
    self.patch = patch
    self.history = history
  }

  mutating func perform(_ statement: Statement) throws(EditError) {
    switch statement {
    case .edit(let edit):
      let change = try patch.applying(
        edit, catalogue: catalogue, acceptsUnknownKinds: acceptsUnknownKinds)
      do throws(EditError) {
        try change.patch.checkTargets(of: edit, catalogue: catalogue)
        // Elsewhere the edit itself has been refused.
        if acceptsUnknownKinds { try change.patch.checkCables(of: edit, catalogue: catalogue) }
      } catch {
        if !acceptsUnknownKinds { throw error }
        doubts.append(error)
      }
      history.record(change, describing: edit.line, catalogue: catalogue)
      depth = (depth.undo + 1, 0)
      patch = change.patch
    case .undo:
      guard let step = try history.undo(patch, catalogue: catalogue) else { return }
      depth = (depth.undo - 1, depth.redo + 1)
      patch = step.change.patch
    case .redo:
      guard let step = try history.redo(patch, catalogue: catalogue) else { return }
      depth = (depth.undo + 1, depth.redo - 1)
      patch = step.change.patch
    case .sequence(let statements):
      // All or nothing, as in a session.
      var whole = self
      for statement in statements { try whole.perform(statement) }
      self = whole
    case .record(let order): try order.check(patch, catalogue)
    case .perform, .panic, .transport, .nothing: break
    }
  }

  /// Doubts since the last call.
  mutating func takeDoubts() -> [EditError] {
    defer { doubts = [] }
    return doubts
  }

  /// Performs an edit that says all that happens.
  mutating func perform(exactly edit: Edit) throws(EditError) {
    let change = try patch.applying(exactly: edit, catalogue: catalogue)
    history.record(change, describing: edit.line, catalogue: catalogue)
    depth = (depth.undo + 1, 0)
    patch = change.patch
  }

  /// Replaces the newest edit.
  mutating func amend(_ edit: Edit) throws(EditError) {
    guard
      let step = try history.amend(
        patch, by: edit, catalogue: catalogue, acceptsUnknownKinds: acceptsUnknownKinds)
    else { return }
    depth.redo = 0
    patch = step.change.patch
  }
}
