import Engine
import Patch
import Screen
import Session

/// The graph as cells: boxes with their state, cables with their levels.
enum GraphDrawing {
  static func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    let picture = GraphPicture(scene, state, columns: bounds.columns, rows: bounds.rows)
    if picture.boxes.isEmpty {
      drawEmpty(on: &canvas)
      return
    }
    if state.graph.showsOverview {
      GraphOverview(picture, state, bounds.size).draw(scene, state, on: &canvas)
      return
    }
    let scrolled = offset(picture, state, bounds.size)
    let window = Window(
      picture, scene, state,
      Rect(column: scrolled.column, row: scrolled.row, columns: bounds.columns, rows: bounds.rows))
    canvas.draw(in: bounds, showing: window.still, from: still) {
      drawStill(picture, window, scene, state, on: &$0)
    }
    canvas.draw(in: bounds, scrolled: scrolled) { canvas in
      for (index, peaks) in zip(window.boxes, window.peaks) where picture.boxes[index].detail != .dot {
        drawMeters(index, picture, peaks, scene, on: &canvas)
      }
      if let focus = window.focus, let frame = picture.frame(of: focus) {
        canvas.placeCursor(at: Point(frame.column + 2, frame.row))
        canvas.markFocus(frame)
      }
    }
    drawEdges(picture, scrolled, on: &canvas)
  }

  /// All but the levels in the boxes.
  private static func drawStill(
    _ picture: GraphPicture, _ window: Window, _ scene: Scene, _ state: ViewState, on canvas: inout Canvas
  ) {
    let bounds = canvas.bounds
    canvas.draw(in: bounds, showing: window.still?.boxes, from: stillBoxes) { canvas in
      canvas.draw(in: bounds, scrolled: window.area.origin) {
        drawBoxes(picture, window, scene, state, on: &$0)
      }
    }
    canvas.draw(in: bounds, scrolled: window.area.origin) { canvas in
      let looks = Dictionary(uniqueKeysWithValues: zip(window.wires, window.looks))
      canvas.drawCables(of: picture.diagram) { looks[$0] ?? look(picture.wires[$0], scene) }
      drawMarks(picture, window.wires, scene, on: &canvas)
      if !picture.isHinting {
        drawLabels(picture, window.wires, scene, PatchMarks.of(scene).cables, on: &canvas)
      }
      if let hints = state.overlay as? PortHints {
        drawHints(hints.targets, hints.typed, picture, on: &canvas)
      }
    }
  }

  private static func drawBoxes(
    _ picture: GraphPicture, _ window: Window, _ scene: Scene, _ state: ViewState, on canvas: inout Canvas
  ) {
    for (place, index) in window.boxes.enumerated() {
      let (box, frame) = (picture.boxes[index], picture.frames[index])
      let isFocused = box.id == window.focus
      if box.detail == .dot {
        drawDot(
          box, frame, scene, state, isFocused: isFocused, isSounding: window.sounding[place], on: &canvas)
        continue
      }
      draw(index, picture, scene, isFocused: isFocused, isSounding: window.sounding[place], on: &canvas)
      if ([box.id] + box.others).contains(where: scene.changedByOthers.contains) {
        canvas.set("≠", at: Point(frame.right - 1, frame.row), Style(.changed))
      }
      if ([box.id] + box.others).contains(where: state.marked.contains) {
        canvas.set("◆", at: frame.origin, Style(.accent))
      }
    }
  }

  /// Parts of the last picture that stood still.
  private static let still = KeptCells<Still>()
  private static let stillBoxes = KeptCells<Still.Boxes>()

  /// The point of the diagram at the view's upper left corner: the user's scroll position, clamped, and moved
  /// so that the focused box is visible.
  static func offset(_ picture: GraphPicture, _ state: ViewState, _ view: Size) -> Point {
    let size = picture.diagram.size
    let wanted = state.scroll[.graph] ?? (row: 0, column: 0)
    let focus = state.graph.isScrolledFreely ? nil : state.focus.flatMap(picture.frame)
    return Point(
      offset(wanted.column, size.columns, view.columns, margin: 1, focus.map { ($0.column, $0.right) }),
      offset(wanted.row, size.rows, view.rows, margin: 0, focus.map { ($0.row, $0.bottom) }))
  }

  private static func offset(
    _ wanted: Int, _ size: Int, _ view: Int, margin: Int, _ focus: (start: Int, end: Int)?
  ) -> Int {
    if size <= view { return -min(margin, view - size) }
    var place = min(max(wanted, 0), size + margin - view)
    if let focus {
      place = max(place, focus.end + margin - view)
      place = min(place, focus.start - margin)
    }
    return place
  }

  private static func drawEmpty(on canvas: inout Canvas) {
    let text = "an empty patch: a adds a node, Ctrl-O opens a file"
    let point = Point(max(1, (canvas.bounds.columns - text.count) / 2), canvas.bounds.rows / 3)
    canvas.put([Span(text, .dim)], at: point, columns: canvas.bounds.columns - point.column)
    canvas.placeCursor(at: Point(0, 0))
  }

  // MARK: Boxes

  private static func draw(
    _ index: Int, _ picture: GraphPicture, _ scene: Scene, isFocused: Bool, isSounding: Bool,
    on canvas: inout Canvas
  ) {
    let (box, frame) = (picture.boxes[index], picture.frames[index])
    let key: ThemeKey =
      isFocused
      ? .frameFocused
      : box.isTroubled
        ? .frameTrouble
        : box.isLeaving || box.isGhost ? .frameLeaving : isSounding ? .frameSounding : .frame
    let style = Style(key)
    canvas.box(
      frame, stroke: isFocused ? .heavy : box.isLeaving || box.isGhost ? .dotted : .light,
      rounded: !isFocused, style)
    let inner = frame.columns - 4
    let marks = box.marks
    let text = box.isLeaving || box.isGhost ? ThemeKey.dim : .text
    edge(
      [Span(box.name, isFocused ? .accent : box.isLeaving || box.isGhost || box.isFound ? .dim : .title)],
      at: frame.column + 1, frame.row,
      columns: inner - (marks.isEmpty ? 0 : marks.count + 1), on: &canvas)
    if !marks.isEmpty {
      edge(
        [Span(marks, .value)], at: frame.right - 3 - marks.count, frame.row, columns: marks.count, on: &canvas
      )
    }
    let kindKey: ThemeKey = box.isTroubled ? .trouble : box.isLeaving ? .dim : .kind
    let meters = min(box.meterCount, box.peaks(scene).count)
    let left = Point(frame.column + 2, frame.row + 1)
    var indent = indent(picture, index, row: 1)
    canvas.put(
      [Span(box.kind, kindKey)], at: left + Point(indent, 0),
      columns: inner - indent - (meters == 0 ? 0 : meters + 1))
    for (number, line) in box.lines.enumerated() {
      indent = Self.indent(picture, index, row: 2 + number)
      let place = Point(left.column + indent, left.row + 1 + number)
      draw(line, at: place, columns: inner - indent, text, isChosen: picture.isHinting, on: &canvas)
    }
    let bottom = frame.bottom - 1
    if !box.footer.isEmpty {
      let room = inner - (box.count.isEmpty ? 0 : box.count.count + 1)
      let words = DisplayWidth.of(box.footer) > room ? box.briefFooter ?? box.footer : box.footer
      edge(
        [
          Span(
            words, box.isTroubled ? .trouble : box.isLacking ? .warning : .dim
          )
        ],
        at: frame.column + 1, bottom, columns: room,
        on: &canvas)
    }
    if !box.count.isEmpty {
      edge(
        [Span(box.count, box.count == "0" ? .dim : .sounding)],
        at: frame.right - 3 - box.count.count, bottom, columns: box.count.count, on: &canvas)
    }
  }

  /// A mark and a name: `▸` the focus, `◆` marked, `×` trouble, `≠` changed by others, `◌` leaving, `●` sounding, `○` silent.
  private static func drawDot(
    _ box: GraphBox, _ frame: Rect, _ scene: Scene, _ state: ViewState, isFocused: Bool, isSounding: Bool,
    on canvas: inout Canvas
  ) {
    let look: (glyph: Glyph, key: ThemeKey) =
      isFocused
      ? ("▸", .accent)
      : ([box.id] + box.others).contains(where: state.marked.contains)
        ? ("◆", .accent)
        : box.isTroubled
          ? ("×", .trouble)
          : ([box.id] + box.others).contains(where: scene.changedByOthers.contains)
            ? ("≠", .changed)
            : box.isLeaving || box.isGhost
              ? ("◌", .frameLeaving) : isSounding ? ("●", .sounding) : ("○", .frame)
    canvas.set(look.glyph, at: Point(frame.column + 1, frame.row), Style(look.key))
    let room = frame.columns - 3 - (box.marks.isEmpty ? 0 : box.marks.count + 1)
    let place = Point(frame.column + 2, frame.row)
    canvas.put(
      [Span(box.name, isFocused ? .accent : box.isLeaving || box.isGhost ? .dim : .title)], at: place,
      columns: room)
    canvas.put([Span(box.marks, .value)], endingAt: frame.right - 1, row: frame.row)
  }

  /// Text on an edge, with a blank at each side.
  private static func edge(
    _ spans: [Span], at column: Int, _ row: Int, columns: Int, on canvas: inout Canvas
  ) {
    let used = canvas.put(spans, at: Point(column + 1, row), columns: columns)
    guard used > 0 else { return }
    canvas.set(" ", at: Point(column, row))
    canvas.set(" ", at: Point(column + 1 + used, row))
  }

  /// The levels beside the kind and in the lines.
  private static func drawMeters(
    _ index: Int, _ picture: GraphPicture, _ peaks: [Float], _ scene: Scene, on canvas: inout Canvas
  ) {
    let (box, frame) = (picture.boxes[index], picture.frames[index])
    func shown(_ peak: Float) -> Float { box.isControl ? min(peak, Meter.unclipped) : peak }
    let (left, right, row) = (frame.column + 2, frame.right - 2, frame.row + 1)
    let beside = peaks.prefix(box.meterCount)
    canvas.put(beside.map { Meter.cell(shown($0)) }, at: Point(right - beside.count, row))
    guard box.hasMeterLines else { return }
    let channels = box.facePeaks(scene)
    for (number, line) in box.lines.enumerated() {
      guard case .meter(let name, let channel) = line else { continue }
      let peak = channel.map { channels.indices.contains($0) ? channels[$0] : 0 } ?? peaks.max() ?? 0
      let start =
        left + indent(picture, index, row: 2 + number) + (name.isEmpty ? 0 : DisplayWidth.of(name) + 1)
      // The number takes four columns.
      canvas.put(Meter.bar(shown(peak), columns: right - start - 4), at: Point(start, row + 1 + number))
      let level = Meter.text(peak)
      canvas.put(level, endingAt: Point(right, row + 1 + number), Style(level == "·" ? .dim : .value))
    }
  }

  private static func draw(
    _ line: GraphBox.Line, at point: Point, columns: Int, _ text: ThemeKey, isChosen: Bool,
    on canvas: inout Canvas
  ) {
    switch line {
    // Who is to choose a parameter needs its name more than its value.
    case .setting(let name, let value)
    where isChosen && DisplayWidth.of(name) + 1 + DisplayWidth.of(value) > columns:
      canvas.put([Span(name, .dim)], at: point, columns: columns)
    case .setting(let name, let value):
      let right = [Span(value, .value)]
      let room = max(0, columns - right.width - 1)
      let isMapped = name.hasSuffix(GraphBox.mark)
      let used = canvas.put(
        [Span(isMapped ? String(name.dropLast(GraphBox.mark.count)) : name, .dim)], at: point, columns: room)
      // The mark takes the place of the blank, also behind a name that is cut.
      if isMapped, room > 0 {
        canvas.put([Span(GraphBox.mark, .dim)], at: point + Point(used, 0), columns: 1)
      }
      if right.width <= columns {
        canvas.put(right, endingAt: point.column + columns, row: point.row)
      } else {
        canvas.put(right, at: point, columns: columns)
      }
    case .meter(let name, _):
      if !name.isEmpty { canvas.put([Span(name + " ", .dim)], at: point, columns: columns) }
    case .lacking(let name):
      canvas.put([Span(name, .dim)], at: point, columns: columns)
      canvas.put([Span("silent", .warning)], endingAt: point.column + columns, row: point.row)
    case .text(let words, let key):
      canvas.put([Span(words, text == .dim ? .dim : key)], at: point, columns: columns)
    case .ports(let left, let right):
      let key: ThemeKey = text == .dim ? .dim : .port
      canvas.put([Span(left, key)], at: point, columns: columns)
      canvas.put([Span(right, key)], endingAt: point.column + columns, row: point.row)
    }
  }

  // MARK: Cables

  static func look(_ wire: GraphPicture.Wire, _ scene: Scene) -> CableLook {
    switch wire.outside {
    case .made?: return CableLook(Style(wire.isEvents ? .cableEvents : .cable), priority: 3)
    case .partly?: return CableLook(Style(.warning), priority: 4)
    case .found?: return CableLook(Style(.dim), priority: 2)
    case .waiting?, .ended?, .gone?: return CableLook(Style(.cableFading), stroke: .dotted, priority: 1)
    case nil: break
    }
    guard let report = wire.report(scene) else { return CableLook(Style(.cable), stroke: .dotted) }
    if report.state.isFading { return CableLook(Style(.cableFading), stroke: .dotted) }
    if wire.isEvents { return CableLook(Style(.cableEvents), priority: 3) }
    let level = Meter.decibels(wire.peak(scene) * report.gain)
    let priority = level < -90 ? 1 : level < -40 ? 4 : level < -20 ? 5 : level < -6 ? 6 : 7
    if report.isFeedback { return CableLook(Style(.cableFeedback), priority: 2) }
    return CableLook(Style(.cable(level: level)), priority: priority)
  }

  /// `↺` on feedback, `⇄` on a map or a conversion.
  private static func drawMarks(
    _ picture: GraphPicture, _ visible: [Int], _ scene: Scene, on canvas: inout Canvas
  ) {
    for index in visible {
      let wire = picture.wires[index]
      let report = wire.report(scene)
      let route = picture.diagram.routes[index]
      guard route.points.count > 1 else { continue }
      let isConverted =
        (report?.map ?? wire.cable?.map) != nil || report?.conversion != nil || report?.isDiscrete ?? false
      // On a section that belongs to this cable alone, so that the mark is unambiguous.
      if wire.isFeedback {
        canvas.set("↺", at: route.middleMark, Style(.cableFeedback))
      }
      guard isConverted else { continue }
      let sharesEnd = picture.wires.count { $0.ends.destination == wire.ends.destination } > 1
      let sharesStart = picture.wires.count { $0.ends.source == wire.ends.source } > 1
      let place =
        !sharesEnd
        ? route.endMark : !sharesStart ? route.points[0] + Point(1, 0) : route.middleMark + Point(1, 0)
      canvas.set("⇄", at: place, Style(.value))
    }
  }

  // MARK: Scrolling

  /// Arrows at edges with more content beyond.
  private static func drawEdges(_ picture: GraphPicture, _ scrolled: Point, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    let frames = picture.frames
    let middle = bounds.rows / 2
    let right = bounds.columns - 1
    // Where nothing of a box or a cable is, as near to the middle as that is.
    func mark(_ glyph: Glyph, column: Int, _ canvas: inout Canvas) {
      let rows = (0..<bounds.rows).sorted { abs($0 - middle) < abs($1 - middle) }
      let row = rows.first { canvas[Point(column, $0)].glyph == " " } ?? middle
      canvas.set(glyph, at: Point(column, row), Style(.accent))
    }
    if frames.contains(where: { $0.column < scrolled.column }) { mark("‹", column: 0, &canvas) }
    if frames.contains(where: { $0.right > scrolled.column + bounds.columns }) {
      mark("›", column: right, &canvas)
    }
    // In the last column, so that no name is hidden.
    if frames.contains(where: { $0.row < scrolled.row }) {
      canvas.set("↑", at: Point(right, 0), Style(.accent))
    }
    if frames.contains(where: { $0.bottom > scrolled.row + bounds.rows }) {
      canvas.set("↓", at: Point(right, bounds.rows - 1), Style(.accent))
    }
  }
}
