import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// The instruments in this repository.
@Suite struct OwnInstruments {
  static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Instruments/"

  @Test(arguments: ["organ/organ.sfz", "upright/upright.sfz"])
  func loadWholeAndSoundClean(_ name: String) throws {
    let (resource, report) = try InstrumentLoader.load(path: Self.root + name)
    #expect(report.findings == [])
    #expect(report.keys.count > 80)
    for key in [UInt8(36), 60, 90] {
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource, asLoaded: true)
      let output = rig.run(14400, [(0, .on(key, 127)), (7000, .off(key))])
      let peak = output.map { $0.map(abs).max()! }.max()!
      let decibels = 20 * log10(peak)
      #expect((-14.5 ... -9.5).contains(decibels), "key \(key): \(decibels) dBFS")
      if name.hasPrefix("organ") { #expect(rig.kernel.voices == 0) }
    }
  }

  /// At the loop point, the waveform continues without a step.
  @Test(arguments: [
    "organ/loud-064.wav", "organ/soft-036.wav", "upright/hard-059.wav", "upright/soft-024.wav",
  ])
  func loopsHaveNoSeam(_ name: String) throws {
    let file = try AudioFile.read(Self.root + name)
    let loop = try #require(file.loop)
    #expect(loop.end == file.frames)
    let plane = file.plane(0)
    let mean = (loop.start..<loop.end).reduce(0.0) { $0 + Double(plane[$1]) } / Double(loop.end - loop.start)
    #expect(abs(mean) < 1e-4, "DC \(mean)")
    // The frames before the loop end resemble the frames before the loop start, since the loop's first frame
    // follows both.
    for offset in 1...8 {
      let before = plane[loop.start - offset]
      let last = plane[loop.end - offset]
      #expect(abs(before - last) < 2e-3, "\(offset) frames before: \(before) and \(last)")
    }
  }
}
