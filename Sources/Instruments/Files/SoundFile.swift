import CSndfile
import Glibc

/// A sound file opened by libsndfile, from disk or from memory; closed with the last reference. Worker.
final class SoundFile {
  let path: String
  let handle: OpaquePointer
  let info: SF_INFO
  /// Bytes promised in the file's header but missing; `lacksEnd`: the last Ogg page is missing.
  private(set) var missingBytes = 0
  private(set) var lacksEnd = false
  private let memory: UnsafeMutablePointer<Memory>?

  private struct Memory {
    var bytes: UnsafeMutableRawBufferPointer
    var position = 0
  }

  /// Opens a file on disk.
  init(path: String) throws(LoadError) {
    var info = SF_INFO()
    let file = try Self.open(path)
    guard let handle = sf_open_fd(file.descriptor, Int32(SFM_READ), &info, Int32(SF_TRUE)) else {
      throw LoadError(path: path, .noSoundFile(Self.lastFault))
    }
    self.path = path
    self.handle = handle
    self.info = info
    memory = nil
    try check()
    guard let stream = fopen(TextFile.cName(path), "r") else { return }
    defer { fclose(stream) }
    func read(_ first: Int, _ count: Int) -> [UInt8] {
      guard fseek(stream, first, SEEK_SET) == 0 else { return [] }
      var bytes = [UInt8](repeating: 0, count: count)
      bytes.removeLast(count - fread(&bytes, 1, count, stream))
      return bytes
    }
    findEnd(size: file.size, read)
  }

  /// Opens a copy of a file in memory.
  init(_ bytes: UnsafeRawBufferPointer, path: String) throws(LoadError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
    copy.copyMemory(from: bytes)
    let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)
    memory.initialize(to: Memory(bytes: UnsafeMutableRawBufferPointer(rebasing: copy[..<bytes.count])))
    var access = Self.access
    var info = SF_INFO()
    guard let handle = sf_open_virtual(&access, Int32(SFM_READ), &info, memory) else {
      copy.deallocate()
      memory.deallocate()
      throw LoadError(path: path, .notDecoded(Self.lastFault))
    }
    self.path = path
    self.handle = handle
    self.info = info
    self.memory = memory
    try check()
    findEnd(size: bytes.count) { first, count in
      Array(bytes[min(max(0, first), bytes.count)..<min(max(0, first) + count, bytes.count)])
    }
  }

  /// Opens a sound file. A format without a length in its header requires a search of the whole file, so such
  /// files are limited to 1 GB, more than five hours.
  private static func open(_ path: String) throws(LoadError) -> (descriptor: Int32, size: Int) {
    let (file, size) = try PlainFile.open(path)
    guard size > 1 << 30 else { return (file, size) }
    var head = [UInt8](repeating: 0, count: 4)
    let count = pread(file, &head, 4, 0)
    if count == 4,
      ["RIFF", "RF64", "riff", "FORM", "fLaC", "caff", ".snd"].contains(where: { head.elementsEqual($0.utf8) }
      )
    {
      return (file, size)
    }
    close(file)
    throw LoadError(path: path, .tooLargeToSearch)
  }
  deinit {
    sf_close(handle)
    memory?.pointee.bytes.deallocate()
    memory?.deallocate()
  }

  private func check() throws(LoadError) {
    guard info.samplerate > 0 else { throw LoadError(path: path, .noRate) }
    guard info.channels > 0 else { throw LoadError(path: path, .noChannels) }
    guard info.frames > 0 else { throw LoadError(path: path, .noAudio) }
  }

  /// Number of frames in the header, if stated.
  var promised: Int? { info.frames < 1 << 40 ? Int(info.frames) : nil }

  /// True when its last frame can be read; the next read starts at the first frame.
  func hasLastFrame() -> Bool {
    guard let promised, info.seekable != 0 else { return true }
    return hasFrame(promised - 1)
  }

  private func hasFrame(_ place: Int) -> Bool {
    var frame = [Float](repeating: 0, count: Int(info.channels))
    let isThere =
      sf_seek(handle, sf_count_t(place), SEEK_SET) == place && sf_readf_float(handle, &frame, 1) == 1
    return sf_seek(handle, 0, SEEK_SET) == 0 && isThere
  }

  /// True when its header promises more than so many frames, and the disk holds them.
  func hasMore(than frames: Double) -> Bool {
    guard memory == nil, info.seekable != 0, let promised, Double(promised) > frames,
      // A decoder that has been sent beyond its end reads no more.
      let other = try? SoundFile(path: path)
    else { return false }
    return other.hasFrame(min(Int(frames), promised - 1))
  }

  /// Reason why the last file could not be opened, without the full stop.
  private static var lastFault: String {
    let words = String(cString: sf_strerror(nil))
    return words.hasSuffix(".") ? String(words.dropLast()) : words
  }

  private static var access: SF_VIRTUAL_IO {
    SF_VIRTUAL_IO(
      get_filelen: { sf_count_t($0!.assumingMemoryBound(to: Memory.self).pointee.bytes.count) },
      seek: { offset, whence, data in
        let memory = data!.assumingMemoryBound(to: Memory.self)
        let base =
          switch whence {
          case SEEK_CUR: memory.pointee.position
          case SEEK_END: memory.pointee.bytes.count
          default: 0
          }
        memory.pointee.position = min(max(base &+ Int(offset), 0), memory.pointee.bytes.count)
        return sf_count_t(memory.pointee.position)
      },
      read: { buffer, count, data in
        let memory = data!.assumingMemoryBound(to: Memory.self)
        let got = min(Int(count), memory.pointee.bytes.count - memory.pointee.position)
        guard got > 0 else { return 0 }
        memcpy(buffer!, memory.pointee.bytes.baseAddress! + memory.pointee.position, got)
        memory.pointee.position += got
        return sf_count_t(got)
      },
      write: { _, _, _ in 0 },
      tell: { sf_count_t($0!.assumingMemoryBound(to: Memory.self).pointee.position) })
  }

  // MARK: Truncated files

  /// Checks whether the file is as long as stated (libsndfile plays a shorter one silently).
  private func findEnd(size: Int, _ read: (Int, Int) -> [UInt8]) {
    let head = read(0, 8)
    guard head.count == 8 else { return }
    let four = Array(head[..<4])
    if four == Array("RIFF".utf8) || four == Array("FORM".utf8) {
      let bytes = four[0] == UInt8(ascii: "R") ? Array(head[4...].reversed()) : Array(head[4...])
      let stated = bytes.reduce(0) { $0 << 8 | Int($1) }
      // 0 and the largest number stand for an unknown size.
      guard stated > 0, stated < Int(UInt32.max) else { return }
      let missing = stated + 8 - size
      // Some writers are off by a header or a pad byte, which loses nothing.
      missingBytes = missing > 16 ? missing : 0
    } else if four == Array("OggS".utf8) {
      // A page has 64 KB at most.
      lacksEnd = !Self.endsWithLastPage(read(max(0, size - 1 << 17), 1 << 17))
    }
  }

  /// True when the last page of an Ogg stream (RFC 3533) is complete and marked as the last.
  private static func endsWithLastPage(_ bytes: [UInt8]) -> Bool {
    let mark = Array("OggS".utf8)
    var index = bytes.count - 27
    while index >= 0 {
      if bytes[index] == mark[0], bytes[index..<index + 4].elementsEqual(mark) {
        let segments = Int(bytes[index + 26])
        guard index + 27 + segments <= bytes.count else { return false }
        let length = bytes[(index + 27)..<(index + 27 + segments)].reduce(0) { $0 + Int($1) }
        return bytes[index + 5] & 4 != 0 && index + 27 + segments + length <= bytes.count
      }
      index -= 1
    }
    return false
  }
}
