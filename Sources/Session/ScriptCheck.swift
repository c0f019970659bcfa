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
    inOrder(rehearse(lines, Rehearsal(patch: patch, catalogue: catalogue), file: file).diagnostics)
  }

  /// The patch after the lines that can be performed on it, and the errors of the others. Notes, pedals and
  /// the transport change nothing. Unknown kinds become placeholders, as in a file. A control may wait for a target
  /// that is not there, with a warning. So may a cable lead past the edge of a sub-patch, and a node be in one that
  /// is not there, as lines of a difference want it; but they are refused where the patch could not be read without other files.
  public static func apply(
    _ lines: [ScriptLine], to patch: Patch, file: String,
    catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
  ) -> (patch: Patch, diagnostics: [Diagnostic]) {
    var rehearsal = Rehearsal(patch: patch, catalogue: catalogue)
    rehearsal.acceptsUnknownKinds = true
    let isReadable = { (patch: Patch) in
      // As commands read it that read no other files.
      let text = PatchWriter.write(patch, catalogue: catalogue)
      let found = PatchReader.read(text, file: file, catalogue: LibraryNames.catalogue(of: catalogue))
      return !found.diagnostics.contains { $0.severity == .error }
    }
    var (lines, refusals) = (lines, [Diagnostic]())
    while true {
      var outcome = rehearse(lines, rehearsal, file: file)
      let places = Set(outcome.misfits.map { TextPlace(line: $0.line.line, column: $0.line.column) })
      // A patch that could not be read before is made no worse.
      let isRefused = !places.isEmpty && !isReadable(outcome.patch) && isReadable(patch)
      for (_, var diagnostic) in outcome.misfits {
        diagnostic.severity = isRefused ? .error : .warning
        if isRefused { refusals.append(diagnostic) } else { outcome.diagnostics.append(diagnostic) }
      }
      guard isRefused else { return (outcome.patch, inOrder(outcome.diagnostics + refusals)) }
      lines.removeAll { places.contains(TextPlace(line: $0.line, column: $0.column)) }
    }
  }

  private static func inOrder(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
    diagnostics.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
  }

  /// Frames a second in a rehearsal.
  private static var rehearsalRate: Double { 48_000 }

  /// The patch after the lines, and the errors and warnings. `misfits`: lines that have left something out of place,
  /// with the refusals of one who types them.
  private static func rehearse(
    _ lines: [ScriptLine], _ rehearsal: Rehearsal, file: String
  ) -> (patch: Patch, diagnostics: [Diagnostic], misfits: [(line: ScriptLine, refusal: Diagnostic)]) {
    var rehearsal = rehearsal
    var diagnostics: [Diagnostic] = []
    var misfits: [(misfit: Misfit, line: ScriptLine, refusal: Diagnostic)] = []
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
        for misfit in rehearsal.takeMisfits() { misfits.append((misfit, line, diagnostic(misfit.error))) }
        for doubt in rehearsal.takeDoubts() {
          var warning = diagnostic(doubt)
          warning.severity = .warning
          diagnostics.append(warning)
        }
      } catch {
        diagnostics.append(error)
      }
    }
    misfits.removeAll { !$0.misfit.isLeft(in: rehearsal.patch, catalogue: rehearsal.catalogue) }
    return (rehearsal.patch, diagnostics, misfits.map { ($0.line, $0.refusal) })
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
  /// Controls with a target that is not there, where unknown kinds are accepted.
  private var doubts: [EditError] = []
  /// Nodes and cables where nobody would type them, where unknown kinds are accepted.
  private var misfits: [Misfit] = []
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
      } catch {
        if !acceptsUnknownKinds { throw error }
        doubts.append(error)
      }
      // Elsewhere the edit itself has been refused.
      if acceptsUnknownKinds { misfits += Misfit.made(by: edit, in: change.patch, catalogue: catalogue) }
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

  /// The nodes and cables that have come to stand out of place since the last call.
  mutating func takeMisfits() -> [Misfit] {
    defer { misfits = [] }
    return misfits
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
