import Glibc
import Patch
import Screen
import Session

/// The meter bridge as cells: a row for each channel, in one column or, on a wide screen, in two.
///
/// ```
///                  -60      -48      -36      -24      -12      0   now  highest
/// ▸ out.in       0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▅╌╌╌╌╌│            -17    -12.3
///                1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▅╌╌╌╌│                 -19    -14.1
/// ```
struct MeterPicture {
  /// Channels that are shown, as indices of strips and of their channels.
  private let lines: [(strip: Int, channel: Int)]
  private let size: Size
  private let head: Int
  private let columns: Int
  private let first: Int
  /// Rows of channels.
  let rows: Int

  private static let wideColumns = 100
  private static let names = 17
  private static let numbers = 3
  /// `  -9   -12.3`
  private static let figures = 14

  init(_ state: ViewState, _ size: Size) {
    self.size = size
    // A port without channels has a row of its own.
    lines = state.meters.shown.enumerated().flatMap { index, strip in
      (0..<max(1, strip.channels.count)).map { (index, $0) }
    }
    head = size.rows >= 4 ? 2 : 0
    rows = max(1, size.rows - head)
    let isWide = size.columns >= Self.wideColumns && lines.count > rows
    columns = isWide ? 2 : 1
    let page = rows * columns
    let cursor = lines.firstIndex { $0.strip == state.meters.index } ?? 0
    let end = lines.lastIndex { $0.strip == state.meters.index } ?? 0
    // The port at the cursor is seen whole, if it is not higher than the page.
    let wanted = max(0, min(cursor, end + 1 - page / 2))
    first = lines.count <= page ? 0 : min(wanted, lines.count - page)
  }

  /// The strip in the same row of the other column.
  func beside(_ strip: Int, by step: Int) -> Int {
    guard columns > 1, let line = lines.firstIndex(where: { $0.strip == strip }) else { return strip }
    let place = line + step * rows
    return lines.indices.contains(place) && (place - first) / rows < columns && place >= first
      ? lines[place].strip : strip
  }

  func strip(at place: Point) -> Int? {
    guard place.row >= head, place.column >= 0, place.column < width * columns else { return nil }
    let line = first + place.column / width * rows + place.row - head
    return place.row - head < rows && lines.indices.contains(line) ? lines[line].strip : nil
  }

  private var width: Int { max(1, size.columns / columns) }

  static func count(_ strip: MeterBridge.Strip) -> String {
    let count = strip.channels.count
    return count == 0 ? "not connected" : "\(count) channel\(count == 1 ? "" : "s")"
  }

  /// With one decimal: `-9.3`, `+1.2`, `-inf`.
  static func decibels(_ peak: Float) -> String {
    let level = Meter.decibels(peak)
    guard level >= -120 else { return "-inf" }
    return (level >= 0.05 ? "+" : "") + fixed(min(level, 999))
  }

  private static func fixed(_ level: Double) -> String {
    let text = Printout.fixed(level, 1)
    return text == "-0.0" ? "0.0" : text
  }

  // MARK: Drawing

  func draw(_ state: ViewState, on canvas: inout Canvas) {
    guard size.columns > 0, size.rows > 0 else { return }
    let strips = state.meters.shown
    if head > 0 { drawHead(state, on: &canvas) }
    canvas.placeCursor(at: Point(0, min(head, size.rows - 1)))
    guard !strips.isEmpty else {
      let words = "no port with sound yet: a adds a node"
      canvas.put([Span(words, .dim)], at: Point(1, head + rows / 3), columns: size.columns - 2)
      return
    }
    for column in 0..<columns {
      for row in 0..<rows {
        let line = first + column * rows + row
        guard lines.indices.contains(line) else { break }
        let (strip, channel) = lines[line]
        // The name stands at the first channel that is seen.
        let isFirst = channel == 0 || row == 0
        draw(
          strips[strip], channel, isNamed: isFirst, isSelected: strip == state.meters.index,
          at: Point(column * width, head + row), on: &canvas)
      }
    }
    if first > 0 { canvas.set("↑", at: Point(size.columns - 1, head), Style(.accent)) }
    if first + rows * columns < lines.count {
      canvas.set("↓", at: Point(size.columns - 1, size.rows - 1), Style(.accent))
    }
  }

  private func drawHead(_ state: ViewState, on canvas: inout Canvas) {
    let ends = state.meters.showsEndsOnly
    canvas.put(
      [
        Span(ends ? " all ports " : "[all ports]", ends ? .dim : .title), Span(" "),
        Span(ends ? "[the driver's]" : " the driver's ", ends ? .title : .dim),
      ], at: Point(1, 0), columns: size.columns - 2)
    for column in 0..<columns {
      let (start, bar) = bar(column * width)
      guard bar >= 12 else { continue }
      var free = start
      for level in stride(from: -60, through: 0, by: bar < 24 ? 20 : 12) {
        let text = "\(level)"
        let place = start + Int(limited: Double(bar - 1) * Double(level + 60) / 60)
        let column = min(max(free, place - text.count / 2), start + bar - text.count)
        guard column >= free, column < start + bar else { continue }
        canvas.put([Span(text, .dim)], at: Point(column, 1), columns: text.count)
        free = column + text.count + 1
      }
      canvas.put([Span("now  highest", .dim)], endingAt: column * width + width - 2, row: 1)
    }
  }

  /// Where the bars of a column begin, and how long they are.
  private func bar(_ column: Int) -> (start: Int, columns: Int) {
    let left = 2 + nameColumns + Self.numbers
    return (column + left, max(0, width - left - figureColumns - 2))
  }

  private var nameColumns: Int { width >= 50 ? Self.names : width >= 30 ? 10 : 6 }
  private var figureColumns: Int { width >= 40 ? Self.figures : 0 }

  private func draw(
    _ strip: MeterBridge.Strip, _ channel: Int, isNamed: Bool, isSelected: Bool, at place: Point,
    on canvas: inout Canvas
  ) {
    let ground: ThemeKey = isSelected ? .selection : .background
    if isSelected {
      canvas.fill(
        Rect(column: place.column, row: place.row, columns: width - 1, rows: 1), " ", Style(ground))
    }
    let isCursor = isSelected && channel == 0
    let name = isNamed ? Wrapping.shortened(part: strip.name, to: nameColumns - 1) : ""
    canvas.put(
      [
        Span(isCursor ? "▸ " : "  ", .accent),
        Span(DisplayWidth.padded(name, to: nameColumns), strip.isEnd ? .value : .text),
      ], at: place, columns: width - 1, on: ground)
    if isCursor { canvas.placeCursor(at: place) }
    let (start, columns) = bar(place.column)
    guard strip.channels.indices.contains(channel) else {
      canvas.put([Span("not connected", .dim)], at: Point(start, place.row), columns: columns, on: ground)
      return
    }
    let meter = strip.channels[channel]
    canvas.put(
      [Span(DisplayWidth.padded("\(channel)", to: Self.numbers - 1, right: true), .dim)],
      at: Point(start - Self.numbers, place.row), columns: Self.numbers, on: ground)
    canvas.put(
      Meter.bar(strip.isControl ? meter.level.unclipped : meter.level, columns: columns),
      at: Point(start, place.row), on: ground)
    guard figureColumns > 0 else { return }
    let isClipped = strip.isClipped(meter.highest)
    canvas.put(
      [
        Span(DisplayWidth.padded(Meter.text(meter.level.peak), to: 5, right: true), .value),
        Span(
          DisplayWidth.padded((isClipped ? "! " : "") + Self.decibels(meter.highest), to: 9, right: true),
          isClipped ? .meterClip : .dim),
      ], at: Point(start + columns, place.row), columns: Self.figures, on: ground)
  }
}
