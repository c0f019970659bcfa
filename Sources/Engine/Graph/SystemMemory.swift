import Glibc

/// Memory of the computer. Worker.
enum SystemMemory {
  /// Bytes that it can give without ending a process; `Int.max` where it does not say.
  static func available() -> Int {
    guard let file = fopen("/proc/meminfo", "re") else { return .max }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    var (sum, isTold) = (0, false)
    while fgets(&line, Int32(line.count), file) != nil {
      let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
      guard words.count == 3, let kilobytes = Int(words[1]) else { continue }
      // Free memory and what files can give back; swap holds pages that others do not need.
      if words[0] == "MemAvailable:" { isTold = true }
      if words[0] == "MemAvailable:" || words[0] == "SwapFree:" { sum += kilobytes << 10 }
    }
    return isTold ? sum : .max
  }
}
