import Foundation
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Files found by fuzzing, and whole files: no crash, and only finite samples.
@Suite struct Corpus {
  static let root =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path + "/Fuzz/corpus/"

  static let files = ["sfz", "sf2", "audio"].flatMap { kind in
    ((try? FileManager.default.contentsOfDirectory(atPath: root + kind)) ?? []).sorted().map {
      "\(kind)/\($0)"
    }
  }

  @Test func thereIsSomethingToRead() { #expect(Self.files.count >= 6) }

  @Test(arguments: files, [false, true]) func aKeptFileIsReadAndPlayed(_ name: String, streams: Bool) throws {
    let options = streams ? Streams.small : LoadOptions()
    // Texts may name the files beside them.
    let folder = Folder()
    folder.wav("a.wav", [noise(400), noise(400, seed: 2)], loop: 100...300, key: 62)
    let path = folder.path + "a." + (name.hasPrefix("audio") ? "wav" : String(name.prefix { $0 != "/" }))
    try Data(contentsOf: URL(fileURLWithPath: Self.root + name)).write(to: URL(fileURLWithPath: path))
    if name.hasPrefix("audio") {
      let rig = Rig<Player>(Player.description)
      if let loaded = try? AudioFileLoader.load(path: path, rate: 44100, options: options) {
        rig.use(loaded.resource)
      }
      let output = rig.run(256, [(0, Event(.play)), (100, Event(.cue, time: 0.01))])
      #expect(output.allSatisfy { $0.allSatisfy(\.isFinite) })
    }
    guard let (resource, report) = try? InstrumentLoader.load(path: path, options: options) else { return }
    let rig = Rig<Sampler>(Sampler.description, values: [3: 8])
    rig.use(resource)
    let low = UInt8(report.keys.lowerBound)
    let high = UInt8(min(127, report.keys.upperBound))
    let output = rig.run(
      512,
      [
        (0, .on(low)), (0, .on(low + (high - low) / 2, 90)), (0, .on(high, 30)), (70, .on(60, 100)),
        (100, .control(1, 127)), (130, Event(.bend, value: 1)), (150, .off(60)), (260, .off(low)),
      ])
    #expect(output.allSatisfy { $0.allSatisfy(\.isFinite) })
  }
}
