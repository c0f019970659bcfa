import Patch
import PatchLanguage
import Screen

/// The prompt and the search.
extension App {
  func openPrompt(_ text: String = "") {
    var prompt = ViewState.Prompt(sign: ":", editor: LineEditor(text, history: promptHistory))
    prompt.error = nil
    state.overlay = .prompt(prompt)
    complete()
  }

  func openFind() {
    searchOrigin = state.focus
    state.overlay = .prompt(ViewState.Prompt(sign: "/", editor: LineEditor()))
  }

  func handlePrompt(_ stroke: KeyStroke) {
    guard case .prompt(var prompt) = state.overlay else { return }
    switch stroke.key {
    case "esc", "ctrl-c", "ctrl-g":
      state.overlay = .none
      if prompt.sign == "/", let searchOrigin { focus(searchOrigin) }
    case "enter", "ctrl-j": submit(prompt)
    case "tab": if prompt.sign == ":" { takeCompletion(1) }
    case "shift-tab": if prompt.sign == ":" { takeCompletion(-1) }
    case "backspace" where prompt.editor.isEmpty: state.overlay = .none
    default:
      guard prompt.editor.handle(.key(stroke)) else { return }
      prompt.error = nil
      state.overlay = .prompt(prompt)
      if prompt.sign == "/" { search(prompt.editor.text) } else { complete() }
    }
  }

  private func submit(_ prompt: ViewState.Prompt) {
    if prompt.sign == "/" {
      lastSearch = prompt.editor.text
      state.overlay = .none
      search(lastSearch)
      return
    }
    let line = prompt.editor.text
    do {
      try run(line)
      if !line.allSatisfy(\.isWhitespace), promptHistory.last != line { promptHistory.append(line) }
      if case .prompt = state.overlay { state.overlay = .none }
    } catch {
      var prompt = prompt
      let diagnostic = error as? Diagnostic
      let refusal = (error as? EditError).map { StatementParser.diagnostic(for: $0, in: line) }
      let place = diagnostic ?? refusal
      prompt.error = (place?.words ?? App.words(error), max(0, (place?.column ?? 1) - 1))
      prompt.completions = []
      prompt.selectedCompletion = nil
      state.overlay = .prompt(prompt)
    }
  }

  /// Executes a line of the language, or a command of the program.
  private func run(_ line: String) throws {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    switch words.first {
    case "save", "w":
      state.overlay = .none
      let path = words.count > 1 ? unquoted(words[1]) : nil
      if path == nil, workbench.file == nil { openPrompt("save ") } else { saveFile(path) }
    case "quit", "q":
      state.overlay = .none
      quit()
    case "quit!", "q!": wish = .quit
    case "help": perform(.showHelp)
    // Releases the keys held here too.
    case "panic" where words.count == 1: panic()
    default:
      let said = try workbench.perform(line: line)
      state.message = .init(said.isEmpty ? line : said)
    }
  }

  private func unquoted(_ text: String) -> String {
    text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
      ? String(text.dropFirst().dropLast()) : text
  }

  /// Finds completions at the cursor.
  func complete() {
    guard case .prompt(var prompt) = state.overlay, prompt.sign == ":" else { return }
    let found = Completion.candidates(
      prompt.editor.text, cursor: prompt.editor.cursor, patch: scene.patch, catalogue: scene.catalogue)
    prompt.completions = found.candidates.map(\.text)
    prompt.selectedCompletion = nil
    state.overlay = .prompt(prompt)
  }

  /// Inserts the next candidate; the list stays until something else is typed.
  private func takeCompletion(_ step: Int) {
    guard case .prompt(var prompt) = state.overlay, !prompt.completions.isEmpty else { return }
    let count = prompt.completions.count
    let old = prompt.selectedCompletion
    let next = old.map { ($0 + step + count) % count } ?? (step > 0 ? 0 : count - 1)
    // Before the cursor stands the typed word, or the candidate inserted last.
    let replaced: Int
    if let old {
      replaced = prompt.completions[old].count
    } else {
      replaced =
        Completion.candidates(
          prompt.editor.text, cursor: prompt.editor.cursor, patch: scene.patch, catalogue: scene.catalogue
        ).range.count
    }
    prompt.editor.replaceBeforeCursor(replaced, with: prompt.completions[next])
    prompt.selectedCompletion = next
    prompt.error = nil
    if count == 1 {
      // An unfinished word, such as `dist.` or `gain=`, gets no space.
      if let last = prompt.completions[next].last, !".=[,".contains(last) { prompt.editor.insert(" ") }
      state.overlay = .prompt(prompt)
      complete()
    } else {
      state.overlay = .prompt(prompt)
    }
  }

  // MARK: Finding

  /// Focuses the first node whose name, or otherwise kind, contains the text.
  private func search(_ text: String) {
    lastSearch = text
    guard !text.isEmpty else { return }
    let found = matches(text)
    if let first = found.first {
      focus(first)
    } else {
      state.message = .init("no node like \(text)", isError: true)
    }
    if !found.isEmpty { state.message = nil }
  }

  func findNext() {
    let found = matches(lastSearch)
    guard !lastSearch.isEmpty, !found.isEmpty else {
      state.message = .init(
        lastSearch.isEmpty ? "nothing to find yet: / finds" : "no node like \(lastSearch)")
      return
    }
    let place = state.focus.flatMap { found.firstIndex(of: $0) }
    focus(found[((place ?? -1) + 1) % found.count])
  }

  private func matches(_ text: String) -> [NodeID] {
    let wanted = text.lowercased()
    let nodes = scene.patch.nodes.values
    let starts = nodes.filter { $0.name.lowercased().hasPrefix(wanted) }
    let names = nodes.filter { $0.name.lowercased().contains(wanted) && !starts.contains($0) }
    let kinds = nodes.filter {
      $0.kind.lowercased().contains(wanted) && !starts.contains($0) && !names.contains($0)
    }
    return (starts + names + kinds).map(\.id)
  }

  /// An error as text for people.
  static func words(_ error: any Error) -> String {
    if let diagnostic = error as? Diagnostic { return diagnostic.words }
    if let refusal = error as? EditError { return refusal.description }
    return "\(error)"
  }
}
