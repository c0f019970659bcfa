import Engine
import Glibc
import Patch

/// The graph printout: the running graph as text for people, in the spirit of AVAudioEngine's
/// `print(engine.description)`. From the driver's outputs upwards, each node once.
///
/// ```
/// graph  running yes   rate 48000 Hz   period 64   plan 42   nodes 3   steps 4   latency 0 frames
/// ******** output chain ********
/// out    {output}   inputs 1
/// in 2ch      <- piano.out 2ch    gain 0.0 dB   active
/// ```
public enum Printout {
  /// One line, with the node that it describes.
  public struct Line: Sendable, Equatable {
    /// Type of a line.
    public enum Role: Sendable {
      /// The figures of the whole graph.
      case graph
      /// A heading between groups.
      case heading
      /// The first line of a node.
      case node
      /// A port, and its first cable.
      case port
      /// A further cable of the port above.
      case cable
    }

    /// The text, without a line break.
    public var text: String
    /// Type of the line.
    public var role: Role
    /// The node that it describes, if any.
    public var node: NodeID?
    /// Its subject fades or leaves.
    public var isFading = false

    /// A line about `node`.
    public init(_ text: String, _ role: Role, node: NodeID? = nil, isFading: Bool = false) {
      self.text = text
      self.role = role
      self.node = node
      self.isFading = isFading
    }
  }

  /// The lines of the printout. `around`: the other programs as the server has them; without it those of the patch are
  /// listed alone.
  public static func lines(_ report: GraphReport, _ around: Surroundings? = nil) -> [Line] {
    var lines = [Line(graphLine(report), .graph)]
    let chain = outputChain(report)
    let names = columns(report.nodes.map(\.name))
    let kinds = columns(report.nodes.map { kindText($0) })
    var ends = 0
    for node in report.nodes {
      for port in node.inputs {
        ends = max(ends, columns(port.cables.map { farText($0, isInput: true) }))
      }
      for port in node.outputs {
        ends = max(ends, columns(port.cables.map { farText($0, isInput: false) }))
      }
    }
    let ports = columns(report.nodes.flatMap { $0.inputs + $0.shownOutputs }.map { portText($0) })
    let widths = Widths(name: names, kind: kinds, port: ports, end: ends)
    let audible = Set(chain.map(\.id))
    let boxes = Set(report.nodes.flatMap { NodePath.containers(of: $0.name) })
    let rest = report.nodes.filter { !audible.contains($0.id) && $0.endpoint != .client }
    let around = around?.programs.isEmpty == false ? around : nil
    let programs = around == nil ? report.nodes.filter { $0.endpoint == .client } : []
    for (heading, nodes) in [
      ("output chain", chain), ("not heard at any output", rest.filter { !boxes.contains($0.name) }),
      // Their sound is that of the nodes inside.
      ("sub-patches", rest.filter { boxes.contains($0.name) }), (programsHeading, programs),
    ] {
      if nodes.isEmpty, heading != "output chain" { continue }
      lines.append(Line("******** \(heading) ********", .heading))
      for node in nodes { append(node, of: report, widths, to: &lines) }
    }
    return lines + (around.map { Self.lines($0) } ?? [])
  }

  /// The lines as one text.
  public static func text(_ report: GraphReport) -> String {
    lines(report).map(\.text).joined(separator: "\n") + "\n"
  }

  /// A printout that can be read back as a patch: the report as comments, then `patch`, the canonical text of
  /// the same graph.
  /// `around`: the other programs of the server, too.
  public static func executable(
    _ report: GraphReport, patch: String, _ around: Surroundings? = nil
  ) -> String {
    lines(report, around).map {
      $0.text.isEmpty ? "#\n" : "# \(Visible.text($0.text))\n"
    }.joined() + "\n" + patch
  }

  private struct Widths { var name, kind, port, end: Int }

  private static func graphLine(_ report: GraphReport) -> String {
    let latency = frames(report.latency)
    return "graph  running \(report.isRunning ? "yes" : "no")   rate \(number(report.rate)) Hz   "
      + "period \(report.period)   plan \(report.plan)   nodes \(report.nodes.count)   "
      + "steps \(report.steps)   latency \(latency)"
      + (report.lostEvents > 0 ? "   events lost \(report.lostEvents)" : "")
  }

  /// The nodes with a path to an `output` node: outputs first, then by distance in cables, then in the order
  /// of the report.
  private static func outputChain(_ report: GraphReport) -> [NodeReport] {
    // While a node replaces one of the same name, a cable's name matches both.
    let byName = Dictionary(grouping: report.nodes.indices, by: { report.nodes[$0].name })
    var distance = [Int?](repeating: nil, count: report.nodes.count)
    var open = report.nodes.indices.filter { report.nodes[$0].endpoint == .output }
    for index in open { distance[index] = 0 }
    var next = 0
    while next < open.count {
      let here = open[next]
      next += 1
      for cable in report.nodes[here].inputs.flatMap(\.cables) {
        for source in byName[cable.from] ?? [] where distance[source] == nil {
          distance[source] = (distance[here] ?? 0) + 1
          open.append(source)
        }
      }
    }
    return report.nodes.indices.filter { distance[$0] != nil }
      .sorted { (distance[$0] ?? 0, $0) < (distance[$1] ?? 0, $1) }.map { report.nodes[$0] }
  }

  private static func append(
    _ node: NodeReport, of report: GraphReport, _ widths: Widths, to lines: inout [Line]
  ) {
    var counts = ""
    if !node.inputs.isEmpty { counts += "inputs \(node.inputs.count)" }
    let outputs = node.shownOutputs
    if !outputs.isEmpty { counts += (counts.isEmpty ? "" : "  ") + "outputs \(outputs.count)" }
    let head =
      pad(node.name, widths.name) + "  " + pad(kindText(node), widths.kind) + "  " + pad(counts, 20) + "  "
      + pad("#\(node.id.raw)", 4) + "  " + facts(node, report).joined(separator: ", ")
    lines.append(Line(trimmed(head), .node, node: node.id, isFading: node.state.isFading))
    for (ports, isInput) in [(node.inputs, true), (outputs, false)] {
      for port in ports {
        let label = String(repeating: " ", count: widths.name + 2) + pad(portText(port), widths.port)
        if port.cables.isEmpty {
          lines.append(Line(trimmed(label + "  \(isInput ? "<-" : "->") nothing"), .port, node: node.id))
        }
        for (index, cable) in port.cables.enumerated() {
          let start = index == 0 ? label : String(repeating: " ", count: columns(label))
          let end = pad(farText(cable, isInput: isInput), widths.end)
          let facts = isInput ? cableFacts(cable, isEvents: port.isEvents) : outputFacts(cable)
          let text = start + "  \(isInput ? "<-" : "->") " + end + "  " + facts.joined(separator: "   ")
          lines.append(
            Line(
              trimmed(text), index == 0 ? .port : .cable, node: node.id, isFading: cable.state.isFading))
          guard isInput, let map = cable.map else { continue }
          let diagram = MapDiagram(map, from: cable.fromChannels)
          let indent = String(repeating: " ", count: columns(label) + 5)
          for line in diagram.lines(from: "out of \(cable.from)", to: "into \(cable.to)") {
            lines.append(Line(indent + line, .cable, node: node.id, isFading: cable.state.isFading))
          }
        }
      }
    }
  }

  /// `{matrix 4x2}`, `{sampler}`.
  static func kindText(_ node: NodeReport) -> String {
    guard node.isMatrix, let input = node.inputs.first(where: { !$0.isEvents }),
      let output = node.outputs.first(where: { !$0.isEvents })
    else { return "{\(node.kind)}" }
    return "{\(node.kind) \(input.channels)x\(output.channels)}"
  }

  private static func portText(_ port: PortReport) -> String {
    "\(port.name) \(port.isEvents ? "events" : "\(port.channels)ch")"
  }

  private static func farText(_ cable: CableReport, isInput: Bool) -> String {
    isInput
      ? "\(cable.from).\(cable.fromPort)" + (cable.fromChannels > 0 ? " \(cable.fromChannels)ch" : "")
      : "\(PortName(cable.to, cable.toPort))"
  }

  /// Facts about a node besides its ports.
  static func facts(_ node: NodeReport, _ report: GraphReport) -> [String] {
    var facts: [String] = []
    if node.polyphony > 0 || node.voices > 0 {
      facts.append(node.voices == 1 ? "1 voice" : "\(node.voices) voices")
    }
    if let file = node.file { facts.append("\(file) \(megabytes(node.memory))") }
    if let load = node.loading { facts.append("loading \(load.words)") }
    if let fault = node.fault { facts.append("plays on, since \(fault)") }
    if node.underruns > 0 { facts.append(underrunText(node.underruns)) }
    if node.heldNotes > 0 {
      facts.append(node.heldNotes == 1 ? "1 note held" : "\(node.heldNotes) notes held")
    }
    switch node.state {
    case .active: facts.append("active")
    case .silent: facts.append("silent")
    case .entering(let left): facts.append("entering, \(milliseconds(left)) left")
    case .leaving(let left): facts.append("leaving, \(milliseconds(left)) left")
    case .ringing(let left): facts.append("removed, rings out for \(fixed(left, 0)) s at most")
    case .muted(let reason): facts.append("muted: \(reason)")
    case .placeholder(let reason): facts.append("placeholder: \(reason)")
    }
    if case .placeholder = node.state { return facts }
    if node.lackingChannels > 0 {
      let count = node.lackingChannels
      facts.append("the driver lacks its last \(count == 1 ? "channel" : "\(count) channels")")
    }
    if node.isUnheard { facts.append("connected to nothing") }
    if let card = node.card { facts.append("device \(cardText(card))") }
    if node.latency > 0 { facts.append("latency \(frames(node.latency))") }
    facts.append("since \(fixed(Double(node.startedAt) / report.rate, 3)) s")
    return facts
  }

  /// A card of a node's own: "hw:2: latency 21.3 ms, drift +12 ppm".
  public static func cardText(_ card: CardState) -> String {
    switch card.stage {
    case .starting: return "\(card.device) is starting"
    case .absent(let reason): return "\(card.device) is not there: \(reason)"
    case .running:
      let xruns = card.xruns == 0 ? "" : card.xruns == 1 ? ", 1 xrun" : ", \(card.xruns) xruns"
      return "\(card.device): latency \(fixed(card.latency * 1000, 1)) ms, drift \(driftText(card))\(xruns)"
    }
  }

  /// A card's drift: "+12 ppm".
  public static func driftText(_ card: CardState) -> String {
    "\(card.drift < 0 ? "" : "+")\(fixed(card.drift, 0)) ppm"
  }

  /// Size in megabytes: whole numbers from ten up, tenths below.
  public static func megabytes(_ bytes: Int) -> String {
    let value = Double(bytes) / 1_048_576
    return "\(fixed(value, value < 10 ? 1 : 0)) MB"
  }

  /// "2.00 oct offset 1.00 oct curve log", or numbers in the engine's unit.
  static func depthText(_ depth: ModulationDepth) -> String {
    func number(_ number: Float) -> String {
      depth.isRatio ? "\(fixed(Double(number), 2)) oct" : fixed(Double(number), 3)
    }
    return number(depth.amount) + (depth.offset == 0 ? "" : " offset \(number(depth.offset))")
      + (depth.curve == .linear ? "" : " curve \(depth.curve.rawValue)")
  }

  static func underrunText(_ count: Int) -> String {
    count == 1 ? "1 under-run" : "\(count) under-runs"
  }

  private static func cableFacts(_ cable: CableReport, isEvents: Bool) -> [String] {
    var facts: [String] = []
    if cable.splitter.count > 1 { facts.append("splitter \(cable.splitter.index)/\(cable.splitter.count)") }
    if cable.sum.count > 1 { facts.append("sum \(cable.sum.index)/\(cable.sum.count)") }
    if let depth = cable.depth { facts.append("by \(depthText(depth))") }
    if let map = cable.map { facts.append("map \(mapText(map))") }
    if cable.isDiscrete { facts.append("mix discrete") }
    if let conversion = cable.conversion { facts.append("conversion \(conversion)") }
    if !isEvents, cable.map == nil || cable.target != 1 { facts.append("gain \(gainText(cable.target))") }
    if cable.isFeedback {
      facts.append(
        cable.isCompensated ? "feedback, \(cable.from) makes up for 64 frames" : "feedback, 64 frames later")
    }
    if cable.compensation > 0 { facts.append("delayed \(frames(cable.compensation))") }
    if cable.latency > 0, !cable.isFeedback { facts.append("latency \(frames(cable.latency))") }
    facts.append(stateText(cable))
    return facts
  }

  /// The source's side only names its cables; their figures stand at the destination.
  private static func outputFacts(_ cable: CableReport) -> [String] {
    cable.splitter.count > 1 ? ["splitter \(cable.splitter.index)/\(cable.splitter.count)"] : []
  }

  private static func stateText(_ cable: CableReport) -> String {
    switch cable.state {
    case .active: "active"
    case .silent: "silent"
    case .fadingIn(let left): "fading in at \(gainText(cable.gain)), \(milliseconds(left)) left"
    case .fadingOut(let left): "fading out at \(gainText(cable.gain)), \(milliseconds(left)) left"
    }
  }

  /// `[0 1 - -]`
  public static func mapText(_ map: ChannelMap) -> String {
    "[" + map.sources.map { $0 < 0 ? "-" : "\($0)" }.joined(separator: " ") + "]"
  }
}

// MARK: - Figures

extension Printout {
  /// A linear gain in decibels with one decimal: `-6.0`, `-inf`.
  public static func decibels(_ gain: Float) -> String {
    gain <= 1e-9 ? "-inf" : fixed(20 * log10(Double(gain)), 1)
  }

  /// A linear gain in words: `-6.0 dB`; a negative one turns the polarity: `-6.0 dB inverted`.
  static func gainText(_ gain: Float) -> String { "\(decibels(abs(gain))) dB\(gain < 0 ? " inverted" : "")" }

  static func frames(_ count: Int) -> String { count == 1 ? "1 frame" : "\(count) frames" }

  /// Whole milliseconds from one up, tenths below: `4 ms`, `0.4 ms`.
  public static func milliseconds(_ seconds: Double) -> String {
    let value = max(0, seconds * 1000)
    return value >= 1 || value == 0
      ? "\(Int(limited: min(value.rounded(.up), 1e9))) ms" : "\(fixed(value, 1)) ms"
  }

  /// Number with `digits` decimals, without a locale; never `-0.0`.
  public static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else {
      return value.isNaN ? "nan" : value == .infinity ? "inf" : value == -.infinity ? "-inf" : "\(value)"
    }
    let scale = pow(10, Double(digits))
    let scaled = Int64(limited: abs(value) * scale)
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % Int64(scale))
    return "\(sign)\(scaled / Int64(scale))." + String(repeating: "0", count: digits - fraction.count)
      + fraction
  }

  /// Number with `digits` decimals (1 to 15), rounded as C's `printf` rounds: by the exact value, ties to even.
  package static func exact(_ value: Double, _ digits: Int) -> String {
    guard value.magnitude < 0x1p64 else { return "\(value)" }
    var whole = UInt64(value.magnitude)
    let fraction = value.magnitude - Double(whole)
    let scale = pow(10, Double(digits))
    let product = fraction * scale
    // The product's own rounding error decides what looks like a tie.
    let error = (-product).addingProduct(fraction, scale)
    var steps = UInt64(product)
    let rest = product - Double(steps)
    if rest > 0.5 || rest == 0.5 && (error > 0 || error == 0 && steps % 2 == 1) { steps += 1 }
    if Double(steps) == scale { (whole, steps) = (whole + 1, 0) }
    let decimals = String(steps)
    return (value.sign == .minus ? "-" : "") + "\(whole)."
      + String(repeating: "0", count: digits - decimals.count) + decimals
  }

  /// A number without a needless fraction: `48000`, `44100.5`.
  static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func trimmed(_ text: String) -> String {
    var text = text[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
