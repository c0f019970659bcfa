import Screen

/// An overlay above the view: the prompt, a list, a question. It gets the keys first, and carries what follows
/// from them. Closing or changing it is an assignment to `desk.state.overlay`.
protocol Overlay: OverlayPicture {
  @MainActor func handle(_ stroke: KeyStroke, _ desk: Desk)
  @MainActor func paste(_ text: String, _ desk: Desk)
  /// False for keys that keep their meaning while it is there.
  func takes(_ key: Key) -> Bool
  /// Handles the mouse; false: the view below takes it.
  @MainActor func press(_ mouse: MouseEvent, _ desk: Desk) -> Bool
  @MainActor func drag(_ mouse: MouseEvent, _ desk: Desk) -> Bool
  @MainActor func release(_ mouse: MouseEvent, _ desk: Desk) -> Bool
  @MainActor func turnWheel(_ mouse: MouseEvent, _ desk: Desk) -> Bool
  /// Keeps it in step with the patch and the focus, after each event and each tick.
  @MainActor func settle(_ desk: Desk)
  /// A click outside closes it.
  var closesOnClick: Bool { get }
  /// The keys of the piano play on while it is there.
  var letsPlay: Bool { get }
}

extension Overlay {
  @MainActor func paste(_ text: String, _ desk: Desk) {}
  func takes(_ key: Key) -> Bool { true }
  @MainActor func press(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    guard mouse.button == .left else { return false }
    if closesOnClick { desk.state.overlay = nil }
    return true
  }
  @MainActor func drag(_ mouse: MouseEvent, _ desk: Desk) -> Bool { false }
  @MainActor func release(_ mouse: MouseEvent, _ desk: Desk) -> Bool { false }
  @MainActor func turnWheel(_ mouse: MouseEvent, _ desk: Desk) -> Bool { false }
  @MainActor func settle(_ desk: Desk) {}
  var closesOnClick: Bool { true }
  var letsPlay: Bool { false }
}
