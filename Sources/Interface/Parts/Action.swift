import Screen

/// An action of a key. It is stated once, beside its topic, and listed in `ActionTable`; the keymap, the help
/// and the reference come from there.
///
/// ```swift
/// Action("undo", "Undo", [.anywhere: "F10", .patch: "u"], repeats: true) { $0.undo() }
/// ```
struct Action: Sendable {
  /// Name in files of keys.
  let name: String
  /// Default keys in each context, separated by spaces.
  let keys: KeyValuePairs<KeyContext, String>
  /// True when holding the key down repeats the action.
  let repeats: Bool
  /// The keys as the help shows them, if not one by one.
  let shownKeys: String?
  /// Effect; the key is the one that was pressed, if any.
  let effect: @MainActor (Desk, Key?) -> Void
  private let help: String
  private let otherHelp: [KeyContext: String]

  /// `otherHelp`: help in contexts where the action's own would mislead.
  init(
    _ name: String, _ help: String, _ keys: KeyValuePairs<KeyContext, String>,
    otherHelp: [KeyContext: String] = [:], repeats: Bool = false,
    _ effect: @escaping @MainActor (Desk) -> Void
  ) {
    self.name = name
    self.keys = keys
    self.repeats = repeats
    self.effect = { desk, _ in effect(desk) }
    self.help = help
    self.otherHelp = otherHelp
    shownKeys = nil
  }

  /// An action whose effect depends on the key.
  init(
    _ name: String, _ help: String, _ keys: KeyValuePairs<KeyContext, String>, shownKeys: String? = nil,
    repeats: Bool = false, withKey effect: @escaping @MainActor (Desk, Key?) -> Void
  ) {
    self.name = name
    self.keys = keys
    self.repeats = repeats
    self.effect = effect
    self.help = help
    self.shownKeys = shownKeys
    otherHelp = [:]
  }

  /// Description for people.
  func help(in context: KeyContext) -> String { otherHelp[context] ?? help }
}

/// A line of the hints at the lower edge: an action by its name, and a word for it here.
typealias ActionHint = (action: String, word: String)

extension Action {
  /// Keys for a view that has nothing to show, as nothing is in the patch.
  static func hints(ofEmpty view: ViewName, _ scene: Scene) -> [ActionHint] {
    var hints: [ActionHint] = [
      ("show-help", "help"), ("add", "add"), ("browse", "open"), ("prompt", "prompt"), ("palette", "find"),
    ]
    if scene.history.contains(where: { !$0.isUndone }) { hints.append(("undo", "undo")) }
    if scene.history.contains(where: \.isUndone) { hints.append(("redo", "redo")) }
    if view != .graph { hints.append(("leave", "graph")) }
    return hints + [("quit", "quit")]
  }
}
