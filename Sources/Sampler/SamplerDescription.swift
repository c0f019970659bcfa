import Patch

/// The node kinds of this module.
public let samplerKinds: [KindDescription] = [Sampler.description, Player.description]

extension Sampler {
  public static let description = KindDescription(
    name: "sampler",
    summary: "Plays an instrument: an SFZ instrument, a SoundFont 2 bank, or an audio file over all keys",
    category: .source,
    inputs: [PortDescription("in", .events, "notes, pedals, controllers, pitch bend")],
    outputs: [PortDescription("out", .channels(2), "left and right")],
    parameters: [
      ParameterDescription(
        "instrument", "the instrument's file; notes that sound finish on the old one", form: .file,
        default: .text(""), smoothing: .none),
      ParameterDescription(
        "program", "which program of a bank", form: .integer, range: 0...127, default: .number(0, .none),
        smoothing: .kernel),
      ParameterDescription(
        "bank", "which bank", form: .integer, range: 0...16383, default: .number(0, .none),
        smoothing: .kernel),
      ParameterDescription(
        "polyphony", "voices at a time; a change takes effect with the next note", form: .integer,
        range: 1...1024, default: .number(64, .none), smoothing: .kernel),
      ParameterDescription(
        "level", "loudness", unit: .decibels, range: -Double.infinity...24, default: .number(0, .decibels)),
      ParameterDescription(
        "tune", "added to every note's pitch", unit: .cents, range: -2400...2400,
        default: .number(0, .cents)),
      ParameterDescription(
        "quality",
        "points of interpolation; a change takes effect with the next note (auto: 4-point; `render` takes sinc)",
        form: .choice(["4-point", "8-point", "sinc", "auto"]), range: 0...3, default: .text("auto"),
        smoothing: .kernel),
      ParameterDescription(
        "changes",
        "program changes and bank selects choose program and bank, channel by channel; held notes stay",
        form: .toggle, default: .text("on"), smoothing: .kernel),
      ParameterDescription(
        "mpe",
        "bend (48 semitones), pressure and controller 74 by note: channel 1 (lower) or 16 (upper) is for all "
          + "notes, the others have one each; registered parameter 6 sets how many",
        form: .choice(["off", "lower", "upper"]), range: 0...2, default: .text("off"), smoothing: .kernel),
      ParameterDescription(
        "tuning", "a scale of the Scala archive (.scl); the next notes have it", form: .file,
        default: .text(""), smoothing: .none),
      ParameterDescription(
        "keymap", "which keys have which degrees of the scale (.kbm)", form: .file, default: .text(""),
        smoothing: .none),
    ])
}
