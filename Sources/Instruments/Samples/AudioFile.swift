import Glibc
import Sampler

/// A decoded audio file: planes of 16-bit integers or of floats. Every channel is surrounded by silence, so
/// that interpolation may read slightly beyond both ends. Immutable after loading. Worker.
final class AudioFile: @unchecked Sendable {
  /// Silent frames before the first and after the last frame of every channel.
  static let margin = SamplePlane.margin
  /// Limit of the frames at the rate of playback (12 hours at 48 kHz): positions are signed 32.32 fixed point, and one
  /// beyond the end must still be one.
  static let mostFrames = (1 << 31) - (1 << 20)

  /// A loop stated in the file.
  struct Loop: Hashable {
    var start: Int
    /// Exclusive.
    var end: Int
    var type = LoopType.forward
  }

  /// Properties of a file.
  struct Facts {
    var path: String
    /// Description, for example "WAV, 16-bit".
    var format: String
    var rate: Double
    /// Loop from the file's instrument chunk.
    var loop: Loop?
    var key: Int?
    /// Before conversion to another rate.
    var originalRate: Double
    var originalFrames: Int
    /// Invalid samples (NaN or far too loud) that were replaced by silence.
    var badSamples = 0
    /// Bytes promised in the file's header but missing.
    var missingBytes = 0
    /// Frames promised in its header; `isCut`: the file ends early.
    var promisedFrames: Int?
    var isCut = false
    /// Of a sound that was converted to another rate.
    var ends: RoundEnds?

    /// Sets the number of frames read.
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
  /// Frames are the file's 16-bit integers, not floats.
  let isShort: Bool
  /// Frames from one channel to the next.
  let stride: Int
  /// Only parts of the file are in memory.
  let stream: SampleStream?
  private let memory: SampleMemory?
  private let first: UnsafeMutableRawPointer

  var path: String { facts.path }
  var rate: Double { facts.rate }
  var loop: Loop? { facts.loop }
  var key: Int? { facts.key }

  private var width: Int { isShort ? 2 : 4 }
  /// Memory in use now.
  var bytes: Int { stream?.bytes ?? stride * channels * width }

  /// A channel's frames; `margin` frames may be read before the first and after the last.
  func plane(_ channel: Int) -> SamplePlane {
    SamplePlane(base: UnsafeRawPointer(first + channel * stride * width), isShort: isShort)
  }

  /// Allocates memory with silent margins.
  private init(
    _ facts: Facts, channels: Int, frames: Int, isShort: Bool, in pool: SamplePool
  ) throws(LoadError) {
    self.facts = facts
    self.channels = channels
    self.frames = frames
    self.isShort = isShort
    let width = isShort ? 2 : 4
    // Whole cache lines, so that every channel has the same alignment.
    let line = 64 / width
    stride = (frames + 2 * Self.margin + line - 1) / line * line
    let place = try pool.take(stride * channels * width, for: facts.path)
    stream = nil
    memory = place.0
    first = place.1 + Self.margin * width
    // Touches the margins, so that the audio thread is not the first to do so.
    for channel in 0..<channels {
      let plane = place.1 + channel * stride * width
      memset(plane, 0, Self.margin * width)
      memset(plane + (Self.margin + frames) * width, 0, (stride - Self.margin - frames) * width)
    }
  }

  /// A stream: frames are read from disk on demand, except for the pinned starts of notes. Worker.
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

  /// The same sound with a backward or alternating loop laid out as a forward one (turning points sound
  /// once), and its new loop. The part behind the loop stays behind it; for an alternating loop with
  /// `isLeft`, one more forward pass comes before it. Worker.
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

  /// A file from interleaved floats, all finite. Worker.
  convenience init(
    _ facts: Facts, channels: Int, floats: [Float], in pool: SamplePool
  ) throws(LoadError) {
    try self.init(facts, channels: channels, frames: floats.count / channels, isShort: false, in: pool)
    spread(floats)
  }

  /// A file from interleaved 16-bit integers. Worker.
  convenience init(
    _ facts: Facts, channels: Int, shorts: [Int16], in pool: SamplePool
  ) throws(LoadError) {
    try self.init(facts, channels: channels, frames: shorts.count / channels, isShort: true, in: pool)
    spread(shorts)
  }

  /// One channel of 16-bit integers, written by `fill`. Worker.
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
