import Engine
import Patch
import Screen
import Session

/// A node's box: its contents, its size, and the rows of its ports.
struct GraphBox {
  typealias Detail = GraphDetail

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
  /// Footer of a state that passes: it widens no box, and is this where there is no room for the other.
  var briefFooter: String?
  var state: NodeReport.State?
  /// The patch no longer has the node.
  private var isGone = false
  /// Number of an endpoint's channels, counted from the last, that the driver lacks.
  var lackingChannels = 0
  var isUnheard = false
  /// Its signals move others: they have no level that is too high.
  var isControl = false
  /// Sound card of its own.
  var card: CardState?
  /// Another program that does not run.
  var isGhost = false
  /// Another program that is no part of the patch.
  var isFound = false
  /// Some of the lines are meters.
  private(set) var hasMeterLines = false
  /// Number of meters beside the kind: none if the lines have meters already.
  var meterCount = 0
  var inputs: [Port] = []
  var outputs: [Port] = []
  var place: Place?
  /// Settings that controllers move.
  var mapped: Set<ParameterPath> = []
  /// Mutes, solos, maps and controls, at the right of the upper edge.
  private(set) var marks = ""
  private(set) var detail: Detail
  /// The nodes that it stands for besides its own.
  private(set) var others: [NodeID] = []
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
    private let held: [NodeID: Set<UInt8>]
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
      held = view.play.heldBy
      gain = isLeaving ? report.flatMap(Self.gain) : nil
    }

    /// True while nothing of it has changed. It compares in place: this is asked of every node many times a second.
    func isSame(as report: UnsafePointer<NodeReport>?, _ view: ViewState) -> Bool {
      guard held == view.play.heldBy else { return false }
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

  /// The patch decides: the engine may learn of it a moment later, and fades out the old half of a node that it makes anew.
  var isLeaving: Bool { isGone }
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
    self.detail = detail
    report = place
    let report = place.map { scene.report.nodes[$0] }
    let node = scene.patch[id]
    isGone = node == nil
    shape = Shape(report, view, isLeaving: isGone)
    self.id = id
    let fullName = node?.name ?? report?.name ?? ""
    name = view.graph.inside == nil ? fullName : String(NodePath.last(of: fullName))
    let shown = node ?? Node(id: id, name: fullName, kind: report?.kind ?? "")
    let facts = NodeFacts(shown, scene.catalogue)
    let marks = PatchMarks.of(scene).nodes[id]
    self.marks = marks?.text ?? ""
    mapped = marks?.isMapped == true ? scene.patch.mapped(of: fullName) : []
    kind = detail == .full ? facts.kindText : facts.kindText.substituting(" × ", with: "×")
    state = report?.state
    if !isGone, state?.isLeaving == true { state = .active }
    lackingChannels = report?.lackingChannels ?? 0
    isUnheard = report?.isUnheard ?? false
    card = report?.card
    isControl = facts.kind?.movesOthers ?? false
    self.place = node?.place
    fillFooter(report, facts, detail)
    if let program = scene.programs[id] {
      fill(program, shown, used, usedOutputs, view, detail)
    } else if node != nil {
      fillLines(report, facts, scene, view, detail)
    } else if let gain = report?.inputs.flatMap(\.cables).map(\.gain).max() {
      lines = [.text("\(detail == .full ? "now " : "")\(Printout.decibels(gain)) dB", .dim)]
    }
    if detail == .small || detail == .dot { lines = [] }
    if detail != .full {
      lines = lines.map { line in
        guard case .setting(let name, let value) = line else { return line }
        return .setting(name, value.substituting(".0 ", with: " "))
      }
    }
    if scene.programs[id] == nil { placePorts(facts, used, usedOutputs, detail) }
    hasMeterLines = lines.contains { if case .meter = $0 { true } else { false } }
    // Where the lines show the inputs, the outputs stand beside the kind.
    let hasSides =
      facts.kind.map { !$0.inputs.isEmpty && !$0.outputs.isEmpty && $0.face.isOfChannels } ?? false
    if !isLeaving, !hasMeterLines || hasSides {
      // With little room, text takes precedence over meters.
      let most = detail == .full ? 4 : min(2, max(0, detail.columns - kind.count - 1))
      meterCount = min(most, report.map { peaks($0, scene).count } ?? 0)
    }
    measure()
  }

  /// A box that stands for several nodes; `id` is the first of them. `report`: the place of the one whose level it shows.
  init(
    _ id: NodeID, others: [NodeID], _ scene: Scene, _ view: ViewState, report place: Int?,
    inputs used: Set<String>, outputs usedOutputs: Set<String>, _ detail: Detail
  ) {
    self.detail = detail
    self.id = id
    self.others = others
    report = place
    let report = place.map { scene.report.nodes[$0] }
    shape = Shape(report, view, isLeaving: false)
    var name = "\(scene.patch[id]?.name ?? "") +\(others.count)"
    kind = detail == .full ? "\(others.count + 1) nodes folded" : "\(others.count + 1) nodes"
    let subPatch = SubPatchFacts(id, scene)
    if let subPatch {
      (name, kind) = (view.graph.inside == nil ? subPatch.name : subPatch.last, subPatch.kind)
    }
    self.place = scene.patch[id]?.place
    let known = PatchMarks.of(scene).nodes
    var all = PatchMarks.Marks()
    for marks in ([id] + others).compactMap({ known[$0] }) {
      all.isMuted = all.isMuted || marks.isMuted
      all.isSoloed = all.isSoloed || marks.isSoloed
      all.isMapped = all.isMapped || marks.isMapped
      all.controls += marks.controls
    }
    marks = all.text
    let (left, right) = (used.sorted(), usedOutputs.sorted())
    let cut = { (name: String) in DisplayWidth.truncated(name, to: max(3, detail.columns / 2 - 1)) }
    for index in 0..<max(left.count, right.count) {
      if left.indices.contains(index) { inputs.append(Port(name: left[index], row: index + 2)) }
      if right.indices.contains(index) { outputs.append(Port(name: right[index], row: index + 2)) }
      lines.append(
        .ports(
          left.indices.contains(index) ? cut(left[index]) : "",
          right.indices.contains(index) ? cut(right[index]) : ""))
    }
    self.name = name
    if let subPatch, detail != .small, detail != .dot {
      lines += subPatch.values.map { .setting($0.name, $0.value) }
    }
    meterCount = min(2, report.map { peaks($0, scene).count } ?? 0)
    measure()
  }

  /// Smallest size of a box with a frame.
  static func least(_ detail: Detail) -> Size { Size(columns: detail == .full ? 17 : 11, rows: 3) }

  private mutating func measure() {
    if detail == .dot {
      for index in inputs.indices { inputs[index].row = 0 }
      for index in outputs.indices { outputs[index].row = 0 }
      lines = []
      // The cells at both edges belong to the cables.
      size = Size(
        columns: min(DisplayWidth.of(name), detail.columns) + (marks.isEmpty ? 0 : 1 + DisplayWidth.of(marks))
          + 3,
        rows: 1)
      return
    }
    let content = lines.map { Self.width($0) }.max() ?? 0
    let inner =
      [
        Self.least(detail).columns - 4, content, kind.count + (meterCount == 0 ? 0 : 1 + meterCount),
        name.count + (marks.isEmpty ? 0 : 1 + marks.count),
        (briefFooter ?? footer).count + (count.isEmpty ? 0 : 1 + count.count),
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

  static func facePort(_ report: NodeReport?, _ scene: Scene) -> PortReport? {
    guard let report else { return nil }
    return hasNoInputs(report, scene) ? report.outputs.first : report.inputs.first
  }

  private static func hasNoInputs(_ report: NodeReport, _ scene: Scene) -> Bool {
    scene.catalogue[report.kind]?.inputs.isEmpty == true
  }

  /// Columns with which the names in its lines are whole.
  var columnsOfNames: Int {
    let names = lines.map {
      if case .setting(let name, _) = $0 { DisplayWidth.of(name) } else { Self.width($0) }
    }
    return min(names.max() ?? 0, detail.columns) + 4
  }

  private static func width(_ line: Line) -> Int {
    switch line {
    case .setting(let name, let value): name.count + (name.hasSuffix(mark) ? 0 : 1) + DisplayWidth.of(value)
    case .meter(let name, _), .lacking(let name): DisplayWidth.of(name) + 9
    case .text(let text, _): DisplayWidth.of(text)
    case .ports(let left, let right): left.count + (right.isEmpty ? 0 : 1 + right.count)
    }
  }
}

extension KindDescription.Face {
  fileprivate var isOfChannels: Bool {
    if case .channels = self { true } else { false }
  }
}
