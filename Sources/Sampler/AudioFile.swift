import Glibc

/// A decoded audio file: planes of 16-bit numbers or of floats, every channel surrounded by silence so that
/// interpolation may read a little beyond both ends. Immutable after loading. Worker.
final class AudioFile: @unchecked Sendable {
  /// Silent frames before the first and after the last frame of every channel.
  static let margin = 16
  /// More would not be a file for this program (12 hours of stereo at 48 kHz) but a damaged header.
  static let largestFile = 1 << 32

  /// A loop as the file itself states it.
  struct Loop: Hashable {
    var start: Int
    /// Exclusive.
    var end: Int
    var type = LoopType.forward
  }

  /// What is known of a file beside its frames.
  struct Facts {
    var path: String
    /// For example "WAV, 16-bit".
    var format: String
    var rate: Double
    /// From the file's instrument chunk.
    var loop: Loop?
    var key: Int?
    /// Before conversion to another rate.
    var originalRate: Double
    var originalFrames: Int
    /// Samples that are no numbers, or beyond all measure, and were replaced by silence.
    var badSamples = 0
    /// Bytes that the file's head promises and the file does not have.
    var missingBytes = 0
    /// Frames that its head promises; and it ends where it should not.
    var promisedFrames: Int?
    var isCut = false

    /// So many were read.
    mutating func setFrames(_ count: Int, promised: Int?) {
      originalFrames = count
      guard let promised, promised > count else { return }
      promisedFrames = promised
      isCut = true
    }
  }

  let facts: Facts
  let channels: Int
  let frames: Int
  /// Frames are the 16-bit numbers of the file, not floats.
  let isShort: Bool
  /// Frames from one channel to the next.
  let stride: Int
  /// Only parts of it are in memory.
  let stream: SampleStream?
  private let memory: SampleMemory?
  private let first: UnsafeMutableRawPointer

  var path: String { facts.path }
  var rate: Double { facts.rate }
  var loop: Loop? { facts.loop }
  var key: Int? { facts.key }

  private var width: Int { isShort ? 2 : 4 }
  /// In memory, now.
  var bytes: Int { stream?.bytes ?? stride * channels * width }

  /// A channel's frames; `margin` frames may be read before the first and behind the last.
  func plane(_ channel: Int) -> SamplePlane {
    SamplePlane(base: UnsafeRawPointer(first + channel * stride * width), isShort: isShort)
  }

  /// Memory for so many silent frames.
  private init(
    _ facts: Facts, channels: Int, frames: Int, isShort: Bool, in pool: SamplePool
  ) throws(LoadError) {
    self.facts = facts
    self.channels = channels
    self.frames = frames
    self.isShort = isShort
    let width = isShort ? 2 : 4
    // Whole cache lines, so that every channel starts as the first one does.
    let line = 64 / width
    stride = (frames + 2 * Self.margin + line - 1) / line * line
    let place = try pool.take(stride * channels * width, for: facts.path)
    stream = nil
    memory = place.0
    first = place.1 + Self.margin * width
    // Not to be touched by the audio thread first.
    for channel in 0..<channels {
      let plane = place.1 + channel * stride * width
      memset(plane, 0, Self.margin * width)
      memset(plane + (Self.margin + frames) * width, 0, (stride - Self.margin - frames) * width)
    }
  }

  /// So many frames that are read from disk when they are wanted, but for those that notes begin with. Worker.
  init(
    _ facts: Facts, channels: Int, frames: Int, isShort: Bool, source: any FrameSource, waits: Bool
  ) throws(LoadError) {
    self.facts = facts
    self.channels = channels
    self.frames = frames
    self.isShort = isShort
    let stream = try SampleStream(
      source, channels: channels, frames: frames, isShort: isShort, waits: waits, path: facts.path)
    Streamer.shared.add(stream)
    stride = stream.stride / (isShort ? 2 : 4)
    first = stream.first
    memory = nil
    self.stream = stream
  }

  /// The same sound with its loop laid out so that playing on and on plays it backwards, or to and fro (the
  /// frames at which it turns sound once); and where the loop is then. What lies behind the loop is behind it
  /// still, after a last time forwards when it goes to and fro and `isLeft`. Worker.
  func unrolled(_ loop: Loop, isLeft: Bool, in pool: SamplePool) throws(LoadError) -> (AudioFile, Loop) {
    var backwards = loop.start..<loop.end
    var forwards = loop.end..<loop.end
    if loop.type == .alternate {
      backwards = min(loop.start + 1, loop.end - 1)..<loop.end - 1
      if isLeft { forwards = loop.start..<loop.end }
    }
    let result = try AudioFile(
      facts, channels: channels, frames: frames + backwards.count + forwards.count, isShort: isShort, in: pool
    )
    for channel in 0..<channels {
      let from = first + channel * stride * width
      var to = result.first + channel * result.stride * width
      func copy(_ frames: Range<Int>) {
        memcpy(to, from + frames.lowerBound * width, frames.count * width)
        to += frames.count * width
      }
      copy(0..<loop.end)
      for frame in backwards.reversed() { copy(frame..<frame + 1) }
      copy(forwards)
      copy(loop.end..<frames)
    }
    let start = loop.type == .alternate ? loop.start : loop.end
    let end = loop.end + backwards.count
    return (result, Loop(start: start, end: end))
  }

  /// What was read as interleaved floats, each finite. Worker.
  convenience init(
    _ facts: Facts, channels: Int, floats: [Float], in pool: SamplePool
  ) throws(LoadError) {
    try self.init(facts, channels: channels, frames: floats.count / channels, isShort: false, in: pool)
    spread(floats)
  }

  /// What was read as interleaved 16-bit numbers. Worker.
  convenience init(
    _ facts: Facts, channels: Int, shorts: [Int16], in pool: SamplePool
  ) throws(LoadError) {
    try self.init(facts, channels: channels, frames: shorts.count / channels, isShort: true, in: pool)
    spread(shorts)
  }

  /// One channel of 16-bit numbers that `fill` writes. Worker.
  convenience init(
    _ facts: Facts, shorts count: Int, in pool: SamplePool,
    fill: (UnsafeMutablePointer<Int16>) throws(LoadError) -> Void
  ) throws(LoadError) {
    try self.init(facts, channels: 1, frames: count, isShort: true, in: pool)
    try fill(first.assumingMemoryBound(to: Int16.self))
  }

  private func spread<Sample>(_ samples: [Sample]) {
    samples.withUnsafeBufferPointer { samples in
      for channel in 0..<channels {
        let plane = first.assumingMemoryBound(to: Sample.self) + channel * stride
        if channels == 1 {
          plane.update(from: samples.baseAddress!, count: frames)
        } else {
          for frame in 0..<frames { plane[frame] = samples[frame * channels + channel] }
        }
      }
    }
  }
}
