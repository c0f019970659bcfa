import Realtime

/// System exclusive messages that are handed over in pieces, each in an event of its own, as bridges from ALSA to JACK do. A
/// handle. Audio thread.
struct ExclusivePieces: Sendable {
  private static var longest: Int { @_noLocks get { ExclusiveStore.longest } }

  /// A message's bytes for each input.
  nonisolated(unsafe) private let bytes: UnsafeMutablePointer<UInt8>
  /// Bytes of each that have come; 0: none is under way.
  nonisolated(unsafe) private let counts: UnsafeMutablePointer<Int>

  /// Worker.
  init() {
    bytes = .allocate(capacity: MidiInput.ports * Self.longest)
    counts = .allocate(capacity: MidiInput.ports)
    counts.initialize(repeating: 0, count: MidiInput.ports)
  }

  /// Worker.
  func deallocate() {
    bytes.deallocate()
    counts.deallocate()
  }

  /// True while the end of a message is awaited.
  @_noLocks func isOpen(_ port: Int) -> Bool { counts[port] > 0 }

  /// Forgets what has come. Returns 1 if there was something, otherwise 0.
  @_noLocks func drop(_ port: Int) -> Int {
    defer { counts[port] = 0 }
    return counts[port] > 0 ? 1 : 0
  }

  /// Appends a piece. False, and all is forgotten: the message is too long.
  @_noLocks func append(_ piece: UnsafePointer<UInt8>, _ count: Int, _ port: Int) -> Bool {
    let before = counts[port]
    guard before &+ count <= Self.longest else {
      counts[port] = 0
      return false
    }
    copyMemory(bytes + (port &* Self.longest &+ before), piece, count)
    counts[port] = before &+ count
    return true
  }

  /// The message, which is whole; it is forgotten with the next piece.
  @_noLocks func finish(_ port: Int) -> UnsafeBufferPointer<UInt8> {
    defer { counts[port] = 0 }
    return UnsafeBufferPointer(start: bytes + port &* Self.longest, count: counts[port])
  }
}
