import Patch

extension Verb {
  /// The grammar, in the order of help and completion.
  public static let all: [Verb] =
    edits + performances + [
      Verb("panic", .session, [], "Fades out every voice.") { _ in .panic },
      Verb("undo", .session, [], "Takes back the last edit.") { _ in .undo },
      Verb("redo", .session, [], "Makes the edit again that was taken back last.") { _ in .redo },
    ]

  private static let edits: [Verb] = [
    Verb(
      "node", .file,
      [.newName(noun: "a name"), .kind, .settings, .option(.before, [.node(noun: "the node that follows")])],
      "A new node of a kind, with its settings; at the end of the patch, or `before` another node."
    ) { .edit(.add($0.node, before: $0.other)) },
    Verb(
      "connect", .file, [.cable(isNew: true), .attributes],
      """
      A cable from an output to an input, or a change of the cable that is there. `by` is how far a signal of 1 moves a \
      parameter: `by 2oct`, `by 7st`, `by 6dB` multiply it, `by 200Hz` is added. `gain` is in dB; `map` has the \
      source channel of each destination channel, -1 for none; `mix` is `speakers` or `discrete`.
      """
    ) { .edit(.connect($0.cable, $0.cableSettings)) },
    Verb(
      "set", .file, [.setting, .value, .option(.over, [.duration])],
      """
      Sets a parameter, or a range of them (`in[0..3]`, `[0..7,1]`, `out[..]`); the word `default` resets it. With \
      `over` it moves there in that time: a gain of a node in decibels and a frequency in octaves if that takes 100 ms \
      or more (silence counts as about -80 dB), everything else, cables and matrices too, evenly.
      """
    ) {
      guard let path = $0.range.single else {
        return .edit(.setRange($0.name, $0.range, $0.value, over: $0.seconds))
      }
      return .edit(.set($0.name, path, $0.value, over: $0.seconds))
    },
    Verb(
      "matrix", .edit,
      [.node(.matrices, noun: "a matrix"), .either(matrixPresets), .option(.over, [.duration])],
      "A preset of all crosspoints of a matrix, as one edit."
    ) { .edit(.matrix($0.name, $0.change, over: $0.seconds)) },
    Verb(
      "layout", .file, [.node(), .place],
      "The place of a node in the graph screen; `auto` leaves it to the program."
    ) { .edit(.place($0.name, $0.place)) },
    Verb("disconnect", .edit, [.cables], "Removes a cable, or every cable of a node.") {
      .edit($0.name.isEmpty ? .disconnect($0.cable) : .isolate($0.name))
    },
    Verb(
      "remove", .edit, [.node(), .option(.bridge), .option(.tail)],
      """
      Removes a node and its cables. `bridge` joins its neighbours; `tail` lets what it still has to give ring out, \
      for a minute at most.
      """
    ) { .edit(.remove($0.name, bridge: $0.has(.bridge), tail: $0.has(.tail))) },
    Verb(
      "replace", .edit, [.node(), .kind, .settings],
      "Replaces a node by one of another kind; its cables stay."
    ) { .edit(.replace($0.name, with: $0.node)) },
    Verb(
      "insert", .edit,
      [.newName(noun: "a name"), .kind, .settings, .word(.into), .cable(isNew: false)],
      "Inserts a new node into a cable."
    ) { .edit(.insert($0.node, into: $0.cable)) },
    Verb(
      "copy", .edit, [.node(), .newName(noun: "a name for the copy")],
      "A new node with the kind and the settings of another one, without its cables."
    ) { .edit(.copy($0.name, to: $0.other ?? "")) },
    Verb(
      "collapse", .edit, [.nodes, .word(.together), .newName(noun: "a name")],
      """
      Puts nodes into a new sub-patch, as they are. Where cables lead in and out it gets inlets and outlets, and what is \
      modulated from outside is published.
      """
    ) { .edit(.collapse($0.names, into: $0.name)) },
    Verb(
      "expand", .edit, [.node(.subPatches, noun: "a sub-patch")],
      "Puts what is inside a sub-patch in its place; inlets and outlets leave."
    ) { .edit(.expand($0.name)) },
    Verb(
      "unshare", .edit, [.node(.subPatches, noun: "a sub-patch")],
      "Makes what is inside a sub-patch its own: it is saved with this patch, and no longer follows its file."
    ) { .edit(.set($0.name, ParameterPath("file"), nil, over: nil)) },
    Verb("rename", .edit, [.node(), .newName(noun: "a new name")], "Renames a node.") {
      .edit(.rename($0.name, to: $0.other ?? ""))
    },
    Verb(
      "move", .edit,
      [
        .node(),
        .either(
          Choice(
            "`before` or `last`",
            [
              .init(.before, [.node(noun: "the node that follows")]), .init(Word("last", "to the end")),
            ])),
      ], "Moves a node in the order of the file, before another one or to the end."
    ) { .edit(.move($0.name, before: $0.other)) },
    Verb(
      "comment", .edit, [.subject, .texts],
      """
      The comment of a node, a cable (`comment A -> B`) or a setting (`comment main.out[1]`): a text for each line \
      above it, and one `after` it on its line. Without texts it is removed.
      """
    ) { arguments in
      let edits = arguments.subjects.map { Edit.comment($0, arguments.comments) }
      return .edit(edits.count == 1 ? edits[0] : .all(edits))
    },
    Verb(
      "tempo", .file, [.tempo],
      "Beats a minute, 5 to 999; a beat is the lower number of the meter. The position in the bar stays."
    ) { .edit(.setPatch(.tempo($0.tempo))) },
    Verb("meter", .file, [.meter], "Beats of a bar and their note value: `6/8` has six eighths.") {
      .edit(.setPatch(.meter($0.meter)))
    },
    Verb(
      "transport", .file, [.either(transportModes)],
      """
      `follow` goes by the JACK server's transport, and by the tempo of the program that leads it; `lead` gives the \
      server this patch's tempo and meter; `midi` goes by a MIDI clock that comes in: its tempo, start, stop and song \
      position; `off` leaves the server's alone. Without a server or a clock the patch has a transport of its own, which \
      rolls from the start, and goes on as it was when a clock has gone.
      """
    ) { .edit(.setPatch(.transport($0.mode))) },
    Verb(
      "control", .file,
      [
        .control(otherwise: [
          .node(.players), .number(noun: "a controller", usage: "NUMBER"),
          .number(noun: "a value", usage: "VALUE"),
        ])
      ],
      """
      What one of the eight controls of play mode turns: a parameter, a crosspoint (`main[0,1]`), the gain of a cable, or \
      the place between two scenes (`morph 1 2`); \
      `off` for nothing. A control whose target is gone waits for its return. With a node, a number and a value it moves \
      a MIDI controller of the node to a value from 0 to 127, as a performance.
      """
    ) { arguments in
      guard let (number, target) = arguments.control else {
        return arguments.perform(.control(arguments.numbers[0], arguments.numbers[1]))
      }
      return .edit(.setPatch(.control(number, target)))
    },
    Verb(
      "map", .file, [.controllerMap],
      """
      A value that follows a controller: `map in.cc74 -> filter.freq 200Hz..8kHz curve=log`. The source is a node that \
      hands out events, with `cc74`, `cc1+33` (fourteen bits: the coarse and the fine half), `nrpn1234`, `rpn0`, `noteC4`, \
      `bend`, `pressure` or `pressureC4`, and `@2` behind it for one channel only; the target is what a control turns. \
      Without a range it is the target's own, of a level up to 6dB; it may go downwards. `curve` is `linear`, `log` (equal \
      ratios; usual for frequencies and times), `square`, `root` or `s`. With `takeover=soft`, usual for controllers that \
      stay where they are, it waits until the controller passes the value; with `jump` it does not. `mode=toggle`, usual for \
      notes, changes between both ends with each press; `absolute` lets a note have the upper end as long as it is held. \
      Endless encoders are `mode=relative` (1 up, 127 down), `offset` (65 up, 63 down) or `sign` (1 up, 65 down). `echo` \
      names a `midiout` node through which the controller hears of values that it did not set. `off` takes the map away. \
      What a controller does in one go is one undo.
      """
    ) { arguments in
      guard let (name, course) = arguments.controllerMap else { return .nothing }
      return .edit(.setPatch(.map(name, course)))
    },
    Verb(
      "publish", .file, [.publication],
      """
      Makes a parameter inside a sub-patch one of the sub-patch's own, under a name: `publish tank.time as size` in its \
      file, `publish verb/tank.time as verb/size` from outside. Sub-patches that share a file have each a value of their \
      own. `off` takes the name away.
      """
    ) { arguments in
      guard let (name, target) = arguments.publication else { return .nothing }
      return .edit(.setPatch(.publish(name, target)))
    },
    Verb(
      "scene", .file, [.scene, .sceneChange],
      """
      Stores the present state of nodes, settings and cables as a scene, 1 to 99, under a name; `off` removes it. With an \
      edit (`scene 3 set dist.drive 24dB`) it changes the scene and leaves the patch alone; in a file these lines are what \
      differs from the patch. Tempo, meter, transport, controls, other programs and the connections of inputs and outputs \
      are no part of a scene.
      """
    ) { .edit(.scene($0.scene, $0.sceneChange)) },
    Verb(
      "recall", .edit, [.scene, .option(.over, [.duration])],
      """
      Leads to the state of a scene, as one edit. With `over`, values move there in that time as with `set`, and what comes \
      and goes is crossfaded in that time. Nodes that both states have go on sounding.
      """
    ) { .edit(.recall($0.scene, over: $0.seconds)) },
    Verb(
      "morph", .edit, [.morph, .percent, .option(.over, [.duration])],
      """
      Moves the values that two scenes have in common to a place between them: 0% is the first one, 100% the second. What \
      only one of them has stays as it is. `control 2 morph 1 2` gives it to a control.
      """
    ) { .edit(.morph($0.morph, percent: $0.percent, over: $0.seconds)) },
    Verb(
      "fade", .edit, [.duration],
      """
      The time of the crossfades of all edits on the same line: `fade 2s ; replace dist equalizer`. Without it they take \
      10 ms. Values that `set` moves have a time of their own, `over`.
      """
    ) { .edit(.fade($0.seconds ?? 0)) },
    Verb("header", .edit, [.texts], "The comment at the head of the file.") {
      .edit(.comment(.header, $0.comments))
    },
    Verb("footer", .edit, [.texts], "The comment at the end of the file.") {
      .edit(.comment(.footer, $0.comments))
    },
  ]

  private static let transportModes = Choice(
    "`follow`, `lead`, `midi` or `off`", refusal: "a transport cannot",
    [
      .init(Word("follow", "goes by the server's")) { $0.mode = .follow },
      .init(Word("lead", "gives the server tempo and meter")) { $0.mode = .lead },
      .init(Word("midi", "goes by a MIDI clock")) { $0.mode = .midi },
      .init(Word("off", "leaves the server's alone")) { $0.mode = .off },
    ])

  /// The presets of the verb `matrix`.
  static let matrixPresets = Choice(
    "what it is to do", refusal: "a matrix has no preset",
    [
      .init(Word("identity", "input i to output i")) { $0.change = .identity },
      .init(Word("clear", "nothing to nowhere")) { $0.change = .clear },
      .init(Word("fold", "mono: the mean of the inputs to every output")) { $0.change = .fold },
      .init(Word("spread", "an input to every output, in turn")) { $0.change = .spread },
      .init(
        Word("diagonal", "input i to output i + n"), [.index(noun: "a diagonal", example: "2")],
        meaning: "input i to output i + 2"
      ) { $0.change = $0.numbers[0] == 0 ? .identity : .diagonal($0.numbers[0]) },
      .init(
        Word("map", "which input each output gets"), [.map],
        meaning: "which input each output gets, -1 for none"
      ) { $0.change = .map($0.map ?? ChannelMap([])) },
      .init(
        Word("swap", "two inputs or outputs change places"),
        [.side, .index(noun: "an input or output", example: "0"), .index(noun: "another", example: "1")],
        meaning: "the crosspoints of two inputs; of outputs: swap 0 1"
      ) { $0.change = .swap($0.side, $0.numbers[0], $0.numbers[1]) },
      .init(
        Word("copy", "the crosspoints of one to others"),
        [.side, .index(noun: "an input or output", example: "0"), .span],
        meaning: "the crosspoints of an input to others; of an output: copy out"
      ) { $0.change = .copy($0.side, $0.numbers[0], to: $0.span) },
    ])

  /// Lines of the matrix's presets, with their meaning, for the reference.
  public static let matrixReference: [(line: String, meaning: String)] = matrixPresets.branches.map {
    ("matrix NODE \($0.usage)", $0.meaning)
  }
}
