import Engine
import Foundation
import Patch
import Recording
import Testing

@testable import Drivers

@Suite struct OfflineRendererTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "sostenuto-offline-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

  /// Floats of a WAV file's data chunk.
  private func samples(_ name: String) throws -> [Float] {
    let data = try bytes(name)
    let start = try #require(data.firstRange(of: Data("data".utf8))).upperBound + 4
    return data[start...].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  private let patch = """
    node tone oscillator freq=220Hz shape=saw
    node hiss noise level=-30dB
    node amp gain gain=-6dB
    node main matrix inputs=2 outputs=2
    node out output channels=2
    connect tone -> amp
    connect amp -> main
    connect hiss -> main
    connect main -> out
    """

  private let edits: [(frame: Int64, line: String)] = [
    (1000, "set amp.gain -20dB over 20ms"), (2001, "insert side pan pan=-0.5 into main -> out"),
    (2001, "disconnect hiss -> main"), (3777, "replace amp pan pan=0.3"), (4001, "remove side bridge"),
    (6000, "connect hiss -> out gain=-12dB"), (6010, "remove tone"),
  ]

  private func render(_ name: String, period: Int, frames: Int64 = 9600) throws {
    let graph = try LiveGraph(patch, period: period)
    let tap = try #require(graph.engine.addTap(node: "amp", port: nil))
    let renderer = OfflineRenderer(
      engine: graph.engine, rate: 48000, period: period,
      tracks: [.outputs(to: path("\(name).wav")), .tap(tap, to: path("\(name)-tap.wav"))])
    let cues = edits.map { edit in
      Cue(frame: edit.frame) { try graph.perform(edit.line, at: edit.frame) }
    }
    try renderer.render(frames: frames, cues: cues)
  }

  @Test func filesAreTheSameBitForBitWhateverThePeriodWithEditsInBetweenAndWithoutEnd() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try render("a", period: 64)
    let (sound, tap) = (try bytes("a.wav"), try bytes("a-tap.wav"))
    #expect(try samples("a.wav").count == 2 * 9600)
    #expect(try samples("a.wav").contains { abs($0) > 0.05 })
    for period in [1, 17, 1024, 8192] {
      try render("b", period: period)
      #expect(try bytes("b.wav") == sound, "period \(period)")
      #expect(try bytes("b-tap.wav") == tap, "period \(period)")
    }
  }

  @Test func anEditOfAScriptHappensAtItsFrameAndNotBefore() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let graph = try LiveGraph(
      """
      node tone oscillator freq=1kHz
      node out output channels=1
      """, period: 1024)
    let renderer = OfflineRenderer(
      engine: graph.engine, rate: 48000, period: 1024, tracks: [.outputs(to: path("c.wav"))])
    var progress: [Int64] = []
    try renderer.render(
      frames: 3000, cues: [Cue(frame: 1500) { try graph.perform("connect tone -> out", at: 1500) }]
    ) { progress.append($0) }
    let sound = try samples("c.wav")
    #expect(sound.count == 3000)
    #expect(sound[..<1500].allSatisfy { $0 == 0 })
    #expect(sound[1500..<1520].contains { $0 != 0 })
    #expect(progress == [1024, 1500, 1984, 2048, 3000])
  }

  @Test func aSingleChannelIsHeardOnBothSidesOfAStereoFileAndSilenceHasNoSign() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let graph = try LiveGraph(
      """
      node tone oscillator freq=1kHz
      node flip gain gain=0dB
      node out output channels=1
      connect tone -> flip
      connect flip -> out
      """)
    let renderer = OfflineRenderer(
      engine: graph.engine, rate: 48000, period: 64,
      tracks: [.outputs(to: path("d.wav"), channels: 2), .outputs(to: path("e.wav"))])
    try renderer.render(frames: 480)
    let (stereo, mono) = (try samples("d.wav"), try samples("e.wav"))
    #expect(mono.count == 480)
    for frame in 0..<480 {
      #expect(stereo[2 * frame] == mono[frame] && stereo[2 * frame + 1] == mono[frame])
    }
    #expect(stereo.allSatisfy { $0 != 0 || $0.sign == .plus })
  }

  @Test(arguments: ["", "node keys keyboard", "node in input channels=2"])
  func aPatchWithoutAnOutputIsSilenceOfTheLengthThatWasAskedFor(patch: String) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let graph = try LiveGraph(patch)
    let renderer = OfflineRenderer(
      engine: graph.engine, rate: 48000, period: 64, tracks: [.outputs(to: path("g.wav"))])
    #expect(try renderer.render(frames: 480) == 480)
    #expect(try samples("g.wav") == Array(repeating: 0, count: 480))
  }

  @Test func aRenderThatFailsLeavesTheFileOfTheOneBeforeAndNoHalfOfItsOwn() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    struct Refused: Error {}
    try Data("before".utf8).write(to: URL(filePath: path("f.wav")))
    let graph = try LiveGraph("node out output channels=1")
    let renderer = OfflineRenderer(
      engine: graph.engine, rate: 48000, tracks: [.outputs(to: path("f.wav"))])
    #expect(throws: Refused.self) {
      try renderer.render(frames: 4800, cues: [Cue(frame: 2000) { throw Refused() }])
    }
    #expect(try bytes("f.wav") == Data("before".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["f.wav"])
  }

  @Test func theNamesEndingChoosesTheContainer() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, magic) in [("a.wav", "RIFF"), ("b.FLAC", "fLaC"), ("c.ogg", "OggS"), ("d", "RIFF")] {
      let graph = try LiveGraph("node tone oscillator\nnode out output channels=2\nconnect tone -> out")
      let renderer = OfflineRenderer(
        engine: graph.engine, rate: 48000, tracks: [.outputs(to: path(name))], format: .pcm16)
      try renderer.render(frames: 4800)
      #expect(try bytes(name).starts(with: Data(magic.utf8)), "\(name)")
    }
  }

  /// Whole numbers are the nearest ones: no offset of half a step, and silence below half a step.
  @Test(arguments: [SampleFormat.pcm16, .pcm24]) func wholeNumbersAreRounded(format: SampleFormat) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for level in [-120, -91, -70.0, 6] {
      func render(_ name: String, _ format: SampleFormat) throws {
        let graph = try LiveGraph(
          """
          node tone oscillator freq=997Hz level=\(level)dB channels=1
          node out output channels=1
          connect tone -> out
          """)
        try OfflineRenderer(
          engine: graph.engine, rate: 48000, tracks: [.outputs(to: path(name))], format: format
        ).render(frames: 9600)
      }
      try render("exact.wav", .float32)
      try render("whole.wav", format)
      let exact = try samples("exact.wav")
      let data = try bytes("whole.wav")
      let start = try #require(data.firstRange(of: Data("data".utf8))).upperBound + 4
      let width = format == .pcm16 ? 2 : 3
      let scale = Double(1 << (8 * width - 1))
      var worst = 0.0
      for (index, sample) in exact.enumerated() {
        let place = start + index * width
        var number = Int(Int8(bitPattern: data[place + width - 1]))
        for byte in (0..<width - 1).reversed() { number = number << 8 | Int(data[place + byte]) }
        let wanted = min(max(Double(sample) * scale, -scale), scale - 1)
        worst = max(worst, abs(Double(number) - wanted))
      }
      #expect(worst <= 0.5, "\(level) dB")
    }
  }

  @Test func aLinkLeadsToTheNewFile() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("before".utf8).write(to: URL(filePath: path("there.wav")))
    try FileManager.default.createSymbolicLink(atPath: path("link.wav"), withDestinationPath: "there.wav")
    let graph = try LiveGraph("node out output channels=1")
    try OfflineRenderer(engine: graph.engine, rate: 48000, tracks: [.outputs(to: path("link.wav"))])
      .render(frames: 64)
    #expect(try bytes("there.wav").starts(with: Data("RIFF".utf8)))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("link.wav")) == "there.wav")
  }

  @Test func aFileThatCannotBeWrittenIsNamed() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let graph = try LiveGraph("node out output channels=1")
    let renderer = OfflineRenderer(
      engine: graph.engine, rate: 48000, tracks: [.outputs(to: path("no/such/folder.wav"))])
    do {
      try renderer.render(frames: 64)
      Issue.record("written to a folder that is not there")
    } catch {
      #expect("\(error)".hasPrefix(path("no/such/folder.wav")))
    }
  }
}
