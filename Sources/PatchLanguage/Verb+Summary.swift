/// The reference of the verbs, beside their `usage`: for the manual.
extension Verb {
  /// Group of verbs in the reference.
  public enum Topic: String, CaseIterable, Sendable {
    /// Lines of a patch file, which are edits as well.
    case file
    /// Edits of a patch that is open, and of scripts.
    case edit
    /// Actions that play a node and change nothing in the patch.
    case performance
    /// Actions on the whole session.
    case session
  }

  /// Group in the reference.
  public var topic: Topic {
    switch self {
    case .node, .connect, .set, .layout: .file
    case .matrix, .disconnect, .remove, .replace, .insert, .rename, .move, .comment, .header, .footer: .edit
    case .note, .pedal, .control, .bend, .play, .stop, .cue: .performance
    case .panic, .undo, .redo: .session
    }
  }

  /// Meaning in a sentence or two, code between backticks.
  public var summary: String {
    switch self {
    case .node: "A new node of a kind, with its settings; at the end of the patch, or `before` another node."
    case .connect:
      """
      A cable from an output to an input, or a change of the cable that is there. `gain` is in dB; `map` has the \
      source channel of each destination channel, -1 for none; `mix` is `speakers` or `discrete`.
      """
    case .set:
      """
      Sets a parameter, or a range of them (`in[0..3]`, `[0..7,1]`, `out[..]`); the word `default` resets it. With \
      `over` it moves there in that time.
      """
    case .matrix: "A preset of all crosspoints of a matrix, as one edit."
    case .layout: "The place of a node in the graph screen; `auto` leaves it to the program."
    case .disconnect: "Removes a cable."
    case .remove:
      """
      Removes a node and its cables. `bridge` joins its neighbours; `tail` lets what it still has to give ring out, \
      for a minute at most.
      """
    case .replace: "Replaces a node by one of another kind; its cables stay."
    case .insert: "Inserts a new node into a cable."
    case .rename: "Renames a node."
    case .move: "Moves a node in the order of the file, before another one or to the end."
    case .comment:
      """
      The comment of a node, a cable (`comment A -> B`) or a setting (`comment main.out[1]`): a text for each line \
      above it, and one `after` it on its line. Without texts it is removed.
      """
    case .header: "The comment at the head of the file."
    case .footer: "The comment at the end of the file."
    case .note: "Begins or ends a note of a keyboard or sampler. Velocities go from 1 to 127."
    case .pedal: "Presses or releases a pedal."
    case .control: "Moves a MIDI controller to a value from 0 to 127."
    case .bend: "Moves the pitch wheel, from -1 to 1 of its range."
    case .play: "Starts a player, from a position where one is given."
    case .stop: "Stops a player."
    case .cue: "Moves a player to a position."
    case .panic: "Fades out every voice."
    case .undo: "Takes back the last edit."
    case .redo: "Makes the edit again that was taken back last."
    }
  }
}
