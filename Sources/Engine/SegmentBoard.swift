import Synchronization

/// Says which segments of a block may run, and gives each to one thread.
///
/// Two words, both with the block's number in their upper sixteen bits: which segments are taken, and which
/// are done. A segment is taken by compare-and-swap on the first word, so what was prepared in an earlier
/// block fails. A board changes from one block to the next while threads that came late still look at it.
/// Therefore it is closed first: the new number, with every segment taken. Then what a look needs is
/// replaced, and the board opens last. In between nothing can be taken: what is still expected of the block
/// before is gone.
///
/// Orders of memory. `count` is stored with release after the board was closed, and loaded with acquire
/// before a swap is tried: who sees the count of the new block cannot swap the word of the old. All else
/// that a look reads was released by the word that opened the board. What a thread did in its segment is
/// released by `finish` and acquired by whoever waits for it in `glance` or `isWhole`.
struct SegmentBoard: ~Copyable {
  /// Bits of a word that are not the block's number.
  static var capacity: Int { @_noLocks get { 48 } }
  private static var segments: UInt64 { @_noLocks get { 0xFFFF_FFFF_FFFF } }

  // Each on a cache line of its own.
  private let taken: UnsafeMutablePointer<Atomic<UInt64>>
  private let done: UnsafeMutablePointer<Atomic<UInt64>>
  /// The segments that each segment waits for.
  private let predecessors: UnsafeMutablePointer<Atomic<UInt64>>
  private let count: UnsafeMutablePointer<Atomic<UInt64>>

  /// Worker.
  init() {
    let size = 48 + Self.capacity
    let words = UnsafeMutableRawPointer.allocate(byteCount: size * 8, alignment: 128)
      .bindMemory(to: Atomic<UInt64>.self, capacity: size)
    for index in 0..<size { (words + index).initialize(to: Atomic(0)) }
    taken = words
    done = words + 16
    count = words + 32
    predecessors = words + 48
  }

  /// Once nobody looks at it. Worker.
  func deallocate() { taken.deallocate() }

  @_noLocks private static func bit(_ segment: Int) -> UInt64 {
    1 &<< UInt64(truncatingIfNeeded: segment)
  }

  // MARK: The thread that gives segments out, once all of the block before are done

  /// From now on nothing can be taken. Gives the number of the block to come. Audio thread.
  @_noLocks func close() -> UInt64 {
    let number = ((taken.pointee.load(ordering: .relaxed) &>> 48) &+ 1) &<< 48
    taken.pointee.store(number | Self.segments, ordering: .releasing)
    return number
  }

  /// Audio thread.
  @_noLocks func setPredecessors(_ bits: UInt64, of segment: Int) {
    predecessors[segment].store(bits, ordering: .relaxed)
  }

  /// Audio thread.
  @_noLocks func setCount(_ segments: Int) {
    count.pointee.store(UInt64(truncatingIfNeeded: segments), ordering: .releasing)
  }

  /// None is done. Audio thread.
  @_noLocks func setUndone(_ number: UInt64) { done.pointee.store(number, ordering: .releasing) }

  /// Audio thread.
  @_noLocks func open(_ number: UInt64) { taken.pointee.store(number, ordering: .releasing) }

  /// All of the block's segments are done. Audio thread.
  @_noLocks func isWhole(_ number: UInt64, _ segments: Int) -> Bool {
    done.pointee.load(ordering: .acquiring) == number | (Self.bit(segments) &- 1)
  }

  // MARK: All threads

  /// What is taken and what is done, as somebody saw it.
  struct Glance {
    var taken: UInt64
    var done: UInt64
  }

  /// Audio thread.
  @_noLocks func glance() -> Glance {
    let known = taken.pointee.load(ordering: .acquiring)
    return Glance(taken: known, done: done.pointee.load(ordering: .acquiring))
  }

  /// The first segment that may run and that nobody has taken; nil: none, or another block has begun. Audio
  /// thread.
  @_noLocks func choose(_ glance: Glance) -> Int? {
    guard glance.done &>> 48 == glance.taken &>> 48 else { return nil }
    let count = Int(truncatingIfNeeded: count.pointee.load(ordering: .acquiring))
    var segment = 0
    while segment < count {
      if glance.taken & Self.bit(segment) == 0,
        predecessors[segment].load(ordering: .relaxed) & ~glance.done == 0
      {
        return segment
      }
      segment &+= 1
    }
    return nil
  }

  /// Takes a segment, unless anything has been taken since the glance. Audio thread.
  @_noLocks func claim(_ segment: Int, _ glance: Glance) -> Bool {
    taken.pointee.compareExchange(
      expected: glance.taken, desired: glance.taken | Self.bit(segment), ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// A segment that is the caller's now; nil: there is none for now. Audio thread.
  @_noLocks func take() -> Int? {
    while true {
      let glance = glance()
      guard let segment = choose(glance) else { return nil }
      if claim(segment, glance) { return segment }
    }
  }

  /// The caller has run a segment that it took. Audio thread.
  @_noLocks func finish(_ segment: Int) {
    done.pointee.bitwiseOr(Self.bit(segment), ordering: .acquiringAndReleasing)
  }
}
