import Analysis
import Patch
import Screen
import Session

/// The screen of scope, spectrum, tuner and loudness:
///
/// ```
///  scope ─[spectrum]─ tuner ─ loudness   dist.out 2 channels              beside piano.out
///    0 ⢠⡄
///  -24 ⢸⡇  ⡀
///  -48 ⣸⣇⣀⣰⣇⡀
///     20   50  100  200  500   1k   2k   5k  10k
/// ```
enum SoundPainting {
  /// Columns of the scale at the left.
  private static let margin = 6

  /// Size of the picture itself within the view.
  static func pictureSize(_ view: Size) -> Size { rect(view).size }

  private static func rect(_ view: Size) -> Rect {
    let left = view.columns >= 30 ? margin : 0
    let top = view.rows >= 3 ? 1 : 0
    let bottom = view.rows >= 5 ? 1 : 0
    return Rect(column: left, row: top, columns: view.columns - left - 1, rows: view.rows - top - bottom)
  }

  static func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    let rect = rect(bounds.size)
    if rect.row > 0 { drawHead(scene, state, on: &canvas) }
    canvas.placeCursor(at: .zero)
    let sound = state.sound
    guard sound.port != nil else {
      canvas.put(
        [Span(wordsOfNone(scene, state), .dim)], at: Point(1, rect.row + rect.rows / 3),
        columns: bounds.columns - 2)
      return
    }
    guard !rect.isEmpty else { return }
    switch sound.mode {
    case .scope: drawScope(sound, rect, on: &canvas)
    case .spectrum: drawSpectrum(sound, rect, on: &canvas)
    case .tuner: drawTuner(sound, rect, on: &canvas)
    case .loudness: drawLoudness(sound, rect, on: &canvas)
    }
  }

  /// Words for a focus without a port to look at.
  static func wordsOfNone(_ scene: Scene, _ state: ViewState) -> String {
    state.focus.flatMap { scene.patch[$0]?.name }.map {
      "\($0) has no sound of its own: ← → choose another node"
    } ?? "there is no node yet: a adds one"
  }

  // MARK: The head

  private static func modes(_ state: ViewState) -> [(mode: SoundState.Mode, text: String, column: Int)] {
    var column = 1
    return SoundState.Mode.allCases.map { mode in
      let text = mode == state.sound.mode ? "[\(mode.rawValue)]" : " \(mode.rawValue) "
      defer { column += text.count }
      return (mode, text, column)
    }
  }

  /// The mode whose name stands in this column of the head.
  static func mode(at column: Int, _ state: ViewState) -> SoundState.Mode? {
    modes(state).first { ($0.column..<$0.column + $0.text.count).contains(column) }?.mode
  }

  private static func drawHead(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let sound = state.sound
    var end = 0
    for (mode, text, column) in modes(state) {
      end = column + canvas.put(text, at: Point(column, 0), Style(mode == sound.mode ? .title : .dim))
    }
    let room = canvas.bounds.columns - end - 3
    guard room > 0, let port = sound.port, let name = scene.name(of: port) else { return }
    var groups = [[Span(name, .accent), Span(port.isInput ? " what goes in" : "", .dim)]]
    let count = sound.picture.channels
    if count > 1 {
      let measured =
        switch sound.mode {
        case .scope: lanes(sound, rect(canvas.bounds.size))
        case .spectrum, .tuner: min(count, Ear.mostChannels)
        case .loudness: count
        }
      let all = measured < count ? "\(measured) of \(count) channels" : "\(count) channels"
      groups.append([Span(sound.channel.map { "channel \($0) of \(count)" } ?? all, .dim)])
    }
    if sound.isFrozen { groups.insert([Span("frozen", .warning)], at: 1) }
    if let kept = sound.kept { groups.append([Span("beside ", .dim), Span(kept.name, .value)]) }
    canvas.put([Span].fitting(groups, columns: room, gap: 2), at: Point(end + 2, 0), columns: room)
  }

  /// A level with one decimal: `-18.3`, `-inf`.
  static func decibels(_ level: Double) -> String { level > -150 ? Printout.fixed(level, 1) : "-inf" }

  /// A frequency: `87.3 Hz`, `1.25 kHz`.
  static func hertz(_ frequency: Double) -> String {
    frequency < 1000 ? "\(Printout.fixed(frequency, 1)) Hz" : "\(Printout.fixed(frequency / 1000, 3)) kHz"
  }

  /// A difference with its sign: `+3.1`.
  static func signed(_ difference: Double, _ digits: Int = 1) -> String {
    let text = Printout.fixed(difference, digits)
    return difference > 0 && text.contains(where: { ("1"..."9").contains($0) }) ? "+" + text : text
  }

  // MARK: The footer

  static func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    let sound = state.sound
    guard sound.port != nil else { return nil }
    guard sound.picture.rate > 0 else { return [Span("listening…", .dim)] }
    let facts =
      switch sound.mode {
      case .scope: scopeFacts(sound)
      case .spectrum: spectrumFacts(sound)
      case .tuner: tunerFacts(sound)
      case .loudness: loudnessFacts(sound)
      }
    let groups = facts.map { [Span("\($0.name) ", .dim), Span($0.value, .value)] }
    return [Span].fitting(groups, columns: columns)
  }

  typealias Fact = (name: String, value: String)
}
