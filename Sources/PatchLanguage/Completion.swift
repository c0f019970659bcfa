import Patch

/// Completions at the cursor of a prompt.
public struct Completion: Sendable {
  /// One completion.
  public struct Candidate: Hashable, Sendable {
    /// Text to insert.
    public var text: String
    /// Description: a summary, a range, a kind.
    public var detail: String

    /// A completion with its description.
    public init(_ text: String, _ detail: String = "") {
      self.text = text
      self.detail = detail
    }
  }

  /// A command of the program where the line is typed, beside the verbs of the language.
  public struct Command: Sendable {
    /// First word of its line.
    public var name: String
    /// Description.
    public var detail: String
    /// Candidates for the word behind it.
    public var arguments: [Candidate]

    /// A command with its description.
    public init(_ name: String, _ detail: String, arguments: [Candidate] = []) {
      self.name = name
      self.detail = detail
      self.arguments = arguments
    }
  }

  /// A place in a line where a file is named.
  public struct FilePlace: Hashable, Sendable {
    /// Uses of a file.
    public enum Purpose: Hashable, Sendable {
      /// A parameter of a node, which names files from the patch's folder on.
      case parameter(ParameterDescription.FileType)
      /// A sound file to be written, from the working folder on.
      case recording
    }

    /// The path as far as it is typed, without quotes.
    public var typed: String
    /// Use of the file.
    public var purpose: Purpose

    /// A place with this beginning of a path.
    public init(_ typed: String, _ purpose: Purpose) {
      self.typed = typed
      self.purpose = purpose
    }
  }

  /// Number of characters before the cursor that a candidate replaces: those of the unfinished word.
  public var length: Int
  /// Candidates that begin with the word; if there are none, candidates that contain it.
  public var candidates: [Candidate]

  /// In bytes.
  private static let longestWord = 1000

  /// Candidates for the word at the cursor. `line`: the text before it. `files`: paths at a place, as words.
  public static func candidates(
    _ line: String, patch: Patch, catalogue: KindCatalogue, commands: [Command] = [],
    files: (FilePlace) -> [Candidate] = { _ in [] }
  ) -> Completion {
    let source = Source(line, file: "")
    let (ranges, start) = split(source.bytes)
    // No candidate has this length, and each comparison would cost the word's length.
    guard source.bytes.count - start <= longestWord else { return Completion(length: 0, candidates: []) }
    let word = source.string(start..<source.bytes.count)
    let words = ranges.map(source.string)
    var context = CompletionContext(words: words, word: word, patch: patch, catalogue: catalogue)
    var all = context.all()
    if let place = context.filePlace {
      let before = String(word.dropLast(context.pathLength))
      all += files(place).map { Candidate(before + $0.text, $0.detail) }
    }
    // A command has the line to itself.
    if words.isEmpty, source.bytes[..<start].allSatisfy({ $0 == UInt8(ascii: " ") }) {
      all += commands.map { Candidate($0.name, $0.detail) }
    } else if words.count == 1, let command = commands.first(where: { $0.name == words[0] }) {
      all += command.arguments
    }
    let lowered = word.lowercased()
    // A path gets quotes only when it turns out to need them.
    let unquoted = lowered.filter { $0 != "\"" }
    var fitting = all.filter { candidate in
      let text = candidate.text.lowercased()
      return text.hasPrefix(lowered) || text.contains("\"") && text.filter { $0 != "\"" }.hasPrefix(unquoted)
    }
    if fitting.isEmpty { fitting = all.filter { $0.text.lowercased().includes(lowered) } }
    if fitting.count == 1, fitting[0].text == word { fitting = [] }
    return Completion(length: word.count, candidates: fitting)
  }

  /// The finished words of the statement at the cursor, and the start of the unfinished word. Accepts any
  /// text: an unfinished line is no error.
  private static func split(_ line: [UInt8]) -> (words: [Range<Int>], start: Int) {
    var words: [Range<Int>] = []
    var start = 0
    var isQuoted = false
    var openBrackets = 0
    for (index, byte) in line.enumerated() {
      switch byte {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case _ where isQuoted: break
      case UInt8(ascii: "["): openBrackets += 1
      case UInt8(ascii: "]"): openBrackets -= 1
      case UInt8(ascii: ";"):
        words.removeAll(keepingCapacity: true)
        start = index + 1
        openBrackets = 0
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        if openBrackets > 0 { break }
        if index > start { words.append(start..<index) }
        start = index + 1
      case UInt8(ascii: ">") where index > 0 && line[index - 1] == UInt8(ascii: "-") && openBrackets <= 0:
        if index - 1 > start { words.append(start..<index - 1) }
        words.append(index - 1..<index + 1)
        start = index + 1
      default: break
      }
    }
    return (words, start)
  }
}
