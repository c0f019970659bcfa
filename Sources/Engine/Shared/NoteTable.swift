import Realtime

/// The values that are lengths of notes. The audio thread makes numbers of them, since only there it is known in which frame
/// a tempo begins: a patch's, a tapped one, a server's or a MIDI clock's.
///
/// Made by the worker, and used until the next table is there.
struct NoteTable {
  /// An element of a parameter that is the length of a note.
  struct Entry {
    let node: UnsafeMutablePointer<NodeSlot>
    let parameter: Int32
    let element: Int32
    /// Length in whole notes; 0: a map has moved the value since, which is no note any more.
    var length: Double
    /// The parameter is a frequency, of cycles of that length.
    let isRate: Bool
    /// The kernel has been told the length (`ParameterDescription.isInPhase`).
    let isInPhase: Bool
    /// Range of the parameter.
    let low, high: Double
    /// Frames and course of the move to it that an edit has asked for; a change of tempo takes those of the table.
    let frames: Int32
    let law: Ramp.Law
  }

  let entries: UnsafeMutablePointer<Entry>
  let count: Int
  /// Frames of a move.
  let fade: Int32

  /// Worker.
  init(_ list: [Entry], fade: Int) {
    entries = .allocate(capacity: max(list.count, 1))
    entries.initialize(from: list, count: list.count)
    count = list.count
    self.fade = Int32(clamping: fade)
  }

  /// Worker, when another table has taken its place.
  func deallocate() { entries.deallocate() }

  /// The command that moves an element to its value, by the seconds of a whole note; nil: it is there, or on its way.
  /// `isNew`: the table has just come. Audio thread.
  @_noLocks func move(_ index: Int, wholeNote: Double, isNew: Bool) -> Command? {
    let entry = entries[index]
    guard entry.length > 0 else { return nil }
    let seconds = entry.length * wholeNote
    let number = entry.isRate ? 1 / seconds : seconds
    // As `ParameterDescription.number(ofNotes:)` has it.
    let value = Float(number < entry.low ? entry.low : number > entry.high ? entry.high : number)
    let state = entry.node.pointee.parameters + Int(entry.parameter)
    guard state.pointee.target(Int(entry.element)) != value else { return nil }
    return .ramp(
      entry.node, parameter: entry.parameter, element: entry.element, value: value,
      frames: isNew ? entry.frames : fade, law: isNew ? entry.law : .even)
  }

  /// Ends the next length of a parameter from `index` on, which a map moves. Returns what its kernel must know; nil: there are no
  /// more. The worker learns of it later, at a time that nobody must hear. Audio thread.
  @_noLocks func end(
    _ node: UnsafeMutablePointer<NodeSlot>, _ parameter: Int32, from index: inout Int
  ) -> Command? {
    while index < count {
      let entry = entries + index
      index &+= 1
      guard entry.pointee.node == node, entry.pointee.parameter == parameter, entry.pointee.length > 0
      else { continue }
      entry.pointee.length = 0
      if entry.pointee.isInPhase {
        return .kernel(node, parameter: parameter, element: entry.pointee.element, value: 0, frames: 0)
      }
    }
    return nil
  }
}
