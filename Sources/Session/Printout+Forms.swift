import Engine
import Patch

// The printout for other programs: Graphviz and JSON.

extension Printout {
  /// A Graphviz digraph: `sostenuto print --format dot | dot -Tsvg`.
  public static func dot(_ report: GraphReport) -> String { dot(report, around: nil) }

  /// The digraph with the other programs of the server.
  public static func dot(_ report: GraphReport, around: Surroundings?) -> String {
    var text = "digraph sostenuto {\n  rankdir=LR\n  node [shape=record fontname=\"monospace\"]\n"
    for node in report.nodes where around?.programs[node.id] == nil {
      let inputs = node.inputs.map { "<in_\(plain($0.name))> \(recordText($0.name))" }.joined(separator: "|")
      let outputs = node.shownOutputs.map { "<out_\(plain($0.name))> \(recordText($0.name))" }.joined(
        separator: "|")
      var middle = "\(recordText(node.name))\\n\(recordText(String(kindText(node).dropFirst().dropLast())))"
      if let file = node.file { middle += "\\n\(recordText(file))" }
      let fields = [inputs, middle, outputs].filter { !$0.isEmpty }
        .map { $0.hasPrefix("<") ? "{\($0)}" : $0 }.joined(separator: "|")
      let style =
        switch node.state {
        case .placeholder, .leaving, .ringing: " style=dashed"
        case .silent: " color=gray"
        default: ""
        }
      text += "  \(quoted(node.name)) [label=\"{\(fields)}\"\(style)]\n"
    }
    for node in report.nodes {
      for port in node.inputs {
        for cable in port.cables { text += "  \(edge(cable, isEvents: port.isEvents))\n" }
      }
    }
    if let around { text += programs(forGraphviz: around) }
    return text + "}\n"
  }

  private static func edge(_ cable: CableReport, isEvents: Bool) -> String {
    var labels: [String] = []
    if let depth = cable.depth { labels.append("by \(depthText(depth))") }
    if let map = cable.map { labels.append("map \(mapText(map))") }
    if !isEvents, cable.target != 1 { labels.append(gainText(cable.target)) }
    if let conversion = cable.conversion { labels.append(conversion) }
    if cable.isFeedback { labels.append("feedback") }
    if cable.compensation > 0 { labels.append("delayed \(frames(cable.compensation))") }
    var attributes: [String] = []
    if !labels.isEmpty { attributes.append("label=\(quoted(labels.joined(separator: ", ")))") }
    if cable.state.isFading {
      attributes.append("style=dotted")
    } else if isEvents {
      attributes.append("style=dashed")
    }
    if cable.isFeedback { attributes.append("constraint=false") }
    return
      "\(quoted(cable.from)):out_\(plain(cable.fromPort)) -> \(quoted(cable.to)):in_\(plain(cable.toPort))"
      + (attributes.isEmpty ? "" : " [\(attributes.joined(separator: " "))]")
  }

  /// A port's name as a Graphviz identifier.
  static func plain(_ name: String) -> String {
    String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  static func quoted(_ text: String) -> String {
    "\"" + Visible.text(text).map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
  }

  static func recordText(_ text: String) -> String {
    Visible.text(text).map { "\"\\{}|<> ".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  /// The whole report. Gains are linear, times in seconds, `time` and `startedAt` in frames; `docs/json.md`
  /// has all members.
  public static func json(_ report: GraphReport) -> String { json(report, about: nil) }

  /// The report with data from the patch for each node: its parameters, files and comments.
  public static func json(
    _ report: GraphReport, document: Document, _ around: Surroundings? = nil
  ) -> String {
    json(report, about: document, around)
  }

  private static func json(
    _ report: GraphReport, about document: Document?, _ around: Surroundings? = nil
  ) -> String {
    var members: [(String, JSON)] = [("schema", .string("sostenuto graph")), ("version", .int(jsonVersion))]
    if let document { members += Self.members(of: document) }
    members += [
      ("running", .bool(report.isRunning)), ("rate", .number(report.rate)),
      ("period", .int(report.period)), ("plan", .int(report.plan)), ("steps", .int(report.steps)),
      ("segments", .int(report.segments)), ("latency", .int(report.latency)),
      ("lostEvents", .int(report.lostEvents)), ("lostTraceEntries", .int(report.lostTraceEntries)),
      ("time", .int(Int(report.time))),
      ("nodes", .array(report.nodes.map { json($0, document) })),
    ]
    if let around { members += Self.members(of: around) }
    return JSON.object(members).text() + "\n"
  }

  private static func json(_ node: NodeReport, _ document: Document?) -> JSON {
    var members: [(String, JSON)] = [
      ("id", .int(Int(node.id.raw))), ("name", .string(node.name)), ("kind", .string(node.kind)),
    ]
    switch node.state {
    case .active: members.append(("state", .string("active")))
    case .silent: members.append(("state", .string("silent")))
    case .entering(let left): members += [("state", .string("entering")), ("secondsLeft", .number(left))]
    case .leaving(let left): members += [("state", .string("leaving")), ("secondsLeft", .number(left))]
    case .ringing(let left): members += [("state", .string("ringing")), ("secondsLeft", .number(left))]
    case .muted(let reason): members += [("state", .string("muted")), ("reason", .string(reason))]
    case .placeholder(let reason):
      members += [("state", .string("placeholder")), ("reason", .string(reason))]
    }
    members += [
      ("voices", .int(node.voices)), ("polyphony", .int(node.polyphony)),
      ("heldNotes", .int(node.heldNotes)), ("startedAt", .int(Int(node.startedAt))),
    ]
    if node.latency > 0 { members.append(("latency", .int(node.latency))) }
    if node.lackingChannels > 0 { members.append(("lackingChannels", .int(node.lackingChannels))) }
    if node.isUnheard { members.append(("isUnheard", .bool(true))) }
    if let card = node.card { members.append(("card", json(card))) }
    if let file = node.file {
      members += [
        ("file", .string(file)), ("memory", .int(node.memory)), ("underruns", .int(node.underruns)),
      ]
    }
    if let load = node.loading {
      members.append(
        ("loading", .object([("file", .string(load.name)), ("fraction", .number(load.fraction))])))
    }
    if let fault = node.fault { members.append(("fault", .string(fault))) }
    if let document { members += Self.members(of: node, in: document) }
    members.append(("inputs", .array(node.inputs.map { json($0, document) })))
    members.append(("outputs", .array(node.shownOutputs.map { json($0, document) })))
    return .object(members)
  }

  /// A card of a node's own.
  public static func json(_ card: CardState) -> JSON {
    var members: [(String, JSON)] = [("device", .string(card.device))]
    switch card.stage {
    case .starting: members.append(("state", .string("starting")))
    case .absent(let reason): members += [("state", .string("absent")), ("reason", .string(reason))]
    case .running:
      members += [
        ("state", .string("running")), ("latency", .number(card.latency)), ("drift", .number(card.drift)),
      ]
    }
    members.append(("xruns", .int(card.xruns)))
    return .object(members)
  }

  private static func json(_ port: PortReport, _ document: Document?) -> JSON {
    .object([
      ("name", .string(port.name)), ("format", .string(port.isEvents ? "events" : "audio")),
      ("channels", .int(port.channels)), ("peaks", .array(port.peaks.map { .number(Double($0)) })),
      ("cables", .array(port.cables.map { json($0, document) })),
    ])
  }

  private static func json(_ cable: CableReport, _ document: Document?) -> JSON {
    var members: [(String, JSON)] = [
      ("from", .string(cable.from)), ("fromPort", .string(cable.fromPort)),
      ("to", .string(cable.to)), ("toPort", .string(cable.toPort)),
      ("fromChannels", .int(cable.fromChannels)), ("toChannels", .int(cable.toChannels)),
      ("gain", .number(Double(cable.gain))), ("target", .number(Double(cable.target))),
    ]
    switch cable.state {
    case .active: members.append(("state", .string("active")))
    case .silent: members.append(("state", .string("silent")))
    case .fadingIn(let left): members += [("state", .string("fading in")), ("secondsLeft", .number(left))]
    case .fadingOut(let left): members += [("state", .string("fading out")), ("secondsLeft", .number(left))]
    }
    if let depth = cable.depth {
      members.append((depth.isRatio ? "octaves" : "depth", .number(Double(depth.amount))))
      if depth.offset != 0 { members.append(("offset", .number(Double(depth.offset)))) }
      if depth.curve != .linear { members.append(("curve", .string(depth.curve.rawValue))) }
    }
    if let map = cable.map { members.append(("map", .array(map.sources.map { .int($0) }))) }
    if cable.isDiscrete { members.append(("mix", .string("discrete"))) }
    if let conversion = cable.conversion { members.append(("conversion", .string(conversion))) }
    if cable.isFeedback { members.append(("feedback", .bool(true))) }
    if cable.isCompensated { members.append(("madeUp", .bool(true))) }
    if cable.compensation > 0 { members.append(("compensation", .int(cable.compensation))) }
    if cable.latency > 0 { members.append(("latency", .int(cable.latency))) }
    if cable.splitter.count > 1 {
      members.append(("splitter", .array([.int(cable.splitter.index), .int(cable.splitter.count)])))
    }
    if cable.sum.count > 1 {
      members.append(("sum", .array([.int(cable.sum.index), .int(cable.sum.count)])))
    }
    if let document { members += Self.members(of: cable, in: document) }
    return .object(members)
  }
}

/// A JSON value, with members in the order given, so that output is stable and diffs well.
public enum JSON: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number.
  case int(Int)
  /// Infinities and NaN, which JSON lacks, are written as strings.
  case number(Double)
  /// A text.
  case string(String)
  /// Values in order.
  case array([JSON])
  /// Members in order.
  case object([(String, JSON)])

  /// Formatted with two spaces per level; empty arrays and objects, and arrays of numbers, on one line.
  public func text(indent: Int = 0) -> String {
    let inner = String(repeating: "  ", count: indent + 1)
    let outer = String(repeating: "  ", count: indent)
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .int(let value): return "\(value)"
    case .number(let value):
      guard value.isFinite else { return "\"\(value)\"" }
      return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    case .string(let value): return Self.quoted(value)
    case .array(let values):
      if values.isEmpty { return "[]" }
      if values.allSatisfy(\.isScalar) { return "[" + values.map { $0.text() }.joined(separator: ", ") + "]" }
      return "[\n" + values.map { inner + $0.text(indent: indent + 1) }.joined(separator: ",\n")
        + "\n\(outer)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { "\(inner)\(Self.quoted($0.0)): \($0.1.text(indent: indent + 1))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    }
  }

  private var isScalar: Bool {
    switch self {
    case .array, .object: false
    default: true
    }
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      // More characters than JSON requires, since the text may end up in a terminal.
      case _ where Visible.isHidden(scalar):
        for unit in UTF16.encode(scalar)! {
          let digits = String(unit, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
