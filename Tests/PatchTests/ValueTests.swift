import Patch
import TestSupport
import Testing

/// Values.
@Suite struct ValueTests {
  @Test(
    arguments: [
      ("-6dB", -6.0, Unit.decibels), ("-inf", -.infinity, .decibels), ("-INFdb", -.infinity, .decibels),
      ("80%", 80, .percent),
      ("1.2kHz", 1200, .hertz), ("250ms", 0.25, .seconds), ("0.25s", 0.25, .seconds),
      ("12us", 12e-6, .seconds),
      ("C#4", 61, .key), ("Db4", 61, .key), ("C-1", 0, .key), ("G9", 127, .key), ("bb3", 58, .key),
      ("B#3", 60, .key),
      ("-7st", -7, .semitones), ("3cents", 3, .cents), ("1e3", 1000, .none), ("2.5E-3s", 0.0025, .seconds),
      (".5", 0.5, .none),
      ("+3dB", 3, .decibels), ("60note", 60, .key), ("0.1ms", 0.0001, .seconds),
      ("12345678901234567000", 1.2345678901234567e19, .none),
    ] as [(String, Double, Unit)])
  func numbersAreReadWithTheirUnits(text: String, number: Double, unit: Unit) {
    #expect(Value(number: text) == .number(number, unit))
  }

  @Test(arguments: [
    "", "-", "dB", "3 dB", "inf", "1e999", "C10", "H4", "C##", "1.2.3", "0x10", "nan", "--3", "3dBs", "A-2",
  ])
  func whatIsNoNumberIsNotTakenForOne(text: String) {
    #expect(Value(number: text) == nil)
  }

  @Test func aWrittenNumberReadsBackAsTheSameBits() {
    var random = SeededGenerator(seed: 7)
    print("seed 7")
    for _ in 0..<20_000 {
      let magnitude = Double.random(in: -12...12, using: &random)
      var number = Double(
        sign: .plus, exponent: Int(magnitude * 3), significand: Double.random(in: 1..<2, using: &random))
      if Bool.random(using: &random) { number.negate() }
      if Bool.random(using: &random) { number = (number * 1000).rounded() / 1000 }
      if number == 0 { number = 0 }
      for unit in Unit.allCases where unit != .key && unit != .notes {
        let value = Value.number(number, unit)
        #expect(Value(number: value.line) == value, "\(value.line)")
      }
    }
  }

  @Test func numbersAreWrittenShortInTheUnitThatPeopleUse() {
    #expect(Value.number(1200, .hertz).line == "1.2kHz")
    #expect(Value.number(440, .hertz).line == "440Hz")
    #expect(Value.number(0.25, .seconds).line == "250ms")
    #expect(Value.number(0, .seconds).line == "0s")
    #expect(Value.number(0.0001, .seconds).line == "0.1ms")
    #expect(Value.number(-.infinity, .decibels).line == "-inf")
    #expect(Value.number(61, .key).line == "C#4")
    #expect(Value.number(0.1, .none).line == "0.1")
    #expect(Value.list([.number(110, .hertz), .number(0.5, .percent)]).line == "[110Hz,0.5%]")
    #expect(Value.number(-6, .decibels).display == "-6.0 dB")
    #expect(Value.number(-0.04, .decibels).display == "0.0 dB")
    #expect(Value.number(1234, .hertz).display == "1.23 kHz")
    #expect(Value.number(0.25, .seconds).display == "250.0 ms")
    #expect(Value.number(80, .percent).display == "80 %")
  }

  @Test func notesPercentAndSemitonesMeanSomethingWhereHertzDecibelsAndCentsAreWanted() throws {
    let patch = read("node o oscillator freq=A4\nnode s sampler tune=1st level=50%")
    #expect(patch[named: "o"]?.settings == [:])  // A4 is the default, 440 Hz
    #expect(patch[named: "s"]?.settings[ParameterPath("tune")] == .number(100, .cents))
    guard case .number(let level, .decibels)? = patch[named: "s"]?.settings[ParameterPath("level")] else {
      Issue.record("no level")
      return
    }
    #expect(abs(level + 6.0206) < 0.0001)
  }

  @Test func theNearestWordIsFoundThroughSlipsOfTheFingerAndNonsenseFindsNone() {
    let kinds = catalogue.kinds.map(\.name)
    #expect(Nearest.match(for: "distorsion", among: kinds) == "distortion")
    #expect(Nearest.match(for: "smapler", among: kinds) == "sampler")
    #expect(Nearest.match(for: "osc", among: kinds) == "oscillator")
    #expect(Nearest.match(for: "Delay", among: kinds) == "delay")
    #expect(Nearest.match(for: "xyzzy", among: kinds) == nil)
  }

  /// The engine gets gains as factors, percent as they are, choices as positions, matrices row by row.
  @Test func theEngineGetsGainsAsFactorsPercentAsTheyAreChoicesAsPositions() throws {
    let patch = read(
      """
      node m matrix inputs=3 outputs=2 in[1]=-20dB [0,1]=-6dB [1,1]=-inf master=6dB
      node o oscillator shape=square freq=[110Hz,220Hz] level=-20dB
      node d distortion mix=25%
      node p player loop=on file=x.wav
      """)
    func values(_ name: String) throws -> [String: [Float]] {
      let node = try #require(patch[named: name])
      let kind = try #require(catalogue[node.kind])
      let values = EngineValues(of: node, description: kind).values
      #expect(values.count == kind.parameters.count)
      return Dictionary(uniqueKeysWithValues: zip(kind.parameters.map(\.name), values))
    }
    let matrix = try values("m")
    let minus6 = EngineValues.gain(decibels: -6)
    #expect(abs(minus6 - 0.50119) < 1e-5)
    #expect(matrix["inputs"] == [3] && matrix["in"] == [1, 0.1, 1] && matrix["out"] == [1, 1])
    // Rows are inputs: unity on the diagonal by default.
    #expect(matrix[""] == [1, minus6, 0, 0, 0, 0])
    let oscillator = try values("o")
    #expect(oscillator["shape"] == [2] && oscillator["freq"] == [110, 220] && oscillator["level"] == [0.1])
    #expect(try values("d")["mix"] == [25])
    #expect(try values("p") == ["file": [], "loop": [1]])
    #expect(
      patch.value(of: "m", ParameterPath("", [2, 1]), catalogue: catalogue) == .number(-.infinity, .decibels))
    #expect(patch.value(of: "m", ParameterPath("", [0, 0]), catalogue: catalogue) == .number(0, .decibels))
  }
}
