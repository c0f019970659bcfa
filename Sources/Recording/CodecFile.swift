import CSndfile
import Glibc

/// A FLAC, Vorbis or Opus file, encoded by libsndfile.
final class CodecFile: TakeFile {
  let disk: DiskFile
  let holdsMarks = false
  private var encoder: OpaquePointer?
  private let channels: Int
  private var frames: Int64 = 0

  /// Throws if the format does not take so many channels or that rate.
  static func check(
    _ path: String, _ container: SoundContainer, channels: Int, rate: Double, format: SampleFormat
  ) throws(RecordingError) {
    if container == .opus, ![8000, 12000, 16000, 24000, 48000].contains(rate) {
      throw .unfit(path: path, "Opus takes 48000 Hz, or a part of it, not \(Int(rate.rounded())) Hz")
    }
    var info = Self.info(path, channels: channels, rate: rate, format: format)
    if sf_format_check(&info) == 0 {
      throw .unfit(path: path, "this format does not take \(channels) channels at \(Int(rate.rounded())) Hz")
    }
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
    var info = Self.info(disk.path, channels: channels, rate: rate, format: format)
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
  }

  deinit { if let encoder { sf_close(encoder) } }

  func append(_ samples: UnsafePointer<Float>, frames count: Int) throws(RecordingError) {
    guard let encoder else { return }
    let written = sf_writef_float(encoder, samples, sf_count_t(count))
    frames += max(0, written)
    if let fault = disk.fault { throw fault }
    if written != sf_count_t(count) {
      throw .beyondMending(path: disk.path, String(cString: sf_strerror(encoder)))
    }
  }

  /// Heads of these formats cannot tell before the end.
  func refresh() {}

  func finish(_ marks: [Mark]) throws(RecordingError) -> Int64 {
    if let encoder { sf_close(encoder) }
    encoder = nil
    disk.synchronize()
    guard disk.fault != nil else {
      disk.shut()
      return frames
    }
    // The head counts frames that are not there.
    disk.shut()
    return try TakeMender.mend(disk.path).frames
  }
}

extension DiskFile {
  fileprivate static func of(_ owner: UnsafeMutableRawPointer?) -> DiskFile {
    Unmanaged<DiskFile>.fromOpaque(owner!).takeUnretainedValue()
  }
}
