import Patch

/// A property of a map in its line.
struct MapOption: Sendable {
  let name: String
  let example: String
  let help: String
  /// Values to choose from; empty: a node's name.
  var choices: [String] = []

  static let all = [curve, mode, takeover, echo]

  static let curve = MapOption(
    name: "curve", example: "curve=log", help: "the way between both ends",
    choices: MapCourse.Curve.allCases.map(\.rawValue))
  static let mode = MapOption(
    name: "mode", example: "mode=relative", help: "what the controller's numbers mean",
    choices: MapCourse.Mode.allCases.map(\.rawValue))
  static let takeover = MapOption(
    name: "takeover", example: "takeover=soft", help: "waits for the value, or takes it along",
    choices: MapCourse.Takeover.allCases.map(\.rawValue))
  static let echo = MapOption(
    name: "echo", example: "echo=NODE", help: "a midiout node that tells the controller")
}
