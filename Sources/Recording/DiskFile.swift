import Glibc

/// System calls on a file that is being written, for tests to replace.
public struct DiskCalls: Sendable {
  /// Makes a new file. Returns its descriptor, or a negative `errno`.
  public var create: @Sendable (String) -> Int32
  /// Writes bytes at a position. Returns how many, or a negative `errno`.
  public var write: @Sendable (Int32, UnsafeRawPointer, Int, Int64) -> Int
  /// Bytes that are free on the file's disk; nil: unknown.
  public var room: @Sendable (Int32) -> Int64?
  /// Brings what has been written to disk. Returns 0, or a negative `errno`.
  public var synchronize: @Sendable (Int32) -> Int32

  /// The system's own, or others in their place.
  public init(
    create: @escaping @Sendable (String) -> Int32 = DiskCalls.createFile,
    write: @escaping @Sendable (Int32, UnsafeRawPointer, Int, Int64) -> Int = DiskCalls.writeBytes,
    room: @escaping @Sendable (Int32) -> Int64? = DiskCalls.freeBytes,
    synchronize: @escaping @Sendable (Int32) -> Int32 = DiskCalls.bringToDisk
  ) {
    (self.create, self.write, self.room, self.synchronize) = (create, write, room, synchronize)
  }

  /// `open`; a file of that name is never replaced (`EEXIST`).
  public static let createFile: @Sendable (String) -> Int32 = {
    let file = open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    return file >= 0 ? file : -errno
  }

  /// `pwrite`.
  public static let writeBytes: @Sendable (Int32, UnsafeRawPointer, Int, Int64) -> Int = {
    let count = pwrite($0, $1, $2, off_t($3))
    return count >= 0 ? count : -Int(errno)
  }

  /// `fstatvfs`.
  public static let freeBytes: @Sendable (Int32) -> Int64? = { file in
    var info = statvfs()
    guard fstatvfs(file, &info) == 0 else { return nil }
    return Int64(clamping: UInt64(info.f_bavail) * UInt64(info.f_frsize))
  }

  /// `fsync`.
  public static let bringToDisk: @Sendable (Int32) -> Int32 = { fsync($0) == 0 ? 0 : -errno }
}

/// A file that grows at its end, and whose head is written again. After a failed write nothing is appended any
/// more, so that a library that goes on writing does no harm. One thread.
final class DiskFile {
  let path: String
  let file: Int32
  private let calls: DiskCalls
  /// Place of the next byte.
  private(set) var position: Int64 = 0
  /// Bytes in the file.
  private(set) var length: Int64 = 0
  /// The first failure.
  private(set) var fault: RecordingError?
  /// A failed write-back: some of the file may be lost, and nobody knows where.
  private(set) var loss: RecordingError?
  private var isOpen = true

  /// A new file; one of that name is never replaced (`EEXIST`).
  init(creating path: String, _ calls: DiskCalls) throws(RecordingError) {
    file = calls.create(path)
    guard file >= 0 else { throw .system(path: path, code: -file) }
    self.path = path
    self.calls = calls
  }

  /// An existing file, to be mended.
  init(mending path: String) throws(RecordingError) {
    file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { throw .system(path: path, code: errno) }
    self.path = path
    calls = DiskCalls()
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw .beyondMending(path: path, "not a plain file")
    }
    length = Int64(info.st_size)
  }

  deinit { shut() }

  func shut() {
    guard isOpen else { return }
    isOpen = false
    close(file)
  }

  /// Number of its disk.
  var device: UInt {
    var info = stat()
    return fstat(file, &info) == 0 ? UInt(info.st_dev) : 0
  }

  /// Its path leads to it: it was not removed or renamed, and its disk is still mounted there.
  var isInPlace: Bool {
    var (own, there) = (stat(), stat())
    return fstat(file, &own) == 0 && stat(path, &there) == 0
      && (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino)
  }

  /// Free bytes on its disk.
  var room: Int64? { calls.room(file) }

  /// The next byte's place, from the start.
  func seek(_ place: Int64) { position = max(0, place) }

  /// Writes at `position` and advances. Beyond the end, and after a failure, it only advances.
  func write(_ bytes: UnsafeRawPointer, _ count: Int) {
    defer { position += Int64(count) }
    if fault != nil, position + Int64(count) > length { return }
    var done = 0
    while done < count {
      let written = calls.write(file, bytes + done, count - done, position + Int64(done))
      if written > 0 {
        done += written
        length = max(length, position + Int64(done))
      } else if written != -Int(EINTR) {
        fault = fault ?? .system(path: path, code: written == 0 ? ENOSPC : Int32(clamping: -written))
        return
      }
    }
  }

  func write(_ bytes: [UInt8], at place: Int64) {
    seek(place)
    bytes.withUnsafeBytes { if let base = $0.baseAddress { write(base, $0.count) } }
  }

  /// Bytes from a place on; fewer at the end of the file.
  func read(_ count: Int, at place: Int64) -> [UInt8] {
    let most = Int(min(Int64(count), max(0, length - place)))
    return [UInt8](unsafeUninitializedCapacity: max(most, 0)) { buffer, filled in
      while filled < most {
        let got = pread(file, buffer.baseAddress! + filled, most - filled, off_t(place) + off_t(filled))
        if got > 0 {
          filled += got
        } else if got == 0 || errno != EINTR {
          return
        }
      }
    }
  }

  /// Cuts the file.
  func cut(to count: Int64) {
    guard count < length else { return }
    ftruncate(file, off_t(count))
    length = count
  }

  /// Cuts the file, and lets it be written again: a full disk has room once more.
  func recover(to count: Int64) {
    cut(to: count)
    fault = nil
  }

  func synchronize() {
    let code = -calls.synchronize(file)
    // A pipe or a device takes what it is given.
    if code != 0, code != EINVAL, code != EROFS { loss = loss ?? .system(path: path, code: code) }
  }
}

extension [UInt8] {
  /// Appends a number in the byte order of RIFF.
  mutating func append(little value: UInt64, _ count: Int) {
    for index in 0..<count { append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
  }

  /// A number in the byte order of RIFF; 0 beyond the end.
  func little(_ place: Int, _ count: Int) -> UInt64 {
    guard place >= 0, place + count <= self.count else { return 0 }
    return (0..<count).reduce(0) { $0 | UInt64(self[place + $1]) << UInt64(8 * $1) }
  }
}
