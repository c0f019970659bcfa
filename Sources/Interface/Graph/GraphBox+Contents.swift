import Engine
import Patch
import Screen
import Session

extension GraphBox {
  mutating func fillFooter(
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
      // A recall fades the cables.
      let cables = report?.inputs.flatMap(\.cables).map { cable -> Double in
        if case .fadingOut(let left) = cable.state { left } else { 0 }
      }
      let left = Printout.milliseconds(max(left, cables?.max() ?? 0))
      footer = detail == .full ? "fading out \(left)" : "fading \(left.filter { $0 != " " })"
      briefFooter = detail == .full ? "fading \(left.filter { $0 != " " })" : "fading"
      count = ""
    case .ringing?:
      footer = detail == .full ? "ringing out" : "ringing"
      count = ""
    case .entering(let left)?:
      footer = "fading in \(Printout.milliseconds(left))"
      briefFooter = "enters"
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

  mutating func fillLines(
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
      let held = (view.play.heldBy[facts.node.id] ?? []).sorted().map { Value.noteName(Int($0)) }
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
  static let mark = PatchMarks.map

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
  mutating func placePorts(
    _ facts: NodeFacts, _ used: Set<String>, _ usedOutputs: Set<String>, _ detail: Detail
  ) {
    let parameters =
      facts.kind?.parameters.filter { KindDescription.isPort($0) && $0.dimensions.isEmpty }.map(\.name) ?? []
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
    if lines.isEmpty, detail != .small, detail != .dot, !(left.isEmpty && !modulated.isEmpty) {
      lines = [.text("", .text)]
    }
    let first = lines.isEmpty && (detail == .small || detail == .dot) ? 1 : 2
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
