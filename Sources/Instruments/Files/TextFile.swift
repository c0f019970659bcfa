import Glibc

/// The file system functions that instruments need. Worker.
///
/// A file name is a byte string, and those of old archives are not UTF-8. A path holds an invalid byte as the
/// private-use character U+F700 + byte; `cName` converts it back.
enum TextFile {
  /// Size limit in bytes, beyond any instrument's text.
  static let largest = 64 << 20

  /// A file's text: UTF-8, UTF-16 with a byte order mark, or Windows-1252.
  static func read(_ path: String) throws(LoadError) -> String { text(try bytes(path)) }

  /// A file's bytes; converted to UTF-8 if there is a byte order mark.
  static func bytes(_ path: String) throws(LoadError) -> [UInt8] {
    var bytes = try PlainFile.read(path, most: largest)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    // As saved by some editors of other systems.
    if bytes.starts(with: [0xFF, 0xFE]) { return Array(utf16(bytes, low: 0).utf8) }
    if bytes.starts(with: [0xFE, 0xFF]) { return Array(utf16(bytes, low: 1).utf8) }
    return bytes
  }

  /// UTF-8, or otherwise Windows-1252, an extension of Latin-1.
  static func text(_ bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar(windows($0))! }))
  }

  private static func windows(_ byte: UInt8) -> UInt32 {
    (128..<160).contains(byte) ? upper[Int(byte) - 128] : UInt32(byte)
  }

  /// Characters 128...159; undefined ones are the replacement character.
  private static let upper: [UInt32] = [
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0xFFFD,
    0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A,
    0x0153, 0xFFFD, 0x017E, 0x0178,
  ]

  /// `low`: offset of the low byte of each pair. The first pair is the byte order mark.
  private static func utf16(_ bytes: [UInt8], low: Int) -> String {
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map {
      UInt16(bytes[$0 + low]) | UInt16(bytes[$0 + 1 - low]) << 8
    }
    return String(decoding: units, as: UTF16.self)
  }

  // MARK: Names

  /// The bytes of a path, with a final zero.
  static func cName(_ path: String) -> [CChar] {
    guard path.utf8.contains(0xEF) else { return Array(path.utf8CString) }
    var bytes: [UInt8] = []
    for scalar in path.unicodeScalars {
      if (0xF780...0xF7FF).contains(scalar.value) {
        bytes.append(UInt8(scalar.value & 255))
      } else {
        bytes += UTF8.encode(scalar)!
      }
    }
    return (bytes + [0]).map { CChar(bitPattern: $0) }
  }

  /// A path for display.
  static func shown(_ path: String) -> String {
    guard path.unicodeScalars.contains(where: { (0xF780...0xF7FF).contains($0.value) }) else { return path }
    return text(cName(path).dropLast().map { UInt8(bitPattern: $0) })
  }

  /// The path component for these bytes.
  private static func name(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? String(
        String.UnicodeScalarView(
          bytes.map { Unicode.Scalar($0 < 128 ? UInt32($0) : 0xF700 + UInt32($0))! }))
  }

  static func exists(_ path: String) -> Bool { access(cName(path), F_OK) == 0 }

  /// The folder of a file, with a final slash; empty for a bare name.
  static func folder(_ path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[...slash])
  }

  /// `path` below `folder`, found even if upper and lower case differ (instruments come from case-insensitive
  /// systems), or the encoding of the name; nil when there is no such file.
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

  private static func entry(named wanted: String, in folder: String) -> String? {
    guard let directory = opendir(cName(folder)) else { return nil }
    defer { closedir(directory) }
    var best: String?
    while let entry = readdir(directory) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      // Of several matches always the same one, whatever the order in the folder.
      guard text(bytes).lowercased() == wanted else { continue }
      let found = name(bytes)
      if found < best ?? "\u{10FFFF}" { best = found }
    }
    return best
  }
}

/// The part of a path after its last slash.
func lastComponent(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
