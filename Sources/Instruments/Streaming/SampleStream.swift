import Glibc
import Realtime
import Sampler
import Synchronization

/// Source of a stream's frames. One thread at a time. Worker.
protocol FrameSource: AnyObject {
  /// Writes `count` frames from `first` on; the next channel's are `stride` bytes further. Missing frames are
  /// silence.
  func read(_ first: Int, _ count: Int, into memory: UnsafeMutableRawPointer, stride: Int)
  /// Called after some time without reads: releases memory that can be read again.
  func rest()
}

/// A sample with only parts in memory: the starts of notes, and the frames about to be played. The address
/// range of the whole sample is reserved, so a reader only has to know whether a chunk is present.
///
/// A chunk leaves in two steps: it is marked absent, and its memory is freed seconds later, when no block
/// that found it present can still be running. Worker.
final class SampleStream: @unchecked Sendable {
  let table: UnsafeMutablePointer<StreamTable>
  private let source: any FrameSource
  private let mapped: UnsafeMutableRawPointer
  private let mappedSize: Int
  /// Bytes from one channel to the next, and per frame of a channel.
  let stride: Int
  private let width: Int
  private let channels: Int
  private let chunks: Int
  private static let page = 4096
  /// Number of passes of the streamer, one per second, that an unused chunk survives.
  private static let patience: UInt8 = 5

  private struct State {
    var isPinned: [Bool]
    var ages: [UInt8]
    /// Absent, but its memory is not freed yet.
    var isClosing: [Bool]
  }
  /// Locked while a chunk is read.
  private let state: Mutex<State>
  /// Chunks with memory.
  private let present = Atomic<Int>(0)

  /// The first frame of the first channel.
  var first: UnsafeMutableRawPointer { mapped + Self.page }

  init(
    _ source: any FrameSource, channels: Int, frames: Int, isShort: Bool, waits: Bool, path: String
  ) throws(LoadError) {
    self.source = source
    self.channels = channels
    width = isShort ? 2 : 4
    chunks = (frames + StreamTable.chunkFrames - 1) / StreamTable.chunkFrames
    // Whole chunks, and a page of silence before and after each channel.
    stride = chunks * StreamTable.chunkFrames * width + Self.page
    mappedSize = Self.page + stride * channels
    guard
      let memory = mmap(
        nil, mappedSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
      memory != MAP_FAILED
    else { throw LoadError(path: path, .noRoom(bytes: mappedSize)) }
    mapped = memory
    state = Mutex(
      State(
        isPinned: Array(repeating: false, count: chunks), ages: Array(repeating: 0, count: chunks),
        isClosing: Array(repeating: false, count: chunks)))
    let presence = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: chunks)
    let wishes = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: chunks)
    for chunk in 0..<chunks {
      (presence + chunk).initialize(to: Atomic(false))
      (wishes + chunk).initialize(to: Atomic(0))
    }
    table = .allocate(capacity: 1)
    table.initialize(
      to: StreamTable(
        frames: frames, chunks: chunks, presence: presence, wishes: wishes, bell: Streamer.shared.bell,
        waits: waits))
    // Touches the pages of silence, so that the audio thread is not the first to do so.
    for channel in 0...channels { memset(memory + channel * stride, 0, Self.page) }
  }

  deinit {
    munmap(mapped, mappedSize)
    table.pointee.presence.deallocate()
    table.pointee.wishes.deallocate()
    table.deallocate()
  }

  /// Bytes in memory now. Never waits.
  var bytes: Int {
    present.load(ordering: .relaxed) * StreamTable.chunkFrames * width * channels + (channels + 1) * Self.page
  }

  /// Reads and keeps the frames that a note starting at `frame` needs until more arrive.
  func pin(_ frame: Int) {
    let chunk = max(0, min(frame, table.pointee.frames - 1) - SamplePlane.margin) >> StreamTable.shift
    for chunk in chunk..<min(chunk + 3, chunks) {
      bring(chunk)
      state.withLock { $0.isPinned[chunk] = true }
    }
  }

  /// Reads a chunk if it is absent.
  private func bring(_ chunk: Int) {
    state.withLock { state in
      guard !table.pointee.presence[chunk].load(ordering: .relaxed) else { return }
      let place = first + chunk * StreamTable.chunkFrames * width
      let count = min(StreamTable.chunkFrames, table.pointee.frames - chunk * StreamTable.chunkFrames)
      source.read(chunk * StreamTable.chunkFrames, count, into: place, stride: stride)
      // The silence behind the last frame comes with it.
      if count < StreamTable.chunkFrames {
        let rest = min(StreamTable.chunkFrames - count, SamplePlane.margin * 2) * width
        for channel in 0..<channels { memset(place + channel * stride + count * width, 0, rest) }
      }
      // Locks the chunk where permitted, so that the system does not evict it while it is played.
      for channel in 0..<channels { mlock(place + channel * stride, count * width) }
      // It may still have memory from before.
      if !state.isClosing[chunk] { present.add(1, ordering: .relaxed) }
      state.isClosing[chunk] = false
      state.ages[chunk] = 0
      let wish = table.pointee.wishes[chunk].load(ordering: .relaxed)
      if wish != StreamTable.Wish.kept {
        table.pointee.wishes[chunk].store(StreamTable.Wish.none, ordering: .relaxed)
      }
      table.pointee.presence[chunk].store(true, ordering: .releasing)
    }
  }

  /// Highest urgency of the requests for absent chunks.
  var urgency: UInt8 {
    var most = StreamTable.Wish.none
    for chunk in 0..<chunks where !table.pointee.presence[chunk].load(ordering: .relaxed) {
      most = max(most, table.pointee.wishes[chunk].load(ordering: .relaxed))
    }
    return most
  }

  /// Reads one chunk whose request is at least this urgent.
  func fulfil(_ urgency: UInt8) {
    for chunk in 0..<chunks
    where !table.pointee.presence[chunk].load(ordering: .relaxed)
      && table.pointee.wishes[chunk].load(ordering: .relaxed) >= urgency
    {
      bring(chunk)
      return
    }
  }

  /// Ages the chunks; called once per second.
  func age() {
    state.withLock { state in
      var isUsed = false
      for chunk in 0..<chunks {
        guard table.pointee.presence[chunk].load(ordering: .relaxed) else {
          if state.isClosing[chunk] {
            state.ages[chunk] += 1
            if state.ages[chunk] > 2 * Self.patience { discard(chunk, &state) }
          }
          continue
        }
        let wish = table.pointee.wishes[chunk].load(ordering: .relaxed)
        if wish != StreamTable.Wish.none {
          if wish != StreamTable.Wish.kept {
            table.pointee.wishes[chunk].store(StreamTable.Wish.none, ordering: .relaxed)
            isUsed = true
          }
          state.ages[chunk] = 0
        } else if !state.isPinned[chunk] {
          state.ages[chunk] += 1
          guard state.ages[chunk] > Self.patience else {
            isUsed = true
            continue
          }
          table.pointee.presence[chunk].store(false, ordering: .relaxed)
          state.isClosing[chunk] = true
        }
      }
      if !isUsed { source.rest() }
    }
  }

  private func discard(_ chunk: Int, _ state: inout State) {
    state.isClosing[chunk] = false
    present.subtract(1, ordering: .relaxed)
    let bytes = StreamTable.chunkFrames * width
    for channel in 0..<channels {
      let place = first + chunk * bytes + channel * stride
      // Locked pages cannot be freed.
      munlock(place, bytes)
      madvise(place, bytes, MADV_DONTNEED)
    }
  }
}
