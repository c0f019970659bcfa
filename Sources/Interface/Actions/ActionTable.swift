/// A line of the reference: an action with its keys in one context.
struct ActionEntry: Sendable {
  let action: Action
  let context: KeyContext
  /// Default keys.
  let keys: [String]

  /// Description for people.
  var help: String { action.help(in: context) }
}

/// Every action: the only place from which keys come. The keymap, the help and the reference are made from it.
enum ActionTable {
  static let all: [Action] =
    Views.all.map(showing) + Program.actions + Moving.actions + Views.all.flatMap(\.actions) + Piano.actions
    + Tapping.actions + Controls.actions + Learn.actions + Scenes.actions + Palette.actions + Tour.actions

  /// In the order of the help.
  static let contexts: [KeyContext] =
    [.anywhere, .patch] + Views.all.compactMap(\.context) + [.playing]

  /// Context by context, in reading order.
  static let entries: [ActionEntry] = contexts.flatMap { context in
    let names = order[context, default: ""].split(separator: " ").map(String.init)
    let entries = all.flatMap { action in
      action.keys.filter { $0.key == context }.map { _, keys in
        ActionEntry(action: action, context: context, keys: keys.split(separator: " ").map(String.init))
      }
    }
    return names.flatMap { name in entries.filter { $0.action.name == name } }
      + entries.filter { !names.contains($0.action.name) }
  }

  static subscript(name: String) -> Action? { byName[name] }

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  private static func showing(_ view: any View) -> Action {
    Action("show-\(view.name.rawValue)", view.help, view.keys) { Views.show(view, $0) }
  }

  /// Reading order where it is not the order of the table; actions that are not named follow.
  static let order: [KeyContext: String] = [
    .anywhere: """
    show-help show-graph show-printout show-matrix show-trace show-scope show-meters show-history play swap-effect insert-effect remove-bridge \
    undo redo save browse quit redraw tell tour-next suspend move-left move-right move-up move-down page-up page-down move-home \
      move-end next-node previous-node control learn recall store recall-time palette
    """,
    .patch: """
      show-help show-graph show-printout show-matrix show-trace show-scope show-meters show-history prompt find find-next find-previous move-left move-down \
      move-up move-right edit connect disconnect remove remove-bridge replace insert add rename mark mark-all duplicate copy cut paste open-cable \
    show-programs keep-cables \
    undo play roll panic tour quit leave
    """,
  ]

  /// The generated key tables of the README.
  static var markdown: String {
    var text = ""
    for context in contexts {
      text += "### \(context.title)\n\n| keys | what they do |\n|---|---|\n"
      for entry in entries where entry.context == context {
        let keys = entry.keys.map { "`\($0 == "|" ? "\\|" : $0)`" }.joined(separator: " ")
        text += "| \(keys) | \(entry.help) |\n"
      }
      if context == .playing {
        for row in KeyboardLayout.standard.help { text += "| `\(row.keys)` | \(row.help) |\n" }
      }
      text += "\n"
    }
    return text
  }
}
