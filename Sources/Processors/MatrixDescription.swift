import Patch

extension Matrix {
  public static let description = KindDescription(
    name: "matrix", summary: "The matrix mixer: a gain from every input to every output.",
    category: .mixing, inputs: [PortDescription("in", .parameter("inputs"))],
    outputs: [PortDescription("out", .parameter("outputs"))],
    parameters: [
      .count("inputs", "Channels that come in.", default: 4),
      .count("outputs", "Channels that go out.", default: 2),
      .modulatedGain("in", "Gain of an input.", dimensions: ["inputs"], switches: inputSwitches),
      .modulatedGain("out", "Gain of an output.", dimensions: ["outputs"], switches: outputSwitches),
      crosspoints,
      .modulatedGain("master", "Gain of everything."),
    ] + ParameterDescription.switches(inputSwitches, of: "an input", ["inputs"])
      + ParameterDescription.switches(outputSwitches, of: "an output", ["outputs"])
      + ParameterDescription.switches(crosspointSwitches, of: "a crosspoint", ["inputs", "outputs"])
      + [
        .label("label.in", "Name of an input.", "inputs"),
        .label("label.out", "Name of an output.", "outputs"),
      ], face: .channels(labels: "label.in"), cost: .init(20, perCrosspoint: 1))

  private static var crosspoints: ParameterDescription {
    var gain = ParameterDescription.modulatedGain(
      "", "Crosspoint [input,output]: how much of an input goes to an output.",
      dimensions: ["inputs", "outputs"], switches: crosspointSwitches)
    gain.defaultValue = .number(-.infinity, .decibels)
    gain.diagonalValue = .number(0, .decibels)
    return gain
  }

  private static let inputSwitches = GainSwitches(mute: "mute.in", solo: "solo.in", invert: "invert.in")
  private static let outputSwitches = GainSwitches(mute: "mute.out", solo: "solo.out", invert: "invert.out")
  private static let crosspointSwitches = GainSwitches(mute: "mute", solo: "solo", invert: "invert")

  /// Positions in `description.parameters`.
  public static var inputs: Int { @_noLocks get { 0 } }
  public static var outputs: Int { @_noLocks get { 1 } }
  public static var `in`: Int { @_noLocks get { 2 } }
  public static var out: Int { @_noLocks get { 3 } }
  public static var crosspoint: Int { @_noLocks get { 4 } }
  public static var master: Int { @_noLocks get { 5 } }
}
