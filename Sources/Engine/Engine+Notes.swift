import Patch
import Realtime

// Values that are lengths of notes. Worker, all of it.

/// The lengths of notes that the audio thread has.
final class EngineNotes {
  /// Running nodes with lengths of notes.
  var nodes: [NodeID: EngineNode] = [:]
  fileprivate var table: UnsafeMutablePointer<NoteTable>?
  /// Frames of a move that nothing else is said of.
  fileprivate var fade = 0

  deinit {
    table?.pointee.deallocate()
    table?.deallocate()
  }
}

extension Engine {
  /// Adds to `work` what makes the audio thread's lengths of notes those of the patch.
  func followNotes(_ work: inout Reconciler.Work) {
    if notes.nodes.isEmpty, notes.table == nil { return }
    let gone = notes.nodes.filter { id, node in graph.current[id] !== node || node.slot == nil }
    for id in gone.keys { notes.nodes[id] = nil }
    let fade = Int((Engine.standardFade * rate).rounded())
    guard work.changesNotes || !gone.isEmpty || fade != notes.fade else { return }
    notes.fade = fade
    var entries: [NoteTable.Entry] = []
    for node in notes.nodes.values.sorted(by: { $0.number < $1.number }) {
      guard let description = node.type?.description else { continue }
      for index in node.noteLengths.keys.sorted() {
        let parameter = description.parameters[index]
        for (element, length) in node.lengths(of: index).enumerated() {
          guard let length else { continue }
          let move = work.noteMoves[
            Reconciler.NoteMove(node: node.number, parameter: index, element: element)]
          entries.append(
            NoteTable.Entry(
              node: node.slot, parameter: Int32(index), element: Int32(element), length: length,
              isRate: parameter.unit == .hertz, isInPhase: parameter.isInPhase,
              low: parameter.range.lowerBound,
              high: parameter.range.upperBound, frames: Int32(clamping: move?.frames ?? fade),
              law: move?.law ?? .even))
        }
      }
    }
    let old = notes.table
    notes.table = nil
    if !entries.isEmpty {
      let place = UnsafeMutablePointer<NoteTable>.allocate(capacity: 1)
      place.initialize(to: NoteTable(entries, fade: fade))
      notes.table = place
    }
    work.commands.append(.notes(notes.table))
    work.garbage.append(
      .other {
        old?.pointee.deallocate()
        old?.deallocate()
      })
  }
}
