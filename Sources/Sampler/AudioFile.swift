import CSndfile
import Glibc

/// A decoded audio file: planar floats, every channel surrounded by silence so that interpolation may
/// read a little beyond both ends. Immutable after loading, freed with its last reference. Worker.
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
  }

  let path: String
  /// For example "WAV, 16-bit".
  let format: String
  let rate: Double
  let channels: Int
  let frames: Int
  /// From the file's instrument chunk.
  let loop: Loop?
  let key: Int?
  /// Before conversion to another rate.
  let originalRate: Double
  let originalFrames: Int
  /// NaN and infinite samples that were replaced by silence.
  let badSamples: Int
  /// Bytes that the file's head promises and the file does not have.
  let missingBytes: Int
  private let memory: UnsafeMutablePointer<Float>
  private let stride: Int

  var bytes: Int { stride * channels * MemoryLayout<Float>.stride }

  /// The first frame of a channel; `margin` frames may be read before it and behind the last.
  func channel(_ index: Int) -> UnsafeMutablePointer<Float> { memory + index * stride + Self.margin }

  private init(
    path: String, format: String, rate: Double, channels: Int, frames: Int, missingBytes: Int,
    loop: Loop?, key: Int?, originalRate: Double, originalFrames: Int, badSamples: Int,
    source: UnsafePointer<Float>
  ) {
    self.path = path
    self.format = format
    self.rate = rate
    self.channels = channels
    self.frames = frames
    self.missingBytes = missingBytes
    self.loop = loop
    self.key = key
    self.originalRate = originalRate
    self.originalFrames = originalFrames
    self.badSamples = badSamples
    // A multiple of a cache line, so that every channel starts on one.
    stride = (frames + 2 * Self.margin + 15) & ~15
    memory = Self.allocate(stride: stride, channels: channels, frames: frames)
    for channel in 0..<channels {
      let plane = memory + channel * stride + Self.margin
      for frame in 0..<frames { plane[frame] = source[frame * channels + channel] }
    }
  }

  /// One channel of samples that were read elsewhere, each finite. Worker.
  init(
    path: String, format: String, rate: Double, frames: Int, loop: Loop? = nil,
    fill: (UnsafeMutablePointer<Float>) -> Void
  ) {
    self.path = path
    self.format = format
    self.rate = rate
    self.frames = frames
    channels = 1
    self.loop = loop
    missingBytes = 0
    key = nil
    originalRate = rate
    originalFrames = frames
    badSamples = 0
    stride = (frames + 2 * Self.margin + 15) & ~15
    memory = Self.allocate(stride: stride, channels: 1, frames: frames)
    fill(memory + Self.margin)
  }

  /// What `sample=*NAME` asks for: nothing, or a sine at C4.
  static func generated(_ name: String) -> AudioFile? {
    switch name {
    case "*silence":
      return AudioFile(path: name, format: "generated", rate: 48000, frames: 48000, loop: nil) {
        $0.update(repeating: 0, count: 48000)
      }
    case "*sine":
      // One turn, at the rate at which it sounds as C4.
      let rate = 440 * exp2(-9.0 / 12) * 1024
      return AudioFile(
        path: name, format: "generated", rate: rate, frames: 1024, loop: Loop(start: 0, end: 1024)
      ) { frames in
        for frame in 0..<1024 { frames[frame] = Float(sin(2 * Double.pi * Double(frame) / 1024)) }
      }
    default: return nil
    }
  }

  deinit { free(memory) }

  /// Floats on a cache line's boundary, of which the margins are zero; to be given back with `free`.
  private static func allocate(stride: Int, channels: Int, frames: Int) -> UnsafeMutablePointer<Float> {
    var raw: UnsafeMutableRawPointer?
    let count = max(16, stride * channels)
    let bytes = count * MemoryLayout<Float>.stride
    precondition(posix_memalign(&raw, 64, bytes) == 0, "out of memory for \(bytes) bytes of samples")
    let memory = raw!.bindMemory(to: Float.self, capacity: count)
    for channel in 0..<channels {
      let plane = memory + channel * stride
      plane.update(repeating: 0, count: margin)
      (plane + margin + frames).update(repeating: 0, count: stride - margin - frames)
    }
    return memory
  }

  /// Reads a whole file, converted to `rate` when that is given and differs; `folded`: more than two
  /// channels become two. Worker.
  static func read(
    _ path: String, rate wanted: Double? = nil, folded: Bool = false
  ) throws(LoadError) -> AudioFile {
    var info = SF_INFO()
    errno = 0
    guard let file = sf_open(path, Int32(SFM_READ), &info) else {
      throw LoadError(path: path, openingFault(path))
    }
    defer { sf_close(file) }
    guard info.samplerate > 0 else { throw LoadError(path: path, "its sample rate is 0 Hz") }
    guard info.channels > 0 else { throw LoadError(path: path, "it has no channels") }
    guard info.frames > 0 else { throw LoadError(path: path, "it holds no audio") }
    var channels = Int(info.channels)
    // A damaged header may promise more than the disk holds: believe what can be read.
    var samples = try decode(
      file, channels: channels, promised: Int(info.frames), path: path)
    let frames = samples.count / channels
    guard frames > 0 else { throw LoadError(path: path, "it holds no audio that can be read") }
    var (loop, key) = instrument(of: file, frames: frames)
    var rate = Double(info.samplerate)
    var bad = 0
    samples.withUnsafeMutableBufferPointer { samples in
      for index in 0..<samples.count where !samples[index].isFinite {
        samples[index] = 0
        bad += 1
      }
    }
    if folded, channels > 2 {
      samples = fold(samples, channels: channels)
      channels = 2
    }
    if let wanted, wanted != rate {
      samples = try convert(samples, channels: channels, ratio: wanted / rate, path: path)
      loop = nil
      key = nil
      rate = wanted
    }
    return AudioFile(
      path: path, format: formatName(info.format), rate: rate, channels: channels,
      frames: samples.count / channels, missingBytes: bytesMissing(from: path), loop: loop, key: key,
      originalRate: Double(info.samplerate), originalFrames: frames, badSamples: bad, source: samples)
  }

  private static func openingFault(_ path: String) -> String {
    guard let stream = fopen(path, "r") else { return String(cString: strerror(errno)) }
    fclose(stream)
    let words = String(cString: sf_strerror(nil))
    return "not a readable audio file: \(words.hasSuffix(".") ? String(words.dropLast()) : words)"
  }

  /// What a RIFF file's size field says beyond the file's end (libsndfile plays what there is and says
  /// nothing). 0 and the largest number stand for a size that the writer did not know.
  private static func bytesMissing(from path: String) -> Int {
    guard let stream = fopen(path, "r") else { return 0 }
    defer { fclose(stream) }
    var head = [UInt8](repeating: 0, count: 8)
    guard fread(&head, 1, 8, stream) == 8, head.starts(with: Array("RIFF".utf8)) else { return 0 }
    let size = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
    guard size > 0, size < Int(UInt32.max), fseek(stream, 0, SEEK_END) == 0 else { return 0 }
    let missing = size + 8 - ftell(stream)
    // Some writers are wrong by a head or a pad, which cuts nothing.
    return missing > 16 ? missing : 0
  }

  static func decode(
    _ file: OpaquePointer, channels: Int, promised: Int, path: String
  ) throws(LoadError) -> [Float] {
    let piece = 1 << 16
    var samples: [Float] = []
    samples.reserveCapacity(min(promised, 1 << 24) * channels)
    while true {
      let before = samples.count
      guard before / channels < largestFile else { throw LoadError(path: path, "it is too long") }
      samples.append(contentsOf: repeatElement(0, count: piece * channels))
      let got = samples.withUnsafeMutableBufferPointer {
        sf_readf_float(file, $0.baseAddress! + before, sf_count_t(piece))
      }
      samples.removeLast((piece - max(0, Int(got))) * channels)
      if got <= 0 { return samples }
    }
  }

  /// More than two channels to stereo: 4 and 6 by Web Audio's rules for quad and 5.1, others by turns to
  /// the left and the right.
  private static func fold(_ samples: [Float], channels: Int) -> [Float] {
    let half = Float(0.5).squareRoot()
    let sides: [(Float, Float)] =
      switch channels {
      case 4: [(0.5, 0), (0, 0.5), (0.5, 0), (0, 0.5)]
      case 6: [(1, 0), (0, 1), (half, half), (0, 0), (half, 0), (0, half)]
      default:
        (0..<channels).map { $0 % 2 == 0 ? (2 / Float(channels + 1), 0) : (0, 2 / Float(channels + 1)) }
      }
    let frames = samples.count / channels
    var result = [Float](repeating: 0, count: frames * 2)
    for frame in 0..<frames {
      for channel in 0..<channels {
        let value = samples[frame * channels + channel]
        result[2 * frame] += value * sides[channel].0
        result[2 * frame + 1] += value * sides[channel].1
      }
    }
    return result
  }

  private static func instrument(of file: OpaquePointer, frames: Int) -> (Loop?, Int?) {
    var chunk = SF_INSTRUMENT()
    let size = Int32(MemoryLayout<SF_INSTRUMENT>.size)
    guard sf_command(file, Int32(SFC_GET_INSTRUMENT), &chunk, size) == SF_TRUE else { return (nil, nil) }
    // A base note of 0 is what writers put that know none.
    let key = (1...127).contains(chunk.basenote) ? Int(chunk.basenote) : nil
    guard chunk.loop_count > 0, let place = MemoryLayout<SF_INSTRUMENT>.offset(of: \.loop_count) else {
      return (nil, key)
    }
    // Swift does not import the array of nameless structs (mode, start, end, count) behind the count.
    let (mode, start, end) = withUnsafeBytes(of: &chunk) { bytes in
      let at = place + MemoryLayout<Int32>.size
      return (
        bytes.load(fromByteOffset: at, as: Int32.self),
        Int(bytes.load(fromByteOffset: at + 4, as: UInt32.self)),
        // One behind the last frame: libsndfile adds one to what the chunk says.
        min(Int(bytes.load(fromByteOffset: at + 8, as: UInt32.self)), frames)
      )
    }
    guard mode != Int32(SF_LOOP_NONE) else { return (nil, key) }
    return (end > start ? Loop(start: start, end: end) : nil, key)
  }

  private static func formatName(_ format: Int32) -> String {
    var major = SF_FORMAT_INFO()
    major.format = format & Int32(SF_FORMAT_TYPEMASK)
    let size = Int32(MemoryLayout<SF_FORMAT_INFO>.size)
    let container =
      switch Int(major.format) {
      case SF_FORMAT_WAV, SF_FORMAT_WAVEX: "WAV"
      case SF_FORMAT_FLAC: "FLAC"
      case SF_FORMAT_OGG: "OGG"
      case SF_FORMAT_AIFF: "AIFF"
      default:
        sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &major, size) == 0 && major.name != nil
          ? String(cString: major.name) : "audio"
      }
    let coding =
      switch Int(format) & SF_FORMAT_SUBMASK {
      case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8: "8-bit"
      case SF_FORMAT_PCM_16: "16-bit"
      case SF_FORMAT_PCM_24: "24-bit"
      case SF_FORMAT_PCM_32: "32-bit"
      case SF_FORMAT_FLOAT: "float"
      case SF_FORMAT_DOUBLE: "double"
      case SF_FORMAT_VORBIS: "Vorbis"
      default: "compressed"
      }
    return "\(container), \(coding)"
  }
}
