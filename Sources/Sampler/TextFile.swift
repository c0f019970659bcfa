import Glibc

/// The little that instruments need of the file system. Worker.
enum TextFile {
  /// More than this is no instrument's text.
  static let largest = 64 << 20

  /// A file's text: UTF-8, UTF-16 where a mark at the beginning says so, or Latin-1.
  static func read(_ path: String) throws(LoadError) -> String {
    var bytes = try PlainFile.read(path, most: largest)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    // As some editors of other systems save text.
    if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes, low: 0) }
    if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes, low: 1) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// `low`: which byte of each pair is the low one. The first pair says so.
  private static func utf16(_ bytes: [UInt8], low: Int) -> String {
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map {
      UInt16(bytes[$0 + low]) | UInt16(bytes[$0 + 1 - low]) << 8
    }
    return String(decoding: units, as: UTF16.self)
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The folder of a file, with a slash at its end; empty for a bare name.
  static func folder(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return String(path[...slash])
  }

  /// `path` below `folder`, found even where the case of letters differs (instruments come from systems
  /// that do not tell them apart); nil when there is no such file.
  static func find(_ path: String, in folder: String) -> String? {
    let whole = path.hasPrefix("/") ? path : folder + path
    if exists(whole) { return whole }
    var found = whole.hasPrefix("/") ? "/" : ""
    for component in whole.split(separator: "/") {
      let plain = found + component
      if component == ".." || component == "." || exists(plain) {
        found = plain + "/"
      } else if let name = entry(named: component.lowercased(), in: found.isEmpty ? "." : found) {
        found += name + "/"
      } else {
        return nil
      }
    }
    return String(found.dropLast())
  }

  private static func entry(named name: String, in folder: String) -> String? {
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    var best: String?
    while let entry = readdir(directory) {
      let found = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      // Of several that fit, the same one whatever order the folder has.
      if found.lowercased() == name, found < best ?? "\u{10FFFF}" { best = found }
    }
    return best
  }
}
