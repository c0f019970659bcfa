import Analysis
import Patch
import Screen
import Session

extension SoundPainting {
  /// Cents to each side of a note.
  private static let reach = 50.0
  /// Cents within which a note is in tune.
  private static let tolerance = 2.0

  /// A note's name: `A4`, `C#-1`.
  static func name(of pitch: Pitch, _ sound: SoundState) -> String {
    let key = pitch.note(a4: sound.reference).key
    return (0...127).contains(key) ? Value.noteName(key) : ""
  }

  /// The note, a needle from 50 cents flat to 50 cents sharp, and the needle's course, the latest at the top.
  static func drawTuner(_ sound: SoundState, _ rect: Rect, on canvas: inout Canvas) {
    let picture = sound.picture
    var row = rect.row
    let isOfSeveral = picture.pitch?.isOfSeveral == true
    let now = isOfSeveral ? nil : picture.pitch.map { ($0, $0.note(a4: sound.reference)) }
    var words = [
      Span(isOfSeveral ? "several notes at once: play one" : "no steady pitch", isOfSeveral ? .warning : .dim)
    ]
    if let (pitch, note) = now {
      let isInTune = abs(note.cents) <= tolerance
      words = [
        Span(DisplayWidth.padded(name(of: pitch, sound), to: 5), .title, on: nil, .bold),
        Span(DisplayWidth.padded("\(signed(note.cents)) cents", to: 14), .value),
        Span(DisplayWidth.padded(hertz(pitch.frequency), to: 14), .value),
        Span(isInTune ? "in tune" : note.cents < 0 ? "flat ▸" : "◂ sharp", isInTune ? .sounding : .warning),
      ]
    }
    let middle = rect.column + rect.columns / 2
    if rect.rows >= 4 { row += 1 }
    canvas.put(words, at: Point(max(rect.column, middle - 22), row), columns: rect.columns)
    row += rect.rows >= 6 ? 2 : 1
    guard row < rect.bottom else { return }
    drawNeedle(
      now?.1.cents, kept: keptPitch(sound)?.note(a4: sound.reference).cents, rect, row: row, on: &canvas)
    row += 1
    PlotLabels.labels(
      stride(from: -50, through: 50, by: 10).map { (signed(Double($0), 0), Double($0 + 50) / 100) }, rect,
      on: &canvas)
    guard row < rect.bottom else { return }
    var course = BrailleField(columns: rect.columns, rows: rect.bottom - row)
    var centre = course
    for dot in stride(from: 0, to: centre.dotRows, by: 4) { centre.set(centre.dotColumns / 2, dot) }
    for (index, pitch) in picture.pitches.reversed().enumerated() where index < course.dotRows {
      guard let pitch, !pitch.isOfSeveral else { continue }
      let cents = pitch.note(a4: sound.reference).cents
      course.set(place(cents, course.dotColumns), index)
    }
    BrailleField.draw([(course, .accent), (centre, .rule)], at: Point(rect.column, row), on: &canvas)
  }

  /// The kept picture's note: of several at once there is none.
  private static func keptPitch(_ sound: SoundState) -> Pitch? {
    sound.kept?.pitch.flatMap { $0.isOfSeveral ? nil : $0 }
  }

  private static func place(_ cents: Double, _ columns: Int) -> Int {
    Int(limited: (cents + reach) / (2 * reach) * Double(columns - 1))
  }

  private static func drawNeedle(
    _ cents: Double?, kept: Double?, _ rect: Rect, row: Int, on canvas: inout Canvas
  ) {
    canvas.fill(Rect(column: rect.column, row: row, columns: rect.columns, rows: 1), "─", Style(.rule))
    for tick in stride(from: -50.0, through: 50, by: 10) {
      let column = rect.column + place(tick, rect.columns)
      canvas.set(tick == 0 ? "┼" : "┬", at: Point(column, row), Style(tick == 0 ? .value : .rule))
    }
    if let kept { canvas.set("◇", at: Point(rect.column + place(kept, rect.columns), row), Style(.dim)) }
    guard let cents else { return }
    canvas.set(
      "◆", at: Point(rect.column + place(cents, rect.columns), row),
      Style(abs(cents) <= tolerance ? .sounding : .warning))
  }

  static func tunerFacts(_ sound: SoundState) -> [Fact] {
    var facts: [Fact] = [("A4", "\(Printout.fixed(sound.reference, 0)) Hz")]
    if let pitch = sound.picture.pitch {
      facts.append(("clarity", "\(Printout.fixed(100 * pitch.clarity, 0)) %"))
    }
    if let kept = sound.kept {
      let words = keptPitch(sound).map { pitch in
        "\(name(of: pitch, sound)) \(signed(pitch.note(a4: sound.reference).cents)) cents"
      }
      facts.append((kept.name, words ?? (kept.pitch == nil ? "no steady pitch" : "several notes")))
    }
    return facts
  }
}
