/// A WAV file that becomes RF64 when it grows beyond 4 GB.
final class WaveFile: TakeFile {
  let disk: DiskFile
  let holdsMarks = true
  private let header: WaveHeader
  /// Bytes of samples on disk, in whole frames.
  private var data: Int64 = 0
  private var buffer: [UInt8] = []

  init(_ disk: DiskFile, channels: Int, rate: Double, format: SampleFormat) {
    self.disk = disk
    header = WaveHeader(channels: channels, rate: Int(rate.rounded()), format: format)
    disk.write(header.bytes(data: 0), at: 0)
  }

  /// A file that was left in the middle.
  init(_ disk: DiskFile, _ header: WaveHeader, data: Int64) {
    self.disk = disk
    self.header = header
    self.data = data
  }

  func append(_ samples: UnsafePointer<Float>, frames: Int) throws(RecordingError) {
    let count = frames * header.channels
    disk.seek(Int64(header.size) + data)
    if header.format == .float32 {
      disk.write(samples, count * 4)
    } else {
      convert(samples, count)
      buffer.withUnsafeBytes { disk.write($0.baseAddress!, $0.count) }
    }
    let written = max(0, min(disk.length - Int64(header.size), data + Int64(count * header.format.width)))
    data = written - written % Int64(header.frameSize)
    if let fault = disk.fault { throw fault }
  }

  private func convert(_ samples: UnsafePointer<Float>, _ count: Int) {
    let width = header.format.width
    buffer.removeAll(keepingCapacity: true)
    for index in 0..<count {
      let number = header.format.number(samples[index])
      for byte in 0..<width { buffer.append(UInt8(truncatingIfNeeded: number >> Int32(8 * byte))) }
    }
  }

  func refresh() { writeHeader() }

  /// The samples' size comes first, and what follows them only then: after an interruption between the two, marks are
  /// not taken for sound.
  func finish(_ marks: [Mark]) throws(RecordingError) -> Int64 {
    let fault = disk.fault
    disk.recover(to: Int64(header.size) + data)
    writeHeader()
    if !append(marks), fault != nil {
      // On a full disk the marks take the place of the last moment.
      let place = max(0, data - Int64(WaveHeader.chunks(marks).count + 1 << 14))
      data = place - place % Int64(header.frameSize)
      disk.recover(to: Int64(header.size) + data)
      writeHeader()
      _ = append(marks)
    }
    writeHeader()
    disk.synchronize()
    disk.shut()
    return data / Int64(header.frameSize)
  }

  /// Chunks begin at even places. False: there was no room for them.
  private func append(_ marks: [Mark]) -> Bool {
    let tail = (data & 1 == 1 ? [0] : []) + WaveHeader.chunks(marks)
    disk.write(tail, at: Int64(header.size) + data)
    guard disk.fault != nil else { return true }
    disk.recover(to: Int64(header.size) + data)
    return false
  }

  private func writeHeader() {
    disk.write(header.bytes(data: data, tail: max(0, disk.length - Int64(header.size) - data)), at: 0)
  }
}
