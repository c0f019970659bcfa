import TestSupport
import Testing

@testable import sostenuto

/// The tables of the commands, and all that is made of them: parsing, help, completions.
@Suite struct CommandLineTests {
  private static let program = Sostenuto.commands

  /// A word that the parameter takes.
  private static func sample<C: Command>(_ command: C.Type, _ index: Int) -> String? {
    let parameter = command.description.parameters[index]
    let words = parameter.choices + [parameter.standard ?? "1", "a=b.wav", "words"]
    return words.first { accepts(command, index, $0) }
  }

  private static func accepts<C: Command>(_ command: C.Type, _ index: Int, _ word: String) -> Bool {
    var value = C()
    return command.table.rows.flatMap(\.entries)[index].set(&value, word) == nil
  }

  /// Words for the arguments that a command cannot do without.
  private static func arguments<C: Command>(_ command: C.Type) -> [String] {
    command.description.parameters.indices.filter { command.description.parameters[$0].isRequired }.map {
      sample(command, $0) ?? ""
    }
  }

  @Test func everyOptionIsReadInAllItsSpellings() throws {
    var count = 0
    for command in Self.program.commands {
      let (description, arguments) = (command.description, Self.arguments(command))
      for (index, parameter) in description.parameters.enumerated() where parameter.form != .argument {
        let sample = Self.sample(command, index)
        let takesDefault = parameter.standard.map { Self.accepts(command, index, $0) } ?? true
        let value = try #require(parameter.form == .flag ? "" : sample)
        #expect(takesDefault, "\(parameter.label)")
        var forms: [[String]] = []
        for spelling in parameter.spellings {
          guard parameter.form == .option else {
            forms.append([spelling])
            continue
          }
          forms += [[spelling, value], ["\(spelling)=\(value)"]]
          if !spelling.hasPrefix("--") { forms.append([spelling + value]) }
        }
        for form in forms {
          for words in [form + arguments, arguments + form, form + ["--"] + arguments] {
            let found = try description.assigned(words)
            #expect(found.contains { $0.index == index && $0.value == value }, "\(words)")
            #expect(found.count == arguments.count + 1, "\(words)")
            count += 1
          }
        }
      }
    }
    #expect(count > 200)
  }

  @Test func flagsAreJoinedBehindOneDash() throws {
    let description = CommandDescription(
      name: "c", abstract: "", discussion: "", isHidden: false,
      parameters: [
        Parameter(
          form: .flag, name: "all", short: "a", value: "", help: "", choices: [], completion: .nothing),
        Parameter(
          form: .option, name: "out", short: "o", value: "f", help: "", choices: [], completion: .nothing),
      ])
    for words in [["-aao", "x"], ["-aaox"], ["-aao=x"], ["-a", "--all", "--out=x"]] {
      let found = try description.assigned(words)
      #expect(found.map(\.index) == [0, 0, 1] && found.last?.value == "x", "\(words)")
    }
    #expect(throws: UsageError.self) { try description.assigned(["-ab"]) }
    #expect(throws: UsageError.self) { try description.assigned(["-o"]) }
  }

  @Test(arguments: searchSeeds(1...40)) func anyWordsAreReadOrRefusedWithTheWayOut(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var pool = Self.program.named + Self.program.options.flatMap(\.spellings)
    pool += Self.program.commands.flatMap { $0.description.spellings + $0.description.options.map(\.name) }
    pool += [
      "", "-", "--", "---", "=", "--=", "-=", "x", "a.patch", "1", "-1", "1e999", "nan", "\u{301}",
      "-\u{301}",
    ]
    pool += ["--ü=ß", "\0", "sinc", "bash", "a=b.wav", "\r\n", "🎹", "-🎹"]
    for _ in 0..<500 {
      let words = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        var word = pool.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          let place = word.indices.randomElement(using: &random) ?? word.endIndex
          switch Int.random(in: 0...6, using: &random) {
          case 0: word.insert(contentsOf: pool.randomElement(using: &random)!, at: place)
          case 1: word += "=" + pool.randomElement(using: &random)!
          case 2 where place != word.endIndex: word.remove(at: place)
          default: break
          }
        }
        return word
      }
      do {
        if case .text(let text) = try Self.program.read(words) { #expect(!text.isEmpty, "\(words)") }
      } catch let error as UsageError {
        let message = Self.program.message(for: error)
        #expect(
          message.hasPrefix("Error: ") && message.hasSuffix("--help' for more information.\n"), "\(words)")
        #expect(error.command == nil || message.contains("\nUsage: sostenuto "), "\(words)")
      } catch {
        Issue.record("\(words): \(error)")
      }
    }
  }

  @Test func helpNamesEverythingInTheTables() {
    for command in Self.program.commands.map({ $0.description }) {
      let help = Self.program.help(for: command)
      for parameter in command.parameters + Parameter.general {
        #expect(help.contains("  \(parameter.label)"), "\(command.name): \(parameter.label)")
        for choice in parameter.choices { #expect(help.contains(choice)) }
      }
      // Examples are as long as they are.
      for line in help.split(separator: "\n") where !line.hasPrefix("  sostenuto") {
        #expect(line.count <= 80, "\(line)")
      }
      #expect(Self.program.help.contains("\n  \(command.name) ") != command.isHidden)
      #expect(Self.program.usage(of: command).count <= 80)
    }
    for option in Self.program.options { #expect(Self.program.help.contains("  \(option.label)")) }
  }

  @Test func namesOfOptionsAreUniqueAndMeanTheSameForm() {
    var forms: [String: Parameter.Form] = [:]
    for command in Self.program.commands.map({ $0.description }) {
      let spellings = command.spellings
      #expect(Set(spellings).count == spellings.count, "\(command.name)")
      // Completions for fish tell an option's value from an argument by the option's name alone.
      for option in command.options {
        for spelling in option.spellings {
          #expect(
            forms.updateValue(option.form, forKey: spelling) ?? option.form == option.form, "\(spelling)")
        }
      }
      #expect(command.arguments.dropLast().allSatisfy { !$0.isRepeated && $0.isRequired }, "\(command.name)")
    }
  }

  @Test func completionsNameEveryOption() {
    for shell in Shell.allCases {
      let text = Self.program.completions(for: shell)
      for command in Self.program.shown {
        for option in command.options + Parameter.general {
          #expect(
            text.contains(shell == .fish ? "-l \(option.name) " : option.spelling),
            "\(shell): \(option.label)")
          if let short = option.short {
            #expect(text.contains(shell == .fish ? "-s \(short) " : "-\(short)"))
          }
        }
        for parameter in command.parameters {
          if case .words(let words) = parameter.completion {
            for word in words { #expect(text.contains(word)) }
          }
        }
      }
    }
  }

  @Test(arguments: [
    (["render", "--secnds", "3", "a"], "Unknown option '--secnds'. Did you mean '--seconds'?"),
    (["a.patch", "--dirver", "clock"], "Unknown option '--dirver'. Did you mean '--driver'?"),
    (["rendr", "a.patch"], "Unknown subcommand 'rendr'. Did you mean 'render'?"),
    (["help", "knids"], "Unknown subcommand 'knids'. Did you mean 'kinds'?"),
    (["render"], "Missing expected argument '<patch>'"),
    (["check"], "Missing expected argument '<patches> ...'"),
    (["render", "a", "--rate", "x"], "The value 'x' is invalid for '--rate <rate>'"),
    (["render", "a", "--rate", "1"], "--rate is 8000 to 768000 frames a second, and not '1'"),
    (["render", "a", "--seconds"], "Missing value for '--seconds <n>'"),
    (["render", "a", "--seconds", "-1"], "a value like this is written --seconds=-1"),
    (["render", "a", "--seconds", "1", "--tap", "x"], "--tap is written as NODE=FILE or NODE.PORT=FILE"),
    (["play", "a", "--seconds=nan"], "--seconds is more than 0, and at most a week"),
    (["edit", "--threads", "17"], "--threads is 1 to 16, and not '17'"),
    (["merge", "a", "b", "c", "--marker-size=0"], "--marker-size is 1 to 1000"),
    (
      ["git-setup", "--pattern", "a b"],
      "--pattern is a pattern without blanks, quotes and `#`, and not 'a b'"
    ),
    (
      ["print", "a", "--format", "jsn"],
      "The value 'jsn' is invalid for '--format <format>'. Please provide one of 'text', 'dot' or 'json'. Did you mean 'json'?"
    ),
    (["kinds", "a", "b"], "Unexpected argument 'b'"),
    (["check", "a", "--json=1"], "The option '--json' does not take any value, but '1' was specified."),
    (["format", "-ix", "a"], "Unknown option '-x' in '-ix'"),
    (
      ["--generate-completion-script", "csh"], "No completions for the shell 'csh': there are bash, zsh, fish"
    ),
  ])
  func aMistakeIsNamedWithTheWayOut(words: [String], message: String) throws {
    let outcome = try Program.run(words)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.errors.contains("--help' for more information."))
  }

  @Test func helpAndVersionAreGivenWhereverTheyAreAskedFor() throws {
    let help = try Program.run("render", "--help")
    #expect(help.status == 0 && help.errors.isEmpty && help.output.contains("\nUSAGE: sostenuto render "))
    for words in [
      ["help", "render"], ["render", "-h"], ["render", "--no-such-option", "a", "b", "--help"],
    ] {
      #expect(try Program.run(words).output == help.output, "\(words)")
    }
    let program = try Program.run("--help")
    for words in [["-h"], ["help"], ["help", "help"], ["help", "--help"]] {
      #expect(try Program.run(words).output == program.output, "\(words)")
    }
    #expect(try Program.run("check", "--version").output == Version.number + "\n")
    // Behind two dashes words are names of files.
    #expect(try Program.run("check", "--", "--help").status == 1)
  }
}
