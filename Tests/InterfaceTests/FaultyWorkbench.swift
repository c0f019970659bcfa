import Interface
import Patch
import Realtime
import Session

/// A session that refuses an undo after some, or whose driver is in trouble.
@MainActor final class FaultyWorkbench: Workbench {
  func learn(_ isLearning: Bool) {}
  func takeHeard() -> [(node: String, event: Event)] { [] }
  private let inner: SessionWorkbench
  private var left: Int
  /// The driver's message, if it is in trouble.
  var trouble: String?

  struct Refusal: Error, CustomStringConvertible {
    let description = "no room for `out`"
  }

  init(_ inner: SessionWorkbench, after count: Int = .max) {
    self.inner = inner
    left = count
  }

  func undo() throws -> String? {
    guard left > 0 else { throw Refusal() }
    left -= 1
    return try inner.undo()
  }

  var scene: Scene {
    var scene = inner.scene
    scene.status.isDisturbed = trouble != nil
    scene.status.driverMessage = trouble ?? "sound is back"
    return scene
  }
  var file: String? { inner.file }
  var newestEdit: Int? { inner.newestEdit }
  func perform(_ edit: Edit, amending step: Int?) throws -> String {
    try inner.perform(edit, amending: step)
  }
  func perform(line: String) throws -> String { try inner.perform(line: line) }
  func perform(pasted text: String) throws -> String { try inner.perform(pasted: text) }
  func redo() throws -> String? { try inner.redo() }
  func save(as path: String?, despite accepted: Set<SaveObstacle.Reason>) throws -> String {
    try inner.save(as: path, despite: accepted)
  }
  func reload() throws -> String { try inner.reload() }
  func merge() throws -> String { try inner.merge() }
  func holdFileBack(_ isHeld: Bool) {}
  func exportHistory(to path: String, despite accepted: Set<SaveObstacle.Reason>) throws -> String { "" }
  func play(_ event: Event, on node: NodeID) { inner.play(event, on: node) }
  func panic() { inner.panic() }
  func listen(to port: ListenedPort?) { inner.listen(to: port) }
  func takeListened() -> ListenedSound? { inner.takeListened() }
  func showPrograms(_ isShown: Bool) {}
  /// Notices for the next tick.
  var news: [String] = []
  func takeNotices() -> [String] {
    defer { news = [] }
    return news + inner.takeNotices()
  }
  var isStirring: Bool { inner.isStirring }
  func tick() { inner.tick() }
}
