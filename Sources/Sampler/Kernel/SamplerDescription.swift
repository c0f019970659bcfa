import Patch

extension Sampler {
  public static let description = KindDescription(
    name: "sampler",
    summary: "Plays an instrument: an SFZ instrument, a SoundFont 2 bank, or an audio file over all keys.",
    category: .source,
    inputs: [PortDescription("in", .events, "Notes, pedals, controllers, pitch bend.")],
    outputs: outputs,
    parameters: [
      ParameterDescription(
        "instrument", "The instrument's file; notes that sound finish on the old one.",
        form: .file(.instrument),
        default: .text(""), smoothing: .none),
      ParameterDescription(
        "program", "Which program of a bank.", form: .integer, range: 0...127, default: .number(0, .none),
        smoothing: .kernel),
      ParameterDescription(
        "bank", "Which bank.", form: .integer, range: 0...16383, default: .number(0, .none),
        smoothing: .kernel),
      ParameterDescription(
        "polyphony", "Voices at a time; a change takes effect with the next note.", form: .integer,
        range: 1...1024, default: .number(64, .none), smoothing: .kernel),
      ParameterDescription(
        "level", "Loudness.", unit: .decibels, range: -Double.infinity...24, default: .number(0, .decibels)),
      ParameterDescription(
        "tune", "Added to every note's pitch.", unit: .cents, range: -2400...2400,
        default: .number(0, .cents)),
      ParameterDescription(
        "quality",
        "Points of interpolation; a change takes effect with the next note. auto: sinc, and 8-point for notes that begin "
          + "above a load of 50 %; `render` takes sinc.",
        form: .choice(["4-point", "8-point", "sinc", "auto"]), range: 0...3, default: .text("auto"),
        smoothing: .kernel),
      ParameterDescription(
        "changes",
        "Program changes and bank selects choose program and bank, channel by channel; held notes stay. Channel 10 "
          + "has the drums of a bank that has some, unless GS or XG messages say otherwise.",
        form: .toggle, default: .text("on"), smoothing: .kernel),
      ParameterDescription(
        "mpe",
        "Bend (48 semitones), pressure and controller 74 by note: channel 1 (lower) or 16 (upper) is for all "
          + "notes, the others have one each; registered parameter 6 sets how many.",
        form: .choice(["off", "lower", "upper"]), range: 0...2, default: .text("off"), smoothing: .kernel),
      ParameterDescription(
        "tuning", "A scale of the Scala archive (.scl); the next notes have it.", form: .file(.scale),
        default: .text(""), smoothing: .none),
      ParameterDescription(
        "keymap", "Which keys have which degrees of the scale (.kbm).", form: .file(.keyMap),
        default: .text(""), smoothing: .none),
      ParameterDescription(
        "outputs",
        "Separate: regions that name an output play there; a change takes effect with the next note.",
        form: .choice(["together", "separate"]), range: 0...1, default: .text("together"), smoothing: .kernel),
    ], face: .level, cost: .init(6000))

  /// Outputs in the order of `Sum`.
  private static let outputs: [PortDescription] =
    [PortDescription("out", .channels(2), "Left and right.")]
    + (1..<Sum.outputs).map {
      PortDescription(
        "out\($0 + 1)", .channels(2), "With outputs=separate: regions with output=\($0).", isOptional: true)
    } + [
      PortDescription(
        "reverb", .channels(2), "What notes send to a reverb: effect1, and banks' controller 91.",
        isOptional: true),
      PortDescription(
        "chorus", .channels(2), "What notes send to a chorus: effect2, and banks' controller 93.",
        isOptional: true),
    ]
}
