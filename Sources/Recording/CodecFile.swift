import CSndfile
import Glibc

/// A FLAC, Vorbis or Opus file, encoded by libsndfile. Opus knows few rates: sound of another is converted to 48 kHz.
final class CodecFile: TakeFile {
  let disk: DiskFile
  let holdsMarks = false
  private var encoder: OpaquePointer?
  private let channels: Int
  /// Frames that came.
  private var frames: Int64 = 0
  /// Frames by which the file counts for each that comes: in Opus they are those of 48 kHz, whatever its rate.
  private let pace: Double
  /// nil: the file has the rate of what comes.
  private let converter: RateConverter?
  /// Of an Opus file: what goes on behind the end, so that the last packet does not hold a step.
  private var tail: SoundTail?

  /// Throws if the format does not take so many channels or that rate.
  static func check(
    _ path: String, _ container: SoundContainer, channels: Int, rate: Double, format: SampleFormat
  ) throws(RecordingError) {
    let coded = codedRate(container, rate)
    var info = Self.info(path, channels: channels, rate: coded, format: format)
    if sf_format_check(&info) == 0 || !canEncode(&info) {
      throw .unfit(path: path, "this format does not take \(channels) channels at \(Int(rate.rounded())) Hz")
    }
  }

  /// Rate of a file of sound at this rate.
  private static func codedRate(_ container: SoundContainer, _ rate: Double) -> Double {
    container != .opus || [8000, 12000, 16000, 24000, 48000].contains(rate) ? rate : 48000
  }

  /// Encodes a frame into nothing: some encoders refuse a rate only then.
  private static func canEncode(_ info: inout SF_INFO) -> Bool {
    var info = info
    // Place and length of what is written.
    let size = UnsafeMutablePointer<Int64>.allocate(capacity: 2)
    size.initialize(repeating: 0, count: 2)
    defer { size.deallocate() }
    var calls = SF_VIRTUAL_IO(
      get_filelen: { $0!.assumingMemoryBound(to: Int64.self)[1] },
      seek: { offset, whence, owner in
        let size = owner!.assumingMemoryBound(to: Int64.self)
        size[0] = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? size[0] : size[1])
        return size[0]
      },
      read: { _, _, _ in 0 },
      write: { _, count, owner in
        let size = owner!.assumingMemoryBound(to: Int64.self)
        size[0] += count
        size[1] = max(size[0], size[1])
        return count
      },
      tell: { $0!.assumingMemoryBound(to: Int64.self)[0] })
    guard let encoder = sf_open_virtual(&calls, Int32(SFM_WRITE), &info, size) else { return false }
    defer { sf_close(encoder) }
    let silence = [Float](repeating: 0, count: Int(info.channels))
    return sf_writef_float(encoder, silence, 1) == 1
  }

  private static func info(_ path: String, channels: Int, rate: Double, format: SampleFormat) -> SF_INFO {
    var info = SF_INFO()
    info.samplerate = Int32(rate.rounded())
    info.channels = Int32(channels)
    info.format = format.code(for: path, bytes: 0)
    return info
  }

  init(_ disk: DiskFile, channels: Int, rate: Double, format: SampleFormat) throws(RecordingError) {
    self.disk = disk
    self.channels = channels
    let container = SoundContainer(of: disk.path) ?? .wav
    let coded = Self.codedRate(container, rate)
    converter = coded == rate ? nil : RateConverter(channels: channels, ratio: coded / rate)
    tail = container == .opus ? SoundTail(channels: channels, rate: rate) : nil
    pace = container == .opus ? 48000 / rate : 1
    var info = Self.info(disk.path, channels: channels, rate: coded, format: format)
    var calls = SF_VIRTUAL_IO(
      get_filelen: { DiskFile.of($0).length },
      seek: { offset, whence, owner in
        let disk = DiskFile.of(owner)
        disk.seek(
          whence == SEEK_SET ? offset : whence == SEEK_CUR ? disk.position + offset : disk.length + offset)
        return disk.position
      },
      read: { target, count, owner in
        let disk = DiskFile.of(owner)
        let bytes = disk.read(Int(count), at: disk.position)
        bytes.withUnsafeBytes {
          if let base = $0.baseAddress { target?.copyMemory(from: base, byteCount: $0.count) }
        }
        disk.seek(disk.position + Int64(bytes.count))
        return sf_count_t(bytes.count)
      },
      write: { source, count, owner in
        // A write is a whole frame, or the head or body of a page, so a failed one is taken back.
        let disk = DiskFile.of(owner)
        let (place, end) = (disk.position, disk.length)
        let hadFault = disk.fault != nil
        if let source { disk.write(source, Int(count)) }
        if !hadFault, disk.fault != nil { disk.cut(to: max(min(place, end), 0)) }
        return count
      },
      tell: { DiskFile.of($0).position })
    encoder = sf_open_virtual(
      &calls, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(disk).toOpaque())
    guard let encoder else {
      let why = String(cString: sf_strerror(nil))
      unlink(disk.path)
      throw .unfit(path: disk.path, why)
    }
    sf_command(encoder, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
    // Opus: what a page holds is lost with the process. Of Vorbis libsndfile writes pages of 4 kB.
    var latency = Self.pageMilliseconds
    sf_command(encoder, Int32(SFC_SET_OGG_PAGE_LATENCY_MS), &latency, Int32(MemoryLayout<Double>.size))
  }

  private static let pageMilliseconds = 200.0

  deinit { if let encoder { sf_close(encoder) } }

  func append(_ samples: UnsafePointer<Float>, frames count: Int) throws(RecordingError) {
    frames += Int64(count)
    tail?.hear(samples, frames: count)
    try convert(samples, count)
  }

  private func convert(_ samples: UnsafePointer<Float>, _ count: Int) throws(RecordingError) {
    guard let converter else { return try encode(samples, count) }
    try converter.convert(samples, frames: count) { (samples, count) throws(RecordingError) in
      try encode(samples, count)
    }
  }

  private func encode(_ samples: UnsafePointer<Float>, _ count: Int) throws(RecordingError) {
    guard let encoder else { return }
    let written = sf_writef_float(encoder, samples, sf_count_t(count))
    if let fault = disk.fault { throw fault }
    if written != sf_count_t(count) {
      throw .beyondMending(path: disk.path, String(cString: sf_strerror(encoder)))
    }
  }

  /// Heads of these formats cannot tell before the end.
  func refresh() {}

  func finish(_ marks: [Mark]) throws(RecordingError) -> Int64 {
    var fault: RecordingError?
    if disk.fault == nil { do throws(RecordingError) { try finishSound() } catch { fault = error } }
    if let encoder { sf_close(encoder) }
    encoder = nil
    if disk.fault == nil {
      defer { disk.shut() }
      if tail != nil { try OggMender(disk).cut(to: Int64((Double(frames) * pace).rounded())) }
      disk.synchronize()
      if let fault { throw fault }
      return frames
    }
    // The head counts frames that are not there.
    disk.shut()
    return min(frames, Int64(Double(try TakeMender.mend(disk.path).frames) / pace))
  }

  /// Some frames that nobody will hear, and what the converter still has.
  private func finishSound() throws(RecordingError) {
    if let tail {
      let more = tail.continuation()
      try convert(more, more.count / channels)
    }
    try converter?.finish { (samples, count) throws(RecordingError) in try encode(samples, count) }
  }
}

extension DiskFile {
  fileprivate static func of(_ owner: UnsafeMutableRawPointer?) -> DiskFile {
    Unmanaged<DiskFile>.fromOpaque(owner!).takeUnretainedValue()
  }
}
