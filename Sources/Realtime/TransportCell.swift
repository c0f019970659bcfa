import Synchronization

/// The latest transport, from the audio thread to any other. A reader that meets a write tries again; the writer never
/// waits.
public struct TransportCell: ~Copyable, Sendable {
  /// Odd during a write.
  private let serial = Atomic<UInt64>(0)
  nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private static var count: Int { @_noLocks get { (size &+ 7) / 8 } }
  private static var size: Int { @_noLocks get { MemoryLayout<Transport>.size } }

  /// Holds a first value. Worker.
  public init(_ value: Transport) {
    words = .allocate(capacity: Self.count)
    for index in 0..<Self.count { (words + index).initialize(to: Atomic(0)) }
    withUnsafePointer(to: value) { store($0) }
  }

  deinit { words.deallocate() }

  /// Replaces the value. One thread.
  @_noLocks public func store(_ value: UnsafePointer<Transport>) {
    let source = UnsafeRawPointer(value)
    let number = serial.load(ordering: .relaxed)
    serial.store(number &+ 1, ordering: .relaxed)
    var index = 0
    while index < Self.count {
      // Whoever reads the new word sees the odd number, too.
      words[index].store(Self.word(source, index), ordering: .releasing)
      index &+= 1
    }
    serial.store(number &+ 2, ordering: .releasing)
  }

  /// Eight bytes of a value. What lies behind its last byte is not its memory.
  @_noLocks private static func word(_ value: UnsafeRawPointer, _ index: Int) -> UInt64 {
    let place = index &* 8
    if place &+ 8 <= size { return value.load(fromByteOffset: place, as: UInt64.self) }
    var (word, byte) = (0 as UInt64, place)
    while byte < size {
      word |= UInt64(value.load(fromByteOffset: byte, as: UInt8.self)) &<< UInt64((byte &- place) &* 8)
      byte &+= 1
    }
    return word
  }

  /// The value. Any thread.
  public func load() -> Transport {
    var value = Transport(rate: 0)
    while true {
      let before = serial.load(ordering: .acquiring)
      withUnsafeMutableBytes(of: &value) { raw in
        for index in 0..<Self.count {
          let word = words[index].load(ordering: .acquiring)
          let place = index * 8
          withUnsafeBytes(of: word) { bytes in
            let length = min(8, raw.count - place)
            if length > 0 {
              raw.baseAddress?.advanced(by: place).copyMemory(from: bytes.baseAddress!, byteCount: length)
            }
          }
        }
      }
      if before & 1 == 0, serial.load(ordering: .relaxed) == before { return value }
    }
  }
}
