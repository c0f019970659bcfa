import Patch
import Screen

/// The user's settings, `config.toml`:
/// ```toml
/// theme = "nord"          # a theme by name
/// motion = "reduced"      # meters and scopes move once a second; "full" is usual
/// follow-file = true      # what an editor writes into the open patch is taken at once
/// ```
public struct Settings: Equatable, Sendable {
  /// Name of a theme; nil: as the command line or the terminal has it.
  public var theme: String?
  /// Line of that name in the file, from 1; 0 without one.
  public var themeLine = 0
  /// True when what moves by itself is to be shown once a second.
  public var isCalm = false
  /// True when changes of the file by others are taken as edits.
  public var followsFile = true

  /// The settings of an empty file.
  public init() {}

  private static let names = ["follow-file", "motion", "theme"]

  /// Reads the file. All errors are returned, as `FILE:LINE: error: …`; valid lines still apply.
  public static func read(_ text: String, file: String) -> (settings: Settings, problems: [String]) {
    var settings = Settings()
    let table: TomlTable
    do throws(TomlFault) {
      table = try TomlReader.table(text)
    } catch {
      return (settings, ["\(file):\(error.line): error: \(error)"])
    }
    var problems: [(line: Int, words: String)] = []
    for name in table.keys {
      let value = table[name]
      func complain(_ words: String) { problems.append((table.line(of: [name]), words)) }
      switch name {
      case "theme":
        settings.theme = value?.string
        settings.themeLine = table.line(of: [name])
        if settings.theme == nil { complain("`theme` is the name of a theme, in quotes") }
      case "motion":
        switch value?.string {
        case "reduced": settings.isCalm = true
        case "full": settings.isCalm = false
        default: complain("`motion` is \"full\" or \"reduced\"")
        }
      case "follow-file":
        if let isOn = value?.bool {
          settings.followsFile = isOn
        } else {
          complain("`follow-file` is true or false")
        }
      default:
        let near = Nearest.match(for: name, among: names)
        complain(
          "unknown setting `\(name)`; "
            + (near.map { "did you mean `\($0)`?" } ?? "there are \(names.joined(separator: ", "))"))
      }
    }
    return (settings, problems.sorted { $0.line < $1.line }.map { "\(file):\($0.line): error: \($0.words)" })
  }
}
