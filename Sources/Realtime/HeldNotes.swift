/// Ledger of the notes and pedals that passed a point and have not ended: notes by channel and key, and
/// pedals that are down. When a cable closes or a node is removed, exactly these are ended.
///
/// A handle: copying it counts no references.
public struct HeldNotes: BitwiseCopyable {
  /// Bytes of memory needed, aligned to 8 and zeroed at first.
  public static var size: Int { @_noLocks get { 33 * 8 } }
  /// Two words of 64 keys per channel; then the pedals, three bits per channel.
  private let words: UnsafeMutablePointer<UInt64>
  private static var pedals: Int { @_noLocks get { 32 } }

  /// A ledger in `memory` of `size` zeroed bytes.
  public init(memory: UnsafeMutableRawPointer) {
    words = memory.bindMemory(to: UInt64.self, capacity: Self.size / 8)
  }

  /// Frees the memory. Worker.
  public func deallocate() { UnsafeMutableRawPointer(words).deallocate() }

  /// Bit of a channel's pedal (sustain, sostenuto, soft); 0 for other controllers.
  @_noLocks private func pedal(_ event: Event) -> UInt64 {
    let first = UInt64(1) &<< (UInt64(event.channel & 15) &* 3)
    switch event.key {
    case 64: return first
    case 66: return first &<< 1
    case 67: return first &<< 2
    default: return 0
    }
  }

  /// Updates the ledger with a passing event. Audio thread.
  @_noLocks public func track(_ event: Event) {
    let channel = Int(event.channel & 15)
    let word = channel &* 2 &+ Int(event.key >> 6 & 1)
    let bit = UInt64(1) &<< UInt64(event.key & 63)
    switch event.kind {
    case .noteOn: words[word] |= bit
    case .noteOff: words[word] &= ~bit
    case .control:
      let pedal = pedal(event)
      if pedal != 0 {
        // The instrument decides from which value on a pedal holds.
        if event.value > 0 { words[Self.pedals] |= pedal } else { words[Self.pedals] &= ~pedal }
      } else if event.key == 120 || event.key >= 123 {
        words[channel &* 2] = 0
        words[channel &* 2 &+ 1] = 0
      } else if event.key == 121 {
        words[Self.pedals] &= ~(7 &<< UInt64(channel &* 3))
      }
    case .allNotesOff, .allSoundOff: clear()
    default: return
    }
  }

  /// True when the ledger has the note or pedal that the event ends. Audio thread.
  @_noLocks public func holds(_ event: Event) -> Bool {
    switch event.kind {
    case .noteOff:
      let word = Int(event.channel & 15) &* 2 &+ Int(event.key >> 6 & 1)
      return words[word] & UInt64(1) &<< UInt64(event.key & 63) != 0
    case .control: return words[Self.pedals] & pedal(event) != 0
    default: return false
    }
  }

  /// Takes over the notes and pedals of another ledger, which keeps them. Audio thread.
  @_noLocks public func add(_ other: HeldNotes) {
    var word = 0
    while word <= Self.pedals {
      words[word] |= other.words[word]
      word &+= 1
    }
  }

  /// Forgets everything: others end it. Audio thread.
  @_noLocks public func clear() {
    var word = 0
    while word <= Self.pedals {
      words[word] = 0
      word &+= 1
    }
  }

  /// Appends the end of each note and pedal to the queue, and clears the ledger. Audio thread.
  @_noLocks public func end(into queue: UnsafeMutablePointer<EventQueue>, offset: Int32 = 0) {
    var word = 0
    while word < Self.pedals {
      var bits = words[word]
      while bits != 0 {
        let key = (word & 1) &* 64 &+ bits.trailingZeroBitCount
        bits &= bits &- 1
        queue.pointee.append(
          Event(
            .noteOff, channel: UInt8(truncatingIfNeeded: word >> 1), key: UInt8(truncatingIfNeeded: key),
            value: 64, offset: offset))
      }
      word &+= 1
    }
    var bits = words[Self.pedals]
    while bits != 0 {
      let bit = bits.trailingZeroBitCount
      bits &= bits &- 1
      let pedal = bit % 3
      queue.pointee.append(
        Event(
          .control, channel: UInt8(truncatingIfNeeded: bit / 3), key: pedal == 0 ? 64 : pedal == 1 ? 66 : 67,
          offset: offset))
    }
    clear()
  }
}
