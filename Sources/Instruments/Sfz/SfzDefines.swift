/// The variables (`#define`) of an instrument's text.
///
/// As in ARIA, the shortest known name is matched, and values are expanded at their use, so they may contain
/// variables that are defined later.
struct SfzDefines {
  static let longestName = 256
  /// Limits per use: nesting depth, number of variables, and bytes.
  private static let deepest = 32
  private static let mostUses = 4096
  private static let mostBytes = 1 << 16
  /// Number of names beyond which the check for names that hide others is skipped.
  private static let mostCompared = 2000

  private var values: [[UInt8]: [UInt8]] = [:]
  /// Number of names by length.
  private var lengths = [Int](repeating: 0, count: longestName + 1)

  /// Result of an expansion. `fault`: what had to be left out. `uses`: number of variables in it.
  struct Expansion {
    var bytes: [UInt8] = []
    var fault: String?
    var uses = 0
    fileprivate var usesLeft = 0
    fileprivate var bytesLeft = 0
  }

  /// Defines a variable. Returns a name together with a prefix of it that hides it, if such a pair is new.
  mutating func set(
    _ name: ArraySlice<UInt8>, to value: ArraySlice<UInt8>
  ) -> (longer: [UInt8], shorter: [UInt8])? {
    let name = Array(name)
    guard values.updateValue(Array(value), forKey: name) == nil else { return nil }
    lengths[name.count] += 1
    guard values.count <= Self.mostCompared else { return nil }
    if let length = known(name[...], below: name.count) { return (name, Array(name.prefix(length))) }
    let longer = values.keys.filter { $0.count > name.count && $0.starts(with: name) }
    return longer.min { $0.lexicographicallyPrecedes($1) }.map { ($0, name) }
  }

  /// Length of the shortest name that the bytes begin with.
  private func known(_ bytes: ArraySlice<UInt8>, below end: Int = longestName + 1) -> Int? {
    (2..<max(2, min(end, bytes.count + 1))).first {
      lengths[$0] > 0 && values[Array(bytes.prefix($0))] != nil
    }
  }

  func expanded(_ code: ArraySlice<UInt8>) -> Expansion {
    var result = Expansion()
    result.bytes.reserveCapacity(code.count)
    var index = code.startIndex
    while index < code.endIndex {
      guard code[index] == UInt8(ascii: "$"), let length = known(code[index...]) else {
        result.bytes.append(code[index])
        index += 1
        continue
      }
      (result.usesLeft, result.bytesLeft) = (Self.mostUses, Self.mostBytes)
      append(Array(code[index..<index + length]), to: &result, 0)
      index += length
    }
    return result
  }

  private func append(_ name: [UInt8], to result: inout Expansion, _ depth: Int) {
    result.uses += 1
    guard depth < Self.deepest, let value = values[name] else {
      result.fault = "`\(TextFile.text(name))` is defined by itself; that is left out"
      return
    }
    var index = 0
    while index < value.count {
      let isVariable = value[index] == UInt8(ascii: "$")
      guard result.usesLeft > 0, result.bytesLeft > 0 else {
        result.fault = "`\(TextFile.text(name))` becomes too long; its rest is left out"
        return
      }
      if isVariable, let length = known(value[index...]) {
        result.usesLeft -= 1
        append(Array(value[index..<index + length]), to: &result, depth + 1)
        index += length
      } else {
        result.bytesLeft -= 1
        result.bytes.append(value[index])
        index += 1
      }
    }
  }
}
