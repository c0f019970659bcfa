import Realtime

/// Ledger of notes that become others: what each held note has become, and how many hold each of those. So a release ends
/// what its note began, whatever the settings are by then, and none that another note still holds.
struct NoteMap: BitwiseCopyable {
  /// Most notes that one becomes.
  static var most: Int { @_noLocks get { 8 } }
  /// Bytes of its memory, zeroed at first.
  static var size: Int { @_noLocks get { 2048 &* (most &+ 2) } }

  private var memory: UnsafeMutablePointer<UInt8>
  /// By channel and key of the held note: keys that it has become, and their number.
  private var keys: UnsafeMutablePointer<UInt8> { @_noLocks get { memory } }
  private var counts: UnsafeMutablePointer<UInt8> { @_noLocks get { memory + 2048 &* Self.most } }
  /// By channel and key of what notes have become: how many hold it.
  private var holders: UnsafeMutablePointer<UInt8> { @_noLocks get { memory + 2048 &* (Self.most &+ 1) } }

  init(_ memory: UnsafeMutableRawPointer) {
    self.memory = memory.bindMemory(to: UInt8.self, capacity: Self.size)
  }

  @_noLocks private func place(_ channel: UInt8, _ key: UInt8) -> Int {
    Int(channel & 15) &* 128 &+ Int(key & 127)
  }

  /// A note begins, unless it is one already: call `add` for each that it becomes.
  @_noLocks func begin(_ note: Event) { counts[place(note.channel, note.key)] = 0 }

  /// The note has become a key, which is sent on.
  @_noLocks func add(_ key: Int, of note: Event, _ output: UnsafeMutablePointer<EventQueue>) {
    let place = place(note.channel, note.key)
    let count = Int(counts[place])
    guard count < Self.most, key >= 0, key < 128 else { return }
    keys[place &* Self.most &+ count] = UInt8(truncatingIfNeeded: key)
    counts[place] &+= 1
    var event = note
    event.key = UInt8(truncatingIfNeeded: key)
    let holder = self.place(note.channel, event.key)
    if holders[holder] < 255 { holders[holder] &+= 1 }
    output.pointee.append(event)
  }

  /// Ends what a note has become, but for what others hold; or sends an event of its key to all of them.
  @_noLocks func pass(_ event: Event, _ output: UnsafeMutablePointer<EventQueue>) {
    let place = place(event.channel, event.key)
    var index = 0
    while index < Int(counts[place]) {
      var other = event
      other.key = keys[place &* Self.most &+ index]
      index &+= 1
      if event.kind == .noteOff {
        let holder = self.place(event.channel, other.key)
        if holders[holder] > 1 {
          holders[holder] &-= 1
          continue
        }
        holders[holder] = 0
      }
      output.pointee.append(other)
    }
    if event.kind == .noteOff { counts[place] = 0 }
  }

  /// Forgets all notes, or those of one channel.
  @_noLocks func clear(_ channel: UInt8?) {
    guard let channel else {
      setMemory(counts, 0, 4096)
      return
    }
    setMemory(counts + Int(channel & 15) &* 128, 0, 128)
    setMemory(holders + Int(channel & 15) &* 128, 0, 128)
  }

  /// Sends the events of a block on; `become` is called for each note that begins, and calls `add`.
  @inline(__always) @_noLocks func follow(
    _ block: Block, _ output: UnsafeMutablePointer<EventQueue>, _ become: (Event) -> Void
  ) {
    let events = block.events
    var index = 0
    while index < events.pointee.count {
      let event = events.pointee[index]
      index &+= 1
      switch event.kind {
      case .noteOn:
        // The same key again: it has ended first.
        var end = event
        end.kind = .noteOff
        end.value = 64
        pass(end, output)
        begin(event)
        become(event)
      case .noteOff, .keyPressure: pass(event, output)
      // A reset ends no notes where it does not arrive, behind `midiout` say: their releases still come.
      case .allNotesOff, .allSoundOff:
        clear(nil)
        output.pointee.append(event)
      case .control where event.key == 120 || event.key >= 123:
        clear(event.channel)
        output.pointee.append(event)
      default: output.pointee.append(event)
      }
    }
  }
}
