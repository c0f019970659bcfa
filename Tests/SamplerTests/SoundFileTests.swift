import CSndfile
import Foundation
import Testing

@testable import Instruments
@testable import Sampler

/// Truncated sound files.
@Suite struct SoundFiles {
  let folder = Folder()

  func write(_ name: String, _ format: Int, frames: Int = 30000, channels: Int = 1) -> String {
    var info = SF_INFO()
    info.samplerate = 44100
    info.channels = Int32(channels)
    info.format = Int32(format)
    let file = sf_open(folder.path + name, Int32(SFM_WRITE), &info)!
    var samples = noise(frames * channels).map { $0 * 0.5 }
    #expect(sf_writef_float(file, &samples, sf_count_t(frames)) == frames)
    sf_close(file)
    return folder.path + name
  }

  static let formats = [
    ("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16), ("b.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24),
    ("c.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16), ("d.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24),
    ("e.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS), ("f.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16),
  ]

  /// In an instrument and in a player, whole and streamed.
  @Test(arguments: formats, [1, 2]) func aFileThatIsCutIsSaidToBe(_ kind: (String, Int), channels: Int) throws
  {
    let (name, format) = kind
    // An Ogg stream is truncated in whole pages.
    let frames = name.hasSuffix("ogg") ? 300_000 : 30_000
    let path = write(name, format, frames: frames, channels: channels)
    let whole = try AudioFileLoader.inspect(path: path)
    #expect(whole.findings == [] && whole.frames == frames && whole.channels == channels)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int
    for share in [0.9, 0.5] {
      truncate(path, Int(Double(size) * share))
      let report = try AudioFileLoader.inspect(path: path)
      #expect(report.frames < frames && report.frames > 1000)
      #expect(report.findings.count == 1, "\(report.findings)")
      let words = report.findings.first?.message ?? ""
      #expect(words.hasPrefix("the file is cut short: ") && words.hasSuffix(" were read"), "\(words)")
      #expect(words.contains("\(report.frames) frames"))
      let text = folder.write("a.sfz", "<region> key=60 sample=*sine\n<region> sample=\(name)")
      let (_, instrument) = try InstrumentLoader.load(path: text)
      #expect(instrument.findings.map(\.line) == [2])
      #expect(instrument.findings.first?.message.hasPrefix("`\(name)`: the file is cut short") == true)
      var options = LoadOptions()
      options.largestSample = 1000
      options.waits = true
      let (_, streamed) = try AudioFileLoader.load(path: path, rate: 44100, options: options)
      #expect(streamed.findings.count == 1, "\(streamed.findings)")
    }
  }

  @Test func aFileSaysItsLoopAndItsKey() throws {
    let path = folder.wav("loop.wav", [noise(500), noise(500)], rate: 22050, loop: 100...399, key: 57)
    let report = try AudioFileLoader.inspect(path: path)
    #expect(report.loop == AudioFileReport.Loop(start: 100, end: 399, type: "forward"))
    #expect(report.key == 57 && report.rate == 22050 && report.frames == 500)
  }

  /// Gigabytes of nothing behind the head of a sound are refused at once. A whole FLAC file says its own length: what
  /// lies behind is not looked at.
  @Test(arguments: formats.filter { $0.0.hasSuffix("ogg") || $0.0.hasSuffix("flac") }, [true, false])
  func gigabytesOfNothingAreNotWaitedFor(_ kind: (String, Int), isWhole: Bool) throws {
    let (name, format) = kind
    let isOgg = name.hasSuffix("ogg")
    let path = write(name, format)
    if !isWhole { folder.write(name, Array(try #require(folder.read(name)).prefix(isOgg ? 58 : 42))) }
    #expect(truncate(path, 3 << 30) == 0)
    let start = ContinuousClock.now
    let text = folder.write("a.sfz", "<region> key=60 sample=*sine\n<region> sample=\(name)")
    let (_, instrument) = try InstrumentLoader.load(path: text)
    if isWhole, !isOgg {
      #expect(instrument.findings == [])
      #expect(try AudioFileLoader.inspect(path: path).frames == 30000)
    } else {
      #expect(instrument.findings.map(\.line) == [2], "\(instrument.findings)")
      #expect(throws: LoadError.self) { try InstrumentLoader.load(path: path) }
      #expect(throws: LoadError.self) { try AudioFileLoader.load(path: path, rate: 44100) }
      #expect(throws: LoadError.self) { try AudioFileLoader.inspect(path: path) }
    }
    #expect(ContinuousClock.now - start < .seconds(2))
  }

  /// Twelve hours at 48 kHz, as it is played: a position has no room for more frames.
  @Test func aFileThatIsTooLongToPlayIsRefusedByName() throws {
    func write(_ name: String, rate: Int, frames: Int) -> String {
      func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
      // One channel of bytes, of which the disk holds only the head.
      var head = Array("RIFF".utf8) + number(36 + frames)
      head += Array("WAVEfmt ".utf8) + number(16) + [1, 0, 1, 0]
      head += number(rate) + number(rate) + [1, 0, 8, 0]
      head += Array("data".utf8) + number(frames)
      let path = folder.write(name, head)
      #expect(truncate(path, 44 + frames) == 0)
      return path
    }
    let long = write("long.wav", rate: 48000, frames: 1 << 31)
    let refusal = LoadError(path: long, .tooLong)
    #expect(throws: refusal) { try AudioFileLoader.load(path: long, rate: 48000) }
    #expect(throws: refusal) { try InstrumentLoader.load(path: long) }
    #expect(throws: refusal) { try AudioFileLoader.inspect(path: long) }
    #expect(refusal.description.hasPrefix("\(long): too long: "))
    #expect(refusal.message.hasSuffix("cut it into parts"))
    let text = folder.write("a.sfz", "<region> key=60 sample=*sine\n<region> sample=long.wav")
    #expect(try InstrumentLoader.load(path: text).report.findings.map(\.line) == [2])
    // At half the rate it is short enough.
    #expect(try AudioFileLoader.load(path: long, rate: 24000).report.frames == 1 << 31)
  }
}
