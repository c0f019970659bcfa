import Patch

extension Verb {
  /// Verbs that play a node.
  static let performances: [Verb] = [
    Verb(
      "note", .performance, [.node(.players), .either(notes)],
      "Begins or ends a note of a keyboard or sampler. Velocities go from 1 to 127."
    ) {
      $0.perform(
        $0.isOn ? .noteOn(key: $0.numbers[0], velocity: $0.velocity) : .noteOff(key: $0.numbers[0]))
    },
    Verb(
      "pedal", .performance, [.node(.players), .either(pedals), .either(onOrOff)],
      "Presses or releases a pedal."
    ) { $0.perform(.pedal($0.pedal, $0.isOn)) },
    Verb(
      "bend", .performance, [.node(.players), .bend], "Moves the pitch wheel, from -1 to 1 of its range."
    ) { $0.perform(.bend($0.bend)) },
    Verb(
      "play", .performance,
      [.node(.transports), .option(Word("at", "a position in seconds"), [.position])],
      "Starts a player, from a position where one is given."
    ) { $0.perform(.play(at: $0.seconds)) },
    Verb("stop", .performance, [.node(.transports)], "Stops a player.") { $0.perform(.stop) },
    Verb(
      "record", .performance, [.source, .soundFile(mayEnd: true)],
      """
      Records a port, or what a node without outputs gets, into a .wav, .flac, .ogg or .opus file from here on; a name \
      that is taken gets a number. A `record` node has its own file. `off` ends the take.
      """
    ) { arguments in
      arguments.isOn
        ? .record(.begin(arguments.port, file: arguments.file)) : .record(.end(arguments.port))
    },
    Verb(
      "keep", .performance, [.past, .soundFile(mayEnd: false)],
      "Writes what the outputs have played in the last minutes, ten at most (`--keep`), into a sound file."
    ) { .record(.keep(seconds: $0.seconds ?? 0, file: $0.file ?? "")) },
    Verb("roll", .performance, [], "Starts the transport: that of the JACK server, or the patch's own.") {
      _ in
      .transport(.roll)
    },
    Verb("halt", .performance, [], "Stops the transport where it is.") { _ in .transport(.halt) },
    Verb(
      "locate", .performance, [.moment],
      """
      Moves the transport to a bar (`bar 5`, `bar 5.3` for its third beat) or to a time (`30s`, `2m30s`), which count \
      from the start in the present tempo and meter.
      """
    ) { .transport($0.bar.map { .locate($0) } ?? .seek($0.seconds ?? 0)) },
    Verb("cue", .performance, [.node(.transports), .position], "Moves a player to a position.") {
      $0.perform(.cue($0.seconds ?? 0))
    },
  ]

  private static let onOrOff = Choice(
    "`on` or `off`",
    [.init(Word("on")) { $0.isOn = true }, .init(Word("off")) { $0.isOn = false }])

  private static let notes = Choice(
    "`on` or `off`",
    [
      .init(Word("on"), [.key, .velocity]) { $0.isOn = true }, .init(Word("off"), [.key]) { $0.isOn = false },
    ])

  private static let pedals = Choice(
    "a pedal", refusal: "no pedal",
    Performance.Pedal.allCases.map { pedal in .init(Word(pedal.rawValue)) { $0.pedal = pedal } })
}
