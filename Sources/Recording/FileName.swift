import Glibc

/// Derived file names within the limits of file systems.
package enum FileName {
  private static let longest = 255
  /// Room for a suffix of a derived name: `.12`, `.4194304.new`.
  package static let reserve = 16

  /// `before`, `name` and `after`; a name that would be too long is cut and marked by its hash.
  package static func joined(_ name: String, before: String = "", after: String, reserving room: Int = 0)
    -> String
  {
    let most = longest - before.utf8.count - after.utf8.count - room
    if name.utf8.count <= most { return before + name + after }
    let mark = "~" + hash(name)
    var cut = ""
    for scalar in name.unicodeScalars {
      guard cut.utf8.count + UTF8.width(scalar) <= most - mark.utf8.count else { break }
      cut.unicodeScalars.append(scalar)
    }
    return before + cut + mark + after
  }

  /// FNV-1a (Fowler, Noll, Vo), 64 bits, as 16 digits.
  package static func hash(_ text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The path with the lowest unused number from `first` on.
  package static func free(_ path: String, from first: Int = 1, separator: String = ".") -> String {
    var number = first
    while true {
      let candidate = path + separator + "\(number)"
      var info = stat()
      if lstat(candidate, &info) != 0 { return candidate }
      number += 1
    }
  }
}
