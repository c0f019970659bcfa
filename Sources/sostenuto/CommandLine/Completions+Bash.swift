extension CommandSet {
  /// Completions for bash. A `=` is a word of its own there.
  var bash: String {
    let commands = shown
    return """
      # Completions of \(name) for bash, made by `\(name) --generate-completion-script bash`.

      # Files with one of the endings, or all files.
      _\(name)_files() {
          local IFS=$'\\n' ending
          COMPREPLY+=($(compgen -d -- "$cur"))
          for ending; do COMPREPLY+=($(compgen -f -X "!*.$ending" -- "$cur")); done
          if [[ $# -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
      }

      _\(name)_words() { COMPREPLY+=($(compgen -W "$*" -- "$cur")); }

      _\(name)() {
          local cur=${COMP_WORDS[COMP_CWORD]} command=\(standard.description.name) option='' options values word
          local -i i first=1 place=0
          COMPREPLY=()
          if [[ $COMP_CWORD -gt 1 ]]; then
              case ${COMP_WORDS[1]} in
              \(named.joined(separator: "|"))) command=${COMP_WORDS[1]} first=2 ;;
              esac
          fi
          case $command in
      \(commands.map(Self.bashOptions).joined())\
          help) _\(name)_words \(commands.map(\.name).joined(separator: " ")); return ;;
          esac
          # The option whose value is at the cursor, and the number of arguments before it.
          for ((i = first; i < COMP_CWORD; i++)); do
              word=${COMP_WORDS[i]}
              if [[ $values == *" $word "* ]]; then
                  option=$word
                  if [[ ${COMP_WORDS[i + 1]} == = ]]; then i+=1; fi
                  i+=1
                  if [[ $i -lt COMP_CWORD ]]; then option=''; fi
              elif [[ $word != -* ]]; then
                  place+=1
              fi
          done
          if [[ -n $option && $cur == = ]]; then cur=''; fi
          case $command$option in
      \(commands.map { command in command.options.map { bashValue($0, of: command) }.joined() }.joined())\
          esac
          if [[ -n $option ]]; then return; fi
          if [[ $cur == -* ]]; then
              _\(name)_words "$options"
              return
          fi
          if [[ $COMP_CWORD -eq 1 ]]; then _\(name)_words \(named.joined(separator: " ")); fi
          case $command:$place in
      \(commands.map(bashArguments).joined())\
          esac
      }

      complete -o filenames -F _\(name) \(name)

      """
  }

  private static func bashOptions(_ command: CommandDescription) -> String {
    """
        \(command.name))
            options='\(command.spellings.joined(separator: " "))'
            values=' \(command.valued.joined(separator: " ")) '
            ;;

    """
  }

  private func bashValue(_ option: Parameter, of command: CommandDescription) -> String {
    guard option.form == .option, let action = bashAction(option.completion) else { return "" }
    let cases = option.spellings.map { command.name + $0 }.joined(separator: "|")
    return "    \(cases)) \(action) ;;\n"
  }

  private func bashArguments(_ command: CommandDescription) -> String {
    command.arguments.enumerated().map { place, argument in
      guard let action = bashAction(argument.completion) else { return "" }
      return "    \(command.name):\(argument.isRepeated ? "*" : "\(place)")) \(action) ;;\n"
    }
    .joined()
  }

  private func bashAction(_ completion: Parameter.Completion) -> String? {
    switch completion {
    case .nothing: nil
    case .files(let endings): (["_\(name)_files"] + endings).joined(separator: " ")
    case .folders: "COMPREPLY+=($(compgen -d -- \"$cur\"))"
    case .words(let words): "_\(name)_words \(words.joined(separator: " "))"
    }
  }
}
