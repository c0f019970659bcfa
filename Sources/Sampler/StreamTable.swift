import Realtime
import Synchronization

/// What the audio thread knows of samples that stream from disk: which chunks of their frames are in memory.
/// It says which it needs and will need; `Streamer` brings them. Plain memory that a `SampleStream` owns.
struct StreamTable {
  /// A chunk has `1 << shift` frames.
  static var shift: Int { @_noLocks @inline(__always) get { 14 } }
  static var chunkFrames: Int { @_noLocks @inline(__always) get { 1 &<< shift } }

  /// How urgent a wish is.
  enum Wish {
    static var none: UInt8 { @_noLocks @inline(__always) get { 0 } }
    static var later: UInt8 { @_noLocks @inline(__always) get { 1 } }
    /// Until it is taken back: somebody will go on from there.
    static var kept: UInt8 { @_noLocks @inline(__always) get { 2 } }
    static var next: UInt8 { @_noLocks @inline(__always) get { 3 } }
    static var now: UInt8 { @_noLocks @inline(__always) get { 4 } }
  }

  let frames: Int
  let chunks: Int
  /// One a chunk: whether its frames are there. Set by the streamer.
  let presence: UnsafeMutablePointer<Atomic<Bool>>
  /// One a chunk, of `Wish`. Set by audio threads, taken back by the streamer.
  let wishes: UnsafeMutablePointer<Atomic<UInt8>>
  /// Wakes the streamer.
  let bell: UnsafeMutableRawPointer
  /// In offline rendering there is no deadline, and whoever reads waits.
  let waits: Bool

  /// Whether the frames `first...last` may be read; what is missing is asked for, and counted as an under-run
  /// in `header`. Frames before the first and behind the last are there. Audio thread.
  @_noLocks func has(_ first: Int, _ last: Int, _ header: UnsafeMutablePointer<ResourceHeader>) -> Bool {
    let low = first > 0 ? first : 0
    let high = last < frames ? last : frames &- 1
    guard low <= high else { return true }
    var chunk = low &>> Self.shift
    var isThere = true
    while chunk <= high &>> Self.shift {
      if presence[chunk].load(ordering: .acquiring) {
        if wishes[chunk].load(ordering: .relaxed) == Wish.none {
          wishes[chunk].store(Wish.later, ordering: .relaxed)
        }
      } else if waits {
        wait(chunk)
      } else {
        isThere = false
        if wishes[chunk].exchange(Wish.now, ordering: .relaxed) != Wish.now {
          header.pointee.countUnderrun()
          _ = postSemaphore(bell)
        }
      }
      chunk &+= 1
    }
    return isThere
  }

  /// The frames from `frame` on will be wanted, at so many frames of the sample a frame of output (negative:
  /// backwards). Audio thread.
  @_noLocks func expect(_ frame: Int, pace: Double) {
    // What plays within a second or so.
    let step = pace < 0 ? -1 : 1
    let size = pace < 0 ? -pace : pace
    let count = 2 &+ (size < 6 ? Int(size * 2) : 12)
    var chunk = (frame > 0 ? frame : 0) &>> Self.shift
    for index in 0..<count {
      guard chunk >= 0, chunk < chunks else { return }
      if wishes[chunk].load(ordering: .relaxed) == Wish.none {
        let isThere = presence[chunk].load(ordering: .relaxed)
        wishes[chunk].store(index < 2 ? Wish.next : Wish.later, ordering: .relaxed)
        if !isThere { _ = postSemaphore(bell) }
      }
      chunk = chunk &+ step
    }
  }

  /// Somebody stands at a frame and will go on from there, however late; or has left it. Audio thread.
  @_noLocks func keep(_ frame: Int, _ isKept: Bool) {
    var chunk = (frame > 0 ? frame : 0) &>> Self.shift
    for _ in 0..<2 {
      guard chunk < chunks else { return }
      wishes[chunk].store(isKept ? Wish.kept : Wish.later, ordering: .relaxed)
      if isKept, !presence[chunk].load(ordering: .relaxed) { _ = postSemaphore(bell) }
      chunk = chunk &+ 1
    }
  }

  /// Until the streamer has brought it. Offline only.
  @_noLocks private func wait(_ chunk: Int) {
    wishes[chunk].store(Wish.now, ordering: .relaxed)
    _ = postSemaphore(bell)
    while !presence[chunk].load(ordering: .acquiring) {
      if wishes[chunk].load(ordering: .relaxed) != Wish.now {
        wishes[chunk].store(Wish.now, ordering: .relaxed)
        _ = postSemaphore(bell)
      }
      _ = yieldProcessor()
    }
  }
}
