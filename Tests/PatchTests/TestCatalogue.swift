import Patch
import PatchLanguage

/// A few kinds that cover every form of port and parameter.
let catalogue = KindCatalogue([
  KindDescription(
    name: "keyboard", summary: "typing keyboard", category: .control,
    outputs: [PortDescription("out", .events)],
    parameters: [
      ParameterDescription(
        "octave", "lowest octave", form: .integer, range: -1...8, default: .number(4, .none), smoothing: .none
      )
    ]),
  KindDescription(
    name: "sampler", summary: "plays an instrument", category: .source,
    inputs: [PortDescription("in", .events)],
    outputs: [PortDescription("out", .channels(2))],
    parameters: [
      ParameterDescription(
        "instrument", "file", form: .file(.instrument), default: .text(""), smoothing: .none),
      ParameterDescription(
        "polyphony", "voices", form: .integer, range: 1...256, default: .number(64, .none),
        smoothing: .structural),
      ParameterDescription(
        "level", "level", unit: .decibels, range: -120...24, default: .number(0, .decibels)),
      ParameterDescription("tune", "tuning", unit: .cents, range: -1200...1200, default: .number(0, .cents)),
    ]),
  KindDescription(
    name: "oscillator", summary: "band-limited", category: .source,
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      ParameterDescription(
        "shape", "form", form: .choice(["sine", "saw", "square", "triangle"]), default: .text("sine"),
        smoothing: .crossfade),
      ParameterDescription(
        "freq", "frequency", unit: .hertz, range: 0...20000, default: .number(440, .hertz), isPerChannel: true
      ),
      ParameterDescription(
        "level", "level", unit: .decibels, range: -120...24, default: .number(-12, .decibels)),
      ParameterDescription(
        "channels", "channels", form: .integer, range: 1...64, default: .number(1, .none),
        smoothing: .structural),
    ]),
  KindDescription(
    name: "player", summary: "plays a file", category: .source,
    outputs: [PortDescription("out", .channels(2))],
    parameters: [
      ParameterDescription("file", "file", form: .file(.audio), default: .text(""), smoothing: .none),
      ParameterDescription("loop", "repeat", form: .toggle, default: .text("off"), smoothing: .none),
    ]),
  KindDescription(
    name: "distortion", summary: "waveshaper", category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      ParameterDescription("drive", "drive", unit: .decibels, range: 0...40, default: .number(12, .decibels)),
      ParameterDescription("mix", "mix", unit: .percent, range: 0...100, default: .number(100, .percent)),
    ]),
  KindDescription(
    name: "delay", summary: "delay", category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      ParameterDescription("time", "time", unit: .seconds, range: 0...10, default: .number(0.25, .seconds))
    ]),
  KindDescription(
    name: "compressor", summary: "dynamics", category: .effect,
    inputs: [PortDescription("in", .flexible), PortDescription("sidechain", .flexible, role: .sidechain)],
    outputs: [PortDescription("out", .flexible), PortDescription("reduction", .channels(1))],
    parameters: [
      ParameterDescription(
        "threshold", "from", unit: .decibels, range: -60...0, default: .number(-12, .decibels))
    ]),
  KindDescription(
    name: "matrix", summary: "matrix mixer", category: .mixing,
    inputs: [PortDescription("in", .parameter("inputs"))],
    outputs: [PortDescription("out", .parameter("outputs"))],
    parameters: [
      ParameterDescription(
        "inputs", "inputs", form: .integer, range: 1...64, default: .number(2, .none), smoothing: .structural),
      ParameterDescription(
        "outputs", "outputs", form: .integer, range: 1...64, default: .number(2, .none),
        smoothing: .structural),
      ofElements(
        ParameterDescription(
          "in", "input gain", unit: .decibels, range: -120...24, default: .number(0, .decibels),
          smoothing: .kernel, dimensions: ["inputs"])),
      ofElements(
        ParameterDescription(
          "out", "output gain", unit: .decibels, range: -120...24, default: .number(0, .decibels),
          smoothing: .kernel, dimensions: ["outputs"])),
      ofElements(
        ParameterDescription(
          "", "crosspoint", unit: .decibels, range: -120...24, default: .number(-.infinity, .decibels),
          smoothing: .kernel, dimensions: ["inputs", "outputs"], diagonal: .number(0, .decibels),
          switches: GainSwitches(mute: "mute", solo: "solo", invert: "invert"))),
      ParameterDescription(
        "mute", "silences", form: .toggle, default: .text("off"), smoothing: .gain,
        dimensions: ["inputs", "outputs"]),
      ParameterDescription(
        "solo", "silences others", form: .toggle, default: .text("off"), smoothing: .gain,
        dimensions: ["inputs", "outputs"]),
      ParameterDescription(
        "label.in", "name", form: .text, default: .text(""), smoothing: .none, dimensions: ["inputs"]),
      ParameterDescription(
        "master", "master", unit: .decibels, range: -120...24, default: .number(0, .decibels)),
    ]),
  KindDescription(
    name: "arpeggiator", summary: "events to events", category: .control,
    inputs: [PortDescription("in", .events)],
    outputs: [PortDescription("out", .events)]),
  KindDescription(
    name: "midiout", summary: "driver events", category: .endpoint, inputs: [PortDescription("in", .events)],
    endpoint: .midiOutput),
  KindDescription(
    name: "output", summary: "driver outputs", category: .endpoint,
    inputs: [PortDescription("in", .parameter("channels"))],
    parameters: [
      ParameterDescription(
        "channels", "channels", form: .integer, range: 1...64, default: .number(2, .none),
        smoothing: .structural),
      ParameterDescription("port", "name", form: .text, default: .text(""), smoothing: .none),
    ], endpoint: .output),
  KindDescription(
    name: "patch", summary: "a sub-patch", category: .mixing,
    parameters: [
      ParameterDescription(
        "file", "its file", form: .file(.patch), default: .text(""), smoothing: .none)
    ], isContainer: true),
  edge("inlet", .flexible, .init(.inlet, alone: "input")),
  edge("outlet", .flexible, .init(.outlet, alone: "output")),
  edge("eventin", .events, .init(.inlet)),
  edge("eventout", .events, .init(.outlet)),
])

private func edge(
  _ name: String, _ format: PortDescription.Format, _ boundary: KindDescription.Boundary
) -> KindDescription {
  KindDescription(
    name: name, summary: "an edge", category: .mixing, inputs: [PortDescription("in", format)],
    outputs: [PortDescription("out", format)], boundary: boundary)
}

/// True for the warning that what a control or a map names is gone.
func isOfControl(_ diagnostic: Diagnostic, in text: String) -> Bool {
  let line = text.split(separator: "\n", omittingEmptySubsequences: false)[diagnostic.line - 1]
  return diagnostic.severity == .warning
    && (line.hasPrefix("control ") || line.hasPrefix("map ") || line.hasPrefix("publish ")
      // A rename may leave a cable past the edge of a sub-patch, where the prompt would refuse it.
      || diagnostic.message.contains("past the edge")
      // A cable may wait for a port of a sub-patch.
      || line.hasPrefix("connect ") && diagnostic.message.contains(" has no ")
      // A replacement may close a loop of events, which the prompt refuses.
      || diagnostic.message.contains("round and round"))
}

/// The same with a port for each element.
private func ofElements(_ parameter: ParameterDescription) -> ParameterDescription {
  var parameter = parameter
  parameter.isModulatedByKernel = true
  return parameter
}
