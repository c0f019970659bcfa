import Patch
import Screen

/// An overlay above the view: the prompt, a list, a question. It gets the keys first, and carries what follows
/// from them. Closing or changing it is an assignment to `desk.state.overlay`.
protocol Overlay: OverlayPicture {
  @MainActor func handle(_ stroke: KeyStroke, _ desk: Desk)
  @MainActor func paste(_ text: String, _ desk: Desk)
  /// Returns false for the view below to take the wheel.
  @MainActor func turnWheel(_ rows: Int, _ desk: Desk) -> Bool
  /// A click outside closes it.
  var closesOnClick: Bool { get }
  /// The keys of the piano play on while it is there.
  var letsPlay: Bool { get }
  /// The node that it belongs to: it closes when that is gone.
  var node: NodeID? { get }
}

extension Overlay {
  @MainActor func paste(_ text: String, _ desk: Desk) {}
  @MainActor func turnWheel(_ rows: Int, _ desk: Desk) -> Bool { false }
  var closesOnClick: Bool { true }
  var letsPlay: Bool { false }
  var node: NodeID? { nil }
}
