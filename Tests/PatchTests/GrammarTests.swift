import Patch
import TestSupport
import Testing

@testable import PatchLanguage

/// One table makes parser, completion, help and the fuzzer's dictionary, so they agree.
@Suite struct GrammarTests {
  private let patch = read(example + "\nnode tape player file=x.wav\nlayout main 3,1")

  private func candidates(_ line: String) -> [Completion.Candidate] {
    Completion.candidates(line, patch: patch, catalogue: catalogue).candidates
  }

  @Test(arguments: Verb.all)
  func everyVerbHasHelpCompletionAndWordsForTheFuzzer(verb: Verb) {
    #expect(verb.summary.hasSuffix(".") && verb.usage.hasPrefix(verb.name))
    #expect(candidates("").contains(Completion.Candidate(verb.name, verb.usage)))
    #expect(candidates("undo ; " + verb.name.dropLast()).contains { $0.text == verb.name })
    #expect(Verb.dictionary.contains(verb.form.isEmpty ? verb.name : verb.name + " "))
    for word in verb.words { #expect(Verb.dictionary.contains(" " + word)) }
    #expect(Verb.all.filter { $0.name == verb.name }.count == 1)
  }

  /// A line of offered words is a statement, or the beginning of one.
  @Test(arguments: searchSeeds(1, 2, 3, 20_261_122))
  func offeredWordsAreUnderstood(seed: UInt64) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    var (statements, finished) = (0, Set<String>())
    while statements < 3000 {
      var line = ""
      for _ in 0..<Int.random(in: 1...9, using: &random) {
        let offers = candidates(line)
        if let offer = offers.randomElement(using: &random) {
          let typed = Completion.candidates(line, patch: patch, catalogue: catalogue).length
          line = String(line.dropLast(typed)) + offer.text
          // An unfinished word goes on.
          if let last = line.last, ".=[,".contains(last) { continue }
        } else if let last = line.last, "=[,".contains(last) {
          line += last == "[" ? "0]" : "1"
        } else {
          line += ["fresh", "C4", "1", "2s", "0.5"].randomElement(using: &random)!
        }
        line += " "
      }
      statements += 1
      switch refusal(of: line) {
      case nil: finished.insert(String(line.prefix { $0 != " " }))
      case .noVerb, .noChoice: Issue.record("`\(line)` is offered, and not understood")
      default: break
      }
    }
    #expect(finished.count > Verb.all.count * 2 / 3, "\(finished)")
  }

  /// Reason why the line is no statement; nil: it is one.
  private func refusal(of line: String) -> Fault.Reason? {
    let source = Source(line, file: "")
    var tokens: [Token] = []
    do throws(Fault) {
      _ = try Lexer.split(source.bytes, 0..<source.bytes.count, into: &tokens)
      for clause in StatementParser.clauses(tokens) {
        var parser = Parser(source, tokens, clause)
        _ = try parser.statement()
      }
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func placesOfValuesAreThoseOfTheLinesThatCount() {
    let text = """
      sostenuto 1
      set tape.file "b c.wav"
      node tape player loop=on file=a.wav ; node b player file=a.wav
      node é player file=a.wav
      set main[0,1] -6dB ; set é.file x
      """
    let places = PatchReader.places(in: text)
    func place(_ node: String, _ parameter: String) -> String? {
      places[SettingName(node, ParameterPath(parameter))].map { "\($0.line):\($0.column)" }
    }
    #expect(place("tape", "file") == "2:15")
    #expect(place("tape", "loop") == "3:23")
    #expect(place("b", "file") == "3:58")
    #expect(place("é", "file") == "5:33")
    #expect(place("é", "loop") == nil)
  }
}
