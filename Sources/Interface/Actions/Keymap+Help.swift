import Patch

/// Keys as people read them, in the help and in the hints of the last row.
extension Keymap {
  /// Everything for the help view.
  func helpSections(_ layout: KeyboardLayout = .standard) -> [HelpSection] {
    ActionTable.contexts.map { context in
      var entries: [KeyHelp] = []
      for entry in ActionTable.entries where entry.context == context {
        let action = entry.action
        let keys = keys(for: action.name, in: context).map(Keymap.display)
        if keys.isEmpty { continue }
        entries.append(
          KeyHelp(
            keys: action.shownKeys ?? keys.joined(separator: " "),
            name: action.name.substituting("-", with: " "), help: entry.help))
      }
      if context == .playing {
        entries.insert(
          contentsOf: layout.help.map { KeyHelp(keys: $0.keys, name: "notes", help: $0.help) }, at: 0)
      }
      return HelpSection(title: context.title, entries: entries)
    }
  }

  /// Built-in keys for the manual page, in the order of the help.
  public static var reference: [(title: String, entries: [(keys: [String], help: String)])] {
    ActionTable.contexts.map { context in
      let entries = ActionTable.entries.filter { $0.context == context }
      return (context.title, entries.map { ($0.keys, $0.help) })
    }
  }

  /// The first key of each action in these contexts, the most specific first; without actions that have none.
  func hints(_ hints: [ActionHint], in contexts: [KeyContext]) -> [KeyHelp] {
    hints.compactMap { name, word in
      if let shown = ActionTable[name]?.shownKeys?.split(separator: " ").first {
        return KeyHelp(keys: String(shown), name: word)
      }
      let key = contexts.lazy.compactMap { keys(for: name, in: $0).first }.first
      return key.map { KeyHelp(keys: Keymap.display($0), name: word, isWayOut: name == "leave") }
    }
  }

  /// A key's name for display: `Ctrl-R`, `Enter`, `↑`, `−`.
  static func display(_ name: String) -> String {
    switch name {
    case "left": "←"
    case "right": "→"
    case "up": "↑"
    case "down": "↓"
    case "pageup": "PgUp"
    case "pagedown": "PgDn"
    case "minus": "-"
    case _ where name.count == 1: name
    default:
      name.split(separator: "-").map { part in
        part.count == 1 && part != name ? part.uppercased() : part.prefix(1).uppercased() + part.dropFirst()
      }.joined(separator: "-")
    }
  }
}
