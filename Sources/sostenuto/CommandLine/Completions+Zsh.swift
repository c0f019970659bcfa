extension CommandSet {
  /// Completions for zsh, as specifications for its `_arguments`.
  var zsh: String {
    let commands = shown
    return """
      #compdef \(name)
      # Completions of \(name) for zsh, made by `\(name) --generate-completion-script zsh`.

      _\(name)() {
          local context state state_descr line ret=1
          typeset -A opt_args
          local -a commands=(
      \(commands.map { "        \(Self.quoted("\($0.name):\($0.abstract)"))\n" }.joined())\
              'help:Show the help of a command.'
          )
          # Before a command's name stand the options of the one that needs no name.
          _arguments -C -s -S \\
      \(Self.zshLines((standard.description.options + options).flatMap(Self.zshOption)))\
              '1: :->first' '*:: :->rest' && ret=0
          case $state in
          first)
              _describe command commands && ret=0
      \((standard.description.arguments.first.flatMap { Self.zshAction($0.completion) }).map { "        \($0) && ret=0\n" } ?? "")\
              ;;
          rest)
              case $words[1] in
      \(commands.map { Self.zshCase($0.name, $0.arguments, $0.options) }.joined())\
              help) _arguments ':command:(\(commands.map(\.name).joined(separator: " ")))' && ret=0 ;;
      \(Self.zshCase("*", [], standard.description.options))\
              esac
              ;;
          esac
          return ret
      }

      # Read by the completion system as the function's body, or by a shell as a file.
      if [[ $funcstack[1] == _\(name) ]]; then _\(name) "$@"; else compdef _\(name) \(name); fi

      """
  }

  private static func zshCase(_ pattern: String, _ arguments: [Parameter], _ options: [Parameter]) -> String {
    let options = (options + Parameter.general).flatMap(zshOption)
    let arguments = arguments.map { argument in
      let place = argument.isRepeated ? "*" : argument.isRequired ? "" : ":"
      return quoted("\(place):\(argument.name):\(zshAction(argument.completion) ?? "")")
    }
    let lines = zshLines(options + arguments)
    return """
              \(pattern))
                  _arguments -s -S \\
      \(lines.dropLast(3)) && ret=0
                  ;;

      """
  }

  /// Specifications, a line each, which go on in the next one.
  private static func zshLines(_ specifications: [String]) -> String {
    specifications.map { "            \($0) \\\n" }.joined()
  }

  private static func zshOption(_ option: Parameter) -> [String] {
    let help = "[" + escaped(option.help) + "]"
    let value =
      option.form == .option ? ":\(escaped(option.value)):\(zshAction(option.completion) ?? "")" : ""
    if option.isRepeated { return option.spellings.map { quoted("*\($0)\(help)\(value)") } }
    guard option.spellings.count > 1 else { return [quoted("\(option.spelling)\(help)\(value)")] }
    // Each excludes the other.
    let both = "(\(option.spellings.joined(separator: " ")))"
    return option.spellings.map { quoted("\(both)\($0)\(help)\(value)") }
  }

  private static func zshAction(_ completion: Parameter.Completion) -> String? {
    switch completion {
    case .nothing: nil
    case .files(let endings) where endings.isEmpty: "_files"
    case .files(let endings): "_files -g \"\(endings.map { "*.\($0)" }.joined(separator: " "))\""
    case .folders: "_files -/"
    case .words(let words): "(\(words.joined(separator: " ")))"
    }
  }

  /// Text in a specification, where brackets and colons have a meaning.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "[]:\\".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}
