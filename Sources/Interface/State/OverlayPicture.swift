import Screen

/// An overlay above the view as values and cells; `Overlay` adds the effect of its keys.
protocol OverlayPicture: Sendable {
  /// `row`: the row of the prompt and of questions.
  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas)
  /// Its keys, for the last row.
  var hints: [KeyHelp] { get }
  /// It stands beside the view, or below it where the screen is narrow, and covers nothing.
  var isBeside: Bool { get }
  /// Its state in lines, for those who do not see it.
  func words(_ scene: Scene) -> [String]
  /// The line that is typed in it, behind a sign; nil: none.
  var entry: (sign: String, line: LineEditor)? { get }
}

extension OverlayPicture {
  var isBeside: Bool { false }
  func words(_ scene: Scene) -> [String] { [] }
  var entry: (sign: String, line: LineEditor)? { nil }
}
