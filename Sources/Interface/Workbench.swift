import Patch
import PatchLanguage
import Realtime
import Session

/// What the front end asks of a session: edits in, a scene out. A session satisfies it, and so does
/// anything that a test puts in its place. Main thread.
@MainActor public protocol Workbench: AnyObject {
  /// All that the views show, as of the last `tick`.
  var scene: Scene { get }
  /// The file as the user named it; nil before the first save.
  var file: String? { get }
  /// Performs an edit and says in a line what was done. `step`: it takes the place of the newest edit, if
  /// that has this number.
  @discardableResult func perform(_ edit: Edit, amending step: Int?) throws -> String
  /// The edit that undo would take back, by a number of its own.
  var newestEdit: Int? { get }
  /// Performs a line of the language; a refusal carries its place (`Diagnostic`).
  @discardableResult func perform(line: String) throws -> String
  /// What was undone, as a line of the language; nil when there is nothing.
  func undo() throws -> String?
  func redo() throws -> String?
  /// nil: to the file that it came from. Refuses by a `FileError` with an obstacle where that would lose
  /// something, but for what is in `accepted`. Returns what was done, in words.
  @discardableResult func save(as path: String?, despite accepted: Set<SaveObstacle.Reason>) throws -> String
  /// Takes the file as others wrote it, by an edit. Returns what was done, in words.
  func reload() throws -> String
  /// Joins what others wrote with the edits made here, by an edit. Returns what was done, in words.
  func merge() throws -> String
  /// A note, a pedal: straight to the node.
  func play(_ event: Event, on node: NodeID)
  func panic()
  /// Things to tell the person, oldest first, once each.
  func takeNotices() -> [String]
  /// Looks after the engine and takes a new scene; about 30 to 60 times a second.
  func tick()
}
