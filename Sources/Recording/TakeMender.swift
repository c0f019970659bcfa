import Glibc

/// Makes a torn file whole: one whose writer was killed, or that met the end of the disk. What is there is kept up to
/// the last whole frame, and the head tells of it. Worker.
public enum TakeMender {
  /// Result of a mending.
  public struct Report: Hashable, Sendable {
    /// Frames in the file now.
    public var frames: Int64
    /// Frames a second; 0 if the format does not say.
    public var rate: Int
    /// Bytes cut off at the end.
    public var cut: Int64
  }

  /// Mends a WAV, FLAC or Ogg file as this program writes them. A file that is whole stays as it is. `marks`: places in a
  /// WAV file that its reader should know about.
  public static func mend(_ path: String, marks: [Mark] = []) throws(RecordingError) -> Report {
    let disk = try DiskFile(mending: path)
    defer { disk.shut() }
    // Its program ended before the disk took anything.
    if disk.length == 0 { return Report(frames: 0, rate: 0, cut: 0) }
    let head = disk.read(4, at: 0)
    switch String(decoding: head, as: UTF8.self) {
    case "RIFF", "RF64": return try mendWave(disk, marks)
    case "fLaC": return try FlacMender(disk).mend()
    case "OggS": return try OggMender(disk).mend()
    default: throw .beyondMending(path: path, "no sound file")
    }
  }

  private static func mendWave(_ disk: DiskFile, _ marks: [Mark]) throws(RecordingError) -> Report {
    guard let (header, told) = WaveHeader.read(disk.read(256, at: 0)) else {
      throw .beyondMending(path: disk.path, "not a take of this program")
    }
    let length = disk.length
    let first = Int64(header.size)
    var data = length - first
    // The samples had been completed, and marks were being written.
    let isComplete =
      told < data
      && (told + (told & 1) == data || disk.read(4, at: first + told + (told & 1)) == Array("cue ".utf8))
    if isComplete { data = told }
    data -= data % Int64(header.frameSize)
    let frames = try WaveFile(disk, header, data: data).finish(marks)
    return Report(
      frames: frames, rate: header.rate, cut: isComplete ? 0 : max(0, length - first - data))
  }
}

/// Cuts a FLAC stream (RFC 9639) at its last whole frame and counts the samples.
struct FlacMender {
  private let disk: DiskFile
  /// Bytes in which the last frame is looked for; the largest frame has a tenth of it.
  private static let window = 1 << 21

  init(_ disk: DiskFile) { self.disk = disk }

  /// A frame's beginning.
  private struct Frame {
    /// Offset in the window.
    var place: Int
    /// Number of the frame, or of its first sample.
    var number: Int64
    var isVariable: Bool
    var samples: Int64
  }

  func mend() throws(RecordingError) -> TakeMender.Report {
    let length = disk.length
    var place: Int64 = 4
    var info: [UInt8] = []
    while true {
      let head = disk.read(4, at: place)
      guard head.count == 4 else { return TakeMender.Report(frames: 0, rate: 0, cut: length) }
      let size = Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3])
      if head[0] & 0x7F == 0 { info = disk.read(34, at: place + 4) }
      place += 4 + Int64(size)
      if head[0] & 0x80 != 0 { break }
    }
    guard info.count == 34, place <= length else {
      return TakeMender.Report(frames: 0, rate: 0, cut: length)
    }
    let rate = Int(info[10]) << 12 | Int(info[11]) << 4 | Int(info[12]) >> 4
    let block = Int64(info[0]) << 8 | Int64(info[1])
    let told =
      Int64(info[13] & 15) << 32 | Int64(info[14]) << 24 | Int64(info[15]) << 16 | Int64(info[16]) << 8
      | Int64(info[17])
    let start = max(place, length - Int64(Self.window))
    let bytes = disk.read(Int(length - start), at: start)
    var (end, total) = (place, Int64(0))
    if let (frame, stop) = lastFrame(bytes) {
      end = start + Int64(stop)
      total = (frame.isVariable ? frame.number : frame.number * block) + frame.samples
    }
    disk.cut(to: end)
    if total != told || end != length {
      info[13] = info[13] & 0xF0 | UInt8(truncatingIfNeeded: total >> 32 & 15)
      for index in 0..<4 { info[14 + index] = UInt8(truncatingIfNeeded: total >> Int64(24 - 8 * index)) }
      // The check of all samples is not known.
      for index in 18..<34 { info[index] = 0 }
      disk.write(info, at: 8)
      disk.synchronize()
    }
    return TakeMender.Report(frames: total, rate: rate, cut: length - end)
  }

  /// The last frame whose check is right, and its end.
  private func lastFrame(_ bytes: [UInt8]) -> (Frame, Int)? {
    var frames: [Frame] = []
    var place = 0
    while place + 6 < bytes.count {
      if bytes[place] == 0xFF, bytes[place + 1] & 0xFE == 0xF8, let frame = Self.frame(bytes, place) {
        frames.append(frame)
      }
      place += 1
    }
    for (index, frame) in frames.enumerated().reversed() {
      let ends = frames[(index + 1)...].map(\.place) + [bytes.count]
      var check: UInt16 = 0
      var position = frame.place
      var last: Int?
      for end in ends {
        guard end - frame.place < Self.window / 4 else { break }
        while position < end - 2 {
          check = check << 8 ^ Self.crc16[Int(UInt8(truncatingIfNeeded: check >> 8) ^ bytes[position])]
          position += 1
        }
        if end - frame.place > 8, check == UInt16(bytes[end - 2]) << 8 | UInt16(bytes[end - 1]) { last = end }
      }
      if let last { return (frame, last) }
    }
    return nil
  }

  /// The frame's head at this place, if there is one.
  private static func frame(_ bytes: [UInt8], _ place: Int) -> Frame? {
    let code = bytes[place + 2] >> 4
    let rate = bytes[place + 2] & 15
    guard code > 0, rate < 15, bytes[place + 3] >> 4 <= 10, bytes[place + 3] & 1 == 0,
      bytes[place + 3] >> 1 & 7 != 3
    else { return nil }
    var next = place + 4
    func take() -> Int64? {
      guard next < bytes.count else { return nil }
      defer { next += 1 }
      return Int64(bytes[next])
    }
    // A number in the manner of UTF-8.
    guard let first = take() else { return nil }
    let ones = UInt8(first).leadingZeroBitCount == 0 ? (~UInt8(first)).leadingZeroBitCount : 0
    guard ones != 1, ones <= 7 else { return nil }
    var number = ones == 0 ? first : first & (0x7F >> Int64(ones))
    for _ in 0..<max(0, ones - 1) {
      guard let more = take(), more & 0xC0 == 0x80 else { return nil }
      number = number << 6 | more & 0x3F
    }
    var samples: Int64
    switch code {
    case 1: samples = 192
    case 2...5: samples = 144 << Int64(code)
    case 6:
      guard let byte = take() else { return nil }
      samples = byte + 1
    case 7:
      guard let high = take(), let low = take() else { return nil }
      samples = (high << 8 | low) + 1
    default: samples = 1 << Int64(code)
    }
    for _ in 0..<(rate == 12 ? 1 : rate > 12 ? 2 : 0) { guard take() != nil else { return nil } }
    var check: UInt8 = 0
    for index in place..<min(next, bytes.count) {
      check ^= bytes[index]
      for _ in 0..<8 { check = check & 0x80 != 0 ? check << 1 ^ 0x07 : check << 1 }
    }
    guard let told = take(), UInt8(told) == check else { return nil }
    return Frame(
      place: place, number: number, isVariable: bytes[place + 1] & 1 == 1, samples: samples)
  }

  private static let crc16: [UInt16] = (0..<256).map { number in
    (0..<8).reduce(UInt16(number) << 8) { value, _ in value & 0x8000 != 0 ? value << 1 ^ 0x8005 : value << 1 }
  }
}

/// Cuts an Ogg stream (RFC 3533) at its last whole page and marks that as the last.
struct OggMender {
  private let disk: DiskFile
  /// Bytes of a page with the most segments of the largest size.
  private static let largestPage = Int64(27 + 255 + 255 * 255)

  init(_ disk: DiskFile) { self.disk = disk }

  func mend() throws(RecordingError) -> TakeMender.Report {
    let length = disk.length
    var place: Int64 = 0
    /// Start and end of the last page in which a packet ends, and its position.
    var last: (start: Int64, end: Int64, position: Int64)?
    while let page = page(at: place) {
      let position = Int64(bitPattern: page.little(6, 8))
      place += Int64(page.count)
      if position > 0 { last = (place - Int64(page.count), place, position) }
    }
    guard let last, var page = page(at: last.start) else {
      // Behind the heads there is at most a part of the first page of sound.
      guard length - place <= Self.largestPage else { throw .beyondMending(path: disk.path, "damaged") }
      return TakeMender.Report(frames: 0, rate: format.rate, cut: length - place)
    }
    disk.cut(to: last.end)
    if page[5] & 4 == 0 {
      page[5] |= 4
      seal(&page, at: last.start)
      disk.synchronize()
    }
    let (rate, skipped) = format
    return TakeMender.Report(frames: max(0, last.position - skipped), rate: rate, cut: length - last.end)
  }

  /// Ends a whole stream after so many frames: the page that has the last one is the last page.
  func cut(to frames: Int64) throws(RecordingError) {
    let end = frames + format.skipped
    var place: Int64 = 0
    while var page = page(at: place) {
      let next = place + Int64(page.count)
      let position = Int64(bitPattern: page.little(6, 8))
      if position >= end, position > 0 {
        page[5] |= 4
        for index in 0..<8 { page[6 + index] = UInt8(truncatingIfNeeded: end >> Int64(8 * index)) }
        seal(&page, at: place)
        disk.cut(to: next)
        if let fault = disk.fault { throw fault }
        return
      }
      place = next
    }
  }

  /// The rate that positions count by, 0 if that is unknown, and the frames that a decoder leaves out at the start.
  private var format: (rate: Int, skipped: Int64) {
    guard let head = page(at: 0), head.count > 27 else { return (0, 0) }
    let packet = Array(head.dropFirst(27 + Int(head[26])))
    if packet.starts(with: Array("OpusHead".utf8)) { return (48000, Int64(packet.little(10, 2))) }
    if packet.starts(with: [1] + Array("vorbis".utf8)) { return (Int(packet.little(12, 4)), 0) }
    return (0, 0)
  }

  /// Writes a page with its check.
  private func seal(_ page: inout [UInt8], at place: Int64) {
    let check = Self.check(page)
    for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: check >> UInt32(8 * index)) }
    disk.write(page, at: place)
  }

  /// The page at this place, if it is whole.
  private func page(at place: Int64) -> [UInt8]? {
    let head = disk.read(27, at: place)
    guard head.count == 27, head.starts(with: Array("OggS".utf8)) else { return nil }
    let sizes = disk.read(Int(head[26]), at: place + 27)
    guard sizes.count == Int(head[26]) else { return nil }
    let size = 27 + sizes.count + sizes.reduce(0) { $0 + Int($1) }
    let page = disk.read(size, at: place)
    guard page.count == size, UInt32(page.little(22, 4)) == Self.check(page) else { return nil }
    return page
  }

  /// Its check, in which the check's own bytes count as zeros.
  private static func check(_ page: [UInt8]) -> UInt32 {
    var check: UInt32 = 0
    for (index, byte) in page.enumerated() {
      let byte = (22..<26).contains(index) ? 0 : byte
      check = check << 8 ^ crc32[Int(UInt8(truncatingIfNeeded: check >> 24) ^ byte)]
    }
    return check
  }

  private static let crc32: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number) << 24) { value, _ in
      value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
    }
  }
}
