import Patch

// What edits did to the sound. Worker, all of it.

extension Engine {
  /// Whether the sound that leaves for the driver is measured for the log of edits.
  public var isWatching: Bool {
    get { renderer.watch.isOn.pointee.load(ordering: .relaxed) }
    set { renderer.watch.isOn.pointee.store(newValue, ordering: .relaxed) }
  }

  /// The log of edits from the entry with this serial number on. An edit's entry is complete about a
  /// twentieth of a second of sound after its last fade, since what follows tells what is its fault.
  public func editLog(since id: Int = 0) -> [EditEntry] { edits.entries(since: id) }

  /// Completes the entries of the latest edits with what has been measured of them: nothing will be
  /// rendered any more.
  public func closeEditLog() { note(edits.closeAll()) }

  /// Measured cells that the log has not seen, since nobody called `collect` in time.
  public var unseenCells: Int { renderer.watch.dropped.pointee.load(ordering: .relaxed) }

  /// Takes up the cells that ended before `now`.
  func readWatch(until now: Int64) {
    let cells = renderer.watch.cells
    while let raw = cells.peek() {
      let cell = raw.assumingMemoryBound(to: OutputWatch.Cell.self).pointee
      guard cell.time + 64 <= now else { break }
      cells.pop()
      if !isTap(channel: Int(cell.channel)) { edits.take(cell) }
    }
    note(edits.advance(to: now, isSettled: isSettled))
  }

  /// What a tap hears is no end of the patch: it is not crossfaded for anybody.
  private func isTap(channel: Int) -> Bool {
    !taps.isEmpty
      && endpoints.contains {
        $0.isTap && ($0.firstChannel..<$0.firstChannel + $0.channels).contains(channel)
      }
  }

  private func note(_ entries: [EditEntry]) {
    for entry in entries { log.note(entry) }
  }
}
