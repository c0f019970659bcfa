import Patch
import PatchLanguage
import Realtime
import Session

/// The front end's interface to a session: edits in, a scene out. A session implements it, and so do test
/// doubles. Main thread.
@MainActor public protocol Workbench: AnyObject {
  /// Everything that the views show, as of the last `tick`.
  var scene: Scene { get }
  /// The file's path as given; nil before the first save.
  var file: String? { get }
  /// Performs an edit and describes it in a line. `step`: replaces the newest edit if it has this number.
  @discardableResult func perform(_ edit: Edit, amending step: Int?) throws -> String
  /// Number of the edit that undo would revert.
  var newestEdit: Int? { get }
  /// Performs a line of the language; an error has its place (`Diagnostic`).
  @discardableResult func perform(line: String) throws -> String
  /// Performs pasted lines as one edit; an error has its line (`Diagnostic`).
  @discardableResult func perform(pasted text: String) throws -> String
  /// Returns the undone edit as a line of the language; nil when there is none.
  func undo() throws -> String?
  func redo() throws -> String?
  /// The patch after so many edits are redone, or undone where the number is negative; nil: there are not so many, or one is
  /// refused.
  func patch(after steps: Int) -> Patch?
  /// nil: to the file that it came from. Throws a `FileError` with an obstacle if that would lose something,
  /// except for reasons in `accepted`. Returns a description.
  @discardableResult func save(as path: String?, despite accepted: Set<SaveObstacle.Reason>) throws -> String
  /// Writes the edits that are done into a script. Throws as `save` does. Returns a description.
  func exportHistory(to path: String, despite accepted: Set<SaveObstacle.Reason>) throws -> String
  /// Loads the version that others wrote, as an edit. Returns a description.
  func reload() throws -> String
  /// Merges the version that others wrote with the edits made here, as an edit. Returns a description.
  func merge() throws -> String
  /// Lets what others write into the file wait, or takes it.
  func holdFileBack(_ isHeld: Bool)
  /// Sends a note or pedal straight to the node.
  func play(_ event: Event, on node: NodeID)
  func panic()
  /// Begins to hear every controller, for `takeHeard`, or ends it.
  func learn(_ isLearning: Bool)
  /// Events played and controllers moved since the last call while it learns, with the nodes' names.
  func takeHeard() -> [(node: String, event: Event)]
  /// Begins to listen to a port, in place of the one before; nil: to none.
  func listen(to port: ListenedPort?)
  /// The sound of that port since the last call; nil: the port is not there.
  func takeListened() -> ListenedSound?
  /// Opens a file in place of the patch. Returns a description.
  func open(_ path: String) throws -> ViewState.Message
  /// Plays a file beside the patch, in place of the one before; nil: it ends.
  func preview(_ path: String?)
  /// Ends what `preview` began, and gives its memory back.
  func endPreview()
  /// Shows or hides the other programs of the server.
  func showPrograms(_ isShown: Bool)
  /// New notices for the user, oldest first.
  func takeNotices() -> [String]
  /// A tick would bring something new that sounds, or that somebody else did. Costs next to nothing.
  var isStirring: Bool { get }
  /// Lets the engine work and takes a new scene; call it about 30 to 60 times a second.
  func tick()
}

/// A workbench without files.
private struct NoFiles: Error, CustomStringConvertible {
  let description = "no other file can be opened here"
}

extension Workbench {
  public func open(_ path: String) throws -> ViewState.Message { throw NoFiles() }
  public func patch(after steps: Int) -> Patch? { nil }
  public func preview(_ path: String?) {}
  public func endPreview() {}
}
