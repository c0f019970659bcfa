import Patch
import Session

/// The item at a cell of the screen.
enum Hit: Sendable, Hashable {
  case nothing
  case node(NodeID)
  case output(PortReference)
  case input(PortReference)
  case cable(Cable.Ends)
  /// A cell of the matrix view: row -1 holds the outputs' gains, column -1 the inputs', and both together the
  /// master.
  case crosspoint(row: Int, column: Int)
  /// A point of the history, as the number of edits before it.
  case point(Int)
  case tab(ViewName)
  /// A port in the meters.
  case port(ListenedPort)
  /// A way to look at a sound.
  case soundMode(SoundState.Mode)
  /// A control of play mode, by its number.
  case control(Int)
  /// A scene in the row of scenes, by its number.
  case scene(Int)
  /// A key of the play bar, by its MIDI number.
  case key(UInt8)
}
