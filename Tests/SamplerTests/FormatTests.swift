import CSndfile
import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Sound files of any rate, depth and channel count that libsndfile reads.
@Suite struct Formats {
  let folder = Folder()

  struct Coding: CustomStringConvertible, Sendable {
    var name: String
    var format: Int
    /// Largest error of a sample; includes full scales that differ by one unit.
    var tolerance: Float
    var description: String { name }
  }

  static let codings: [Coding] = [
    Coding(name: "u8.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_U8, tolerance: 0.0158),
    Coding(name: "s16.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, tolerance: 6.2e-5),
    Coding(name: "s24.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_24, tolerance: 2.5e-7),
    Coding(name: "s32.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_32, tolerance: 1.2e-7),
    Coding(name: "float.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, tolerance: 0),
    Coding(name: "double.wav", format: SF_FORMAT_WAV | SF_FORMAT_DOUBLE, tolerance: 0),
    Coding(name: "s8.aiff", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_S8, tolerance: 0.0158),
    Coding(name: "s16.aiff", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_16, tolerance: 6.2e-5),
    Coding(name: "s24.aiff", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_24, tolerance: 2.5e-7),
    Coding(name: "float.aiff", format: SF_FORMAT_AIFF | SF_FORMAT_FLOAT, tolerance: 0),
    Coding(name: "s16.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, tolerance: 6.2e-5),
    Coding(name: "s24.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_24, tolerance: 2.5e-7),
    Coding(name: "vorbis.ogg", format: SF_FORMAT_OGG | SF_FORMAT_VORBIS, tolerance: 0.1),
  ]

  static func write(_ path: String, _ format: Int, _ planes: [[Float]], rate: Int) throws {
    var info = SF_INFO()
    info.samplerate = Int32(rate)
    info.channels = Int32(planes.count)
    info.format = Int32(format)
    let file = try #require(sf_open(path, Int32(SFM_WRITE), &info), "\(String(cString: sf_strerror(nil)))")
    var best = 1.0
    sf_command(file, Int32(SFC_SET_VBR_ENCODING_QUALITY), &best, 8)
    let samples = planes[0].indices.flatMap { frame in planes.map { $0[frame] } }
    let count = sf_count_t(planes[0].count)
    let written = sf_writef_float(file, samples, count)
    #expect(written == count)
    sf_close(file)
  }

  /// One second of a 500 Hz tone, at a different level in each channel.
  static func tones(_ channels: Int, rate: Int) -> [[Float]] {
    (1...channels).map { sine(rate, period: Double(rate) / 500, amplitude: 0.1 * Double($0)) }
  }

  @Test(arguments: codings) func everyDepthAndNumberOfChannels(_ coding: Coding) throws {
    for channels in [1, 2, 3, 6, 8] {
      let planes = Self.tones(channels, rate: 48000)
      let path = folder.path + coding.name
      try Self.write(path, coding.format, planes, rate: 48000)
      let (resource, report) = try AudioFileLoader.load(path: path, rate: 48000)
      #expect(report.channels == channels)
      #expect(report.frames == 48000)
      let rig = Rig<Player>(Player.description, channels: channels)
      rig.use(resource)
      let output = rig.run(9600, [(0, Event(.play))])
      // In six or eight channels, Vorbis codes the last one as a low-frequency channel.
      let isLow = coding.name == "vorbis.ogg" && channels >= 6
      for channel in 0..<(isLow ? channels - 1 : channels) {
        let difference = zip(output[channel], planes[channel]).map { abs($0 - $1) }.max() ?? 1
        #expect(difference <= coding.tolerance, "\(channels) channels, number \(channel): \(difference)")
      }
      // As an instrument: at its own pitch, and mixed to two channels.
      let sampler = Rig<Sampler>(Sampler.description)
      sampler.use(try InstrumentLoader.load(path: path).resource)
      let sides = sampler.run(4800, [(0, .on(60))])
      #expect(sides.allSatisfy { $0.contains { abs($0) > 0.02 } && $0.allSatisfy(\.isFinite) })
    }
  }

  /// The tone is the same for every file rate, from 8 to 384 kHz.
  @Test(arguments: [8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000, 176_400, 192_000, 384_000])
  func everyRate(_ rate: Int) throws {
    for coding in Self.codings.filter({
      ["s16.wav", "float.aiff", "s24.flac", "vorbis.ogg"].contains($0.name)
    })
    where coding.name != "vorbis.ogg" || rate <= 192_000 {
      let path = folder.path + coding.name
      try Self.write(path, coding.format, Self.tones(2, rate: rate), rate: rate)
      let (resource, report) = try AudioFileLoader.load(path: path, rate: 48000)
      #expect(report.rate == Double(rate))
      let rig = Rig<Player>(Player.description)
      rig.use(resource)
      let output = rig.run(40_000, [(0, Event(.play))])
      let expected = Self.tones(2, rate: 48000)
      let tolerance = max(coding.tolerance, 1e-4)
      for channel in 0..<2 {
        // Not at the ends, where the converter's filter reaches beyond the file.
        let range = 2000..<38_000
        let difference = range.map { abs(output[channel][$0] - expected[channel][$0]) }.max() ?? 1
        #expect(difference <= tolerance, "\(coding) at \(rate) Hz, channel \(channel): \(difference)")
      }
    }
  }

  /// A bank compressed with Vorbis sounds like the original.
  @Test func compressedBanksSound() throws {
    let tone = sine(24_000, period: 48000 / 500.0, amplitude: 0.5)
    try Self.write(folder.path + "t.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, [tone], rate: 48000)
    var preset = BankWriter.Preset(
      bank: 0, program: 0, samples: tone, loop: 9600..<19_200, instrument: [(54, 1), (48, 0)])
    preset.compressed = try #require(folder.read("t.ogg"))
    let path = folder.write("a.sf3", BankWriter.bytes([preset]))
    let (resource, report) = try InstrumentLoader.load(path: path)
    #expect(report.missingSamples.isEmpty)
    #expect(report.samples == 1)
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    let output = rig.run(96_000, [(0, .on(60))])[0]
    // For a second beyond the sample's end, the loop of whole cycles continues the tone.
    let expected = sine(96_000, period: 48000 / 500.0, amplitude: 0.5)
    let level = rms(output, 48_000..<90_000) / rms(expected, 48_000..<90_000)
    let error = (48_000..<90_000).map { output[$0] / level - expected[$0] }
    #expect(level > 0.3 && level < 1.5)
    #expect(rms(error, error.indices) < 0.01 * rms(expected, 48_000..<90_000))
    // Corrupt audio data: reported, without a crash.
    preset.compressed = Array(preset.compressed.prefix(60)) + [UInt8](repeating: 9, count: 200)
    let broken = folder.write("b.sf3", BankWriter.bytes([preset]))
    #expect {
      try InstrumentLoader.load(path: broken)
    } throws: {
      "\($0)".contains("sample `sample 0` (byte ")
    }
  }

  /// A load reads small pieces per system call. On a kernel that does not preempt a system call, reading half
  /// a megabyte could delay audio by milliseconds.
  @Test func loadsReadLittleAtATime() throws {
    let tone = sine(300_000, period: 100)
    let bank = BankWriter.Preset(bank: 0, program: 0, samples: tone, loop: 0..<300_000)
    var paths = [folder.write("a.sf2", BankWriter.bytes([bank]))]
    for (name, format) in [
      ("short.wav", SF_FORMAT_PCM_16), ("float.wav", SF_FORMAT_FLOAT), ("long.wav", SF_FORMAT_PCM_24),
    ] {
      paths.append(folder.path + name)
      try Self.write(folder.path + name, SF_FORMAT_WAV | format, [tone, tone], rate: 48000)
    }
    for path in paths {
      for options in [LoadOptions(), Streams.small] {
        let before = try Self.readsOfThisThread()
        _ = try InstrumentLoader.load(path: path, options: options)
        let after = try Self.readsOfThisThread()
        #expect(after.bytes - before.bytes > 50_000, "\(path): it was not read")
        #expect(
          after.bytes - before.bytes <= (after.calls - before.calls) * 16_384, "\(path), \(options)")
      }
    }
  }

  private static func readsOfThisThread() throws -> (bytes: Int, calls: Int) {
    let file = try #require(fopen("/proc/thread-self/io", "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = fread(&bytes, 1, bytes.count, file)
    let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
    let fields = lines.reduce(into: [:]) {
      $0[String($1.prefix { $0 != ":" })] = Int($1.drop { $0 != " " }.dropFirst())
    }
    return (try #require(fields["rchar"]), try #require(fields["syscr"]))
  }

  private func rms(_ samples: [Float], _ range: Range<Int>) -> Float {
    (range.reduce(Float(0)) { $0 + samples[$1] * samples[$1] } / Float(range.count)).squareRoot()
  }
}
