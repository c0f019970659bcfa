import CSndfile
import Glibc
import Synchronization

/// Writes one sound file by libsndfile. The file appears under its name when it is complete; until
/// then, and if rendering is given up, whatever was there stays. Worker.
final class SoundFileWriter {
  private let path: String
  private let partial: String?
  private var file: OpaquePointer?
  private let channels: Int
  /// Periods are short: what is not yet worth a call of the system.
  private var pending: [Float] = []
  private static let enough = 1 << 14

  /// `frames`: about how many will come, which decides whether a WAV needs its form for above 4 GB.
  init(path: String, rate: Double, channels: Int, format: SampleFormat, frames: Int64) throws(DriverError) {
    self.path = path
    self.channels = channels
    pending.reserveCapacity(Self.enough)
    var info = SF_INFO()
    info.samplerate = Int32(rate.rounded())
    info.channels = Int32(channels)
    info.format = format.code(for: path, bytes: frames * Int64(channels * 4))
    // Something that is there and no plain file (a device, a pipe) is written to, not replaced.
    var status = stat()
    let replaces = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    partial = replaces ? path + ".part" : nil
    if let partial { UnfinishedFiles.add(partial) }
    guard let opened = sf_open(partial ?? path, Int32(SFM_WRITE), &info) else {
      throw DriverError("\(path): \(String(cString: sf_strerror(nil)))")
    }
    file = opened
    // That chunk holds the time of day, and a render is to give the same bytes always.
    sf_command(opened, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
    // For the integer formats: what is too loud stays at the limit instead of wrapping around.
    sf_command(opened, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
  }

  /// `samples` holds `frames` times the file's channels, interleaved.
  func write(_ samples: UnsafePointer<Float>, frames: Int) throws(DriverError) {
    pending.append(contentsOf: UnsafeBufferPointer(start: samples, count: frames * channels))
    if pending.count >= Self.enough { try writePending() }
  }

  private func writePending() throws(DriverError) {
    let frames = sf_count_t(pending.count / channels)
    guard sf_writef_float(file, pending, frames) == frames else {
      throw DriverError("\(path): \(String(cString: sf_strerror(file)))")
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// Closes the file and puts it in its place.
  func finish() throws(DriverError) {
    guard let file else { return }
    try writePending()
    self.file = nil
    guard sf_close(file) == 0 else { throw DriverError("\(path): could not be completed") }
    guard let partial else { return }
    guard rename(partial, path) == 0 else {
      throw DriverError("\(path): \(String(cString: strerror(errno)))")
    }
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

/// Files under way that are worth nothing unless they are finished. Any thread.
public enum UnfinishedFiles {
  private static let paths = Mutex<Set<String>>([])

  static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }
  static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

  /// Takes them off the disk: the process is about to end.
  public static func remove() { paths.withLock { for path in $0 { unlink(path) } } }
}

/// How samples are stored.
public enum SampleFormat: String, Sendable, CaseIterable {
  case float32, pcm24, pcm16

  /// The endings of names that say what a file is.
  public static let endings = ["wav", "flac", "ogg"]

  /// The ending of a name that promises something else; nil where there is none.
  public static func unknownEnding(of path: String) -> String? {
    let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
    let ending = name[name.index(after: dot)...].lowercased()
    return endings.contains(ending) ? nil : ending
  }

  /// The container is the name's: .flac, .ogg (Vorbis, which has one format), else WAV, in its form for
  /// more than 4 GB where that may be needed.
  fileprivate func code(for path: String, bytes: Int64) -> Int32 {
    let name = path.lowercased()
    if name.hasSuffix(".ogg") { return Int32(SF_FORMAT_OGG) | Int32(SF_FORMAT_VORBIS) }
    let isFlac = name.hasSuffix(".flac")
    let container = isFlac ? SF_FORMAT_FLAC : bytes > 4_000_000_000 ? SF_FORMAT_RF64 : SF_FORMAT_WAV
    return switch self {
    // FLAC has no floats; 24 bits are the most that it holds.
    case .float32: Int32(container) | Int32(isFlac ? SF_FORMAT_PCM_24 : SF_FORMAT_FLOAT)
    case .pcm24: Int32(container) | Int32(SF_FORMAT_PCM_24)
    case .pcm16: Int32(container) | Int32(SF_FORMAT_PCM_16)
    }
  }
}
