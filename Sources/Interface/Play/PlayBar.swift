import Patch
import Screen

/// The keyboard of play mode, at the lower edge: sounding keys, and play settings.
enum PlayBar {
  private static let rows = ViewFrame.keyboardRows

  /// White keys of the bar from the left, as steps above the octave's C.
  fileprivate static let whiteSteps = [0, 2, 4, 5, 7, 9, 11]
  fileprivate static let hasBlack = [true, true, false, true, true, true, false]

  static func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    let columns = bounds.columns - 2
    guard state.play.hasPlayer else {
      let words = Span("no keyboard and no sampler: controls and scenes only", .dim)
      canvas.put([words], at: Point(1, 0), columns: columns)
      return
    }
    canvas.put(
      facts(scene, state, short: bounds.rows < rows, columns: columns), at: Point(1, 0), columns: columns)
    if bounds.rows >= rows { drawKeys(state, on: &canvas) }
  }

  private static func facts(_ scene: Scene, _ state: ViewState, short: Bool, columns: Int) -> [Span] {
    let play = state.play
    let held = play.held.sorted().map { Value.noteName(Int($0)) }
    let settings = [
      [Span("octave ", .dim), Span("\(play.octave)", .value)],
      [Span("velocity ", .dim), Span("\(play.velocity)", .value)],
      [Span("pedal ", .dim), play.pedal ? Span("● down", .sounding) : Span("○ up", .value)],
    ]
    let release =
      scene.hasKeyRelease ? "by the terminal" : play.isGated ? "by itself" : "press again"
    let releases = [Span("release: ", .dim), Span(release, .value)]
    /// The groups with as many of the held keys as the others leave room for.
    func fitting(_ groups: [[Span]], keysAt place: Int) -> [Span] {
      guard !groups[place].isEmpty else { return [Span].fitting(groups, columns: columns) }
      var groups = groups
      groups[place] = []
      let room = columns - groups.filter { !$0.isEmpty }.reduce(0) { $0 + $1.width + 3 }
      let most = (1...max(1, held.count)).last { keys(held, most: $0).width <= room }
      groups[place] = most.map { keys(held, most: $0) } ?? []
      return [Span].fitting(groups, columns: columns)
    }
    // Without the drawing, the held keys matter most, and how they end.
    if short {
      let groups = [keys(held, most: held.count), releases] + settings
      return fitting(
        [Span].remaining(groups, dropping: play.pedal ? [3, 2] : [3, 2, 4], columns: columns), keysAt: 0)
    }
    let layout =
      play.layout.name == KeyboardLayout.standard.name
      ? [] : [Span("layout ", .dim), Span(play.layout.name, .value)]
    let target = play.target.flatMap { scene.patch[$0]?.name }
    // The keys say themselves what is held; how notes end is said at any width.
    let groups =
      settings + [
        layout, releases, keys(held, most: 1), target.map { [Span("to ", .dim), Span($0, .value)] } ?? [],
      ]
    return fitting(
      [Span].remaining(groups, dropping: [6, 3, 1, 0, 5, 2], columns: columns), keysAt: 5)
  }

  /// The first of the held keys, and how many there are besides: `keys C4 E4 +3`.
  private static func keys(_ held: [String], most: Int) -> [Span] {
    if held.isEmpty { return [Span("keys ", .dim), Span("none", .value)] }
    let names = held.prefix(most).joined(separator: " ")
    let rest = held.count > most ? [Span(" +\(held.count - most)", .dim)] : []
    return [Span("keys ", .dim), Span(names, .sounding)] + rest
  }

  /// Each white key is three columns after a line; a black key stands over that line.
  private static func drawKeys(_ state: ViewState, on canvas: inout Canvas) {
    let width = canvas.bounds.columns
    let lowest = min(9, max(-1, state.play.octave)) * 12 + 12
    let most = whites(state, width)
    let start = 2
    for index in 0..<most {
      let key = lowest + index / 7 * 12 + whiteSteps[index % 7]
      let left = start + index * 4
      let ground = style(key, state, .keyWhite)
      for row in 1...4 {
        canvas.set("│", at: Point(left, row), Style(.rule))
        canvas.put("   ", at: Point(left + 1, row), ground)
      }
      canvas.put(label(key, state), at: Point(left + 2, 4), ground)
      if isHeld(key, state) { canvas.set("●", at: Point(left + 2, 3), ground) }
    }
    for row in 1...4 { canvas.set("│", at: Point(start + most * 4, row), Style(.rule)) }
    for index in 0..<most where hasBlack[index % 7] && index + 1 < most {
      let key = lowest + index / 7 * 12 + whiteSteps[index % 7] + 1
      let left = start + index * 4 + 3
      let ground = style(key, state, .keyBlack)
      canvas.put(isHeld(key, state) ? "┃●┃" : "┃ ┃", at: Point(left, 1), ground)
      canvas.put("┗\(label(key, state, empty: "━"))┛", at: Point(left, 2), ground)
    }
  }

  /// White keys that have room, up to the highest note of the layout.
  fileprivate static func whites(_ state: ViewState, _ columns: Int) -> Int {
    let highest = state.play.layout.highest
    let wanted = highest / 12 * 7 + whiteSteps.count { $0 <= highest % 12 }
    return min(wanted, max(0, (columns - 3) / 4))
  }

  private static func isHeld(_ key: Int, _ state: ViewState) -> Bool {
    UInt8(exactly: key).map(state.play.held.contains) ?? false
  }

  private static func style(_ key: Int, _ state: ViewState, _ plain: ThemeKey) -> Style {
    Style(isHeld(key, state) ? .keyDown : plain)
  }

  private static func label(_ key: Int, _ state: ViewState, empty: String = " ") -> String {
    guard let label = UInt8(exactly: key).flatMap({ state.play.labels[$0] })?.first else { return empty }
    return String(label)
  }
}

extension PlayBar {
  /// The MIDI key at a point of the bar.
  static func key(at point: Point, _ state: ViewState, _ size: Size) -> UInt8? {
    guard state.play.hasPlayer else { return nil }
    let most = whites(state, size.columns)
    guard size.rows >= rows, (1...4).contains(point.row), point.column >= 2, point.column < 2 + most * 4
    else {
      return nil
    }
    let lowest = min(9, max(-1, state.play.octave)) * 12 + 12
    let index = (point.column - 2) / 4
    let place = (point.column - 2) % 4
    func white(_ index: Int) -> Int { lowest + index / 7 * 12 + whiteSteps[index % 7] }
    if point.row <= 2 {
      // A black key covers the end of the white key before it and the beginning of the next.
      if place == 3, index + 1 < most, hasBlack[index % 7] { return UInt8(exactly: white(index) + 1) }
      if place < 2, index > 0, hasBlack[(index - 1) % 7] { return UInt8(exactly: white(index - 1) + 1) }
    }
    return UInt8(exactly: white(index)).flatMap { $0 < 128 ? $0 : nil }
  }
}
