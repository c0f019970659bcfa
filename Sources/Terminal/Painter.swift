@preconcurrency import CNcurses
import Glibc
import Screen

/// Writes canvases to the ncurses window, only the changed cells, and manages its colour pairs.
@MainActor
struct Painter {
  private(set) var depth = ColorDepth.monochrome
  /// The terminal shows ASCII alone.
  var isPlain = false
  private var shown: Canvas?
  private var theme: Theme?
  private var pairs: [PairKey: Int32] = [:]
  /// Cache of attributes by style; cleared with the theme.
  private var looks: [Style: Look] = [:]
  private var last: (style: Style, look: Look)?

  private struct PairKey: Hashable {
    var foreground: Int32
    var background: Int32
  }

  private struct Look {
    var attributes: attr_t
    var pair: Int32
  }

  /// Enables ncurses' colours. `NO_COLOR` in the environment disables them (no-color.org).
  mutating func start() {
    if let refused = getenv("NO_COLOR"), refused.pointee != 0 { return }
    guard has_colors(), start_color() == OK else { return }
    use_default_colors()
    let colors = sostenuto_colors()
    // A terminal description whose colour numbers are RGB values.
    let isDirect = tigetflag("RGB") > 0 && colors >= 1 << 24
    depth = isDirect ? .trueColor : colors >= 256 ? .colors256 : colors >= 8 ? .colors8 : .monochrome
  }

  /// The next `stage` redraws everything, from a blank terminal.
  mutating func clear() {
    shown = nil
    sostenuto_redraw_all()
  }

  /// The ncurses window no longer has the last drawing.
  mutating func forget() {
    shown = nil
  }

  /// Writes the changes to the window; false if there are none.
  mutating func stage(_ canvas: Canvas, theme: Theme, columns: Int, rows: Int) -> Bool {
    if self.theme != theme {
      self.theme = theme
      looks = [:]
      last = nil
      shown = nil
    }
    if shown == canvas { return false }
    let isWhole = shown.map { $0.columns != canvas.columns || $0.rows != canvas.rows } ?? true
    if isWhole {
      let ground = look(Style(.background), theme)
      bkgrndset(ground)
      sostenuto_erase()
    }
    canvas.forEachChange(since: isWhole ? nil : shown) { cell, column, row in
      if column < columns, row < rows, cell.width > 0 { put(cell, column, row, columns, theme) }
    }
    if let cursor = canvas.cursor, cursor.column < columns, cursor.row < rows {
      sostenuto_place(Int32(cursor.row), Int32(cursor.column))
      curs_set(1)
    } else {
      curs_set(0)
    }
    sostenuto_stage()
    shown = canvas
    return true
  }

  private func bkgrndset(_ look: Look) {
    sostenuto_background(look.attributes, look.pair)
  }

  private mutating func put(_ cell: Cell, _ column: Int, _ row: Int, _ columns: Int, _ theme: Theme) {
    let look = look(cell.style, theme)
    // Where the system's character widths differ from ours, or the right half is cut off, later columns would
    // shift.
    let fits = column + Int(cell.width) <= columns
    func write(_ characters: [wchar_t], at column: Int) {
      sostenuto_put(Int32(row), Int32(column), characters + [0], look.attributes, look.pair)
    }
    let glyph = isPlain ? cell.glyph.plain : cell.glyph
    if let scalar = glyph.scalar, fits, sostenuto_width(wchar_t(scalar.value)) == Int32(cell.width) {
      sostenuto_put_one(Int32(row), Int32(column), wchar_t(scalar.value), look.attributes, look.pair)
      return
    }
    let characters = glyph.scalars.map { wchar_t($0.value) }
    if fits, sostenuto_width(characters[0]) == Int32(cell.width) { return write(characters, at: column) }
    if cell.width == 2, fits { write([0x20], at: column + 1) }
    write([fits ? 0x3F : 0x20], at: column)
  }

  private mutating func look(_ style: Style, _ theme: Theme) -> Look {
    // Neighbours mostly look the same.
    if let last, last.style == style { return last.look }
    if let known = looks[style] {
      last = (style, known)
      return known
    }
    let paint = theme.paint(for: style, depth: depth)
    let flags = paint.attributes
    let attributes = sostenuto_attributes(
      flags.contains(.bold) ? 1 : 0, flags.contains(.underline) ? 1 : 0, flags.contains(.reverse) ? 1 : 0,
      flags.contains(.dim) ? 1 : 0)
    let look = Look(attributes: attributes, pair: pair(paint))
    looks[style] = look
    last = (style, look)
    return look
  }

  private mutating func pair(_ paint: Paint) -> Int32 {
    guard depth > .monochrome else { return 0 }
    func index(_ color: Color?) -> Int32 {
      guard let color else { return -1 }
      switch depth {
      case .colors8, .monochrome: return Int32(color.index8)
      case .colors256: return Int32(color.index256)
      // The first eight are the classic colours there.
      case .trueColor: return max(8, Int32(color.value))
      }
    }
    var key = PairKey(foreground: index(paint.foreground), background: index(paint.background))
    // Two colours that degrade to the same one would hide the text.
    if key.foreground == key.background, key.foreground >= 0 {
      key.foreground = key.foreground == 0 || key.foreground == 16 ? 7 : 0
    }
    if key == PairKey(foreground: -1, background: -1) { return 0 }
    if let known = pairs[key] { return known }
    let next = Int32(pairs.count + 1)
    guard next < sostenuto_pairs(), init_extended_pair(next, key.foreground, key.background) == OK else {
      return 0
    }
    pairs[key] = next
    return next
  }
}
