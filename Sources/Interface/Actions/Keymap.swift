import Patch
import Screen

/// Key bindings: the action table's defaults, with the changes of the user's file.
public struct Keymap: Sendable {
  /// Names of actions.
  private var names: [KeyContext: [Key: String]] = [:]

  public static let standard = Keymap()

  private init() {
    for entry in ActionTable.entries {
      for key in entry.keys {
        names[entry.context, default: [:]][Key(stringLiteral: key)] = entry.action.name
      }
    }
  }

  /// Layout of the piano's keys that the file of keys names.
  public private(set) var layout: String?

  /// The action of `key` in `contexts`, the most specific first.
  func action(for key: Key, in contexts: [KeyContext]) -> Action? {
    for context in contexts {
      if let name = names[context]?[key] { return ActionTable[name] }
    }
    return nil
  }

  /// The keys of an action in a context, by name.
  func keys(for action: String, in context: KeyContext) -> [String] {
    (names[context] ?? [:]).filter { $0.value == action }.map { $0.key.description }
      .sorted { ($0.count, $0) < ($1.count, $1) }
  }

  /// The defaults as a file that `read` accepts: the contents of `keys/default.toml`.
  public static var standardFile: String {
    var text =
      "# The default keys, made from the action table. Copy what you want to change into\n"
    text +=
      "# ~/.config/sostenuto/keys.toml, or `--keys FILE`. \"none\" takes a key away. [matrix] and [trace] hold in those views only.\n"
    for context in ActionTable.contexts {
      text += "\n[\(context.name)]\n"
      for entry in ActionTable.entries where entry.context == context {
        for key in entry.keys { text += "\"\(key)\" = \"\(entry.action.name)\"  # \(entry.help)\n" }
      }
    }
    return text
  }

  /// The words about a name that is no section. The sections are listed once.
  private static func misplaced(_ name: String, _ value: TomlValue?, _ said: [String]) -> String {
    let known = ActionTable.contexts.map { "[\($0.name)]" }.joined(separator: ", ")
    let list = said.contains { $0.hasSuffix(known) } ? "" : "; there are \(known)"
    guard value?.table == nil else { return "unknown section [\(name)]\(list)" }
    return "`\(name)` stands in no section: the line of one is missing above it\(list)"
  }

  /// Reads a file of changes:
  /// ```toml
  /// [patch]
  /// "ctrl-g" = "connect"
  /// c = "none"              # takes a default away
  /// ```
  /// All errors are returned, as `FILE:LINE: error: …`; valid lines still apply.
  public static func read(_ text: String, file: String) -> (keymap: Keymap, problems: [String]) {
    var keymap = Keymap.standard
    var problems: [String] = []
    let table: TomlTable
    do throws(TomlFault) {
      table = try TomlReader.table(text)
    } catch {
      return (keymap, ["\(file):\(error.line): error: \(error)"])
    }
    var found: [(line: Int, words: String)] = []
    for section in table.keys {
      if section == "layout", let name = table[section]?.string {
        keymap.layout = name
        continue
      }
      guard let context = ActionTable.contexts.first(where: { $0.name == section }),
        let keys = table[section]?.table
      else {
        found.append((table.line(of: [section]), misplaced(section, table[section], found.map(\.words))))
        continue
      }
      var written: [Key: String] = [:]
      for name in keys.keys {
        func complain(_ words: String) {
          found.append((table.line(of: [section, name]), "[\(section)] `\(name)`\(words)"))
        }
        guard let key = Key(name: name) else {
          complain(" is no key")
          continue
        }
        if let other = written.updateValue(name, forKey: key) {
          complain(" is the same key as `\(other)`")
          continue
        }
        let wanted = keys[name]?.string ?? ""
        if wanted == "none" {
          keymap.names[context]?[key] = nil
        } else if ActionTable[wanted] != nil {
          keymap.names[context, default: [:]][key] = wanted
          if context == .playing, let letter = key.text, KeyboardLayout.builtIn[0].step(at: letter) != nil {
            complain(" is a key of the piano, which comes first in play mode")
          }
        } else {
          let near = Nearest.match(for: wanted, among: ActionTable.all.map(\.name))
          complain(": unknown action `\(wanted)`" + (near.map { "; did you mean `\($0)`?" } ?? ""))
        }
      }
    }
    problems = found.sorted { $0.line < $1.line }.map { "\(file):\($0.line): error: \($0.words)" }
    return (keymap, problems)
  }
}
