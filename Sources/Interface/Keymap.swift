import Screen

/// Key bindings: the action table's defaults, with the changes of the user's file.
public struct Keymap: Sendable {
  private var actions: [KeyContext: [Key: Action]] = [:]

  public static let standard = Keymap()

  private init() {
    for entry in ActionTable.entries {
      for name in entry.keys { actions[entry.context, default: [:]][Key(stringLiteral: name)] = entry.action }
    }
  }

  /// The action of `key` in `contexts`, the most specific first.
  public func action(for key: Key, in contexts: [KeyContext]) -> Action? {
    for context in contexts {
      if let action = actions[context]?[key] { return action }
    }
    return nil
  }

  /// The keys of an action in a context, by name.
  public func keys(for action: Action, in context: KeyContext) -> [String] {
    (actions[context] ?? [:]).filter { $0.value == action }.map { $0.key.description }
      .sorted { ($0.count, $0) < ($1.count, $1) }
  }

  /// The defaults as a file that `read` accepts: the contents of `keys/default.toml`.
  public static var standardFile: String {
    var text =
      "# The default keys, made from the action table. Copy what you want to change, and start with\n"
    text +=
      "# `sostenuto --keys FILE`. \"none\" takes a key away. [matrix] and [trace] hold in those views only.\n"
    for context in KeyContext.allCases {
      text += "\n[\(context.rawValue)]\n"
      for entry in ActionTable.entries where entry.context == context {
        for key in entry.keys { text += "\"\(key)\" = \"\(entry.action.rawValue)\"  # \(entry.help)\n" }
      }
    }
    return text
  }

  /// Reads a file of changes:
  /// ```toml
  /// [patch]
  /// "ctrl-g" = "connect"
  /// c = "none"              # takes a default away
  /// ```
  /// All errors are returned, as `FILE: error: …`; valid lines still apply.
  public static func read(_ text: String, file: String) -> (keymap: Keymap, problems: [String]) {
    var keymap = Keymap.standard
    var problems: [String] = []
    let table: TomlTable
    do throws(TomlFault) {
      table = try TomlReader.table(text)
    } catch {
      return (keymap, ["\(file):\(error.line): error: \(error)"])
    }
    for section in table.keys {
      guard let context = KeyContext(rawValue: section), let keys = table[section]?.table else {
        let known = KeyContext.allCases.map { "[\($0.rawValue)]" }.joined(separator: ", ")
        problems.append("\(file): error: unknown section [\(section)]; there are \(known)")
        continue
      }
      for name in keys.keys {
        guard let key = Key(name: name) else {
          problems.append("\(file): error: [\(section)] `\(name)` is no key")
          continue
        }
        let wanted = keys[name]?.string ?? ""
        if wanted == "none" {
          keymap.actions[context]?[key] = nil
        } else if let action = Action(rawValue: wanted) {
          keymap.actions[context, default: [:]][key] = action
        } else {
          problems.append("\(file): error: [\(section)] `\(name)`: unknown action `\(wanted)`")
        }
      }
    }
    return (keymap, problems)
  }
}
