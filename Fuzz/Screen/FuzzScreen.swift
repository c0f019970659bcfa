import FuzzDriver
import Screen

@testable import Interface
@testable import Terminal

/// Feeds arbitrary bytes from libFuzzer to the readers of the keyboard and of the user's files (`make fuzz`).
/// The first argument is the kind: `prompt`, `terminal` or `toml`.
@_cdecl("FuzzScreen_main")
public func fuzzScreenMain(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
  return fuzz(count, arguments) { bytes, count in
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    MainActor.assumeIsolated {
      if isPrompt { type(input) } else if isTerminal { parse(input) } else { readToml(input) }
    }
    return 0
  }
}

/// Compared once at start: libFuzzer would record a string comparison in each run as a word of the input.
private let isPrompt = fuzzedKind == "prompt"
private let isTerminal = fuzzedKind == "terminal"

/// Terminal input gives the same events in pieces of any size, and no byte stays behind.
private func parse(_ bytes: [UInt8]) {
  var parser = InputParser()
  let whole = parser.feed(bytes) + parser.flush() + parser.flush(endingPaste: true)
  precondition(!parser.isPending && !parser.isPasting, "holds something back")
  var pieces = InputParser()
  var items: [InputParser.Item] = []
  for byte in bytes { items += pieces.feed([byte]) }
  items += pieces.flush() + pieces.flush(endingPaste: true)
  precondition(items == whole, "means something else in pieces")
  for case .event(let event) in items {
    if case .key(let stroke) = event, case .character(let character) = stroke.key.code {
      let value = character.unicodeScalars.first?.value ?? 0
      precondition(value >= 32 && !(127...159).contains(value), "types a control character")
    }
  }
}

/// Reads the bytes as a theme and as a keymap: each problem has a line number within the file, and a theme
/// reads back as written.
private func readToml(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  let lines = bytes.count { $0 == 10 } + 1
  let (theme, problems) = Theme.read(text, file: "fuzz.toml", name: "fuzz")
  for problem in problems {
    precondition((1...lines).contains(problem.line), "a mistake outside of the file")
  }
  if let theme {
    let again = Theme.read(theme.toml, file: "again.toml", name: "fuzz").theme
    precondition(again?.toml == theme.toml, "a theme changes at each writing")
  }
  let (keymap, _) = Keymap.read(text, file: "fuzz.toml")
  _ = keymap.action(for: "ctrl-g", in: [.patch, .anywhere])
}
