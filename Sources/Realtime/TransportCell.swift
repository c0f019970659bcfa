import Synchronization

/// The latest transport, from the audio thread to any other. A reader that meets a write tries again; the writer never
/// waits.
public struct TransportCell: ~Copyable, Sendable {
  /// Odd during a write.
  private let serial = Atomic<UInt64>(0)
  nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private static var count: Int { @_noLocks get { MemoryLayout<Transport>.stride / 8 } }

  /// Holds a first value. Worker.
  public init(_ value: Transport) {
    words = .allocate(capacity: Self.count)
    for index in 0..<Self.count { (words + index).initialize(to: Atomic(0)) }
    withUnsafePointer(to: value) { store($0) }
  }

  deinit { words.deallocate() }

  /// Replaces the value. One thread.
  @_noLocks public func store(_ value: UnsafePointer<Transport>) {
    let source = UnsafeRawPointer(value).assumingMemoryBound(to: UInt64.self)
    let number = serial.load(ordering: .relaxed)
    serial.store(number &+ 1, ordering: .relaxed)
    var index = 0
    while index < Self.count {
      // Whoever reads the new word sees the odd number, too.
      words[index].store(source[index], ordering: .releasing)
      index &+= 1
    }
    serial.store(number &+ 2, ordering: .releasing)
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
