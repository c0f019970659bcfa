import Glibc
import Realtime
import Synchronization

/// Sound that the outputs have played in the last minutes, in memory. Silence takes none. The oldest goes when the time is
/// over, or the memory.
public final class KeptSound: Sendable {
  /// Bytes at most: ten minutes of stereo at 48 kHz are 230 MB.
  public static let mostBytes = 1 << 28

  /// A stretch of one output.
  fileprivate final class Chunk: @unchecked Sendable {
    static let frames = 1 << 16
    /// Interleaved samples. Pages of it that nobody writes take no memory.
    let samples: UnsafeMutablePointer<Float>
    let bytes: Int

    init?(channels: Int) {
      bytes = Self.frames * channels * 4
      guard
        let memory = mmap(
          nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
        memory != MAP_FAILED
      else { return nil }
      // The program may have locked its memory; this part may wait for its turn.
      munlock(memory, bytes)
      samples = memory.bindMemory(to: Float.self, capacity: bytes / 4)
    }

    deinit { munmap(samples, bytes) }
  }

  /// One output, as long as it has the same channels.
  fileprivate struct Track {
    let number: Int
    /// The output's name: what it plays stands at one place in a file.
    let name: String
    let feed: FeedReader
    /// By their number: the first frame's engine time in units of their length.
    var chunks: [Int64: Chunk] = [:]
    var isOpen = true
  }

  /// A file that is being written, or made.
  final class Job: @unchecked Sendable {
    /// Path that was asked for.
    let path: String
    /// nil: it is being made.
    fileprivate var file: (any TakeFile)?
    fileprivate var format = SampleFormat.float32
    let start: Int64
    let end: Int64
    fileprivate var position: Int64
    fileprivate let rate: Double
    /// Channels of each output, and those of the file.
    fileprivate let places: [String: Range<Int>]
    fileprivate let channels: Int
    fileprivate var tracks: [(channels: Int, place: Range<Int>, chunks: [Int64: Chunk])]?

    fileprivate init(_ path: String, from start: Int64, to end: Int64, _ places: Places, rate: Double) {
      self.path = path
      (self.start, position, self.end, self.rate) = (start, start, end, rate)
      (self.places, channels) = (places.ranges, max(places.count, 1))
    }
  }

  /// The outputs side by side, in the order in which they came.
  fileprivate struct Places {
    private(set) var ranges: [String: Range<Int>] = [:]
    private(set) var count = 0

    /// `first`: the oldest chunk that matters.
    init(_ tracks: [Track], from first: Int64) {
      var widths: [(name: String, channels: Int)] = []
      for track in tracks where track.isOpen || track.chunks.keys.contains(where: { $0 >= first }) {
        if let index = widths.firstIndex(where: { $0.name == track.name }) {
          widths[index].channels = max(widths[index].channels, track.feed.channels)
        } else {
          widths.append((track.name, track.feed.channels))
        }
      }
      for (name, channels) in widths {
        ranges[name] = count..<count + channels
        count += channels
      }
    }
  }

  private struct State {
    var tracks: [Track] = []
    var jobs: [Job] = []
    var finished: [KeptFile] = []
    var rate: Double
    /// Engine time up to which all is there, and from which on.
    var heard: Int64 = 0
    var since: Int64?
    var count = 0
  }

  private let seconds: Double
  private let state: Mutex<State>

  init(seconds: Double, rate: Double) {
    self.seconds = seconds
    state = Mutex(State(rate: rate))
  }

  /// Holds an output's sound too. Returns its number.
  public func add(_ feed: FeedReader, named name: String) -> Int {
    state.withLock { state in
      state.count += 1
      state.tracks.append(Track(number: state.count, name: name, feed: feed))
      return state.count
    }
  }

  /// The output is gone; what it played stays until its time is over.
  public func end(_ number: Int) {
    state.withLock { state in
      if let index = state.tracks.firstIndex(where: { $0.number == number }) {
        state.tracks[index].isOpen = false
      }
    }
  }

  /// Forgets all, since the rate has changed, except what files under way need. Returns the seconds that were held.
  public func restart(rate: Double) -> Double {
    state.withLock { state in
      if let end = state.jobs.filter({ $0.tracks == nil }).map(\.end).max() {
        // Their frames have been played, and the last of them wait to be read.
        for index in state.tracks.indices { Self.take(&state.tracks[index], before: end & ~63) }
        Self.handOver(state, before: end)
      }
      let held = state.tracks.allSatisfy(\.chunks.isEmpty) ? 0 : state.since.map { state.heard - $0 } ?? 0
      defer { state.rate = rate }
      let seconds = min(Double(held) / state.rate, self.seconds)
      state.since = nil
      for index in state.tracks.indices { state.tracks[index].chunks = [:] }
      return seconds
    }
  }

  /// Bytes held.
  public var bytes: Int {
    state.withLock { $0.tracks.reduce(0) { $0 + $1.chunks.values.reduce(0) { $0 + $1.bytes } } }
  }

  /// True when all that was played before engine time `time`, rounded down to a whole block, is there.
  func isUpTo(_ time: Int64) -> Bool { state.withLock { $0.heard >= time & ~63 } }

  /// Files are under way.
  var hasFiles: Bool { state.withLock { !$0.jobs.isEmpty } }

  // MARK: Recorder's thread

  func pump(now: Int64) {
    let horizon = now & ~63
    state.withLock { state in
      if state.since == nil { state.since = horizon }
      for index in state.tracks.indices { Self.take(&state.tracks[index], before: horizon) }
      state.heard = horizon
      Self.handOver(state, before: horizon)
      forget(&state, now)
    }
  }

  /// Gives files the sound of their frames, which end by `time`, before it is forgotten: a file may have to wait for its disk.
  private static func handOver(_ state: State, before time: Int64) {
    for job in state.jobs where job.tracks == nil && time >= job.end & ~63 {
      job.tracks = state.tracks.compactMap { track in
        job.places[track.name].map { (track.feed.channels, $0, track.chunks) }
      }
    }
  }

  private static func take(_ track: inout Track, before time: Int64) {
    let channels = track.feed.channels
    var chunks = track.chunks
    track.feed.read(before: time) { cell, samples in
      let number = cell.time / Int64(Chunk.frames)
      if chunks[number] == nil { chunks[number] = Chunk(channels: channels) }
      guard let chunk = chunks[number] else { return true }
      // A cell is within a multiple of 64 frames, so within a chunk.
      var target = chunk.samples + Int(cell.time % Int64(Chunk.frames)) * channels
      for frame in 0..<cell.frames {
        for channel in 0..<channels { target[channel] = samples[channel * 64 + frame] }
        target += channels
      }
      return true
    }
    track.chunks = chunks
  }

  private func forget(_ state: inout State, _ now: Int64) {
    let first = (now - Int64(seconds * state.rate)) / Int64(Chunk.frames)
    var bytes = 0
    for index in state.tracks.indices {
      for number in state.tracks[index].chunks.keys where number < first {
        state.tracks[index].chunks[number] = nil
      }
      bytes += state.tracks[index].chunks.values.reduce(0) { $0 + $1.bytes }
    }
    while bytes > Self.mostBytes, let oldest = state.tracks.compactMap({ $0.chunks.keys.min() }).min() {
      for index in state.tracks.indices {
        bytes -= state.tracks[index].chunks.removeValue(forKey: oldest)?.bytes ?? 0
      }
      state.since = max(state.since ?? 0, (oldest + 1) * Int64(Chunk.frames))
    }
    state.tracks.removeAll { !$0.isOpen && $0.chunks.isEmpty }
  }

  // MARK: Files

  /// Begins a file of the last `seconds` before engine time `now`, which `open` makes. Any thread.
  func begin(_ path: String, seconds: Double, until now: Int64) -> Job {
    let now = now & ~63
    return state.withLock { state in
      let most = Int64(min(seconds, self.seconds) * state.rate)
      return begin(&state, path, from: max(state.since ?? now, now - most, 0), to: now)
    }
  }

  /// The same of the frames between two engine times; there are none before 0.
  func begin(_ path: String, from start: Int64, to end: Int64) -> Job {
    state.withLock { begin(&$0, path, from: max(start, 0), to: end) }
  }

  private func begin(_ state: inout State, _ path: String, from start: Int64, to end: Int64) -> Job {
    let places = Places(state.tracks, from: start / Int64(Chunk.frames))
    let job = Job(path, from: start, to: end, places, rate: state.rate)
    state.jobs.append(job)
    return job
  }

  /// Makes the file. Waits for the disk.
  func open(_ job: Job, _ format: SampleFormat, _ calls: DiskCalls) throws(RecordingError) {
    let file = try TakeFiles.create(
      job.path, channels: job.channels, rate: job.rate, format: format, calls: calls)
    state.withLock { _ in (job.file, job.format) = (file, format) }
  }

  /// Forgets the files that are still being made, and returns their paths.
  func giveUp() -> [String] {
    state.withLock { state in
      defer { state.jobs.removeAll { $0.file == nil } }
      return state.jobs.filter { $0.file == nil }.map(\.path)
    }
  }

  /// Forgets a file that could not be made.
  func remove(_ job: Job) { state.withLock { $0.jobs.removeAll { $0 === job } } }

  /// Path of its file; nil: it is not made yet.
  func path(of job: Job) -> String? { state.withLock { _ in job.file?.disk.path } }

  /// Files that are complete, since the last call. Any thread.
  func takeFinished() -> [KeptFile] {
    state.withLock { state in
      defer { state.finished = [] }
      return state.finished
    }
  }

  /// Writes a second of the first file that waits. True: there is more.
  func writeFiles() -> (isBusy: Bool, said: [Notice]) {
    let job = state.withLock { $0.jobs.first { $0.file != nil && $0.tracks != nil } }
    guard let job, let file = job.file else { return (false, []) }
    var fault: RecordingError?
    var written: Int64 = 0
    do throws(RecordingError) {
      try Self.write(job, to: file)
      if job.position < job.end { return (true, []) }
    } catch {
      fault = error
    }
    do throws(RecordingError) { written = try file.finish([]) } catch { fault = fault ?? error }
    let path = file.disk.path
    state.withLock { state in
      state.jobs.removeAll { $0 === job }
      if written > 0 {
        state.finished.append(
          KeptFile(path: path, start: job.start, frames: written, rate: job.rate, format: job.format))
      }
    }
    if let fault {
      // On a full disk not even its head was written.
      if written == 0 { unlink(path) }
      return (true, [.warning("what was heard could not be kept whole: \(fault.description)")])
    }
    if written == 0 {
      unlink(path)
      return (true, [.news("nothing had been heard yet, and no file is left of \(path)")])
    }
    if let loss = file.disk.loss {
      return (true, [.warning("parts of \(path) may be lost, as the disk reports: \(loss.description)")])
    }
    return (true, [.news("kept \(Take.length(seconds: Double(written) / job.rate)) as \(path)")])
  }

  /// A second of the file: the outputs side by side, a mono one that was stereo for a time on both sides.
  private static func write(_ job: Job, to file: any TakeFile) throws(RecordingError) {
    let block = 4096
    let width = job.channels
    var mix = [Float](repeating: 0, count: block * width)
    for _ in 0..<12 where job.position < job.end {
      let number = job.position / Int64(Chunk.frames)
      let first = Int(job.position % Int64(Chunk.frames))
      let frames = min(block, Int(job.end - job.position), Chunk.frames - first)
      for index in mix.indices { mix[index] = 0 }
      for track in job.tracks ?? [] {
        guard let chunk = track.chunks[number] else { continue }
        for target in 0..<track.place.count {
          let isMono = track.channels == 1 && target < 2
          guard isMono || target < track.channels else { continue }
          let source = chunk.samples + first * track.channels + (isMono ? 0 : target)
          let place = track.place.lowerBound + target
          for frame in 0..<frames { mix[frame * width + place] += source[frame * track.channels] }
        }
      }
      try file.append(mix, frames: frames)
      job.position += Int64(frames)
    }
  }
}

/// A complete file of what was heard.
public struct KeptFile: Sendable {
  /// Its path.
  public var path: String
  /// Engine time of its first frame.
  public var start: Int64
  /// Number of frames.
  public var frames: Int64
  /// Sample rate, Hz.
  public var rate: Double
  /// Sample format that was asked for.
  public var format: SampleFormat
}
