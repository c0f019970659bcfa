import Glibc
import Interface
import Screen
import Session

/// The user's own files in `$XDG_CONFIG_HOME/sostenuto`: settings, keys and themes. They are looked at again while the
/// program runs. Main thread.
@MainActor final class Preferences {
  private(set) var settings = Settings()
  private(set) var keymap = Keymap.standard
  /// Their errors, as `FILE:LINE: error: …`.
  private(set) var problems: [String] = []
  private var themes: [String: Theme] = [:]
  /// Options of the command line, which come before the files.
  private let givenTheme: String?
  private let givenKeys: String?
  /// Every file that was looked for, as it was then.
  private var stamps: [String: FileStamp] = [:]
  private var nextLook: Int64 = 0

  private static let interval: Int64 = 300_000_000

  init(theme: String?, keys: String?) {
    (givenTheme, givenKeys) = (theme, keys)
  }

  /// The folder's path with a name in it; nil without a home.
  private func path(_ name: String) -> String? { Installation.own.map { $0 + "/" + name } }

  /// The file of settings as a person writes it: `~/.config/sostenuto/config.toml`.
  var settingsFile: String {
    let path = path("config.toml") ?? "config.toml"
    guard let home = getenv("HOME").map({ String(cString: $0) }), home.count > 1, path.hasPrefix(home + "/")
    else {
      return path
    }
    return "~" + path.dropFirst(home.count)
  }

  // MARK: Reading

  /// Reads all files.
  func load() {
    stamps = [:]
    themes = [:]
    problems = []
    settings = Settings()
    if let path = path("config.toml"), let text = text(path) {
      let found = Settings.read(text, file: path)
      settings = found.settings
      problems += found.problems
    }
    keymap = .standard
    if let path = givenKeys ?? path("keys.toml"), let text = text(path) {
      let found = Keymap.read(text, file: path)
      keymap = found.keymap
      problems += found.problems
    }
    if let name = wanted, theme(named: name, &problems) == nil {
      problems.append(
        "\(givenTheme == nil ? "\(path("config.toml") ?? ""):\(settings.themeLine)" : "--theme"): error: no theme `\(name)`; "
          + "there are \(names.joined(separator: ", "))")
    }
  }

  /// Reads them again after a change of one that was looked for. True if it did.
  func look(now: Int64) -> Bool {
    guard now >= nextLook else { return false }
    nextLook = now + Self.interval
    guard stamps.contains(where: { FileStamp(path: $0.key) != $0.value }) else { return false }
    load()
    return true
  }

  /// The contents of a file; nil: there is none.
  private func text(_ path: String) -> String? {
    stamps[path] = FileStamp(path: path)
    return try? readText(path)
  }

  // MARK: Themes

  /// Names of all themes: those of the program, the user's and the installed ones. New ones are seen at the next look.
  var names: [String] {
    var names = Theme.builtIn.map(\.name)
    for folder in [Installation.own, Installation.data].compactMap({ $0.map { $0 + "/themes" } }) {
      stamps[folder] = FileStamp(path: folder)
      let files = PatchFile.names(in: folder).filter { $0.hasSuffix(".toml") }
      names += files.map { String($0.dropLast(5)) }.filter { !names.contains($0) }
    }
    return names
  }

  private var wanted: String? { givenTheme ?? settings.theme }

  /// The theme that is shown; `name`: one that is chosen or looked at, nil: that of the settings.
  func theme(_ name: String?) -> Theme {
    var problems: [String] = []
    if let name = name ?? wanted, let theme = theme(named: name, &problems) { return theme }
    return getenv("NO_COLOR").map { $0.pointee == 0 ? .dark : .monochrome } ?? .dark
  }

  /// One of the user's themes, a built-in or an installed one by name, or a file.
  private func theme(named name: String, _ problems: inout [String]) -> Theme? {
    if let theme = themes[name] { return theme }
    let own = path("themes/\(name).toml")
    if let own, !name.contains("/"), let text = text(own) { return read(text, own, name, &problems) }
    if let theme = Theme.builtIn(named: name) {
      themes[name] = theme
      return theme
    }
    let file = Installation.theme(named: name) ?? name
    guard access(file, R_OK) == 0, let text = text(file) else { return nil }
    return read(text, file, name, &problems)
  }

  /// The file that `--theme` means, if it names one; nil: the name of a theme.
  static func themeFile(_ name: String) -> String? {
    let isNamed = Theme.builtIn(named: name) != nil || Installation.theme(named: name) != nil
    return !isNamed && access(name, F_OK) == 0 ? name : nil
  }

  private func read(_ text: String, _ path: String, _ name: String, _ problems: inout [String]) -> Theme? {
    let found = Theme.read(text, file: path, name: name)
    problems += found.problems.map(\.description)
    // A file that is no theme is not read again before it changes.
    themes[name] = found.theme ?? .dark
    return themes[name]
  }
}
