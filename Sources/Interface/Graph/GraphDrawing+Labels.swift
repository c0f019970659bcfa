import Patch
import Screen
import Session

/// Words on cables, and the letters of hints.
extension GraphDrawing {
  /// Labels with fade or level, where there is room.
  static func drawLabels(
    _ picture: GraphPicture, _ visible: [Int], _ scene: Scene, _ marks: [Cable.Ends: PatchMarks.Marks],
    on canvas: inout Canvas
  ) {
    for index in visible {
      let route = picture.diagram.routes[index]
      let wire = picture.wires[index]
      let signs = marks[wire.ends]?.text
      // Where there is little room, the marks alone.
      for label in [label(wire, scene, signs), signs].compactMap(\.self) {
        guard let place = place(label, route, canvas) else { continue }
        canvas.put(label, at: place, Style(.dim))
        break
      }
    }
  }

  private static func label(_ wire: GraphPicture.Wire, _ scene: Scene, _ marks: String?) -> String? {
    switch wire.outside {
    case .ended?: return "ended"
    case .partly(let made, let of)?: return "\(made)/\(of)"
    default: break
    }
    switch wire.report(scene)?.state {
    case .fadingOut(let left)?, .fadingIn(let left)?:
      return Printout.milliseconds(left).filter { $0 != " " }
    default: break
    }
    guard !wire.isEvents, let settings = wire.cable?.settings else { return nil }
    let gain = settings.gain == 0 ? nil : settings.gain.isFinite ? Printout.fixed(settings.gain, 1) : "-inf"
    let words = [settings.modulation.map(label), gain, marks].compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// "2oct", "2oct+1oct", "2oct log".
  private static func label(_ modulation: Modulation) -> String {
    var words = modulation.depth.line
    if let offset = modulation.offset { words += (offset.line.hasPrefix("-") ? "" : "+") + offset.line }
    if modulation.curve != .linear { words += " \(modulation.curve.rawValue)" }
    return words
  }

  /// On the cable's last horizontal section, with some line visible on both sides; otherwise beside a
  /// vertical section.
  private static func place(_ label: String, _ route: Diagram.Route, _ canvas: Canvas) -> Point? {
    let points = route.points
    guard points.count > 1 else { return nil }
    let columns = label.count
    func isLine(_ glyph: Glyph) -> Bool { glyph == "─" || glyph == "┈" }
    let (a, b) = (points[points.count - 2], points[points.count - 1])
    if a.row == b.row {
      // From the right, since others may join or leave further left.
      var end = b.column
      while end > a.column {
        var start = end
        while start > a.column, isLine(canvas[Point(start - 1, a.row)].glyph) { start -= 1 }
        if end - start >= columns + 2 { return Point(start + (end - start - columns) / 2, a.row) }
        end = start - 1
      }
    }
    for (a, b) in zip(points, points.dropFirst()) where a.column == b.column {
      let middle = (a.row + b.row) / 2
      guard abs(a.row - b.row) > 1 else { continue }
      for start in [a.column + 1, a.column - columns] where start >= 0 {
        let isFree = (-1...columns).allSatisfy { step in
          let there = canvas[Point(start + step, middle)].glyph
          return there == " " || !(0..<columns).contains(step)
        }
        if isFree { return Point(start, middle) }
      }
    }
    return nil
  }

  // MARK: Hints

  /// Two letters on each port or cable. They cover the edges of boxes and the blanks beside them, so that no box has to make
  /// room; where boxes are close together, a blank stays between the letters of two.
  static func drawHints(
    _ hints: [PortHint], _ typed: String, _ picture: GraphPicture, on canvas: inout Canvas
  ) {
    for hint in hints where hint.letters.lowercased().hasPrefix(typed.lowercased()) {
      let letters = [
        Span(String(hint.letters.prefix(typed.count)), .dim, on: .portHint),
        Span(String(hint.letters.dropFirst(typed.count)), .portHint),
      ]
      var place: Point?
      switch hint.target {
      case .output(let port): place = picture.place(ofOutput: port)
      case .input(let port):
        place = picture.place(ofInput: port).map { $0 - Point(isFar(picture, $0) ? 1 : 0, 0) }
      case .cable(let ends):
        guard let index = picture.wires.firstIndex(where: { $0.ends == ends }) else { continue }
        let route = picture.diagram.routes[index]
        guard let last = route.points.last else { continue }
        place = last + Point(-hint.letters.count - 1, 0)
      }
      // A hint at the edge moves inwards; one of a port that is scrolled away is not there.
      if var place {
        let last = canvas.visible.right - hint.letters.count
        guard place.column > canvas.visible.column - 4, place.column < canvas.visible.right + 2 else {
          continue
        }
        place.column = min(max(place.column, canvas.visible.column), last)
        canvas.put(letters, at: place, columns: hint.letters.count)
      }
    }
  }

  /// Columns by which the text beside the letters of an input makes room, where they cover the blank before it.
  static func indent(_ picture: GraphPicture, _ index: Int, row: Int) -> Int {
    let frame = picture.frames[index]
    guard picture.isHinting, picture.boxes[index].inputs.contains(where: { $0.row == row }) else { return 0 }
    return isFar(picture, Point(frame.column, frame.row + row)) ? 0 : 1
  }

  /// Between a port and the box to its left is room for a letter of each, and a blank.
  private static func isFar(_ picture: GraphPicture, _ port: Point) -> Bool {
    !picture.frames.contains {
      $0.right > port.column - 3 && $0.right <= port.column && ($0.row..<$0.bottom).contains(port.row)
    }
  }
}
