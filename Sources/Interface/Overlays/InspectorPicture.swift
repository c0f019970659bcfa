import Engine
import Patch
import Screen
import Session

/// The inspector's rows: a title, what the kind is, the parameters, help for the selected one, the ports, the instrument and
/// the sound. With few rows the last ones are left out first, and the parameters scroll.
struct InspectorPicture {
  let rect: Rect
  let inspector: Inspector
  let scene: Scene
  let node: Node?
  let facts: NodeFacts
  let lines: [ParameterPath]
  let report: NodeReport?
  private var summary: [[Span]] = []
  private var help: [[Span]] = []
  private var ports: [[Span]] = []
  private var instrument: [[Span]] = []
  private var parameterRows = 0
  private var soundRows = 0
  /// Rows of the spectrum, with one for its frequencies.
  private var spectrumRows = 0
  /// Blank rows after each part.
  private var gap = 0

  private static let barColumns = 8
  /// Rows of the scope, below a row for the level.
  private static let scopeRows = 3...9
  private static let spectrumRows = 5...10
  /// Columns of the spectrum's levels.
  private static let levelColumns = 5

  init(_ inspector: Inspector, _ scene: Scene, _ rect: Rect) {
    self.rect = rect
    self.inspector = inspector
    self.scene = scene
    facts = NodeFacts(
      scene.patch[inspector.owner] ?? Node(id: inspector.owner, name: "", kind: ""), scene)
    node = scene.patch[inspector.owner] == nil ? nil : facts.node
    lines = node == nil ? [] : facts.lines
    report = scene.report.nodes.first { $0.id == inspector.owner }
    guard node != nil else { return }
    arrange()
  }

  /// Columns inside: one blank at each side, and the edge where it stands beside the view.
  var inner: Rect {
    let left = isBeside ? 2 : 1
    return Rect(
      column: rect.column + left, row: rect.row + 1, columns: rect.columns - left - 1, rows: rect.rows - 1)
  }

  private var isBeside: Bool { rect.column > 0 }

  var selected: Int { min(max(0, inspector.selected), max(0, lines.count - 1)) }

  /// Rows for each part, the most needed first.
  private mutating func arrange() {
    var left = inner.rows
    func wrapped(_ text: String, _ key: ThemeKey, most: Int) -> [[Span]] {
      Wrapping.beginning(
        of: Wrapping.lines([Wrapping.words(text, key)], columns: inner.columns, gap: 1), in: most,
        columns: inner.columns)
    }
    func take(_ lines: [[Span]], gap: Int = 0) -> [[Span]] {
      let taken = Array(lines.prefix(max(0, left - gap)))
      if !taken.isEmpty { left -= taken.count + gap }
      return taken
    }
    parameterRows = min(lines.count, 3, left)
    left -= parameterRows
    help = take(wrapped(helpText, .dim, most: min(max(4, left / 3), 8, left)))
    // The kind's description is whole where there are rows enough, and the parameters scroll.
    let whole = wrapped(summaryText, .text, most: inner.rows >= 20 ? 4 : 2)
    // Its present state and level are seen beside any number of parameters.
    let hasSound = inspector.port(scene) != nil
    let live = min(left, min(instrumentLines.count, 2) + (hasSound ? 1 : 0))
    left -= live
    let reserved = min(3, portLines.count) + (inner.rows >= 20 ? whole.count : 0)
    let more = min(lines.count - parameterRows, max(0, left - reserved))
    parameterRows += more
    left -= more
    ports = take(portLines, gap: 0)
    left += live - (hasSound ? 1 : 0)
    instrument = take(instrumentLines, gap: 0)
    summary = take(whole)
    if hasSound { left += 1 }
    // Blank rows between the parts where there is room for all of them.
    let parts = [summary.count, parameterRows, help.count, ports.count, instrument.count].count { $0 > 0 }
    if left >= parts + (hasSound ? 1 + Self.scopeRows.lowerBound : 0) {
      gap = 1
      left -= parts
    }
    if left >= 1, hasSound {
      soundRows = left > Self.scopeRows.lowerBound ? min(left, 1 + Self.scopeRows.upperBound) : 1
      // Scope and spectrum, a blank row between them, share the rows where both have enough.
      if left >= 1 + Self.scopeRows.lowerBound + 1 + Self.spectrumRows.lowerBound {
        soundRows = min(soundRows, max(1 + Self.scopeRows.lowerBound, (left - 1) / 2))
        spectrumRows = min(left - soundRows - 1, Self.spectrumRows.upperBound)
      }
    }
  }

  // MARK: Drawing

  func draw(on canvas: inout Canvas) {
    canvas.fill(rect)
    guard !rect.isEmpty else { return }
    if isBeside {
      for row in rect.row..<rect.bottom { canvas.set("│", at: Point(rect.column, row), Style(.rule)) }
    } else {
      canvas.fill(Rect(column: rect.column, row: rect.row, columns: rect.columns, rows: 1), "─", Style(.rule))
    }
    let kind = " ▸ \(facts.kindText) "
    let nameColumns = max(8, rect.columns - 3 - DisplayWidth.of(kind))
    let title = [Span(" \(Wrapping.shortened(node?.name ?? "", to: nameColumns))\(kind)", .title)]
    canvas.put(title, at: Point(rect.column + 1, rect.row), columns: rect.columns - 2)
    var row = inner.row
    func put(_ lines: [[Span]]) {
      for line in lines {
        canvas.put(line, at: Point(inner.column, row), columns: inner.columns)
        row += 1
      }
      if !lines.isEmpty { row += gap }
    }
    canvas.placeCursor(at: Point(rect.column + 2, rect.row))
    put(summary)
    for index in 0..<parameterRows {
      draw(firstParameter + index, row: row, on: &canvas)
      row += 1
    }
    if parameterRows > 0 { row += gap }
    put(help)
    put(ports)
    put(instrument)
    drawSound(row: row, on: &canvas)
  }

  private var firstParameter: Int { Popup.first(selected, shown: parameterRows, of: lines.count) }

  private var nameColumns: Int { min(max(4, lines.map { $0.line.count + 1 }.max() ?? 0), 16) }
  private var hasBars: Bool { inner.columns >= 36 }
  private var barColumn: Int { inner.column + 2 + nameColumns + 1 }
  private var valueColumns: Int { hasBars ? 10 : 12 }

  private func draw(_ index: Int, row: Int, on canvas: inout Canvas) {
    guard let node, lines.indices.contains(index) else { return }
    let path = lines[index]
    let isSelected = index == selected
    let ground: ThemeKey = isSelected ? .selection : .background
    let place = Point(inner.column, row)
    canvas.fill(Rect(column: place.column, row: row, columns: inner.columns, rows: 1), " ", Style(ground))
    let isSet = node.settings[path] != nil
    // A set value has a mark, so that colour is not the only sign.
    let name = DisplayWidth.truncated(path.line, to: nameColumns - 1) + (isSet ? "•" : "")
    var spans = [
      Span(isSelected ? "▸ " : "  ", .accent), Span(DisplayWidth.padded(name, to: nameColumns), .text),
      Span(" "),
    ]
    let start = spans.width
    if isSelected, let typed = inspector.typed {
      let window = typed.window(columns: max(1, inner.columns - start - 1))
      canvas.put(spans + [Span(window.text, .promptText)], at: place, columns: inner.columns, on: ground)
      canvas.placeCursor(at: place + Point(min(start + window.cursor, max(0, inner.columns - 1)), 0))
      return
    }
    spans += valueSpans(path, isSet: isSet, columns: inner.columns - start)
    canvas.put(spans, at: place, columns: inner.columns, on: ground)
    if isSelected { canvas.placeCursor(at: place + Point(min(start, max(0, inner.columns - 1)), 0)) }
  }

  private func valueSpans(_ path: ParameterPath, isSet: Bool, columns: Int) -> [Span] {
    guard let node, let parameter = facts.kind?[parameter: path.name],
      let value = node.value(at: path, description: facts.kind)
    else { return [Span(node?.settings[path]?.display ?? "", .value)] }
    let key: ThemeKey = isSet ? .value : .dim
    let marks = marks(of: path)
    if case .text(let word) = value, let words = Self.words(of: parameter), words.count > 1 {
      let all = words.map { $0 == word ? Span("[\($0)]", .value) : Span(" \($0) ", .dim) }
      if all.width + marks.width <= columns { return all + marks }
      return [Span("‹ \(word) ›", key)] + marks
    }
    var spans: [Span] = []
    let now = parameter.timed(value, wholeNote: scene.wholeNote)
    if hasBars, let share = ValueBar.share(of: now, parameter) {
      spans += ValueBar.spans(share, columns: Self.barColumns)
      spans.append(Span(DisplayWidth.padded(value.display, to: valueColumns, right: true), key))
    } else {
      spans.append(Span(value.display, key))
    }
    return spans + marks
  }

  /// Everything else that moves it: controllers, a control of play mode, cables.
  private func marks(of path: ParameterPath) -> [Span] {
    guard let node else { return [] }
    var words = scene.patch.maps(to: scene.target(node.name, path)).map(\.source.word)
    if let control = control(of: path) { words.append("Alt-\(control)") }
    words += movers(of: path).map { "~" + $0 }
    return words.map { Span(" \($0)", .accent) }
  }

  private static func words(of parameter: ParameterDescription) -> [String]? {
    switch parameter.form {
    case .choice(let words): words
    case .toggle: ["on", "off"]
    default: nil
    }
  }

  /// The level of the port, and its sound.
  private func drawSound(row: Int, on canvas: inout Canvas) {
    guard soundRows > 0, let port = inspector.port(scene) else { return }
    // The sound of a sub-patch is that of the node at its edge.
    let report = port.node == inspector.owner ? report : scene.report.nodes.first { $0.id == port.node }
    let found = (port.isInput ? report?.inputs : report?.outputs)?.first { $0.name == port.port }
    let levels = found.map { port.isInput ? scene.levels(ofInput: $0).peaks : $0.peaks }
    let peak = levels?.max() ?? 0
    let isControl = facts.kind?.movesOthers ?? false
    let bar = Meter.bar(
      isControl ? min(peak, Meter.unclipped) : peak, columns: min(20, max(0, inner.columns - 9 - portColumns))
    )
    let end = portColumns + bar.count
    canvas.put(
      [Span(DisplayWidth.padded(port.port, to: portColumns), .port)], at: Point(inner.column, row),
      columns: inner.columns)
    canvas.put(bar, at: Point(inner.column + portColumns, row))
    let level = Meter.decibels(peak) < Meter.floor ? "silent" : Meter.text(peak) + " dB"
    canvas.put(
      [Span(DisplayWidth.padded(level, to: 8, right: true), .value)],
      at: Point(inner.column + end, row), columns: inner.columns - end)
    guard soundRows > 1 else { return }
    ScopeLane.draw(
      inspector.picture.trace, lane: 0, scale: inspector.picture.scale, kept: nil,
      Rect(column: inner.column, row: row + 1, columns: inner.columns, rows: soundRows - 1), on: &canvas)
    guard spectrumRows > 0 else { return }
    let plot = SpectrumPlot(
      floor: SoundState.floors[SoundState().floor],
      rect: Rect(
        column: inner.column + Self.levelColumns, row: row + soundRows + 1,
        columns: inner.columns - Self.levelColumns, rows: spectrumRows - 1))
    let curve = inspector.picture.spectrum.map { [(plot.field($0, isFilled: true), ThemeKey.accent)] } ?? []
    plot.draw(curve, on: &canvas)
  }

  /// Dots of the scope's width; 0: it is not shown.
  var scopeDots: Int { soundRows > 1 ? inner.columns * 2 : 0 }

  /// Ways in which it shows the sound.
  var modes: [SoundState.Mode] { spectrumRows > 0 ? [.scope, .spectrum] : [.scope] }

  // MARK: The mouse

  /// Index of the parameter at a cell.
  func parameter(at point: Point) -> Int? {
    let index = point.row - inner.row - summary.count - (summary.isEmpty ? 0 : gap)
    guard index >= 0, index < parameterRows, inner.contains(point) else { return nil }
    return firstParameter + index
  }

  /// Place of a cell on the selected parameter's bar, or where `isWithin` on the bar of the one that is there, 0...1.
  func barShare(at point: Point, isWithin: Bool) -> Double? {
    guard hasBars else { return nil }
    let first = barColumn + 1
    if isWithin {
      guard (first - 1..<first + Self.barColumns + 1).contains(point.column),
        let index = parameter(at: point),
        let parameter = facts.kind?[parameter: lines[index].name],
        let value = node?.value(at: lines[index], description: facts.kind),
        ValueBar.share(of: parameter.timed(value, wholeNote: scene.wholeNote), parameter) != nil
      else { return nil }
    }
    return Double(point.column - first) / Double(Self.barColumns - 1)
  }
}
