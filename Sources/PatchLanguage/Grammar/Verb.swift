/// One verb of the language: a row of the grammar, from which come parser, completion, help, the manual and the
/// fuzzer's dictionary. The rows stand in `Verb.all`.
public struct Verb: Sendable {
  /// Group of verbs in the reference.
  public enum Topic: String, CaseIterable, Sendable {
    /// Lines of a patch file, which are edits as well.
    case file
    /// Edits of a patch that is open, and of scripts.
    case edit
    /// Actions that play a node and change nothing in the patch.
    case performance
    /// Actions on the whole session.
    case session
  }

  /// First word of its statements.
  public let name: String
  /// Group in the reference.
  public let topic: Topic
  /// Meaning in a sentence or two, code between backticks.
  public let summary: String
  /// The parts after the verb, in their order.
  let form: [Part]
  /// The statement that its arguments make.
  let statement: @Sendable (Arguments) -> Statement

  init(
    _ name: String, _ topic: Topic, _ form: [Part], _ summary: String,
    _ statement: @escaping @Sendable (Arguments) -> Statement
  ) {
    self.name = name
    self.topic = topic
    self.form = form
    self.summary = summary
    self.statement = statement
  }

  /// The verb of that name.
  public static func named(_ name: String) -> Verb? { byName[name] }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// Syntax, for help.
  public var usage: String { ([name] + form.map(\.usage)).joined(separator: " ") }

  /// Words of its form, without the verb itself.
  public var words: [String] { form.flatMap(\.words) }

  /// True for edits of nodes, settings and cables.
  var isSceneEdit: Bool {
    (topic == .file || topic == .edit)
      && ![
        "scene", "recall", "morph", "fade", "header", "footer", "tempo", "meter", "transport", "control",
        "map", "publish", "collapse", "expand", "unshare",
      ]
      .contains(name)
  }

  /// True where a value is written, which may be a text.
  var takesValues: Bool {
    form.contains { part in
      switch part {
      case .value, .settings: true
      default: false
      }
    }
  }

  /// True for verbs of patch files.
  var belongsInFiles: Bool { topic == .file }

  /// Pieces of statements for libFuzzer: each verb, then each word of the forms once, with its blank.
  public static var dictionary: [String] {
    var seen: Set<String> = []
    return all.map { $0.form.isEmpty ? $0.name : $0.name + " " }
      + all.flatMap(\.words).filter { seen.insert($0).inserted }.map { " " + $0 }
  }
}

extension Verb: Hashable {
  /// True for the same row.
  public static func == (a: Verb, b: Verb) -> Bool { a.name == b.name }
  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
