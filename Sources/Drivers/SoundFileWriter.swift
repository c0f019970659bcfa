import CSndfile
import Glibc
import Recording
import Synchronization

/// Writes one sound file with libsndfile. The file gets its name when it is complete; until then, or if
/// rendering is abandoned, an old file of that name stays. Worker.
final class SoundFileWriter {
  private let path: String
  private let partial: String?
  private var file: OpaquePointer?
  private let channels: Int
  private let format: SampleFormat
  private let shift: Int32?
  /// Samples not yet written, since periods are short and system calls cost.
  private var pending: [Float] = []
  private static let enough = 1 << 14

  /// `frames`: estimated number of frames, which decides whether a WAV needs the format for more than 4 GB.
  init(path: String, rate: Double, channels: Int, format: SampleFormat, frames: Int64) throws(DriverError) {
    if let refusal = Self.refusal(path, rate: rate, channels: channels) {
      throw DriverError.soundFile(path: path, refusal)
    }
    let path = Self.target(of: path)
    self.path = path
    self.channels = channels
    (self.format, shift) = (format, format.shift(in: path))
    pending.reserveCapacity(Self.enough)
    var info = SF_INFO()
    info.samplerate = Int32(rate.rounded())
    info.channels = Int32(channels)
    info.format = format.code(for: path, bytes: frames * Int64(channels * 4))
    // An existing device or pipe is written to, not replaced.
    var status = stat()
    let replaces = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    partial = replaces ? path + ".part" : nil
    if let partial { UnfinishedFiles.add(partial) }
    guard let opened = sf_open(partial ?? path, Int32(SFM_WRITE), &info) else {
      // A full disk may have room for the name of a file, and for nothing in it.
      if let partial {
        unlink(partial)
        UnfinishedFiles.forget(partial)
      }
      throw DriverError.soundFile(path: path, String(cString: sf_strerror(nil)))
    }
    file = opened
    // The PEAK chunk holds the time of day, but a render must always give the same bytes.
    sf_command(opened, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
    // For integer formats: clips samples that are too loud instead of wrapping them around.
    sf_command(opened, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
  }

  /// The file that a symbolic link leads to, which is replaced in the link's place; other paths as they are.
  private static func target(of path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let real = realpath(path, nil) else {
      return path
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// A property that the format of a file of that name cannot hold, for which libsndfile has no words; nil: it holds all.
  private static func refusal(_ path: String, rate: Double, channels: Int) -> String? {
    let rate = Int(rate.rounded())
    switch SampleFormat.ending(of: path) {
    case "flac"? where channels > 8:
      return "FLAC has at most 8 channels, not \(channels); WAV has room for all"
    case "opus"? where ![8000, 12000, 16000, 24000, 48000].contains(rate):
      return "Opus does not have \(rate) Hz; it has 48000 Hz"
    default: return nil
    }
  }

  /// `samples` holds `frames` times the file's channels, interleaved.
  func write(_ samples: UnsafePointer<Float>, frames: Int) throws(DriverError) {
    pending.append(contentsOf: UnsafeBufferPointer(start: samples, count: frames * channels))
    if pending.count >= Self.enough { try writePending() }
  }

  private func writePending() throws(DriverError) {
    let frames = sf_count_t(pending.count / channels)
    let written =
      if let shift {
        sf_writef_int(file, pending.map { format.number($0) << shift }, frames)
      } else {
        sf_writef_float(file, pending, frames)
      }
    guard written == frames else {
      throw DriverError.soundFile(path: path, String(cString: sf_strerror(file)))
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// Closes the file and moves it to its name.
  func finish() throws(DriverError) {
    guard let file else { return }
    try writePending()
    self.file = nil
    guard sf_close(file) == 0 else { throw DriverError.incomplete(path: path) }
    guard let partial else { return }
    guard rename(partial, path) == 0 else { throw .notRenamed(path: path, code: errno) }
    UnfinishedFiles.forget(partial)
  }

  deinit {
    guard let file else { return }
    sf_close(file)
    guard let partial else { return }
    unlink(partial)
    UnfinishedFiles.forget(partial)
  }
}

/// Unfinished files, which are worthless unless completed. Any thread.
public enum UnfinishedFiles {
  private static let paths = Mutex<Set<String>>([])

  static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }
  static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

  /// Deletes them: the process is about to end.
  public static func remove() { paths.withLock { for path in $0 { unlink(path) } } }
}
