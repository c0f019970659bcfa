import Patch
import PatchLanguage

/// Random edits; some will be refused.
public struct RandomEdits {
  /// The source of chance.
  public var random: SeededGenerator
  private var counter = 0
  /// Files of sub-patches; with them more edits are about these, and about scenes.
  private let files: [String]
  private let catalogue: KindCatalogue

  /// Edits of nodes of these kinds.
  public init(seed: UInt64, files: [String] = [], catalogue: KindCatalogue) {
    random = SeededGenerator(seed: seed)
    self.files = files
    self.catalogue = catalogue
  }

  /// Texts of patches to which edits lead from one, each as a reading finds it: edits inside a file are lost. The last one
  /// that is saved with another text than it is read from; nil: none.
  public mutating func texts(
    _ count: Int, from start: String, file: String
  ) -> (texts: [String], unstable: String?) {
    func read(_ text: String) -> (patch: Patch, isWhole: Bool) {
      let (patch, found) = PatchReader.read(text, file: file, catalogue: catalogue)
      return (patch, !found.contains { $0.severity == .error })
    }
    func text(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: catalogue) }
    var patch = read(start).patch
    var (texts, unstable): ([String], String?) = ([], nil)
    var steps = 0
    while texts.count < count {
      guard let change = try? patch.applying(next(for: patch), catalogue: catalogue) else { continue }
      let (again, isWhole) = read(text(change.patch))
      if !isWhole { continue }
      patch = again
      steps += 1
      if steps % 12 > 0 { continue }
      let found = text(patch)
      if text(read(found).patch) == found { texts.append(found) } else { unstable = found }
    }
    return (texts, unstable)
  }

  private mutating func pick<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  /// The next edit, which may be refused.
  public mutating func next(for patch: Patch) -> Edit {
    let names = patch.names
    if names.count < 3 { return add(names) }
    let name = pick(names)
    if !files.isEmpty, chance(25) { return chance(50) ? ofSubPatch(patch) : ofScene(patch) }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: return names.count > 25 ? .remove(name, bridge: true) : add(names)
    case 12..<18: return .remove(name, bridge: chance(50), tail: chance(25))
    case 18..<26: return .replace(name, with: node(named: name))
    case 26..<32: return .insert(node(named: fresh()), into: cable(in: patch) ?? CableName(name, pick(names)))
    case 32..<35: return .rename(name, to: fresh())
    case 35: return .copy(name, to: chance(80) ? fresh() : pick(names))
    case 36: return .move(name, before: chance(30) ? nil : pick(names))
    case 37..<60: return connect(in: patch, names)
    case 60: return .isolate(name)
    case 61..<66: return .disconnect(cable(in: patch) ?? CableName(name, pick(names)))
    case 66..<82: return set(name, patch)
    case 82..<86: return matrix(name, patch)
    case 86..<91: return .comment(subject(name, patch), comments())
    case 91: return ofScene(patch)
    case 92: return .setPatch(patchSetting(name, patch))
    case 93: return chance(40) ? .recall(Int.random(in: 1...3, using: &random), over: nil) : ofScene(patch)
    case 94..<96: return .place(name, chance(30) ? nil : Place(column: pick([-1, 0, 3]), row: pick([0, 7])))
    case 96:
      if chance(60) { return .collapse([name, pick(names)], into: fresh()) }
      return .expand(
        patch.nodes.values.filter { $0.kind == "patch" }.randomElement(using: &random)?.name ?? name)
    default: return .all((0..<Int.random(in: 1...4, using: &random)).map { _ in next(for: patch) })
    }
  }

  /// A sub-patch takes another file, none any more, or a value of what it publishes; or something is inside.
  private mutating func ofSubPatch(_ patch: Patch) -> Edit {
    guard let name = patch.nodes.values.filter({ $0.kind == "patch" }).randomElement(using: &random)?.name
    else { return .add(Node(name: fresh(), kind: "patch", settings: file()), before: nil) }
    let inside = patch.names.filter { $0.hasPrefix(name + "/") }
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return .set(name, ParameterPath("file"), nil, over: nil)
    case 2, 3: return .set(name, ParameterPath("file"), file().values.first, over: nil)
    case 4: return .set(name, ParameterPath("size"), .number(pick([0.003, 0.25, 2]), .seconds), over: nil)
    case 5: return .add(node(named: name + "/" + fresh()), before: nil)
    case 6: return inside.isEmpty ? .expand(name) : .rename(pick(inside), to: name + "/" + fresh())
    case 7: return .rename(name, to: fresh())
    case 8: return .replace(name, with: Node(name: name, kind: "patch", settings: file()))
    default: return inside.isEmpty ? .isolate(name) : set(pick(inside), patch)
    }
  }

  private mutating func file() -> [ParameterPath: Value] {
    chance(20) ? [:] : [ParameterPath("file"): .text(pick(files))]
  }

  private mutating func ofScene(_ patch: Patch) -> Edit {
    let number = Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .scene(number, .drop)
    case 1: return .recall(number, over: pick([0, 0.2, 3]))
    case 2: return .morph(Morph(number, 1), percent: pick([0, 33, 100]), over: pick([nil, 0.2]))
    case 3: return .fade(pick([0.5, -1]))
    case 4..<8: return .scene(number, .edit(next(for: patch.scenes[number]?.state ?? patch)))
    default: return .scene(number, .store(name: pick([nil, "", "break", "two \"words\" ; #", "é\n"])))
    }
  }

  private mutating func patchSetting(_ name: String, _ patch: Patch) -> PatchSetting {
    switch Int.random(in: 0..<9, using: &random) {
    case 6, 7: map(name, patch)
    case 8:
      .publish(
        patch.settings.publications.keys.sorted().first.flatMap { chance(50) ? $0 : nil } ?? name + "/"
          + fresh(),
        chance(20) ? nil : .setting(name, ParameterPath("level")))
    case 0: .tempo(pick([120, 97.5, 4.9, 999]))
    case 1: .meter(Meter(beats: pick([3, 4, 7, 0]), unit: pick([4, 8, 5])))
    case 2: .transport(pick(TransportMode.allCases))
    case 3: .control(Int.random(in: 0...9, using: &random), cable(in: patch).map { .gain($0) })
    default:
      .control(
        Int.random(in: 1...8, using: &random),
        chance(20)
          ? nil
          : .setting(
            name,
            patch[named: name].flatMap { catalogue[$0.kind]?.parameters.randomElement(using: &random) }.map {
              ParameterPath($0.name, $0.dimensions.map { _ in 0 })
            } ?? ParameterPath("gain")))
    }
  }

  /// A map that may be new, another course of one that is there, or none any more. Ranges mean the same whatever they are for.
  private mutating func map(_ name: String, _ patch: Patch) -> PatchSetting {
    if chance(40), let known = patch.settings.maps.keys.sorted().randomElement(using: &random) {
      return .map(known, chance(50) ? nil : course(patch))
    }
    let senders: [MapSource.Sender] = [
      .controller(74), .controller(7), .fine(1, 33), .nrpn(1234), .rpn(0), .note(61), .bend, .pressure,
      .keyPressure(0),
    ]
    let target: ControlTarget =
      if chance(30), let cable = cable(in: patch) {
        .gain(cable)
      } else {
        .setting(name, pick([ParameterPath("level"), ParameterPath("drive"), ParameterPath("", [0, 1])]))
      }
    let source = MapSource(pick(patch.names), pick(senders), channel: chance(20) ? pick([1, 16]) : nil)
    return .map(MapName(source, target), chance(10) ? nil : course(patch))
  }

  private mutating func course(_ patch: Patch) -> MapCourse {
    var course = MapCourse()
    if chance(60) {
      let ends = pick([("-6dB", "0dB"), ("0dB", "-6dB"), ("200Hz", "8kHz"), ("off", "on"), ("1s", "100ms")])
      course.ends = MapCourse.Ends(ends.0, ends.1)
    }
    if chance(40) { course.curve = pick(MapCourse.Curve.allCases) }
    if chance(40) { course.mode = pick(MapCourse.Mode.allCases) }
    if chance(40) { course.takeover = pick(MapCourse.Takeover.allCases) }
    if chance(20) { course.echo = pick(patch.names) }
    return course
  }

  private mutating func fresh() -> String {
    counter += 1
    return pick(["n", "osc-", "é", "before"]) + String(counter)
  }

  private mutating func add(_ names: [String]) -> Edit {
    .add(node(named: fresh()), before: names.isEmpty || chance(50) ? nil : pick(names))
  }

  private mutating func node(named name: String) -> Node {
    let kind = pick(catalogue.kinds)
    var node = Node(name: name, kind: kind.name)
    for _ in 0..<Int.random(in: 0...2, using: &random) where !kind.parameters.isEmpty {
      let parameter = pick(kind.parameters)
      if parameter.dimensions.isEmpty { node.settings[ParameterPath(parameter.name)] = value(for: parameter) }
    }
    if kind.isContainer, !files.isEmpty { node.settings = file() }
    if chance(10) { node.comments = comments() }
    return node
  }

  private mutating func value(for parameter: ParameterDescription) -> Value {
    switch parameter.form {
    case .continuous:
      if parameter.takesNotes, chance(25) {
        let note = Value.number(pick([0.125, 0.1875, 1.0 / 12, 3, 7.0 / 128]), .notes)
        return parameter.isPerChannel && chance(30) ? .list([note, parameter.defaultValue]) : note
      }
      let low = max(parameter.range.lowerBound, -1000)
      let number = Double.random(in: low...parameter.range.upperBound, using: &random)
      let value = Value.number(chance(50) ? number.rounded() : number, parameter.unit)
      if parameter.isPerChannel, chance(30) { return .list([value, value, parameter.defaultValue]) }
      return chance(10) ? .number(-.infinity, .decibels) : chance(10) ? parameter.defaultValue : value
    case .integer: return .number(Double(Int.random(in: 1...6, using: &random)), .none)
    case .toggle: return .text(pick(["on", "off"]))
    case .choice(let words): return .text(pick(words))
    case .file, .text:
      return .text(
        pick(["a.wav", "two words.sfz", "", "12", "C4", "a;b", "x \"y\" \\ z", "line\nbreak", "-> #"]))
    }
  }

  private mutating func set(_ name: String, _ patch: Patch) -> Edit {
    guard let node = patch[named: name], let kind = catalogue[node.kind], !kind.parameters.isEmpty else {
      return .set(name, ParameterPath("nothing"), .text("1"), over: nil)
    }
    let parameter = pick(kind.parameters)
    let indices = parameter.dimensions.map { _ in Int.random(in: 0..<4, using: &random) }
    let path = ParameterPath(parameter.name, indices)
    return .set(name, path, chance(15) ? nil : value(for: parameter), over: chance(10) ? 0.5 : nil)
  }

  /// Many crosspoints at once, of a matrix if there is one.
  private mutating func matrix(_ name: String, _ patch: Patch) -> Edit {
    let name = patch.nodes.values.filter { $0.kind == "matrix" }.randomElement(using: &random)?.name ?? name
    func index() -> Int { Int.random(in: 0..<3, using: &random) }
    func span() -> ParameterRange.Span { chance(30) ? .all : ParameterRange.Span(0, index()) }
    let over = chance(20) ? 0.5 : nil
    let side = pick(MatrixChange.Side.allCases)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .matrix(name, pick([.identity, .clear, .fold, .spread, .diagonal(1)]), over: over)
    case 1: return .matrix(name, .map(ChannelMap(pick([[1, 0], [-1, 1], [0]]))), over: over)
    case 2:
      return .matrix(
        name, chance(50) ? .swap(side, index(), 1) : .copy(side, index(), to: span()), over: over)
    default:
      let range = ParameterRange(pick(["", "mute"]), [span(), span()])
      let value: Value? = range.name.isEmpty ? .number(-6, .decibels) : .text(pick(["on", "off"]))
      return .setRange(name, range, chance(20) ? nil : value, over: over)
    }
  }

  private mutating func connect(in patch: Patch, _ names: [String]) -> Edit {
    var name = CableName(pick(names), pick(names))
    if chance(20) { name.source.port = pick(["out", "reduction"]) }
    if chance(30) {
      name.destination.port = pick([
        "in", "sidechain", "drive", "freq", "level", "time", "master", "[0,1]", "[1,0]", "in[1]", "out[0]",
      ])
    }
    return .connect(
      name,
      CableSettings(
        gain: pick([0, 0, 0, -3, -6.25, -.infinity]),
        map: chance(20) ? ChannelMap(pick([[0, 1], [1, 0, -1]])) : nil,
        mixing: chance(10) ? .discrete : .speakers, modulation: chance(30) ? modulation() : nil))
  }

  private mutating func modulation() -> Modulation {
    Modulation(
      depth(), offset: chance(30) ? depth() : nil,
      curve: chance(30) ? pick(Modulation.Curve.allCases) : .linear)
  }

  private mutating func depth() -> Value {
    .number(
      pick([0, 1, -2, 0.25, 100]),
      pick([.none, .octaves, .semitones, .cents, .hertz, .decibels, .seconds, .percent]))
  }

  private mutating func cable(in patch: Patch) -> CableName? {
    let cables = patch.orderedCables(catalogue: catalogue)
    return cables.isEmpty ? nil : patch.name(of: pick(cables).ends)
  }

  private mutating func subject(_ name: String, _ patch: Patch) -> Subject {
    switch Int.random(in: 0..<7, using: &random) {
    case 5: return .patchSetting(pick(patch.settings.names))
    case 6: if let number = patch.scenes.keys.sorted().first { return .scene(number) }
    case 0: return .header
    case 1: return .footer
    case 2: if let cable = cable(in: patch) { return .cable(cable) }
    case 3: if patch[named: name]?.place != nil { return .layout(name) }
    case 4:
      if let node = patch[named: name], let path = node.settings.keys.sorted().first {
        return .setting(name, path)
      }
      if let kind = patch[named: name].flatMap({ catalogue[$0.kind] }), let parameter = kind.parameters.first
      {
        return .setting(name, ParameterPath(parameter.name, parameter.dimensions.map { _ in 0 }))
      }
    default: break
    }
    return .node(name)
  }

  private mutating func comments() -> Comments {
    let lines = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      pick(["why", "# twice", "  indented", "", "é -> \"x\" ; y"])
    }
    return Comments(before: lines, after: chance(40) ? pick(["after", "see # above"]) : nil)
  }
}
