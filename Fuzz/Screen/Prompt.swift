import Engine
import Glibc
import Interface
import Patch
import PatchLanguage
import Realtime
import Screen
import Session
import Terminal

/// A workbench whose session is never saved, whatever the keys do.
@MainActor private final class UnsavedWorkbench: Workbench {
  let inner: SessionWorkbench
  init(_ session: Session) { inner = SessionWorkbench(session: session) }

  var scene: Scene { inner.scene }
  var file: String? { nil }
  var newestEdit: Int? { inner.newestEdit }
  func perform(_ edit: Edit, amending step: Int?) throws -> String {
    try inner.perform(edit, amending: step)
  }
  func perform(line: String) throws -> String { try inner.perform(line: line) }
  func perform(pasted text: String) throws -> String { try inner.perform(pasted: text) }
  func learn(_ isLearning: Bool) { inner.learn(isLearning) }
  func takeHeard() -> [(node: String, event: Event)] { inner.takeHeard() }
  func undo() throws -> String? { try inner.undo() }
  func redo() throws -> String? { try inner.redo() }
  func save(as path: String?, despite accepted: Set<SaveObstacle.Reason>) throws -> String {
    throw NoFiles()
  }
  func reload() throws -> String { throw NoFiles() }
  func merge() throws -> String { throw NoFiles() }
  func exportHistory(to path: String, despite accepted: Set<SaveObstacle.Reason>) throws -> String {
    throw NoFiles()
  }
  func holdFileBack(_ isHeld: Bool) {}
  func play(_ event: Event, on node: NodeID) { inner.play(event, on: node) }
  func panic() { inner.panic() }
  // The fuzzer has no server.
  func listen(to port: ListenedPort?) { inner.listen(to: port) }
  func takeListened() -> ListenedSound? { inner.takeListened() }
  func showPrograms(_ isShown: Bool) {}
  func takeNotices() -> [String] { inner.takeNotices() }
  var isStirring: Bool { inner.isStirring }
  func tick() { inner.tick() }
}

private struct NoFiles: Error {}

private let lines = [
  "node keys keyboard", "node piano sampler", "node dist distortion drive=18dB",
  "node main matrix inputs=4 outputs=2", "node out output", "connect keys -> piano",
  "connect piano -> dist", "connect dist -> main map=[0,1,-1,-1]", "connect main -> out",
]

/// Feeds the bytes as terminal input to the user interface, without a screen. If the first byte is odd, each
/// line is typed at the prompt. For any input: no crash, every canvas has the requested size with the cursor
/// on it, and undo leads back to the initial patch.
@MainActor func type(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  var options = SessionOptions()
  options.isOffline = true
  options.keepsJournal = false
  options.mayRecord = false
  let session = Session(options: options)
  for line in lines { _ = try? session.perform(line) }
  let (first, start) = (session.patch, session.undoList)
  var seconds = 0.0
  let app = App(workbench: UnsavedWorkbench(session), now: { seconds })
  var parser = InputParser()
  let sizes = [(80, 24), (1, 1), (23, 7), (130, 45), (40, 10)]
  let (columns, rows) = sizes[Int(mode >> 1) % sizes.count]
  func take(_ items: [InputParser.Item]) {
    for case .event(let event) in items {
      app.handle(event)
      app.wish = .none
      seconds += 0.05
    }
  }
  for line in bytes.dropFirst().split(separator: 10) {
    if mode & 1 == 1 { app.perform("prompt") }
    take(parser.feed(line) + parser.flush(endingPaste: true))
    if mode & 1 == 1 {
      app.handle(.key(KeyStroke("enter")))
      app.wish = .none
    }
    let canvas = app.render(columns: columns, rows: rows)
    precondition(canvas.columns == columns && canvas.rows == rows, "another size")
    precondition(
      canvas.cursor.map { (0..<columns).contains($0.column) && (0..<rows).contains($0.row) } ?? true,
      "the cursor is off the screen")
    if mode & 1 == 1 { app.handle(.key(KeyStroke("esc"))) }
    try? session.renderOneBlock()
    app.tick()
  }
  let text = PatchWriter.write(session.patch, catalogue: KindRegistry.builtIn.catalogue)
  let again = PatchReader.read(text, file: "fuzz.patch", catalogue: KindRegistry.builtIn.catalogue)
  precondition(!again.diagnostics.contains { $0.severity == .error }, "refuses what it wrote itself")
  precondition(
    PatchWriter.write(again.patch, catalogue: KindRegistry.builtIn.catalogue) == text,
    "changes at each saving")
  while session.undoList.count > start.count { _ = try? session.undo() }
  // Not equal if the input undid past the start and then edited: the undo list has another branch.
  if session.undoList == start {
    precondition(session.patch.withPlainIdentities == first.withPlainIdentities, "undo leads elsewhere")
  }
}
