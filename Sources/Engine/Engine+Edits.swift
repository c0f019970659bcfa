import Patch
import Realtime

// Effects of edits on the sound. Worker, all of it.

extension Engine {
  /// Enables the measurement of the driver's outputs for the edit log.
  public var isWatching: Bool {
    get { renderer.watch.isOn.pointee.load(ordering: .relaxed) }
    set { renderer.watch.isOn.pointee.store(newValue, ordering: .relaxed) }
  }

  /// Entries of the edit log from serial number `id` on. An entry is complete about a twentieth of a second
  /// of sound after the edit's last fade, since the sound that follows decides what counts as an artefact.
  public func editLog(since id: Int = 0) -> [EditEntry] { edits.entries(since: id) }

  /// Completes the entries of the latest edits with the measurements so far. For use when no more audio will
  /// be rendered.
  public func closeEditLog() { record(edits.closeAll()) }

  /// Measured cells lost because `collect` was not called in time.
  public var unseenCells: Int { renderer.watch.dropped.pointee.load(ordering: .relaxed) }

  /// Reads the cells that ended before `now`.
  func readWatch(until now: Int64) {
    let cells = renderer.watch.cells
    while let raw = cells.peek() {
      let cell = raw.assumingMemoryBound(to: OutputWatch.Cell.self).pointee
      guard cell.time + Int64(blockCapacity) <= now else { break }
      cells.pop()
      if !isTap(channel: Int(cell.channel)) { edits.add(cell) }
    }
    record(edits.advance(to: now, isSettled: isSettled))
  }

  /// A tap is no end of the patch: edits are not crossfaded for it.
  private func isTap(channel: Int) -> Bool {
    !taps.isEmpty
      && endpoints.contains {
        $0.isTap && ($0.firstChannel..<$0.firstChannel + $0.channels).contains(channel)
      }
  }

  private func record(_ entries: [EditEntry]) {
    for entry in entries { log.record(entry) }
  }
}
