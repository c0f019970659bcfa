import Realtime
import Synchronization

/// Chunk table of a sample that streams from disk, for the audio thread. It tells which chunks are in memory,
/// and takes requests that `Streamer` fulfils. Plain memory owned by a `SampleStream`.
package struct StreamTable: BitwiseCopyable {
  /// A chunk has `1 << shift` frames.
  package static var shift: Int { @_noLocks @inline(__always) get { 14 } }
  package static var chunkFrames: Int { @_noLocks @inline(__always) get { 1 &<< shift } }

  /// Urgency of a request.
  package enum Wish {
    package static var none: UInt8 { @_noLocks @inline(__always) get { 0 } }
    package static var later: UInt8 { @_noLocks @inline(__always) get { 1 } }
    /// Kept until released: playback will continue from there.
    package static var kept: UInt8 { @_noLocks @inline(__always) get { 2 } }
    package static var next: UInt8 { @_noLocks @inline(__always) get { 3 } }
    package static var now: UInt8 { @_noLocks @inline(__always) get { 4 } }
  }

  package let frames: Int
  package let chunks: Int
  /// Per chunk: its frames are in memory. Set by the streamer.
  package let presence: UnsafeMutablePointer<Atomic<Bool>>
  /// Per chunk: a value of `Wish`. Set by audio threads, reset by the streamer.
  package let wishes: UnsafeMutablePointer<Atomic<UInt8>>
  /// Semaphore that wakes the streamer.
  package let bell: UnsafeMutableRawPointer
  /// Offline rendering has no deadline, so a reader waits.
  package let waits: Bool

  package init(
    frames: Int, chunks: Int, presence: UnsafeMutablePointer<Atomic<Bool>>,
    wishes: UnsafeMutablePointer<Atomic<UInt8>>, bell: UnsafeMutableRawPointer, waits: Bool
  ) {
    (self.frames, self.chunks) = (frames, chunks)
    (self.presence, self.wishes) = (presence, wishes)
    (self.bell, self.waits) = (bell, waits)
  }

  /// True when the frames `first...last` may be read. Missing chunks are requested, and counted as an
  /// under-run in `header`. Frames before the first and after the last count as present. Audio thread.
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

  /// Requests the frames from `frame` on, which will be read at `pace` frames of the sample per frame of
  /// output (negative: backwards). Audio thread.
  @_noLocks package func expect(_ frame: Int, pace: Double) {
    // About the next second of playback.
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

  /// Keeps or releases the chunks at a frame from which playback will continue at some time. Audio thread.
  @_noLocks func keep(_ frame: Int, _ isKept: Bool) {
    var chunk = (frame > 0 ? frame : 0) &>> Self.shift
    for _ in 0..<2 {
      guard chunk < chunks else { return }
      wishes[chunk].store(isKept ? Wish.kept : Wish.later, ordering: .relaxed)
      if isKept, !presence[chunk].load(ordering: .relaxed) { _ = postSemaphore(bell) }
      chunk = chunk &+ 1
    }
  }

  /// Waits until the streamer has read a chunk. Offline only.
  @_noLocks private func wait(_ chunk: Int) {
    wishes[chunk].store(Wish.now, ordering: .relaxed)
    _ = postSemaphore(bell)
    while !presence[chunk].load(ordering: .acquiring) {
      if wishes[chunk].load(ordering: .relaxed) != Wish.now {
        wishes[chunk].store(Wish.now, ordering: .relaxed)
        _ = postSemaphore(bell)
      }
      yieldProcessor()
    }
  }
}
