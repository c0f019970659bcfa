import Patch
import PatchLanguage
import Screen

/// Request of the user beyond the screen; the caller carries it out and resets it. `quitKeepingEdits`: what is
/// not saved stays in the journal.
public enum Wish: Sendable { case none, quit, quitKeepingEdits, suspend, redraw }

/// The user's desk: the session, the view state and the focus. Actions, views and overlays work on it, and it
/// knows none of them. Main thread.
@MainActor final class Desk {
  var state = ViewState()
  let workbench: any Workbench
  var wish = Wish.none
  /// Names of actions to perform after the present event: requests of an overlay.
  var requests: [String] = []
  /// Size of the screen.
  var size: Size {
    get { state.screen }
    set { state.screen = newValue }
  }
  /// Monotonic clock, in seconds.
  let now: () -> Double

  /// Lines of the prompt, oldest first.
  var promptHistory: [String]
  /// Names of themes; the one that was chosen here, and the one that stands in the prompt.
  var themes: [String] = []
  var chosenTheme: String?
  var previewedTheme: String?
  var shownTheme: String? { previewedTheme ?? chosenTheme }
  var lastSearch = ""
  /// The line found last.
  var foundLine: (view: ViewName, line: Int)?
  /// Text that was copied last.
  private(set) var clipboard: String?
  /// The same, until the terminal has it too.
  var copied: String?
  /// The form of it that other programs get: with whole paths.
  private(set) var copiedElsewhere: String?
  /// The user's file of settings, for people.
  var settingsFile = "config.toml"
  /// Number of the version of the file that was asked about last.
  var askedVersion = 0
  var rewiring = RewiringMemory()
  var typing = TypingMemory()
  var piano = PianoMemory()
  var taps = TapTempo()
  /// Finds a layout of the piano's keys by its name or file.
  var findLayout: (String) throws -> KeyboardLayout = { name in
    guard let layout = KeyboardLayout.builtIn(named: name) else { throw UnknownLayout(name: name) }
    return layout
  }
  let ear = Ear()
  var drag: Drag?
  /// Letters of the hints that were shown last, which the second half of a choice keeps.
  var hintLetters: [PortHint.Target: String] = [:]
  /// An action that waits for its key to be pressed again, since then; anything else that is done drops it. `isAnswered`: by a
  /// press that may be a repeat of the one that asked.
  var asked: (what: String, time: Double, isAnswered: Bool)?
  /// Presses of keys in a terminal that reports no releases, and what the last one was.
  var presses = KeyRepeats<Key>()
  var press = KeyRepeats<Key>.Press.new
  /// The reason why edits are not safe from a crash, since then.
  var fault: (words: String, time: Double)?
  /// The current or last gesture.
  var gesture: Gesture?

  /// Name of the focused node: a replacement has another identity, but keeps the focus.
  private var focusName: String?
  /// Name of the node that had the focus when it left the patch by itself, as with a scene's recall: when it comes back, it
  /// has it again, unless another one has been focused meanwhile.
  private var awayName: String?
  /// Index of the focused node, for when it is removed.
  private var focusIndex = 0

  init(workbench: any Workbench, history: [String], now: @escaping () -> Double) {
    self.workbench = workbench
    self.now = now
    promptHistory = history
  }

  var scene: Scene { workbench.scene }

  /// Size of the view within the screen.
  var viewSize: Size {
    ViewFrame(scene, state, columns: size.columns, rows: size.rows).view.size
  }

  // MARK: Messages

  func say(_ text: String) { state.message = .init(EditWords.short(text)) }

  func complain(_ text: String) { state.message = .init(text, isError: true) }

  /// Refusal of what is for a node where there is none.
  static let nothingThere = "there is no node: a adds one, Ctrl-O opens a file"

  /// Shows the reason of a refusal in the message row.
  func attempt(_ body: () throws -> Void) {
    do { try body() } catch { complain(Desk.words(error)) }
  }

  /// An error as text for people.
  static func words(_ error: any Error) -> String {
    if let diagnostic = error as? Diagnostic { return diagnostic.words }
    if let refusal = error as? EditError { return refusal.description }
    return "\(error)"
  }

  /// Puts other notes on the keys of play mode. What sounds goes on.
  func use(_ layout: KeyboardLayout) {
    state.play.layout = layout
    // The help names the rows.
    state.help = []
    say("layout \(layout.name)")
  }

  // MARK: Edits

  /// Performs an edit and shows it in the message row, in the words of the language. `step`: replaces the
  /// newest edit if it has this number.
  @discardableResult
  func perform(_ edit: Edit, amending step: Int? = nil) -> Bool {
    if isLocked(edit) { return false }
    do {
      let said = try workbench.perform(edit, amending: step)
      say(said.isEmpty ? edit.line : said)
      return true
    } catch {
      complain(Desk.words(error))
      return false
    }
  }

  func undo() {
    if isLocked(steps: -1) { return }
    travel { try workbench.undo().map { "undone: \($0)" } ?? "nothing to undo" }
  }

  func redo() {
    if isLocked(steps: 1) { return }
    travel { try workbench.redo().map { "redone: \($0)" } ?? "nothing to redo" }
  }

  /// A step in the history; the focus goes to what it brings back: a node, or where a cable leads.
  private func travel(_ step: () throws -> String) {
    let before = scene.patch
    attempt { say(try step()) }
    let after = scene.patch
    if let node = after.nodes.values.first(where: { before[$0.id] == nil }) { return focus(node.id) }
    let cables = after.orderedCables(catalogue: scene.catalogue)
    if let cable = cables.first(where: { before.cables[$0.ends] == nil }) {
      let (source, destination) = (cable.ends.source.node, cable.ends.destination.node)
      // A cable between two boxes leads to a box; one within a sub-patch to a node inside.
      focus(box(of: source) == box(of: destination) ? destination : box(of: destination))
    }
  }

  // MARK: Gestures

  /// The current gesture, if it is of this kind and made the newest edit.
  func ongoing(_ kind: Gesture.Kind) -> Gesture? {
    guard let gesture, gesture.kind == kind, gesture.edit == workbench.newestEdit else { return nil }
    switch kind {
    case .dragCells, .dragBox, .dragValue: return gesture
    default: break
    }
    // The first repeat of a held key comes later than a finger's next press.
    return press != .new || now() - gesture.time < History.gesturePause ? gesture : nil
  }

  /// Performs the next step of a gesture, replacing the ones before.
  func perform(_ edit: Edit, as kind: Gesture.Kind, from base: [Double] = []) {
    guard perform(edit, amending: ongoing(kind)?.edit) else { return }
    gesture = Gesture(kind: kind, edit: workbench.newestEdit, time: now(), base: base)
  }

  // MARK: Focus

  var focusedNode: Node? { state.focus.flatMap { scene.patch[$0] } }

  /// The marked nodes in the order of the file, or else the focused one, or all of its group.
  var chosenNodes: [Node] {
    if state.marked.isEmpty {
      guard let node = focusedNode else { return [] }
      let group = state.graph.groups.first { $0.members[node.id] != nil }
      return group.map { group in scene.patch.nodes.values.filter { group.members[$0.id] != nil } } ?? [node]
    }
    return scene.patch.nodes.values.filter { state.marked.contains($0.id) }
  }

  /// Puts a text into the clipboard, and that of the terminal. `elsewhere`: what the terminal has of it, for those outside the
  /// patch's folder.
  func copy(_ text: String, elsewhere: String? = nil) {
    (clipboard, copied) = (text, elsewhere ?? text)
    copiedElsewhere = copied
  }

  func focus(_ id: NodeID) {
    guard let node = scene.patch[id] else { return }
    state.focus = id
    state.graph.isScrolledFreely = false
    awayName = nil
    focusName = node.name
    focusIndex = scene.patch.nodes.index(forKey: id) ?? 0
    if scene.isMatrix(node) { state.matrix.node = id }
  }

  /// Focuses the node if it exists; else the one that takes its place in the file.
  func focus(besideRemoved id: NodeID?) {
    let box = id.map(box)
    (focusName, awayName) = (box.flatMap { scene.patch[$0]?.name }, nil)
    state.focus = box
    keepFocus()
  }

  /// The node, or the sub-patch whose box stands for it in the graph.
  private func box(of id: NodeID) -> NodeID {
    scene.patch[id].flatMap { state.graph.box(of: $0.name) }.flatMap(scene.patch.id(named:)) ?? id
  }

  /// After a change, keeps the focus on its node, on the node that took its name, or nearby.
  func keepFocus() {
    let patch = scene.patch
    if let awayName, let id = patch.id(named: awayName) {
      focus(id)
    } else if let id = state.focus, let node = patch[id] {
      focusName = node.name
      focusIndex = patch.nodes.index(forKey: id) ?? focusIndex
    } else if let name = focusName, let id = patch.id(named: name) {
      focus(id)
    } else if !patch.nodes.isEmpty {
      let away = awayName ?? focusName
      focus(box(of: patch.nodes.keys[min(focusIndex, patch.nodes.count - 1)]))
      awayName = away
    } else {
      state.focus = nil
    }
  }
}
