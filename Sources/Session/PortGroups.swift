import Drivers

/// Ports of a program as a box shows them: ports that differ by their number or side are one, named by a pattern.
public struct ProgramPort: Sendable, Hashable {
  /// Name of a port, or pattern of several.
  public var name: String
  /// True for ports that take a signal.
  public var isInput: Bool
  /// True for MIDI, false for audio.
  public var isEvents: Bool
  /// The ports that it stands for, in order.
  public var members: [String]
}

enum PortGroups {
  /// The ports of a program, in groups where several belong together: inputs, then outputs; audio, then MIDI.
  static func groups(_ ports: [ServerGraph.Port]) -> [ProgramPort] {
    [true, false].flatMap { isInput in
      let side = ports.filter { $0.isInput == isInput }
      return [false, true].flatMap { isEvents in groups(of: side, isInput: isInput, isEvents: isEvents) }
    }
  }

  private static func groups(
    of side: [ServerGraph.Port], isInput: Bool, isEvents: Bool
  ) -> [ProgramPort] {
    var found: [ProgramPort] = []
    var places: [String: Int] = [:]
    for port in side where port.isEvents == isEvents {
      guard let stem = stem(port.name), isOneGroup(stem, side, isEvents) else {
        found.append(ProgramPort(name: port.name, isInput: isInput, isEvents: isEvents, members: [port.name]))
        continue
      }
      if let place = places[stem] {
        found[place].members.append(port.name)
      } else {
        places[stem] = found.count
        found.append(
          ProgramPort(name: stem + "*", isInput: isInput, isEvents: isEvents, members: [port.name]))
      }
    }
    return found
  }

  /// True when the pattern of the stem stands for ports of this stem and type alone, and for several.
  private static func isOneGroup(_ stem: String, _ side: [ServerGraph.Port], _ isEvents: Bool) -> Bool {
    let matched = side.filter { $0.name.hasPrefix(stem) }
    return matched.count > 1 && !stem.contains { $0 == "*" || $0 == "?" }
      && matched.allSatisfy { $0.isEvents == isEvents && self.stem($0.name) == stem }
  }

  private static let sides = [
    "L", "R", "FL", "FR", "FC", "LFE", "RL", "RR", "SL", "SR", "left", "right", "Left", "Right",
  ]

  /// `playback_` of `playback_1`, `output_` of `output_FL`; nil for a name without number or side.
  private static func stem(_ name: String) -> String? {
    let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
    if digits > 0 { return digits < name.count ? String(name.dropLast(digits)) : nil }
    for side in sides where name.hasSuffix(side) {
      let rest = name.dropLast(side.count)
      if let last = rest.last, "_- .".contains(last) { return String(rest) }
    }
    return nil
  }
}
