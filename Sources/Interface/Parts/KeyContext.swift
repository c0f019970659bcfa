/// Scope of a key binding. The more specific context wins. A view with keys of its own declares one.
struct KeyContext: Hashable, Sendable {
  /// Name in files of keys.
  let name: String
  /// Heading in the help.
  let title: String

  /// Both modes, all views.
  static let anywhere = KeyContext(name: "anywhere", title: "Everywhere")
  /// Patch mode, all views.
  static let patch = KeyContext(name: "patch", title: "Patch mode")
  /// Play mode.
  static let playing = KeyContext(name: "play", title: "Play mode")
}
