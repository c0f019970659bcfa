import Patch

/// A word of the grammar, with its completion's description.
struct Word: Hashable, Sendable {
  let text: String
  let help: String

  init(_ text: String, _ help: String = "") {
    self.text = text
    self.help = help
  }

  static let before = Word("before", "the node that follows")
  static let into = Word("into", "the cable to stand in")
  static let together = Word("into", "the new sub-patch")
  static let published = Word("as", "its name at the sub-patch")
  static let unpublished = Word("off", "publishes it no longer")
  static let over = Word("over", "how long it takes")
  static let by = Word("by", "how far a signal of 1 moves the parameter: by 2oct")
  static let bridge = Word("bridge", "join its neighbours")
  static let tail = Word("tail", "let it ring out")
  static let auto = Word("auto", "where the layout puts it")
  static let bar = Word("bar", "a bar, or a beat of one: bar 5.3")
  static let off = Word("off", "ends the take")
  static let morph = Word("morph", "a place between two scenes")
  static let dropped = Word("off", "removes the scene")
  static let none = Word("off", "it turns nothing")
  static let gone = Word("off", "takes the map away")
  static let `default` = Word("default", "as the kind has it")
}

/// One argument of a verb, or a word between arguments. `noun`: its name in "… is missing".
enum Part: Sendable {
  /// Name of a node that exists.
  case node(Nodes = .all, noun: String = "a node")
  /// Names of nodes up to the word `into`.
  case nodes
  /// `NODE.PARAMETER as NAME`, or `NAME off`.
  case publication
  /// Name of a node that there will be.
  case newName(noun: String)
  case kind
  /// Settings of a new node: `key=value…`.
  case settings
  /// `A -> B`; `isNew`: a cable that need not exist.
  case cable(isNew: Bool)
  /// `A -> B`, or a node for all of its cables.
  case cables
  /// Depth, gain, map and mix of a cable.
  case attributes
  /// `node.parameter`, a range, or both with `=value`.
  case setting
  /// Value of the setting, unless that had one.
  case value
  /// Seconds of a change.
  case duration
  /// Seconds from the start of a file.
  case position
  /// `in` or `out` of a matrix; may be left out.
  case side
  /// Number of an input or output, or of a diagonal.
  case index(noun: String, example: String)
  /// Range of inputs or outputs.
  case span
  case map
  /// `COLUMN,ROW` or `auto`.
  case place
  /// A node, a cable or a setting that a comment is about.
  case subject
  /// Texts of a comment.
  case texts
  case key
  /// Loudness of a note's start; may be left out.
  case velocity
  /// MIDI data, 0...127.
  case number(noun: String, usage: String)
  /// -1...1
  case bend
  /// `node` or `node.port`, what is to be recorded.
  case source
  /// A sound file to be written; `mayEnd`: it may be left out, or be `off`.
  case soundFile(mayEnd: Bool)
  /// A time in the past, in minutes too.
  case past
  /// Beats a minute.
  case tempo
  /// Beats of a bar and their note value.
  case meter
  /// A bar or a time, from the start of the piece.
  case moment
  /// `1 NODE.PARAMETER`, `1 A -> B` or `1 off`: a control of the patch; otherwise the parts of a performance.
  case control(otherwise: [Part])
  /// `NODE.cc74 -> NODE.PARAMETER`, with a range and options, or `off`.
  case controllerMap
  /// Number of a scene.
  case scene
  /// Change of a scene: `"NAME"`, `off`, an edit of it, or nothing.
  case sceneChange
  /// Numbers of two scenes.
  case morph
  /// A place between them.
  case percent
  /// A word that must stand here.
  case word(Word)
  /// A word with arguments of its own; all of it may be left out.
  case option(Word, [Part] = [])
  case either(Choice)

  /// Nodes that an argument may name, for completion.
  enum Nodes: Sendable { case all, players, transports, matrices, subPatches }
}

/// Words of which one must stand here.
struct Choice: Sendable {
  struct Branch: Sendable {
    let word: Word
    let form: [Part]
    /// Meaning in the reference, where it says more than the word's help.
    let meaning: String
    /// Called with the arguments of `form`.
    let finish: @Sendable (inout Arguments) -> Void

    init(
      _ word: Word, _ form: [Part] = [], meaning: String? = nil,
      _ finish: @escaping @Sendable (inout Arguments) -> Void = { _ in }
    ) {
      self.word = word
      self.form = form
      self.meaning = meaning ?? word.help
      self.finish = finish
    }

    var usage: String { ([word.text] + form.map(\.usage)).joined(separator: " ") }
  }

  let noun: String
  /// Refusal of another word; nil: the choice counts as missing.
  let refusal: String?
  let branches: [Branch]

  init(_ noun: String, refusal: String? = nil, _ branches: [Branch]) {
    self.noun = noun
    self.refusal = refusal
    self.branches = branches
  }
}

extension Part {
  /// Syntax in the verb's usage.
  var usage: String {
    switch self {
    case .node: "NODE"
    case .newName: "NAME"
    case .nodes: "NODE…"
    case .publication: "NODE.PARAMETER as NAME|NAME off"
    case .kind: "KIND"
    case .settings: "key=value…"
    case .cable: "A -> B"
    case .cables: "A -> B|NODE"
    case .attributes:
      "[by 2oct " + Attribute.ofModulations.map { "[\($0.example)]" }.joined(separator: " ") + "] "
        + Attribute.all.map { "[\($0.example)]" }.joined(separator: " ")
    case .setting: "NODE.PARAMETER"
    case .value: "VALUE"
    case .duration, .position: "2s"
    case .side: "in"
    case .index(_, let example): example
    case .span: "1..3"
    case .map: "[0,-1]"
    case .place: "COLUMN,ROW"
    case .subject: "NODE"
    case .texts: "\"text\"…"
    case .key: "KEY"
    case .velocity: "[VELOCITY]"
    case .number(_, let usage): usage
    case .bend: "-1…1"
    case .source: "NODE[.PORT]"
    case .soundFile(let mayEnd): mayEnd ? "[FILE|off]" : "FILE"
    case .past: "5min"
    case .tempo: "120"
    case .meter: "3/4"
    case .moment: "bar 5|2m30s"
    case .controllerMap:
      "NODE.cc74 -> NODE.PARAMETER|A -> B [LOW..HIGH|off] "
        + MapOption.all.map { "[\($0.example)]" }.joined(separator: " ")
    case .control(let form):
      "1 NODE.PARAMETER|A -> B|morph 1 2|off, or " + form.map(\.usage).joined(separator: " ")
    case .scene: "3"
    case .morph: "1 2"
    case .percent: "40%"
    case .sceneChange: "[\"NAME\"|off|EDIT]"
    case .word(let word): word.text
    case .option(let word, let form): "[" + ([word.text] + form.map(\.usage)).joined(separator: " ") + "]"
    case .either(let choice): choice.branches.map(\.usage).joined(separator: "|")
    }
  }

  /// Words that the part knows.
  var words: [String] {
    switch self {
    case .attributes: [Word.by.text] + (Attribute.ofModulations + Attribute.all).map { $0.name + "=" }
    case .side: ["in", "out"]
    case .value: [Word.default.text]
    case .place: [Word.auto.text]
    case .texts: ["after"]
    case .soundFile(mayEnd: true): [Word.off.text]
    case .moment: [Word.bar.text]
    case .controllerMap: [Word.gone.text] + MapOption.all.map { $0.name + "=" }
    case .control(let form): [Word.none.text, Word.morph.text] + form.flatMap(\.words)
    case .sceneChange: [Word.dropped.text]
    case .publication: [Word.published.text, Word.unpublished.text]
    case .word(let word): [word.text]
    case .option(let word, let form): [word.text] + form.flatMap(\.words)
    case .either(let choice): choice.branches.flatMap { [$0.word.text] + $0.form.flatMap(\.words) }
    default: []
    }
  }
}

/// A property of a cable in its line.
struct Attribute: Sendable {
  let name: String
  let example: String
  let help: String
  /// Beginning of every value.
  var opening = ""
  /// Values to choose from.
  var choices: [String] = []

  static let offset = Attribute(
    name: "offset", example: "offset=1oct", help: "moves the parameter besides, whatever the signal")
  static let curve = Attribute(
    name: "curve", example: "curve=log", help: "the way between a signal of 0 and one of 1",
    choices: Modulation.Curve.allCases.map(\.rawValue))
  /// Properties of a modulation, which stand behind its depth.
  static let ofModulations = [offset, curve]

  static let all = [
    Attribute(name: "gain", example: "gain=-3dB", help: "decibels, -inf to 60dB"),
    Attribute(
      name: "map", example: "map=[0,1]", help: "a source channel for each channel, -1 for none", opening: "["),
    Attribute(
      name: "mix", example: "mix=discrete", help: "speakers or discrete",
      choices: ChannelMixing.allCases.map(\.rawValue)),
  ]
}
