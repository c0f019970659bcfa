import Engine
import Patch
import Screen
import Session

extension InspectorPicture {
  // MARK: Words

  /// The first line of a sub-patch's file, which says what it is; otherwise the kind's sentence.
  var summaryText: String {
    scene.catalogue.definition(of: facts.node)?.header.first { !$0.isEmpty } ?? facts.kind?.summary
      ?? "nobody knows a kind \(facts.node.kind)"
  }

  var helpText: String {
    guard lines.indices.contains(selected), let node else { return "It has no parameters." }
    let path = lines[selected]
    guard let parameter = facts.kind?[parameter: path.name] else { return "" }
    var sentences = [parameter.summary, Self.range(of: parameter)]
    if let value = node.value(at: path, description: facts.kind), value.hasNotes {
      sentences.append(notes(value, parameter))
    }
    let sources = scene.patch.maps(to: scene.target(node.name, path)).map(\.source.description)
    if !sources.isEmpty { sentences.append("Follows \(sources.joined(separator: ", ")).") }
    if let control = control(of: path) { sentences.append("Control \(control) turns it.") }
    let movers = movers(of: path)
    if !movers.isEmpty {
      let sweep = scene.patch.sweep(
        of: node, parameter, at: path.indices, wholeNote: scene.wholeNote, catalogue: scene.catalogue)
      let way = sweep.map { ", from \($0.low.display) to \($0.high.display)" } ?? ""
      sentences.append("Moved by \(movers.joined(separator: ", "))\(way).")
    }
    return sentences.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// `1/8d is 375.0 ms at 120 beats a minute.`
  private func notes(_ value: Value, _ parameter: ParameterDescription) -> String {
    let now = parameter.timed(value, wholeNote: scene.wholeNote)
    let tempo = Value.number((scene.tempo * 10).rounded() / 10, .none).line
    let held = parameter.holds(value, wholeNote: scene.wholeNote) ? ", held at the end of its range" : ""
    return "\(value.display) is \(now.display) at \(tempo) beats a minute\(held)."
  }

  /// `From -inf dB to 60.0 dB; 12.0 dB unless it is set.`
  private static func range(of parameter: ParameterDescription) -> String {
    let usual = parameter.defaultValue.display
    let unset = usual.isEmpty ? "" : "; \(usual) unless it is set"
    switch parameter.form {
    case .toggle: return "On or off\(unset)."
    case .choice(let words): return "One of \(words.joined(separator: ", "))\(unset)."
    case .file: return "A file, from the patch's folder on."
    case .text: return ""
    case .continuous, .integer:
      let low = Value.number(parameter.range.lowerBound, parameter.unit).display
      let high = Value.number(parameter.range.upperBound, parameter.unit).display
      return "From \(low) to \(high)\(parameter.takesNotes ? ", or a note such as 1/8" : "")\(unset)."
    }
  }

  /// Outputs whose cables move a parameter.
  func movers(of path: ParameterPath) -> [String] {
    // An input of the same name is another port.
    guard let node, let kind = facts.kind, !kind.inputs.contains(where: { $0.name == path.line }) else {
      return []
    }
    let port = kind[parameter: path.name]?.glide ?? path.line
    return scene.patch.cables(into: node.id, catalogue: scene.catalogue)
      .filter { $0.ends.destination.port == port }
      .compactMap { name(of: $0.ends.source, isSource: true) }
  }

  func control(of path: ParameterPath) -> Int? {
    node.flatMap { node in
      scene.patch.settings.controls.first { $0.value == scene.target(node.name, path) }?.key
    }
  }

  /// A port as edits name it, short where it is the one that a node has.
  private func name(of port: PortReference, isSource: Bool) -> String? {
    guard let node = scene.patch[port.node] else { return nil }
    let kind = scene.catalogue[node.kind]
    let ports = (isSource ? kind?.outputs : kind?.inputs) ?? []
    return ports.first?.name == port.port ? node.name : "\(node.name).\(port.port)"
  }

  // MARK: Ports

  /// Columns of a port's name, with a blank behind the longest one.
  var portColumns: Int {
    let ports = (facts.kind?.inputs ?? []) + (facts.kind?.outputs ?? [])
    return max(9, ports.map { DisplayWidth.of($0.name) + 1 }.max() ?? 0)
  }

  var portLines: [[Span]] {
    guard let node, scene.programs[node.id] == nil else { return [] }
    let cables = scene.cables(of: node.id)
    var lines: [[Span]] = []
    for port in facts.kind?.inputs ?? [] {
      let here = PortReference(node.id, port.name)
      let used = cables.filter { $0.ends.destination == here }
      lines.append(line(of: port, here, used, isInput: true))
    }
    for port in facts.kind?.outputs ?? [] {
      let here = PortReference(node.id, port.name)
      let used = cables.filter { $0.ends.source == here }
      if port.isOptional, used.isEmpty { continue }
      lines.append(line(of: port, here, used, isInput: false))
    }
    return lines
  }

  /// `in    2 ch  ← piano -3.0 dB`, or of a free port where it may lead: `out   2 ch  → free: main, room …`
  private func line(
    of port: PortDescription, _ here: PortReference, _ used: [Cable], isInput: Bool
  ) -> [Span] {
    let found = (isInput ? report?.inputs : report?.outputs)?.first { $0.name == port.name }
    let count = port.isEvents ? "events" : "\(found?.channels ?? 0) ch"
    var spans = [
      Span(DisplayWidth.padded(port.name, to: portColumns), .port),
      Span(DisplayWidth.padded(count, to: 7), .dim),
      Span(isInput ? "← " : "→ ", .dim),
    ]
    guard used.isEmpty else {
      let words = used.map { cable in
        let name = name(of: isInput ? cable.ends.source : cable.ends.destination, isSource: isInput) ?? "?"
        let gain = cable.gain == 0 ? "" : " \(Value.number(cable.gain, .decibels).display)"
        return name + gain + (cable.map == nil ? "" : " ⇄")
      }
      return spans + [Span(words.joined(separator: ", "), .value)]
    }
    let free = fitting(here, isInput: isInput)
    spans.append(Span(free.isEmpty ? "nothing fits" : "free: " + free.joined(separator: ", "), .dim))
    return spans
  }

  /// Names of the first few ports that it may be connected with.
  private func fitting(_ here: PortReference, isInput: Bool) -> [String] {
    var names: [String] = []
    for other in scene.patch.nodes.values where other.id != here.node {
      let ports = (isInput ? scene.catalogue[other.kind]?.outputs : scene.catalogue[other.kind]?.inputs) ?? []
      for port in ports where !port.isOptional {
        let there = PortReference(other.id, port.name)
        guard isInput ? scene.canJoin(there, here) : scene.canJoin(here, there) else { continue }
        if let name = name(of: there, isSource: isInput) { names.append(name) }
      }
      if names.count > 3 { return names.prefix(3) + ["…"] }
    }
    return names
  }

  // MARK: Instrument and readings

  var instrumentLines: [[Span]] {
    guard let report else { return [] }
    var lines: [[Span]] = []
    if let file = report.file {
      var words: [[Span]] = []
      if let facts = scene.instruments[inspector.owner] {
        let programs = facts.programs > 1 ? ", \(facts.programs) programs" : ""
        words.append([Span("\(facts.regions) region\(facts.regions == 1 ? "" : "s")\(programs)", .dim)])
        if let keys = facts.keys {
          words.append([
            Span("\(Value.noteName(keys.lowerBound))…\(Value.noteName(keys.upperBound))", .dim)
          ])
        }
      }
      if report.memory > 0 { words.append([Span(Printout.megabytes(report.memory), .dim)]) }
      lines += Wrapping.lines([[[Span(file, .value)]], words], columns: inner.columns, gap: 2)
    }
    if let load = report.loading { lines.append([Span("loading \(load.words)", .accent)]) }
    if let fault = report.fault { lines.append([Span(fault, .trouble)]) }
    switch report.state {
    case .placeholder(let reason), .muted(let reason): lines.append([Span(reason, .trouble)])
    default: break
    }
    if report.polyphony > 0 {
      lines.append([
        Span("\(report.voices) of \(report.polyphony) voices", .dim),
        Span("  \(report.heldNotes) note\(report.heldNotes == 1 ? "" : "s") held", .dim),
      ])
    }
    for reading in report.readings {
      let value = Value.number((reading.value * 10).rounded() / 10, reading.description.unit).display
      lines.append([Span("\(reading.description.name) ", .dim), Span(value, .value)])
    }
    return lines
  }
}
