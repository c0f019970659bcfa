import Engine
import Patch

/// A line of the language, and the number of frames rendered before it.
public struct Step: CustomStringConvertible {
  public var frames: Int
  public var line: String

  public init(frames: Int, line: String) {
    self.frames = frames
    self.line = line
  }

  public var description: String { "+\(frames) \(line)" }
}

/// Random lines that are legal in sequence, from a seed.
public struct RandomLines {
  private var random: SeededGenerator
  /// The patch after the lines so far.
  public var draft: Draft
  private var count = 0
  /// Kinds of new nodes.
  private let kinds: [String]
  /// Nodes that stay as they are; only cables from them change.
  private let kept: Set<String>
  /// Nodes that stay; their cables may change.
  private let standing: Set<String>
  /// Node that receives notes.
  private let played: String?
  /// Allows cables in cycles. Otherwise removed cables count as well, since they may still fade.
  private let makesCycles: Bool
  /// Minimum duration of an `over` move, in milliseconds.
  private let shortestMove: Int
  /// Also sets and modulates parameters whose change alters the timbre; otherwise only gains and positions.
  private let turnsKnobs: Bool
  /// Also stores and recalls scenes.
  private let storesScenes: Bool
  private var joined: Set<[NodeID]> = []
  /// Node of the previous line: people work on one node for a while.
  private var focus: String?
  /// Node that was replaced last, and its kind before: people also change their minds.
  private var replaced: (node: String, kind: String)?
  private static let mostNodes = 14

  public static let effects = KindRegistry.builtIn.catalogue.kinds
    .filter {
      $0.category == .effect || $0.category == .mixing || $0.category == .modulation && !$0.inputs.isEmpty
    }.map(\.name)
  /// Effects without those that decide by a threshold, which make another sound of a difference in the last digit.
  public static let smooth = effects.filter {
    ![
      "bitcrusher", "comparator", "divider", "envelope", "euclid", "expr", "logic", "quantizer", "random",
      "samplehold",
      "sequencer",
    ].contains($0)
  }
  public static let sounding = effects + ["oscillator", "noise", "constant", "lfo"]

  public init(
    seed: UInt64, of patch: Patch, kinds: [String] = effects, keeping kept: Set<String> = [],
    standing: Set<String> = ["out"], playing played: String? = nil, makesCycles: Bool = true,
    shortestMove: Int = 0, turnsKnobs: Bool = true, storesScenes: Bool = false
  ) {
    random = SeededGenerator(seed: seed)
    draft = Draft(patch)
    self.kinds = kinds
    self.kept = kept
    self.standing = standing
    self.played = played
    self.makesCycles = makesCycles
    self.shortestMove = shortestMove
    self.turnsKnobs = turnsKnobs
    self.storesScenes = storesScenes
    joined = Self.joined(by: patch)
  }

  /// `count` steps, up to `mostFrames` frames apart.
  public static func steps(_ count: Int, mostFrames: Int, from lines: RandomLines) -> [Step] {
    var lines = lines
    return (0..<count).map { _ in
      let frames = Int.random(in: 0...mostFrames, using: &lines.random)
      return Step(frames: frames, line: lines.next())
    }
  }

  /// The next line: one that changes the patch, or plays.
  public mutating func next() -> String {
    while true {
      let line = candidate()
      var trial = draft
      switch trial.perform(line) {
      case .unchanged, .refused: continue
      case .performed: return line
      case .edited:
        let union = joined.union(Self.joined(by: trial.patch))
        if !makesCycles, Self.hasCycle(union) { continue }
        joined = union
        draft = trial
        return line
      }
    }
  }

  private mutating func pick<T>(_ values: [T]) -> T? { values.randomElement(using: &random) }

  private mutating func candidate() -> String {
    let patch = draft.patch
    let names = patch.names
    let sinks = names.filter { !kept.contains($0) }
    let free = sinks.filter { !standing.contains($0) }
    let sources = names.filter { patch[named: $0]?.kind != "output" }
    let isNear = Int.random(in: 0..<3, using: &random) == 0
    let cables = patch.cables.keys.map { patch.name(of: $0) }.filter { !kept.contains($0.destination.node) }
    let near = isNear ? cables.filter { $0.source.node == focus || $0.destination.node == focus } : []
    let kind = sized(pick(kinds) ?? "gain")
    let node = isNear && free.contains(focus ?? "") ? focus! : pick(free) ?? "none"
    let sink = isNear && sinks.contains(focus ?? "") ? focus! : pick(sinks) ?? "none"
    focus = isNear ? sink : node
    let source = pick(sources) ?? "none"
    let cable = pick((near.isEmpty ? cables : near).map(\.description).sorted()) ?? "none -> none"
    let gain = Int.random(in: -30 ... -3, using: &random)
    count += 1
    if played != nil, Int.random(in: 0..<8, using: &random) == 0 { return playing() }
    if storesScenes, Int.random(in: 0..<6, using: &random) == 0 { return ofScenes(cable) }
    // A large patch shrinks again.
    switch Int.random(in: free.count > Self.mostNodes ? 3...22 : 0...22, using: &random) {
    case 0: return "node n\(count) \(kind) ; connect \(source) -> n\(count) gain=\(gain)dB"
    case 1, 2: return "insert n\(count) \(kind) into \(cable)"
    case 3: return "remove \(node) bridge"
    case 4: return "remove \(node)\(count % 2 == 0 ? " tail" : "")"
    case 5:
      if let back = replaced, free.contains(back.node), Bool.random(using: &random) {
        return "replace \(back.node) \(back.kind)"
      }
      if let kind = patch[named: node]?.kind { replaced = (node, kind) }
      return "replace \(node) \(kind)"
    case 6, 7, 8: return "connect \(output(of: source)) -> \(sink) gain=\(gain)dB"
    case 9: return "connect \(source) -> \(sink) map=[\(count % 2),\(count % 3 - 1)]"
    case 17: return "connect \(source) -> \(sink) gain=\(gain)dB \(spreading())"
    case 18: return "connect \(cable) \(spreading())"
    case 19: return "connect \(output(of: source)) -> \(modulation(of: sink)) gain=\(gain)dB \(spreading())"
    case 10: return "disconnect \(cable)"
    case 11: return "rename \(node) r\(count)"
    case 12: return "set \(setting(of: sink)) over \(max(count % 40, shortestMove))ms"
    case 13, 14: return "set \(setting(of: sink))"
    case 22: return "tempo \(Int.random(in: 40...240, using: &random))"
    default: return Bool.random(using: &random) ? "undo" : "redo"
    }
  }

  /// A node; every other time one of its optional outputs.
  private mutating func output(of name: String) -> String {
    let kind = draft.patch[named: name].flatMap { KindRegistry.builtIn.catalogue[$0.kind] }
    guard let outputs = kind?.outputs.filter(\.isOptional), !outputs.isEmpty, Bool.random(using: &random),
      let output = pick(outputs)
    else { return name }
    return "\(name).\(output.name)"
  }

  /// A kind, with a random channel count where that is a setting.
  private mutating func sized(_ kind: String) -> String {
    switch kind {
    case "matrix" where Bool.random(using: &random):
      "matrix inputs=\(Int.random(in: 1...6, using: &random)) outputs=\(Int.random(in: 1...6, using: &random))"
    case "oscillator", "noise", "constant", "lfo": "\(kind) channels=\(pick([1, 1, 2, 3, 4, 6]) ?? 1)"
    default: kind
    }
  }

  /// Channel mapping of a cable: by the speaker rules, 1:1, or by a map of any length, with channels repeated
  /// or missing.
  private mutating func spreading() -> String {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return ""
    case 1: return "mix=discrete"
    default:
      let map = (0..<Int.random(in: 1...5, using: &random)).map { _ in pick([-1, 0, 0, 1, 1, 2, 3]) ?? 0 }
      return "map=[\(map.map(String.init).joined(separator: ","))]"
    }
  }

  private func isTurned(_ parameter: ParameterDescription) -> Bool {
    turnsKnobs || parameter.unit == .decibels || parameter.smoothing == .structural || parameter.name == "pan"
  }

  /// A parameter's port, every other time with a depth in one of its units.
  private mutating func modulation(of name: String) -> String {
    let kind = draft.patch[named: name].flatMap { KindRegistry.builtIn.catalogue[$0.kind] }
    let ports =
      kind?.parameters.filter {
        KindDescription.isPort($0) && (turnsKnobs || $0.unit == .decibels)
      } ?? []
    guard let parameter = pick(ports), let kind, let node = draft.patch[named: name] else {
      return "\(name).none"
    }
    var indices: [Int] = []
    for dimension in parameter.dimensions {
      indices.append(Int.random(in: 0..<kind.count(dimension, of: node), using: &random))
    }
    let port = name + ParameterPath(parameter.name, indices).suffix
    guard Bool.random(using: &random), let unit = pick(parameter.depthUnits) else { return port }
    let depth = Value.number((Double.random(in: -2...2, using: &random) * 64).rounded() / 64, unit)
    return "\(port) by \(depth.line)"
  }

  private mutating func ofScenes(_ cable: String) -> String {
    let number = Int.random(in: 1...3, using: &random)
    let time = max(count % 150, shortestMove)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "scene \(number)"
    case 1: return "scene \(number) \"of \(count)\""
    case 2: return "recall \(number)"
    case 3, 4: return "recall \(number) over \(time)ms"
    case 5: return "morph \(number) \(number % 3 + 1) \(count % 101)%"
    case 6: return "scene \(number) disconnect \(cable)"
    default: return "fade \(time)ms ; disconnect \(cable)"
    }
  }

  private mutating func playing() -> String {
    guard let played else { return "" }
    let key = Int.random(in: 48...72, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1: return "note \(played) off \(key)"
    case 2: return "pedal \(played) sustain \(Bool.random(using: &random) ? "on" : "off")"
    default: return "note \(played) on \(key) 90"
    }
  }

  /// A legal value for some parameter of a node.
  private mutating func setting(of name: String) -> String {
    guard let node = draft.patch[named: name], let kind = KindRegistry.builtIn.catalogue[node.kind],
      let parameter = pick(kind.parameters.filter(isTurned))
    else { return "none.none 0" }
    let place = parameter.dimensions.isEmpty ? "" : parameter.dimensions.count > 1 ? "[0,1]" : "[0]"
    let path = "\(name).\(parameter.name)\(place)"
    switch parameter.form {
    case .choice(let words): return "\(path) \(pick(words) ?? "")"
    case .toggle: return "\(path) \(Bool.random(using: &random) ? "on" : "off")"
    case .integer: return "\(path) \(Int.random(in: 1...4, using: &random))"
    case .continuous:
      if Int.random(in: 0..<8, using: &random) == 0, parameter.dimensions.isEmpty { return "\(path) default" }
      let low = max(parameter.range.lowerBound, -40)
      let high = max(low, min(parameter.range.upperBound, parameter.unit == .decibels ? 0 : 2000))
      let isList = parameter.isPerChannel && Int.random(in: 0..<3, using: &random) == 0
      let notes = ["1/64", "1/16t", "1/8", "3/16", "1/4", "5/4"].filter {
        parameter.takesNotes
          && !parameter.holds(Value(number: $0)!, wholeNote: draft.patch.settings.wholeNote)
      }
      if Int.random(in: 0..<4, using: &random) == 0, let note = pick(notes) {
        return "\(path) \(isList ? "[\(note),\(low),\(note)]" : note)"
      }
      let values = (0..<(isList ? Int.random(in: 1...4, using: &random) : 1)).map { _ in
        "\(Double.random(in: low...high, using: &random))\(parameter.unit == .decibels ? "dB" : "")"
      }
      return "\(path) \(isList ? "[\(values.joined(separator: ","))]" : values[0])"
    case .file, .text: return "none.none 0"
    }
  }

  /// Source and destination of each cable.
  private static func joined(by patch: Patch) -> Set<[NodeID]> {
    Set(patch.cables.keys.map { [$0.source.node, $0.destination.node] })
  }

  private static func hasCycle(_ cables: Set<[NodeID]>) -> Bool {
    var inputs: [NodeID: Int] = [:]
    var outputs: [NodeID: [NodeID]] = [:]
    for cable in cables {
      inputs[cable[1], default: 0] += 1
      outputs[cable[0], default: []].append(cable[1])
    }
    var ready = outputs.keys.filter { inputs[$0] == nil }
    while let node = ready.popLast() {
      for next in outputs[node] ?? [] {
        inputs[next]! -= 1
        if inputs[next] == 0 { ready.append(next) }
      }
    }
    return inputs.values.contains { $0 > 0 }
  }
}
