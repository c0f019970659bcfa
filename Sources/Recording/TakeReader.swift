import Glibc

/// Frames of a WAV file with 32-bit floats, as this program writes them. Worker.
public final class TakeReader {
  /// Number of channels.
  public let channels: Int
  /// Frames in the file.
  public let frames: Int64
  private let file: Int32
  private let first: Int64
  private var buffer: [Float] = []

  /// nil: there is no such file.
  public init?(path: String) {
    file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    var info = stat()
    var head = [UInt8](repeating: 0, count: 256)
    let count = pread(file, &head, head.count, 0)
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, count > 0,
      let (header, data) = WaveHeader.read(Array(head.prefix(count))), header.format == .float32
    else {
      close(file)
      return nil
    }
    channels = header.channels
    first = Int64(header.size)
    frames = min(data, Int64(info.st_size) - first) / Int64(header.frameSize)
  }

  deinit { close(file) }

  /// Writes `count` frames from `frame` on, zeros beyond both ends, to `target` of each channel.
  public func read(_ frame: Int64, _ count: Int, to target: (Int) -> UnsafeMutablePointer<Float>?) {
    let start = max(0, min(frames, frame))
    let end = max(start, min(frames, frame + Int64(count)))
    buffer = Array(repeating: 0, count: count * channels)
    let skipped = Int(start - frame) * channels
    let bytes = Int(end - start) * channels * 4
    if bytes > 0 {
      buffer.withUnsafeMutableBytes {
        _ = pread(file, $0.baseAddress! + skipped * 4, bytes, off_t(first + start * Int64(channels * 4)))
      }
    }
    for channel in 0..<channels {
      guard let samples = target(channel) else { continue }
      for index in 0..<count { samples[index] = buffer[index * channels + channel] }
    }
  }
}
