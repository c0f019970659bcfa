import Glibc
import Session

/// Places of the installed program and its files, and of the user's own in their stead.
enum Installation {
  /// Path of the program as users start it. A package's starts the one for this processor
  /// (`PREFIX/lib/sostenuto/LEVEL/sostenuto`, Tools/launcher.c), which is the one that runs.
  static var program: String {
    let running = PatchFile.resolved("/proc/self/exe")
    let parts = running.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 4, parts.dropLast(2).suffix(2) == ["lib", "sostenuto"] else { return running }
    let started = parts.dropLast(4).joined(separator: "/") + "/bin/sostenuto"
    return access(started, X_OK) == 0 ? started : running
  }

  /// `PREFIX/share/sostenuto` of a program at `PREFIX/bin/sostenuto`.
  static var data: String {
    PatchFile.split(PatchFile.split(program).folder).folder + "/share/sostenuto"
  }

  /// The instrument of the tour: the installed one, or in the folders above a program that is not installed. nil: there is
  /// none.
  static var organ: String? {
    let name = "/Instruments/organ/organ.sfz"
    var folder = PatchFile.split(PatchFile.resolved("/proc/self/exe")).folder
    var candidates = [data + name]
    while let slash = folder.lastIndex(of: "/") {
      candidates.append(folder + name)
      folder = String(folder[..<slash])
    }
    return candidates.first { access($0, R_OK) == 0 }
  }

  /// `$XDG_CONFIG_HOME/sostenuto`, by the XDG base directory specification; nil without a home.
  static var own: String? {
    if let folder = getenv("XDG_CONFIG_HOME").map({ String(cString: $0) }), folder.hasPrefix("/") {
      return folder + "/sostenuto"
    }
    return getenv("HOME").map { String(cString: $0) + "/.config/sostenuto" }
  }

  /// The file of a theme that is named without its folder and ending; nil if there is none, or a file of this very
  /// name.
  static func theme(named name: String) -> String? { file(named: name, in: "themes") }

  /// The same of a layout of the piano's keys.
  static func layout(named name: String) -> String? { file(named: name, in: "layouts") }

  private static func file(named name: String, in kind: String) -> String? {
    guard !name.contains("/"), access(name, F_OK) != 0 else { return nil }
    let folders = [own, data].compactMap { $0 }
    return folders.map { "\($0)/\(kind)/\(name).toml" }.first { access($0, R_OK) == 0 }
  }
}
