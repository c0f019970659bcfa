import CForeign
import Engine
import Patch

extension NodeKind {
  /// Description of `times`, a kind written in C (Tests/CForeign), which a test adds while the program runs: it
  /// multiplies by `factor`, and has all that a kind from outside may have.
  public static func timesDescription(
    input: PortDescription.Format = .channels(1), smoothing: ParameterDescription.Smoothing = .ramp
  ) -> KindDescription {
    KindDescription(
      name: "times", summary: "Multiplies.", category: .effect,
      inputs: [PortDescription("in", input)], outputs: [PortDescription("out", .channels(1))],
      parameters: [
        ParameterDescription(
          "factor", "Its factor.", range: 0...8, default: .number(2, .none), smoothing: smoothing),
        ParameterDescription(
          "lag", "Its latency in frames.", form: .integer, range: 0...64, default: .number(0, .none),
          smoothing: .kernel),
        ParameterDescription(
          "broken", "Not to be prepared.", form: .toggle, default: .text("off"), smoothing: .structural),
        ParameterDescription("state", "Saved.", form: .text, default: .text(""), smoothing: .none),
      ], readings: [ReadingDescription("rendered", "Frames so far.")], stateParameter: "state",
      latencyVaries: true)
  }

  /// The kind `times`.
  public static func times() throws -> NodeKind {
    try NodeKind(timesDescription(), functions: sostenuto_test_kind())
  }
}
