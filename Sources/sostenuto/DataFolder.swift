import Glibc
import Session

/// Files that are installed beside the program, and the user's own in their place.
enum DataFolder {
  /// `PREFIX/share/sostenuto` of a program at `PREFIX/bin/sostenuto`.
  static var installed: String {
    PatchFile.split(PatchFile.split(PatchFile.resolved("/proc/self/exe")).folder).folder + "/share/sostenuto"
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
  static func theme(named name: String) -> String? {
    guard !name.contains("/"), access(name, F_OK) != 0 else { return nil }
    let folders = [own, installed].compactMap { $0 }
    return folders.map { "\($0)/themes/\(name).toml" }.first { access($0, R_OK) == 0 }
  }
}
