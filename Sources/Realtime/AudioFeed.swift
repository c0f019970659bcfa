import Synchronization

/// Sound on its way from the audio thread to a worker: a ring of cells, each with all channels of up to 64
/// frames and the engine time of the first. Frames of which no cell tells were silent, or lost because the ring
/// was full; the next cell says which.
///
/// It is a resource: kernels get it by `Kernel.use`. One kernel writes at a time.
public struct AudioFeed: ~Copyable {
  /// Type of its resource.
  @inlinable public static var type: Int32 { @_noLocks get { 3 } }

  /// Head of a cell. The samples follow: frame f of channel c at `64 * c + f`.
  public struct Cell: BitwiseCopyable {
    /// Engine time of the first frame.
    public var time: Int64
    /// Engine time of the first frame lost before this cell; negative: none was.
    public var lostFrom: Int64
    /// Number of frames lost before this cell.
    public var lost: Int64
    /// Number of frames, 1...64.
    public var frames: Int

    /// Bytes before the samples.
    public static var size: Int { @_noLocks get { 64 } }
  }

  var header: ResourceHeader
  /// Number of channels of each cell.
  public let channels: Int
  /// Frames lost so far.
  let lost = Atomic<Int64>(0)
  /// Engine time of the first frame lost since the last cell; negative: none was.
  let lostFrom = Atomic<Int64>(-1)
  /// Engine time of the first frame heard; negative: none has been.
  let start = Atomic<Int64>(-1)
  private let cells: Ring
  /// The sound goes to disk: where there is no deadline, the audio thread waits for room, so that nothing is lost.
  private let waits: Bool
  // Audio thread.
  private var hasGivenUp = false
  private var open: UnsafeMutablePointer<Cell>?
  private var lostHere: Int64 = 0

  /// Memory of a feed at most, in bytes.
  static let mostBytes = 1 << 26

  /// Nanoseconds for which it waits for a reader that does not read.
  @inlinable static var patience: Int64 { @_noLocks get { 10_000_000_000 } }

  /// A feed of `channels` that holds so many frames, within limits of memory. `waits`: the audio thread waits for room where
  /// it has no deadline. Worker.
  public init(channels: Int, frames: Int, waits: Bool = false) {
    self.channels = channels
    self.waits = waits
    header = ResourceHeader(type: Self.type)
    let size = Cell.size + channels * blockCapacity * 4
    var count = 16
    while count * blockCapacity < frames, count * 2 * size <= Self.mostBytes { count *= 2 }
    cells = Ring(capacity: count, size: size, stride: size)
  }

  deinit { cells.deallocate() }

  // MARK: Audio thread

  /// Writes a block. `waitsForReaders`: the period has no deadline. Audio thread.
  @_noLocks mutating func write(_ input: InputPort, frames: Int, time: Int64, waitsForReaders: Bool) {
    if start.load(ordering: .relaxed) < 0 { start.store(time, ordering: .releasing) }
    if let cell = open, cell.pointee.time &+ Int64(cell.pointee.frames) != time || input.isSilent { close() }
    guard !input.isSilent else { return }
    if open == nil {
      guard let place = cells.reserve() ?? (waitsForReaders ? waitForRoom() : nil) else {
        return lose(frames, time)
      }
      hasGivenUp = false
      let cell = place.assumingMemoryBound(to: Cell.self)
      cell.pointee = Cell(
        time: time, lostFrom: lostFrom.load(ordering: .relaxed), lost: lostHere, frames: 0)
      if lostHere > 0 {
        lostFrom.store(-1, ordering: .relaxed)
        lostHere = 0
      }
      open = cell
    }
    guard let cell = open else { return }
    let place = (UnsafeMutableRawPointer(cell) + Cell.size).assumingMemoryBound(to: Float.self)
    let first = cell.pointee.frames
    var channel = 0
    while channel < channels {
      let target = place + (channel &* blockCapacity &+ first)
      if channel < input.count {
        copyMemory(target, input[channel], frames &* 4)
      } else {
        setMemory(target, 0, frames &* 4)
      }
      channel &+= 1
    }
    cell.pointee.frames = first &+ frames
    if (time &+ Int64(frames)) & 63 == 0 { close() }
  }

  /// Waits for a reader, once: a hanging disk stops the server for a while only.
  @inline(never) @_noLocks private mutating func waitForRoom() -> UnsafeMutableRawPointer? {
    guard waits, !hasGivenUp else { return nil }
    let end = nanoseconds() &+ Self.patience
    while nanoseconds() < end {
      yieldProcessor()
      if let place = cells.reserve() { return place }
    }
    hasGivenUp = true
    return nil
  }

  /// Hands over the frames of a cell that is not full. Audio thread.
  @_noLocks mutating func close() {
    guard open != nil else { return }
    open = nil
    cells.commit()
  }

  @_noLocks private mutating func lose(_ frames: Int, _ time: Int64) {
    if lostHere == 0 { lostFrom.store(time, ordering: .relaxed) }
    lostHere &+= Int64(frames)
    lost.store(lost.load(ordering: .relaxed) &+ Int64(frames), ordering: .relaxed)
  }

  // MARK: Worker

  /// The oldest cell, in place until `pop`; nil when there is none. Worker.
  func peek() -> UnsafeMutablePointer<Cell>? { cells.peek()?.assumingMemoryBound(to: Cell.self) }

  /// Removes the oldest cell. Worker.
  func pop() { cells.pop() }
}

/// The worker's side of a feed, and its owner. One thread reads.
public final class FeedReader: @unchecked Sendable {
  private let feed: UnsafeMutablePointer<AudioFeed>
  /// The feed in the form in which kernels get it.
  public let resource: Resource
  /// Number of channels.
  public let channels: Int

  /// A feed that holds so many frames, within limits of memory. `name`: for the views. `waits`: the audio thread waits for
  /// room where it has no deadline.
  public init(channels: Int, frames: Int, name: String, waits: Bool = false) {
    self.channels = channels
    let feed = UnsafeMutablePointer<AudioFeed>.allocate(capacity: 1)
    feed.initialize(to: AudioFeed(channels: channels, frames: frames, waits: waits))
    self.feed = feed
    nonisolated(unsafe) let owned = feed
    resource = Resource(
      header: UnsafeMutableRawPointer(feed).assumingMemoryBound(to: ResourceHeader.self), name: name,
      bytes: { 0 },
      release: {
        owned.deinitialize(count: 1)
        owned.deallocate()
      })
  }

  /// Engine time of the first frame heard; nil: none has been.
  public var start: Int64? {
    let time = feed.pointee.start.load(ordering: .acquiring)
    return time < 0 ? nil : time
  }

  /// Frames lost so far, because the reader was too late.
  public var lost: Int64 { feed.pointee.lost.load(ordering: .relaxed) }

  /// Engine time of the first frame lost since the last cell that was read; nil: none was.
  public var lostFrom: Int64? {
    let waiting = feed.pointee.peek().flatMap { $0.pointee.lost > 0 ? $0.pointee.lostFrom : nil }
    let time = waiting ?? feed.pointee.lostFrom.load(ordering: .relaxed)
    return time < 0 ? nil : time
  }

  /// Calls `body` with the cells that begin before `time`, oldest first, until it returns false.
  public func read(
    before time: Int64,
    _ body: (AudioFeed.Cell, UnsafePointer<Float>) throws -> Bool
  ) rethrows {
    while let cell = feed.pointee.peek(), cell.pointee.time < time {
      let samples = (UnsafeRawPointer(cell) + AudioFeed.Cell.size).assumingMemoryBound(to: Float.self)
      guard try body(cell.pointee, samples) else { return }
      feed.pointee.pop()
    }
  }

  /// Hands over the cell that the audio thread has begun. No audio thread may run. Worker.
  public func close() { feed.pointee.close() }

  /// Writes a block as a kernel does, for tests.
  package func write(_ input: InputPort, frames: Int, time: Int64, waitsForReaders: Bool = false) {
    feed.pointee.write(input, frames: frames, time: time, waitsForReaders: waitsForReaders)
  }
}

/// A kernel's hold on a feed; empty where it has none.
public struct FeedHold: BitwiseCopyable {
  private var feed: UnsafeMutablePointer<AudioFeed>?

  /// No feed.
  @_noLocks public init() {}

  /// True with a feed.
  public var isHeld: Bool { @_noLocks get { feed != nil } }

  /// Takes a feed, or lets it go. Audio thread.
  @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    if let old = feed {
      old.pointee.close()
      old.pointee.header.count(-1)
      feed = nil
    }
    guard let resource, resource.pointee.type == AudioFeed.type else { return }
    let new = UnsafeMutableRawPointer(resource).assumingMemoryBound(to: AudioFeed.self)
    new.pointee.header.count(1)
    feed = new
  }

  /// Writes a block, if there is a feed. `waitsForReaders`: see `DriverChannels`. Audio thread.
  @_noLocks public func write(_ input: InputPort, frames: Int, time: Int64, waitsForReaders: Bool) {
    feed?.pointee.write(input, frames: frames, time: time, waitsForReaders: waitsForReaders)
  }

  /// Call it before the kernel is freed. Worker.
  public mutating func release() {
    feed?.pointee.close()
    feed?.pointee.header.returned += 1
    feed = nil
  }
}
