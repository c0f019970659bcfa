import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Scales and key maps in the Scala formats.
@Suite struct Tunings {
  let folder = Folder()

  func scale(_ notes: [String]) throws -> String {
    folder.write("s.scl", "! s.scl\n!\nA scale\n \(notes.count)\n!\n" + notes.map { " \($0)\n" }.joined())
  }

  func tuning(_ notes: [String]?, _ map: String? = nil) throws -> Tuning {
    try Tuning(scale: notes.map { try scale($0) }, keyMap: map.map { folder.write("m.kbm", $0) })
  }

  /// Cents above key 0.
  func pitch(_ tuning: Tuning, _ key: Int) -> Double { Double(tuning.offsets[key]) + 100 * Double(key) }

  @Test func knownScalesHaveTheirPitches() throws {
    #expect(try tuning((1...12).map { "\($0 * 100).0" }).offsets == [Float](repeating: 0, count: 128))
    // 19 equal steps per octave: C4 is unchanged, and C5 is nineteen keys above it.
    let nineteen = try tuning((1...19).map { "\(Double($0) * 1200 / 19)" })
    #expect(abs(pitch(nineteen, 79) - 7200) < 0.01)
    #expect(abs(pitch(nineteen, 61) - 6000 - 1200 / 19) < 0.01)
    #expect(abs(pitch(nineteen, 59) - 6000 + 1200 / 19) < 0.01)
    // Bohlen-Pierce: thirteen steps in a twelfth, as ratios.
    let bohlen = try tuning([
      "27/25", "25/21", "9/7", "7/5", "75/49", "5/3", "9/5", "49/25", "15/7", "7/3", "63/25", "25/9", "3/1",
    ])
    #expect(abs(pitch(bohlen, 73) - 6000 - 1200 * log2(3)) < 0.01)
    #expect(abs(pitch(bohlen, 47) - 6000 + 1200 * log2(3)) < 0.01)
    #expect(abs(pitch(bohlen, 66) - 6000 - 1200 * log2(5.0 / 3)) < 0.01)
    // Just intonation as ratios of integers, with trailing comments.
    let just = try tuning(["9/8 a tone", "5/4", "4/3", "3/2", "5/3", "15/8", "2 octave"])
    #expect(abs(pitch(just, 67) - 7200) < 0.01 && abs(pitch(just, 64) - 6000 - 1200 * log2(1.5)) < 0.01)
  }

  @Test func keyMapsChooseDegreesAndFrequency() throws {
    // White keys have seven degrees, black keys none; A4 is 432 Hz.
    let seven = ["9/8", "5/4", "4/3", "3/2", "5/3", "15/8", "2/1"]
    let map = "! map\n12\n0\n127\n60\n69\n432.0\n7\n0\nx\n1\nx\n2\n3\nx\n4\nx\n5\nx\n6\n"
    let white = try tuning(seven, map)
    #expect(abs(pitch(white, 69) - 6900 - 1200 * log2(432.0 / 440)) < 0.01)
    #expect(abs(pitch(white, 72) - pitch(white, 60) - 1200) < 0.01)
    #expect(abs(pitch(white, 69) - pitch(white, 60) - 1200 * log2(5.0 / 3)) < 0.01)
    #expect(white.offsets[61].isNaN && white.offsets[70].isNaN)
    // No key pattern: only a frequency, and only for some keys.
    let low = try tuning(nil, "0\n21\n108\n60\n69\n415.0\n12\n")
    #expect(abs(low.offsets[69] - Float(1200 * log2(415.0 / 440))) < 0.01)
    #expect(low.offsets[20] == 0 && abs(low.offsets[21] - low.offsets[69]) < 0.01)
    // A key that the map leaves out is silent.
    #expect(try tuning(nil, "3\n0\n127\n60\n60\n261.6\n3\n0\n").offsets[61].isNaN)
  }

  @Test func faultsNameFileAndLine() throws {
    func fault(_ text: String, isMap: Bool = false) -> String {
      let path = folder.write("x", text)
      do {
        _ = try Tuning(scale: isMap ? nil : path, keyMap: isMap ? path : nil)
        return "none"
      } catch {
        return String(error.description.dropFirst(path.count))
      }
    }
    #expect(
      fault("! c\nname\n2\n100.0\nwide\n")
        == ":5: `wide` is neither cents, with a point, nor a ratio such as 3/2")
    #expect(fault("name\n3\n100.0\n") == ":4: the file ends before note 2 of 3")
    #expect(fault("name\nmany\n") == ":2: `many` is not how many notes the scale has, 1 to 4096")
    #expect(fault("name\n1\n1/0\n") == ":3: `1/0` is neither cents, with a point, nor a ratio such as 3/2")
    #expect(fault("12\n0\n200\n", isMap: true) == ":3: `200` is not the last key, 0 to 127")
    #expect(fault("0\n0\n127\n60\n69\nlow\n12\n", isMap: true) == ":6: `low` is not a frequency in hertz")
    #expect(
      fault("2\n0\n127\n60\n61\n440\n2\n0\nx\n", isMap: true)
        == ": key 61, of which the frequency is given, has no degree")
    #expect(fault("1\n0\n127\n60\n60\n440\n1\ny\n", isMap: true) == ":8: `y` is neither a degree nor x")
  }

  @Test func aTunedInstrumentPlaysTheScaleAndKeepsTheSamples() throws {
    folder.wav("sine.wav", [sine(4800, period: 48)])
    let path = folder.write(
      "a.sfz", "<region> sample=sine.wav loop_mode=loop_continuous amp_veltrack=0")
    let (resource, _) = try InstrumentLoader.load(path: path)
    func rig(_ tuning: Tuning?) -> Rig<Sampler> {
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(tuning.map { InstrumentLoader.tuned(resource, $0) } ?? resource)
      return rig
    }
    func hertz(_ rig: Rig<Sampler>, _ key: UInt8) -> Double {
      let output = rig.run(48000, [(0, .on(key))])[0]
      let marks = output.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }
      return 48000 * Double(marks.count - 1) / Double(marks.last! - marks.first!)
    }
    // The sample is 1 kHz at C4.
    let nineteen = try tuning((1...19).map { "\(Double($0) * 1200 / 19)" })
    #expect(abs(1200 * log2(hertz(rig(nineteen), 79) / 2000)) < 0.2)
    #expect(abs(1200 * log2(hertz(rig(nineteen), 70) / 1000) - 1200 * 10 / 19) < 0.2)
    // Twelve equal steps render the same bits as no tuning.
    let twelve = try tuning((1...12).map { "\($0 * 100).0" })
    #expect(rig(twelve).run(4800, [(0, .on(67))]) == rig(nil).run(4800, [(0, .on(67))]))
    // A key without a degree is silent.
    let silent = try rig(tuning(nil, "2\n0\n127\n60\n60\n261.6255653\n2\n0\nx\n"))
    #expect(silent.run(4800, [(0, .on(61)), (100, .off(61))])[0].allSatisfy { $0 == 0 })
    #expect(silent.run(4800, [(4800, .on(60))])[0].contains { $0 != 0 })
  }
}

/// Degrees with extreme numbers.
@Suite struct ExtremeTunings {
  @Test(arguments: [
    "-9223372036854775808", "9223372036854775807", "-9223372036854775807", "99999999999999999999",
  ])
  func aDegreeBeyondAllMeasureIsRefusedWithItsLine(degree: String) {
    let folder = Folder()
    let map = folder.write("m.kbm", "1\n0\n127\n60\n60\n261.6\n0\n\(degree)\n")
    #expect {
      try Tuning(scale: nil, keyMap: map)
    } throws: {
      ($0 as? LoadError)?.line == 8 && "\($0)".contains(degree)
    }
  }
}
