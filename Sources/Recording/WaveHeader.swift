/// Head of a WAV file, in which room is left for what RF64 needs beyond 4 GB (EBU Tech 3306): whether it does is
/// known at the end only.
struct WaveHeader: Equatable {
  var channels: Int
  var rate: Int
  var format: SampleFormat

  /// Bytes of a frame.
  var frameSize: Int { channels * format.width }
  /// Place of the first sample.
  var size: Int { 12 + 36 + 8 + formatSize + (format == .float32 ? 12 : 0) + 8 }

  private var isExtensible: Bool { channels > 2 }
  private var formatSize: Int { isExtensible ? 40 : format == .float32 ? 18 : 16 }
  /// WAVE_FORMAT_IEEE_FLOAT or WAVE_FORMAT_PCM.
  private var tag: UInt64 { format == .float32 ? 3 : 1 }
  /// The part of the identity of these formats that is the same for all (RFC 2361).
  private static let identity: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]

  /// The head of a file with so many bytes of samples, and so many behind them.
  func bytes(data: Int64, tail: Int64 = 0) -> [UInt8] {
    let riff = UInt64(Int64(size) - 8 + data + tail)
    let isLong = riff > UInt64(UInt32.max)
    let frames = UInt64(data) / UInt64(frameSize)
    func short(_ number: UInt64) -> UInt64 { isLong ? UInt64(UInt32.max) : number }
    var head = Array((isLong ? "RF64" : "RIFF").utf8)
    head.append(little: short(riff), 4)
    head += Array("WAVE".utf8) + Array((isLong ? "ds64" : "JUNK").utf8)
    head.append(little: 28, 4)
    for number in isLong ? [riff, UInt64(data), frames] : [0, 0, 0] { head.append(little: number, 8) }
    head.append(little: 0, 4)
    head += Array("fmt ".utf8)
    head.append(little: UInt64(formatSize), 4)
    head.append(little: isExtensible ? 0xFFFE : tag, 2)
    head.append(little: UInt64(channels), 2)
    head.append(little: UInt64(rate), 4)
    head.append(little: UInt64(rate * frameSize), 4)
    head.append(little: UInt64(frameSize), 2)
    head.append(little: UInt64(format.width * 8), 2)
    if isExtensible {
      head.append(little: 22, 2)
      head.append(little: UInt64(format.width * 8), 2)
      // No loudspeaker is meant by any channel.
      head.append(little: 0, 4)
      head.append(little: tag, 2)
      head += Self.identity
    } else if format == .float32 {
      head.append(little: 0, 2)
    }
    if format == .float32 {
      head += Array("fact".utf8)
      head.append(little: 4, 4)
      head.append(little: short(frames), 4)
    }
    head += Array("data".utf8)
    head.append(little: short(UInt64(data)), 4)
    return head
  }

  init(channels: Int, rate: Int, format: SampleFormat) {
    (self.channels, self.rate, self.format) = (channels, rate, format)
  }

  /// The head that `bytes` begin with, as written here, and the bytes of samples that it tells of; nil: another.
  static func read(_ bytes: [UInt8]) -> (header: WaveHeader, data: Int64)? {
    func name(_ place: Int) -> String {
      place + 4 <= bytes.count ? String(decoding: bytes[place..<place + 4], as: UTF8.self) : ""
    }
    guard ["RIFF", "RF64"].contains(name(0)), name(8) == "WAVE", ["JUNK", "ds64"].contains(name(12)),
      bytes.little(16, 4) == 28, name(48) == "fmt "
    else { return nil }
    let formats: [UInt64: SampleFormat] = [32: .float32, 24: .pcm24, 16: .pcm16]
    let channels = Int(bytes.little(58, 2))
    guard let format = formats[bytes.little(70, 2)], channels > 0 else { return nil }
    let header = WaveHeader(channels: channels, rate: Int(bytes.little(60, 4)), format: format)
    guard bytes.count >= header.size, name(header.size - 8) == "data",
      bytes.little(52, 4) == UInt64(header.formatSize), bytes.little(68, 2) == UInt64(header.frameSize)
    else { return nil }
    let short = bytes.little(header.size - 4, 4)
    let data = name(0) == "RF64" && short == UInt64(UInt32.max) ? bytes.little(28, 8) : short
    return (header, Int64(clamping: data))
  }

  // MARK: Marks

  /// The chunks that hold marks: `cue `, and a label for each. Such places are numbers of 32 bits.
  static func chunks(_ marks: [Mark]) -> [UInt8] {
    let marks = marks.filter { $0.frame >= 0 && $0.frame <= Int64(UInt32.max) }
    if marks.isEmpty { return [] }
    var cue = Array("cue ".utf8)
    cue.append(little: UInt64(4 + 24 * marks.count), 4)
    cue.append(little: UInt64(marks.count), 4)
    var labels = Array("adtl".utf8)
    for (index, mark) in marks.enumerated() {
      cue.append(little: UInt64(index + 1), 4)
      cue.append(little: UInt64(mark.frame), 4)
      cue += Array("data".utf8)
      cue.append(little: 0, 8)
      cue.append(little: UInt64(mark.frame), 4)
      let text = Array(mark.text.utf8) + [0]
      labels += Array("labl".utf8)
      labels.append(little: UInt64(4 + text.count), 4)
      labels.append(little: UInt64(index + 1), 4)
      labels += text + (text.count & 1 == 1 ? [0] : [])
    }
    var list = Array("LIST".utf8)
    list.append(little: UInt64(labels.count), 4)
    return cue + list + labels
  }
}
