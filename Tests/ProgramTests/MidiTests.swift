import Foundation
import Testing

@Suite struct MidiFilesTests {
  /// A song at 120 beats a minute, 480 ticks a beat: channel, key, and the ticks of note-on and note-off.
  private func song(_ notes: [(channel: UInt8, key: UInt8, on: Int, off: Int)]) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(value >> (8 * $0) & 0xFF) }
    }
    let events = notes.flatMap {
      [($0.on, [0x90 | $0.channel, $0.key, 100]), ($0.off, [0x80 | $0.channel, $0.key, 64])]
    }.sorted { $0.0 < $1.0 }
    var track: [UInt8] = []
    var now = 0
    for (tick, message) in events {
      // Two bytes are enough for these delta times.
      track += [UInt8((tick - now) >> 7) | 0x80, UInt8((tick - now) & 0x7F)] + message
      now = tick
    }
    track += [0, 0xFF, 0x2F, 0]
    return Array("MThd".utf8) + bytes(6, 4) + bytes(0, 2) + bytes(1, 2) + bytes(480, 2)
      + Array("MTrk".utf8) + bytes(track.count, 4) + track
  }

  private let patch = """
    sostenuto 1
    node all midi
    node two midi channel=2
    node a sampler instrument=\(Program.repository)/Instruments/organ/organ.sfz
    connect all -> a
    node b sampler instrument=\(Program.repository)/Instruments/organ/organ.sfz
    connect two -> b
    node out output channels=4
    connect a -> out map=[0,1,-1,-1]
    connect b -> out map=[-1,-1,0,1]

    """

  /// Frames of four floats.
  private func frames(_ data: Data) throws -> [SIMD4<Float>] {
    let start = try #require(data.firstRange(of: Data("data".utf8))).upperBound + 4
    return data[start...].withUnsafeBytes { Array($0.bindMemory(to: SIMD4<Float>.self)) }
  }

  /// A MIDI file plays each node its channel at the exact frame, ends when all is silent, and no bit
  /// depends on periods.
  @Test func aMIDIFilePlaysEachNodeItsChannelAtTheExactFrameEndsWhenAllIsSilent() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", patch)
    let midi = folder.path + "/a.mid"
    try Data(song([(0, 60, 96, 960), (1, 67, 480, 960)])).write(to: URL(fileURLWithPath: midi))
    for period in ["1024", "64", "17"] {
      let outcome = try Program.run(
        "render", path, "--midi", midi, "--output", "\(folder.path)/\(period).wav", "--period", period)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try folder.bytes("\(period).wav") == folder.bytes("1024.wav"), "period \(period)")
    }
    let sound = try frames(folder.bytes("1024.wav"))
    // At 0.1 s and 0.5 s; the instrument's attack begins at zero.
    let first = try #require(sound.firstIndex { $0[0] != 0 })
    let second = try #require(sound.firstIndex { $0[2] != 0 })
    #expect((4800..<4816).contains(first))
    #expect((24000..<24016).contains(second))
    // One second of song, half a second of silence, and the release in between.
    #expect((72_000..<120_000).contains(sound.count))
    let isSilent = sound.suffix(23_000).allSatisfy { frame in
      (0..<4).allSatisfy { frame[$0].magnitude < 1e-5 }
    }
    #expect(isSilent)

    // A script acts at the same frames.
    let script = try folder.file("a.script", "at 0.25s disconnect all -> a\n")
    let cut = try Program.run(
      "render", path, "--midi", midi, "--script", script, "--seconds", "1", "--output", folder.path + "/c.wav"
    )
    #expect(cut.status == 0, "\(cut.errors)")
    let rest = try frames(folder.bytes("c.wav"))
    #expect(rest.count == 48000)
    #expect(rest[..<12000].elementsEqual(sound[..<12000]))
    #expect(rest[40000...].allSatisfy { $0[0] == 0 })
    #expect(rest[40000...].contains { $0[2] != 0 })
  }

  @Test func aFileThatIsNoMIDIFileOrHalfOfOneIsNamedWithTheByteAndNothingIsRendered() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", patch)
    let midi = folder.path + "/a.mid"
    for (bytes, words) in [
      (Array(song([(0, 60, 96, 960)]).dropLast(9)), "\(midi): byte 14: a chunk of 14 bytes"),
      (Array("no song".utf8), "\(midi): byte 0: no MIDI file"),
    ] {
      try Data(bytes).write(to: URL(fileURLWithPath: midi))
      let outcome = try Program.run("render", path, "--midi", midi, "--output", folder.path + "/o.wav")
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/o.wav"))
    }
    #expect(try Program.run("render", path, "--output", "o.wav").status == 2)
  }

  @Test func aGeneralMIDIFileSoundsAsItDoesInFluidSynthWhenHowHighHowLoudHowLong() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", Program.repository + "/Benchmarks/general_midi.py", Program.path, "--check",
    ]
    let folder = try Folder()
    let output = try folder.file("table", "")
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: output)
    try process.run()
    process.waitUntilExit()
    let table = try String(contentsOfFile: output, encoding: .utf8)
    print(table)
    #expect(process.terminationStatus == 0, "\(table)")
  }
}
