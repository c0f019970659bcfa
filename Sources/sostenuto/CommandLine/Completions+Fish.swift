extension CommandSet {
  /// Completions for fish: a line for each option and argument, each with the condition under which it is offered.
  var fish: String {
    let commands = shown
    let valued = Set(commands.flatMap(\.valued)).sorted()
    return """
      # Completions of \(name) for fish, made by `\(name) --generate-completion-script fish`.

      # True in a command, and there at an argument: the number of those before it, or `any`.
      function __\(name)_at
          set -l words (commandline -opc)
          set -e words[1]
          set -l command \(standard.description.name)
          if contains -- "$words[1]" \(named.joined(separator: " "))
              set command $words[1]
              set -e words[1]
          end
          test "$command" = "$argv[1]"; or return 1
          test (count $argv) -gt 1; and test "$argv[2]" != any; or return 0
          set -l place 0
          set -l is_value 0
          for word in $words
              if test $is_value -eq 1
                  set is_value 0
              else if contains -- $word \(valued.joined(separator: " "))
                  set is_value 1
              else if not string match -q -- '-*' $word
                  set place (math $place + 1)
              end
          end
          test $place -eq "$argv[2]"
      end

      # Files with one of the endings, and folders.
      function __\(name)_files
          for path in (complete -C "'' "(commandline -ct))
              string match -qr '(/|\\.('(string join '|' $argv)'))$' -- $path; and echo $path
          end
      end

      complete -c \(name) -f
      \((shown.map { ($0.name, $0.abstract) } + [("help", "Show the help of a command.")]).map {
        "complete -c \(name) -n 'test (count (commandline -opc)) -eq 1' -a \($0.0) -d \(Self.fishQuoted($0.1))\n"
      }.joined())\
      complete -c \(name) -n '__\(name)_at help 0' -a '\(commands.map(\.name).joined(separator: " "))'
      \(options.filter { $0.form == .option }.map { fishOption($0, condition: "test (count (commandline -opc)) -eq 1") }.joined())\
      \(commands.map(fishCommand).joined())
      """
  }

  private func fishCommand(_ command: CommandDescription) -> String {
    let arguments = command.arguments.enumerated().map { place, argument in
      guard let action = fishAction(argument.completion) else { return "" }
      return
        "complete -c \(name) -n '__\(name)_at \(command.name) \(argument.isRepeated ? "any" : "\(place)")' \(action)\n"
    }
    let options = (command.options + Parameter.general).map {
      fishOption($0, condition: "__\(name)_at \(command.name)")
    }
    return arguments.joined() + options.joined()
  }

  private func fishOption(_ option: Parameter, condition: String) -> String {
    var line = "complete -c \(name) -n '\(condition)'"
    if let short = option.short { line += " -s \(short)" }
    line += " -l \(option.name) -d \(Self.fishQuoted(option.help))"
    if option.form == .option { line += " -r " + (fishAction(option.completion) ?? "-f") }
    return line + "\n"
  }

  private func fishAction(_ completion: Parameter.Completion) -> String? {
    switch completion {
    case .nothing: nil
    case .files(let endings) where endings.isEmpty: "-F"
    case .files(let endings): "-f -ka '(__\(name)_files \(endings.joined(separator: " ")))'"
    case .folders: "-f -a '(__fish_complete_directories)'"
    case .words(let words): "-f -ka '\(words.joined(separator: " "))'"
    }
  }

  /// Text between fish's single quotes, in which a backslash has a meaning.
  private static func fishQuoted(_ text: String) -> String {
    var result = ""
    for character in text {
      if character == "'" || character == "\\" { result.append("\\") }
      result.append(character)
    }
    return "'\(result)'"
  }
}
