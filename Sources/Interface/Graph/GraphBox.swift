import Engine
import Patch
import Screen
import Session

/// A node's box: its contents, its size, and the rows of its ports.
struct GraphBox {
  /// Amount of detail in the boxes.
  enum Detail: Hashable {
    case full
    /// Fewer lines, and at most this many columns of text.
    case compact(Int)
    /// Name and kind only.
    case small

    /// Maximum columns of text in a box.
    var columns: Int {
      switch self {
      case .full: 22
      case .compact(let columns): columns
      case .small: 12
      }
    }
  }

  struct Port {
    var name: String
    /// Row from the top of the box.
    var row: Int
  }

  enum Line {
    case setting(String, String)
    /// Name, and the channel of the face's port; nil: the loudest of the node's own.
    case meter(String, Int?)
    /// A channel that the driver lacks.
    case lacking(String)
    case text(String, ThemeKey)
    /// Names of ports at the left and the right edge.
    case ports(String, String)
  }

  let id: NodeID
  let name: String
  /// Contents of its first row.
  var kind: String
  var lines: [Line] = []
  /// Text on its lower edge, at the left and at the right.
  var footer = ""
  var count = ""
  var state: NodeReport.State?
  /// Number of an endpoint's channels, counted from the last, that the driver lacks.
  var lackingChannels = 0
  var isUnheard = false
  /// Sound card of its own.
  var card: CardState?
  /// Another program that does not run.
  var isGhost = false
  /// Another program that is no part of the patch.
  var isFound = false
  /// Number of meters beside the kind: none if the lines have meters already.
  var meterCount = 0
  var inputs: [Port] = []
  var outputs: [Port] = []
  var place: Place?
  /// Settings that controllers move.
  private var mapped: Set<ParameterPath> = []
  /// Size by its contents; boxes in a column have equal width in the picture.
  private(set) var size = Size(columns: 0, rows: 0)
  /// Sources of the contents, besides the patch.
  let shape: Shape
  /// Its node's place in the report.
  private let report: Int?

  /// Facts of a report that contents depend on. Levels are none of them: they are looked up when a box is drawn, so that
  /// only the visible boxes cost anything.
  struct Shape: Equatable {
    private let state: NodeReport.State?
    private let voices: Int
    private let polyphony: Int
    private let lackingChannels: Int
    private let readings: [ReadingReport]
    private let file: String?
    private let loading: FileLoad?
    private let isUnheard: Bool
    private let card: CardState?
    private let held: Set<UInt8>
    private let gain: Float?

    /// `isLeaving`: the patch no longer has the node.
    init(_ report: NodeReport?, _ view: ViewState, isLeaving: Bool) {
      state = report.map { Self.shown($0.state) }
      voices = report?.voices ?? 0
      polyphony = report?.polyphony ?? 0
      lackingChannels = report?.lackingChannels ?? 0
      readings = report?.readings ?? []
      file = report?.file
      loading = report?.loading
      isUnheard = report?.isUnheard ?? false
      card = report?.card
      held = view.play.held
      gain = isLeaving ? report.flatMap(Self.gain) : nil
    }

    /// True while nothing of it has changed. It compares in place: this is asked of every node many times a second.
    func isSame(as report: UnsafePointer<NodeReport>?, _ view: ViewState) -> Bool {
      guard held == view.play.held else { return false }
      guard let report else { return state == nil }
      return voices == report.pointee.voices && lackingChannels == report.pointee.lackingChannels
        && isUnheard == report.pointee.isUnheard && polyphony == report.pointee.polyphony
        && readings == report.pointee.readings && file == report.pointee.file
        && loading == report.pointee.loading && card == report.pointee.card
        && state == Self.shown(report.pointee.state)
        && (gain == nil || gain == Self.gain(report.pointee))
    }

    /// Without what boxes do not show: silence, and the time left of a tail.
    private static func shown(_ state: NodeReport.State) -> NodeReport.State {
      switch state {
      case .silent: .active
      case .ringing: .ringing(secondsLeft: 0)
      default: state
      }
    }

    private static func gain(_ report: NodeReport) -> Float? {
      report.inputs.flatMap(\.cables).map(\.gain).max()
    }
  }

  var isLeaving: Bool {
    switch state {
    case .leaving?, .ringing?: true
    default: false
    }
  }
  var isTroubled: Bool {
    switch state {
    case .placeholder?, .muted?: true
    default: false
    }
  }

  /// `report`: the node's place in the scene's report.
  init(
    _ id: NodeID, _ scene: Scene, _ view: ViewState, report place: Int?, inputs used: Set<String>,
    outputs usedOutputs: Set<String>, _ detail: Detail
  ) {
    report = place
    let report = place.map { scene.report.nodes[$0] }
    shape = Shape(report, view, isLeaving: scene.patch[id] == nil)
    let node = scene.patch[id]
    self.id = id
    name = node?.name ?? report?.name ?? ""
    let shown = node ?? Node(id: id, name: name, kind: report?.kind ?? "")
    let facts = NodeFacts(shown, scene.catalogue)
    mapped = node.map { scene.patch.mapped(of: $0.name) } ?? []
    kind = detail == .full ? facts.kindText : facts.kindText.substituting(" × ", with: "×")
    state = report?.state
    lackingChannels = report?.lackingChannels ?? 0
    isUnheard = report?.isUnheard ?? false
    card = report?.card
    self.place = node?.place
    fillFooter(report, facts, detail)
    if let program = scene.programs[id] {
      fill(program, shown, used, usedOutputs, view, detail)
    } else if node != nil {
      fillLines(report, facts, scene, view, detail)
    } else if let gain = report?.inputs.flatMap(\.cables).map(\.gain).max() {
      lines = [.text("\(detail == .full ? "now " : "")\(Printout.decibels(gain)) dB", .dim)]
    }
    if detail == .small { lines = [] }
    if detail != .full {
      lines = lines.map { line in
        guard case .setting(let name, let value) = line else { return line }
        return .setting(name, value.substituting(".0 ", with: " "))
      }
    }
    if scene.programs[id] == nil { placePorts(facts, used, usedOutputs, detail) }
    let hasMeters = lines.contains { if case .meter = $0 { true } else { false } }
    // Where the lines show the inputs, the outputs stand beside the kind.
    let hasSides =
      facts.kind.map { !$0.inputs.isEmpty && !$0.outputs.isEmpty && $0.face.isOfChannels } ?? false
    if !isLeaving, !hasMeters || hasSides {
      // With little room, text takes precedence over meters.
      let most = detail == .full ? 4 : min(2, max(0, detail.columns - kind.count - 1))
      meterCount = min(most, report.map { peaks($0, scene).count } ?? 0)
    }
    let content = lines.map { Self.width($0) }.max() ?? 0
    let inner =
      [
        detail == .full ? 13 : 7, content, kind.count + (meterCount == 0 ? 0 : 1 + meterCount),
        name.count, footer.count + (count.isEmpty ? 0 : 1 + count.count),
      ].max() ?? 0
    size = Size(columns: min(inner, detail.columns) + 4, rows: lines.count + 3)
  }

  /// True when the other one takes the same place in the graph, with its ports in the same rows.
  func hasSameForm(as other: GraphBox) -> Bool {
    size == other.size && inputs.map(\.row) == other.inputs.map(\.row)
      && outputs.map(\.row) == other.outputs.map(\.row)
  }

  // MARK: Levels

  /// Peaks of the output, or of the input if there is none, as far as the driver has them.
  func peaks(_ scene: Scene) -> [Float] { report.map { peaks(scene.report.nodes[$0], scene) } ?? [] }

  /// Peaks of the port whose channels the lines show.
  func facePeaks(_ scene: Scene) -> [Float] {
    guard let report else { return [] }
    let node = scene.report.nodes[report]
    guard let port = Self.facePort(node, scene) else { return [] }
    return Self.hasNoInputs(node, scene) ? port.peaks : scene.levels(ofInput: port).peaks
  }

  private func peaks(_ report: NodeReport, _ scene: Scene) -> [Float] {
    let peaks =
      report.outputs.first { !$0.isEvents }?.peaks
      ?? report.inputs.first { !$0.isEvents }.map { scene.levels(ofInput: $0).peaks } ?? []
    return peaks.dropLast(lackingChannels)
  }

  private static func facePort(_ report: NodeReport?, _ scene: Scene) -> PortReport? {
    guard let report else { return nil }
    return hasNoInputs(report, scene) ? report.outputs.first : report.inputs.first
  }

  private static func hasNoInputs(_ report: NodeReport, _ scene: Scene) -> Bool {
    scene.catalogue[report.kind]?.inputs.isEmpty == true
  }

  private static func width(_ line: Line) -> Int {
    switch line {
    case .setting(let name, let value): name.count + (name.hasSuffix(mark) ? 0 : 1) + DisplayWidth.of(value)
    case .meter(let name, _), .lacking(let name): DisplayWidth.of(name) + 9
    case .text(let text, _): DisplayWidth.of(text)
    case .ports(let left, let right): left.count + (right.isEmpty ? 0 : 1 + right.count)
    }
  }

  // MARK: Contents

  private mutating func fillFooter(
    _ report: NodeReport?, _ facts: NodeFacts, _ detail: Detail
  ) {
    if let report, report.polyphony > 0 || report.voices > 0 { count = "\(report.voices)" }
    footer = report?.file ?? ""
    if let load = report?.loading {
      // As wide as the text that it replaces, so that boxes do not move.
      let width = footer.count + 1 + count.count
      footer = (detail == .full ? "loading " : "") + load.percent
      footer += String(repeating: " ", count: max(0, width - footer.count))
      count = ""
    }
    switch state {
    case .leaving(let left)?:
      let left = Printout.milliseconds(left)
      footer = detail == .full ? "fading out \(left)" : "fading \(left.filter { $0 != " " })"
      count = ""
    case .ringing?:
      footer = detail == .full ? "ringing out" : "ringing"
      count = ""
    case .entering(let left)?:
      footer = "fading in \(Printout.milliseconds(left))"
      count = ""
    case .placeholder?:
      footer = "placeholder"
      count = ""
    case .muted?:
      footer = "muted"
      count = ""
    default: break
    }
    if facts.kind == nil, report == nil { footer = "placeholder" }
    if lackingChannels > 0, footer.isEmpty {
      let channels = facts.count("channels")
      footer =
        detail == .full
        ? "driver has \(channels - lackingChannels) of \(channels)"
        : "\(channels - lackingChannels) of \(channels)"
    } else if isUnheard, footer.isEmpty {
      footer = detail == .full ? "not connected" : "unheard"
    } else if let card, footer.isEmpty {
      footer = Self.footer(of: card, detail)
    }
  }

  /// Latency and drift of a card: "21.3 ms +12 ppm".
  private static func footer(of card: CardState, _ detail: Detail) -> String {
    switch card.stage {
    case .starting: return "starting"
    case .absent: return detail == .full ? "no \(card.device)" : "no device"
    case .running:
      let latency = "\(Printout.fixed(card.latency * 1000, 1)) ms"
      return detail == .full ? "\(latency) \(Printout.driftText(card))" : latency
    }
  }

  /// Something that the driver, or a card, lacks.
  var isLacking: Bool {
    if case .absent? = card?.stage { return true }
    return lackingChannels > 0 || isUnheard
  }

  private mutating func fillLines(
    _ report: NodeReport?, _ facts: NodeFacts, _ scene: Scene, _ view: ViewState, _ detail: Detail
  ) {
    switch state {
    case .placeholder(let reason)?, .muted(let reason)?:
      lines = Self.wrapped(reason, columns: min(18, detail.columns)).prefix(2).map { .text($0, .trouble) }
      return
    default: break
    }
    if facts.kind == nil {
      lines = [.text("unknown kind", .trouble)]
      return
    }
    let most = detail == .full ? 4 : 2
    switch facts.kind?.face {
    case .keys:
      let held = view.play.held.sorted().map { Value.noteName(Int($0)) }
      lines =
        held.isEmpty
        ? [.setting("octave", facts.count("octave").description)]
        : [.text(Self.joined(held, columns: min(18, detail.columns)), .sounding)]
    case .level:
      lines = [.meter("", nil)]
    case .channels(let labels):
      let channels = Self.facePort(report, scene)?.channels ?? facts.firstPortChannels
      let names = labels.map { facts.labels($0) } ?? (channels == 2 ? ["L", "R"] : [])
      let shown = channels > most ? most - 1 : channels
      let words = (0..<max(0, shown)).map { channel in
        let name = names.indices.contains(channel) ? names[channel] : ""
        return name.isEmpty ? "\(channel)" : DisplayWidth.truncated(name, to: 6)
      }
      let width = words.map { DisplayWidth.of($0) }.max() ?? 0
      for (channel, word) in words.enumerated() {
        let name = DisplayWidth.padded(word, to: width)
        let isThere = channel < channels - lackingChannels
        lines.append(isThere ? .meter(name, channel) : .lacking(name))
      }
      if channels > shown { lines.append(.text("+\(channels - shown) more", .dim)) }
    case .response(let bands):
      lines = [
        .text(ResponseCurve.braille(facts, columns: detail == .full ? 13 : min(9, detail.columns)), .value)
      ]
      if bands == nil { lines += settings(facts, 1, ["freq"]) }
    case .settings, nil: lines = settings(facts, detail == .full ? 2 : 1, [])
    }
    let readings = (report?.readings ?? []).map { reading in
      let tenths = (reading.value * 10).rounded() / 10
      return Line.setting(
        reading.description.name, Value.number(tenths, reading.description.unit).display)
    }
    lines.insert(contentsOf: readings.prefix(most), at: 0)
  }

  /// Mark behind the name of a setting that controllers move, in place of a blank.
  static let mark = "◂"

  /// Lines of settings; of no names in particular those that controllers move come first. A mark is behind their names.
  private func settings(_ facts: NodeFacts, _ most: Int, _ names: [String]) -> [Line] {
    var values = facts.values(names.isEmpty && mapped.isEmpty ? most : 99)
    if names.isEmpty {
      values = values.filter { mapped.contains($0.path) } + values.filter { !mapped.contains($0.path) }
    } else {
      values = values.filter { names.contains($0.path.line) }
    }
    return values.prefix(most).map {
      .setting($0.path.line + (mapped.contains($0.path) ? Self.mark : ""), $0.value.display)
    }
  }

  /// As many words as fit, then the number of the others.
  private static func joined(_ words: [String], columns: Int) -> String {
    let all = words.joined(separator: " ")
    if all.count <= columns { return all }
    for count in stride(from: words.count - 1, through: 1, by: -1) {
      let text = words.prefix(count).joined(separator: " ") + " +\(words.count - count)"
      if text.count <= columns { return text }
    }
    return "\(words.count) keys"
  }

  private static func wrapped(_ text: String, columns: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ").map(String.init) {
      if let last = lines.last, last.count + 1 + word.count <= columns {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(word)
      }
    }
    return lines
  }

  // MARK: Ports

  /// The first ports are on the row below the kind. Further ones get a line with their name; modulated
  /// parameters use the parameter's line.
  private mutating func placePorts(
    _ facts: NodeFacts, _ used: Set<String>, _ usedOutputs: Set<String>, _ detail: Detail
  ) {
    let parameters = facts.kind?.parameters.filter(KindDescription.isPort).map(\.name) ?? []
    let modulated = parameters.filter(used.contains)
    var left = facts.kind?.inputs.map(\.name) ?? []
    left += used.subtracting(left).subtracting(parameters).sorted()
    let shown = facts.kind?.outputs.filter { !$0.isOptional || usedOutputs.contains($0.name) }
    var right = shown?.map(\.name) ?? []
    right += usedOutputs.subtracting(right).sorted()
    lines.removeAll {
      if case .setting(let name, _) = $0 {
        modulated.contains(name.substituting(Self.mark, with: ""))
      } else {
        false
      }
    }
    if lines.isEmpty, detail != .small, !(left.isEmpty && !modulated.isEmpty) { lines = [.text("", .text)] }
    let first = lines.isEmpty && detail == .small ? 1 : 2
    if let name = left.first { inputs.append(Port(name: name, row: first)) }
    if let name = right.first { outputs.append(Port(name: name, row: first)) }
    for index in 1..<max(1, left.count, right.count) {
      let names = (
        left.indices.contains(index) ? left[index] : "", right.indices.contains(index) ? right[index] : ""
      )
      lines.append(.ports(names.0, names.1))
      let row = lines.count + 1
      if !names.0.isEmpty { inputs.append(Port(name: names.0, row: row)) }
      if !names.1.isEmpty { outputs.append(Port(name: names.1, row: row)) }
    }
    for name in modulated {
      let value = facts.node.value(at: ParameterPath(name), description: facts.kind)?.display ?? ""
      lines.append(.setting(name, value))
      inputs.append(Port(name: name, row: lines.count + 1))
    }
  }
}

extension KindDescription.Face {
  fileprivate var isOfChannels: Bool {
    if case .channels = self { true } else { false }
  }
}
