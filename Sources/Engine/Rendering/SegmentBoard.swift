import Synchronization

/// Scheduler of segments: tells which segments of a block may run, and gives each to one thread.
///
/// Its state is two words, both with the block's number in the upper sixteen bits: the segments taken, and
/// the segments done. A segment is taken by compare-and-swap on the first word, so an attempt prepared in an
/// earlier block fails. The board changes between blocks while late threads still look at it. Therefore it is
/// closed first: the new number, with every segment taken. Then the rest is replaced, and the board opens
/// last. While it is closed, nothing can be taken.
///
/// Memory ordering: `count` is stored with release after the board was closed, and loaded with acquire before
/// a compare-and-swap. A thread that sees the new block's count cannot swap the old block's word. The other
/// fields are released by the word that opens the board. A thread's results are released by `finish`, and
/// acquired in `snapshot` and `isComplete` by the threads that wait for them.
struct SegmentBoard: ~Copyable {
  /// Segment bits of a word, below the block's number.
  static var capacity: Int { @_noLocks get { Segment.most } }
  private static var segments: UInt64 { @_noLocks get { 0xFFFF_FFFF_FFFF } }

  // Each on a cache line of its own.
  private let taken: UnsafeMutablePointer<Atomic<UInt64>>
  private let done: UnsafeMutablePointer<Atomic<UInt64>>
  /// Predecessors of each segment.
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

  /// Call this when no thread looks at it any more. Worker.
  func deallocate() { taken.deallocate() }

  @_noLocks private static func bit(_ segment: Int) -> UInt64 {
    1 &<< UInt64(truncatingIfNeeded: segment)
  }

  // MARK: The distributing thread, once all segments of the last block are done

  /// Closes the board: nothing can be taken. Returns the number of the next block. Audio thread.
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

  /// Marks all segments as not done. Audio thread.
  @_noLocks func setUndone(_ number: UInt64) { done.pointee.store(number, ordering: .releasing) }

  /// Audio thread.
  @_noLocks func open(_ number: UInt64) { taken.pointee.store(number, ordering: .releasing) }

  /// True when all of the block's segments are done. Audio thread.
  @_noLocks func isComplete(_ number: UInt64, _ segments: Int) -> Bool {
    done.pointee.load(ordering: .acquiring) == number | (Self.bit(segments) &- 1)
  }

  // MARK: All threads

  /// True when every segment of the block has been taken, or the board is closed. Audio thread.
  var isTaken: Bool {
    @_noLocks get {
      let all = Self.bit(Int(truncatingIfNeeded: count.pointee.load(ordering: .acquiring))) &- 1
      return taken.pointee.load(ordering: .acquiring) & all == all
    }
  }

  /// Both words at one moment.
  struct Snapshot {
    var taken: UInt64
    var done: UInt64
  }

  /// Audio thread.
  @_noLocks func snapshot() -> Snapshot {
    let known = taken.pointee.load(ordering: .acquiring)
    return Snapshot(taken: known, done: done.pointee.load(ordering: .acquiring))
  }

  /// The first free segment whose predecessors are done; nil: none, or another block has begun. Audio thread.
  @_noLocks func nextReady(_ snapshot: Snapshot) -> Int? {
    guard snapshot.done &>> 48 == snapshot.taken &>> 48 else { return nil }
    let count = Int(truncatingIfNeeded: count.pointee.load(ordering: .acquiring))
    var segment = 0
    while segment < count {
      if snapshot.taken & Self.bit(segment) == 0,
        predecessors[segment].load(ordering: .relaxed) & ~snapshot.done == 0
      {
        return segment
      }
      segment &+= 1
    }
    return nil
  }

  /// Takes a segment, unless another was taken since the snapshot. Audio thread.
  @_noLocks func claim(_ segment: Int, _ snapshot: Snapshot) -> Bool {
    taken.pointee.compareExchange(
      expected: snapshot.taken, desired: snapshot.taken | Self.bit(segment), ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Takes a segment for the caller; nil: none is ready. Audio thread.
  @_noLocks func claimNext() -> Int? {
    while true {
      let snapshot = snapshot()
      guard let segment = nextReady(snapshot) else { return nil }
      if claim(segment, snapshot) { return segment }
    }
  }

  /// Marks a segment as done that the caller has taken and run. Audio thread.
  @_noLocks func finish(_ segment: Int) {
    done.pointee.bitwiseOr(Self.bit(segment), ordering: .acquiringAndReleasing)
  }
}
