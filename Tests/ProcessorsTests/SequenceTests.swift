import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Sequences, scales and what becomes of notes, against plain definitions.
struct SequenceTests {
  private static func numbers(_ parameter: ParameterDescription, _ text: String) -> [Float] {
    parameter.engineValues(of: .text(text))
  }

  private static func fault(_ parameter: ParameterDescription, _ text: String) -> TextReader.Fault? {
    do throws(TextReader.Fault) {
      _ = try parameter.reader?.numbers(text)
      return nil
    } catch { return error }
  }

  // MARK: Scales

  @Test func pitchesGoToTheNearestDegree() {
    var chance = Chance(4)
    for (text, degrees, period) in [
      ("major", [0.0, 2, 4, 5, 7, 9, 11], 12.0), ("0 3.5 7", [0, 3.5, 7], 12), ("0 700cents", [0, 7], 12),
      ("1/1 5/4 3/2", [0, 12 * log2(1.25), 12 * log2(1.5)], 12),
      ("0 146.3cents 3/1", [0, 1.463], 12 * log2(3.0)),
      ("0", [0], 12), ("2 0 14 4", [0, 2, 4], 14),
    ] {
      for root in [0, 9, 5] {
        let pitches = (0..<2000).map { _ in Float.random(in: -4...4, using: &chance) }
        let out = KernelBench(
          Quantizer.self, Quantizer.description, inputs: [[pitches, pitches.map { -$0 }]], outputs: [2, 2],
          [
            Quantizer.scale: Self.numbers(Degrees.scale, text), Quantizer.root: [Float(root)],
            Quantizer.transpose: [7],
          ]
        ).run(2000)
        for channel in 0..<2 {
          var last: Float?
          for frame in 0..<2000 {
            // Semitones above the root nearest below A4.
            let x = Double(channel == 0 ? pitches[frame] : -pitches[frame]) * 12 - Double(root - 9)
            let candidates = (-8...8).flatMap { cycle in degrees.map { $0 + Double(cycle) * period } }
            let nearest = candidates.min { abs($0 - x) < abs($1 - x) }!
            let second = candidates.filter { $0 != nearest }.map { abs($0 - x) }.min()!
            if second - abs(nearest - x) < 1e-4 { continue }
            let expected = (nearest + Double(root - 9) + 7) / 12
            let found = Double(out[0][channel][frame])
            guard abs(found - expected) < 2e-6 else {
              Issue.record("\(text), root \(root), frame \(frame): \(found) in place of \(expected)")
              return
            }
          }
          for frame in 0..<2000 {
            let value = out[0][channel][frame]
            if let last { #expect((out[1][channel][frame] == 1) == (abs(value - last) > 1e-4)) }
            last = value
          }
        }
      }
    }
  }

  @Test func aScaleThatIsNoneIsRefusedWithItsPlace() {
    #expect(Self.fault(Degrees.scale, "majr")?.column == 1)
    #expect(Self.fault(Degrees.scale, "0 2 x")?.column == 5)
    #expect(Self.fault(Degrees.scale, "0 2 3Hz")?.column == 5)
    #expect(Self.fault(Degrees.scale, " ") != nil)
    for (name, _) in Degrees.names { #expect(Self.fault(Degrees.scale, name) == nil) }
  }

  // MARK: Steps

  @Test func stepsAreReadAndFaultsHaveTheirPlace() {
    let numbers = Self.numbers(Pattern.steps, "C4 x.X~ | A4:90?50 -12st:1 x?0")
    #expect(numbers.count == Pattern.count && numbers[0] == 8)
    let steps = (0..<8).map { Array(numbers[1 + 3 * $0..<4 + 3 * $0]) }
    let plain = Float(100) / 127
    #expect(
      steps == [
        [-0.75, plain, 1], [-1000, plain, 1], [-1000, 0, 1], [-1000, 1, 1], [-1000, -1, 1],
        [0, Float(90.0 / 127), 0.5], [-1, Float(1.0 / 127), 1], [-1000, plain, 0],
      ], "\(steps)")
    for (text, column) in [("C4 H4", 4), ("C4 x:0", 6), ("C4:200", 4), ("C4?101", 4), ("C4:", 4), ("5s", 1)] {
      #expect(Self.fault(Pattern.steps, text)?.column == column, "\(text)")
    }
    #expect(Self.fault(Pattern.steps, String(repeating: "x", count: 64)) == nil)
    #expect(Self.fault(Pattern.steps, String(repeating: "x", count: 65)) != nil)
  }

  private func sequencer(
    _ steps: String, _ more: [Int: [Float]] = [:], clock: [Float]? = nil, reset: [Float] = []
  )
    -> KernelBench<Sequencer>
  {
    var values = more
    values[Sequencer.steps] = Self.numbers(Pattern.steps, steps)
    let bench = KernelBench(
      Sequencer.self, Sequencer.description, inputs: [clock.map { [$0] } ?? [], [reset]], outputs: [1, 1, 1],
      values)
    bench.transport = Transport(rate: 48_000)
    return bench
  }

  private static func notes<K: Kernel>(_ bench: KernelBench<K>) -> [String] {
    bench.sentEvents.map { frame, event in
      "\(frame) \(event.kind == .noteOn ? "on" : event.kind == .noteOff ? "off" : "\(event.kind)") \(event.key)"
    }
  }

  /// Sixteenths at 120 beats have 6000 frames.
  @Test func stepsComeWithTheTransportAndTiesHoldOn() {
    let bench = sequencer("C4 E4:64 . G4 ~ ~ x .")
    let out = bench.run(54_000)
    #expect(
      Self.notes(bench) == [
        "0 on 60", "3000 off 60", "6000 on 64", "9000 off 64", "18000 on 67", "33000 off 67", "36000 on 67",
        "39000 off 67", "48000 on 60", "51000 off 60",
      ], "\(Self.notes(bench))")
    #expect(openings(out[1][0]) == [0, 6000, 18_000, 36_000, 48_000])
    #expect(out[1][0][18_000..<33_000].allSatisfy { $0 == 1 } && out[1][0][33_000] == 0)
    #expect(out[0][0][5999] == -0.75 && out[0][0][17_999] == Float(-5.0 / 12))
    #expect(abs(out[2][0][7000] - 64.0 / 127) < 1e-6)
  }

  /// A jump leads to the step that stands there; a transport that stands ends what sounds, also what is held on.
  @Test func theTransportsPlaceIsTheStep() {
    let bench = sequencer("C4 D4 E4 F4 G4 A4 B4 ~")
    bench.changes = [(10_000, .locate(bar: 1, beat: 1.5)), (12_500, .halt), (20_000, .roll)]
    _ = bench.run(30_000)
    // Beat 1.5 is step 6, B4, on which the next one holds. That is due at frame 23,500, when nothing sounds.
    #expect(
      Self.notes(bench) == [
        "0 on 60", "3000 off 60", "6000 on 62", "9000 off 62", "10000 on 71", "12500 off 71", "29500 on 60",
      ], "\(Self.notes(bench))")
  }

  @Test func aClockAndAResetLeadTheSteps() {
    let clock = (0..<6400).map { Float($0 % 640 < 100 ? 1 : 0) }
    let reset = gate(6400, 2500..<2600)
    let bench = sequencer("C4 D4 E4 F4 G4", clock: clock, reset: reset)
    _ = bench.run(6400)
    let on = bench.sentEvents.filter { $0.event.kind == .noteOn }
    #expect(on.map(\.frame) == (0..<10).map { $0 * 640 })
    #expect(on.map(\.event.key) == [60, 62, 64, 65, 60, 62, 64, 65, 67, 60])
    let off = bench.sentEvents.filter { $0.event.kind == .noteOff }
    #expect(off.map(\.frame) == (0..<10).map { $0 * 640 + 100 })
  }

  @Test func ordersAndChancesAreWhatTheySay() {
    let clock = (0..<64_000).map { Float($0 % 16 < 8 ? 1 : 0) }
    func keys(_ order: Float, _ chance: Float = 100, _ steps: String = "C4 D4 E4 F4") -> [UInt8] {
      let bench = sequencer(steps, [Sequencer.order: [order], Sequencer.chance: [chance]], clock: clock)
      _ = bench.run(64_000)
      #expect(Self.isBalanced(bench.sentEvents.map(\.event)))
      return bench.sentEvents.filter { $0.event.kind == .noteOn }.map(\.event.key)
    }
    #expect(keys(1).prefix(5) == [65, 64, 62, 60, 65])
    #expect(keys(2).prefix(8) == [60, 62, 64, 65, 64, 62, 60, 62])
    let random = keys(3)
    for key in [60, 62, 64, 65] as [UInt8] {
      let share = Double(random.filter { $0 == key }.count) / 4000
      #expect(abs(share - 0.25) < 0.03, "\(key): \(share)")
    }
    #expect(abs(Double(keys(0, 30).count) - 1200) < 100)
    #expect(abs(Double(keys(0, 50, "C4?50").count) - 1000) < 100)
  }

  /// Any text may come while it plays: no note hangs, and the place stays.
  @Test func newStepsTakeTheirPlaceWhileItPlays() {
    let clock = (0..<32_000).map { Float($0 % 64 < 30 ? 1 : 0) }
    let bench = sequencer("C4 D4 E4 F4", clock: clock)
    let other = Self.numbers(Pattern.steps, "C5 D5 E5 F5")
    for (element, value) in other.enumerated() {
      bench.moves.append(
        .init(frame: 64 * 6, parameter: Sequencer.steps, element: element, value: value, over: 0))
    }
    _ = bench.run(64 * 12)
    let on = bench.sentEvents.filter { $0.event.kind == .noteOn }.map(\.event.key)
    #expect(on == [60, 62, 64, 65, 60, 62, 76, 77, 72, 74, 76, 77])
  }

  // MARK: Notes

  /// Every note that begins ends, and none ends twice.
  private static func isBalanced(_ events: [Event]) -> Bool {
    var on: Set<Int> = []
    for event in events {
      let note = Int(event.channel) * 128 + Int(event.key)
      if event.kind == .noteOn { on.insert(note) }
      if event.kind == .noteOff { on.remove(note) }
      if event.kind == .allNotesOff || event.kind == .allSoundOff { on = [] }
    }
    return on.isEmpty
  }

  private static func on(_ frame: Int, _ key: UInt8, _ velocity: Float) -> (frame: Int, event: Event) {
    (frame, Event(.noteOn, key: key, value: velocity))
  }

  private static func off(_ frame: Int, _ key: UInt8) -> (frame: Int, event: Event) {
    (frame, Event(.noteOff, key: key, value: 64))
  }

  /// Presses and releases at random, all of which end.
  private static func playing(_ chance: inout Chance, _ frames: Int) -> [(frame: Int, event: Event)] {
    var events: [(frame: Int, event: Event)] = []
    var held: Set<UInt8> = []
    for frame in stride(from: 3, to: frames - 400, by: 37) {
      if Bool.random(using: &chance) || held.isEmpty {
        let key = UInt8.random(in: 30...100, using: &chance)
        held.insert(key)
        events.append(on(frame, key, Float.random(in: 1...127, using: &chance)))
      } else {
        let key = held.sorted().randomElement(using: &chance)!
        held.remove(key)
        events.append(off(frame, key))
      }
    }
    for key in held.sorted() { events.append(off(frames - 300, key)) }
    return events
  }

  @Test func chordsEndAsTheyBeganAndWhatIsSharedStays() {
    let bench = KernelBench(
      Chord.self, Chord.description, outputs: [],
      [Chord.notes: Self.numbers(Chord.description.parameters[0], "major")])
    bench.events = [Self.on(10, 60, 100), Self.on(20, 64, 50), Self.off(40, 60), Self.off(70, 64)]
    let minor = Self.numbers(Chord.description.parameters[0], "minor")
    for (element, value) in minor.enumerated() {
      bench.moves.append(.init(frame: 30, parameter: Chord.notes, element: element, value: value, over: 0))
    }
    _ = bench.run(128)
    #expect(
      Self.notes(bench) == [
        "10 on 60", "10 on 64", "10 on 67", "20 on 64", "20 on 68", "20 on 71", "40 off 60", "40 off 67",
        "70 off 64", "70 off 68", "70 off 71",
      ], "\(Self.notes(bench))")
    #expect(abs(bench.sentEvents[1].event.value - 80) < 1e-3 && bench.sentEvents[0].event.value == 100)
    var chance = Chance(3)
    for text in ["maj7", "0 0 12", "-5 3", "0 4 7 11 14 17 21 24"] {
      let bench = KernelBench(
        Chord.self, Chord.description, outputs: [],
        [Chord.notes: Self.numbers(Chord.description.parameters[0], text)])
      bench.events = Self.playing(&chance, 9600)
      _ = bench.run(9600)
      #expect(Self.isBalanced(bench.sentEvents.map(\.event)), "\(text)")
    }
    for text in ["majr", "0 x", "0 1 2 3 4 5 6 7 8", "0 200"] {
      #expect(Self.fault(Chord.description.parameters[0], text) != nil, "\(text)")
    }
  }

  /// A module's reset amid held notes, which songs and players send: not all that listens ends its notes by it.
  @Test(arguments: 1...6) func notesEndAfterAResetToo(seed: Int) {
    var chance = Chance(UInt64(seed))
    var events = Self.playing(&chance, 9600)
    for _ in 0..<5 { events.append((Int.random(in: 0..<9000, using: &chance), Event(.reset))) }
    events.sort { $0.frame < $1.frame }
    let chord = KernelBench(
      Chord.self, Chord.description, outputs: [],
      [Chord.notes: Self.numbers(Chord.description.parameters[0], "m7")])
    chord.events = events
    _ = chord.run(9600)
    let scale = KernelBench(
      ScaleNotes.self, ScaleNotes.description, outputs: [],
      [ScaleNotes.scale: Self.numbers(Degrees.scale, "blues")])
    scale.events = events
    _ = scale.run(9600)
    for sent in [chord.sentEvents, scale.sentEvents] {
      #expect(Self.isBalanced(sent.map(\.event)), "seed \(seed)")
      #expect(sent.filter { $0.event.kind == .reset }.count == 5)
    }
  }

  @Test func notesGoToTheScaleAndEndThere() {
    let major: Set<Int> = [0, 2, 4, 5, 7, 9, 11]
    for root in [0, 3] {
      let bench = KernelBench(
        ScaleNotes.self, ScaleNotes.description, outputs: [],
        [ScaleNotes.scale: Self.numbers(Degrees.scale, "major"), ScaleNotes.root: [Float(root)]])
      for key in 0..<127 {
        bench.events += [Self.on(key * 10, UInt8(key), 90), Self.off(key * 10 + 5, UInt8(key))]
      }
      _ = bench.run(1400)
      let on = bench.sentEvents.filter { $0.event.kind == .noteOn }
      for (frame, event) in on {
        let played = frame / 10
        #expect(major.contains((Int(event.key) - root + 120) % 12) && abs(Int(event.key) - played) <= 1)
      }
      #expect(on.count == 127 && Self.isBalanced(bench.sentEvents.map(\.event)))
    }
    var chance = Chance(8)
    let bench = KernelBench(
      ScaleNotes.self, ScaleNotes.description, outputs: [],
      [
        ScaleNotes.scale: Self.numbers(Degrees.scale, "0 4 7"), ScaleNotes.others: [1],
        ScaleNotes.transpose: [12],
      ])
    bench.events = Self.playing(&chance, 9600)
    bench.moves = [.init(frame: 3000, parameter: ScaleNotes.root, value: 5, over: 0)]
    _ = bench.run(9600)
    #expect(Self.isBalanced(bench.sentEvents.map(\.event)) && bench.sentEvents.count > 20)
  }

  /// No key is beyond the first and the last one: the scale's nearest is that on this side.
  @Test(arguments: ["0", "0 7", "0 2 4 7 9", "8 19", "3 31"], [0, 2, 7, 10])
  func atTheEndsOfTheKeyboardNotesStayInTheScale(scale: String, root: Int) {
    let numbers = Self.numbers(Degrees.scale, scale)
    let period = Int((numbers[1] * 12).rounded())
    let degrees = Set((0..<Int(numbers[0])).map { Int((numbers[2 + $0] * 12).rounded()) })
    let known = (0..<128).filter { degrees.contains((($0 - root) % period + period) % period) }
    for transpose in [0, 12, -5] {
      let bench = KernelBench(
        ScaleNotes.self, ScaleNotes.description, outputs: [],
        [
          ScaleNotes.scale: numbers, ScaleNotes.root: [Float(root)], ScaleNotes.transpose: [Float(transpose)],
        ])
      for key in 0..<128 {
        bench.events += [Self.on(key * 10, UInt8(key), 90), Self.off(key * 10 + 5, UInt8(key))]
      }
      _ = bench.run(1400)
      var heard: [Int: Int] = [:]
      for (frame, event) in bench.sentEvents where event.kind == .noteOn {
        heard[frame / 10] = Int(event.key)
      }
      for key in 0..<128 {
        let nearest = known.min { (abs($0 - key), $0) < (abs($1 - key), $1) }!
        let wanted = nearest + transpose
        #expect(
          heard[key] == ((0..<128).contains(wanted) ? wanted : nil),
          "\(scale) on \(root), \(transpose): key \(key)")
      }
    }
  }

  @Test func velocitiesAreInTheirRange() {
    func velocities(_ values: [Int: [Float]]) -> [Float] {
      let bench = KernelBench(Velocity.self, Velocity.description, outputs: [], values)
      for velocity in 1...127 { bench.events.append(Self.on(velocity, 60, Float(velocity))) }
      _ = bench.run(128)
      return bench.sentEvents.map(\.event.value)
    }
    let plain = velocities([:])
    #expect(zip(plain, 1...127).allSatisfy { abs($0 - Float($1)) < 1e-3 })
    let narrow = velocities([Velocity.low: [40], Velocity.high: [80], Velocity.curve: [60]])
    #expect(abs(narrow[0] - 40) < 1e-3 && abs(narrow[126] - 80) < 1e-3 && narrow[63] > 62)
    #expect(velocities([Velocity.low: [99], Velocity.high: [99]]).allSatisfy { $0 == 99 })
    let random = velocities([Velocity.low: [64], Velocity.high: [64], Velocity.random: [20]])
    #expect(random.allSatisfy { abs($0 - 64) <= 25.5 } && random.max()! > 80 && random.min()! < 48)
  }

  /// Controller 121 lets the pedal go, as all that plays notes has it.
  @Test(arguments: [0, 3]) func aResetOfControllersReleasesThePedal(order: Float) {
    let clock = (0..<640).map { Float($0 % 64 < 30 ? 1 : 0) }
    let bench = KernelBench(
      Arpeggiator.self, Arpeggiator.description, inputs: [[clock], [[]]], outputs: [],
      [Arpeggiator.order: [order]])
    bench.events = [
      Self.on(0, 60, 100), (10, Event(.control, key: 64, value: 127)), Self.off(100, 60),
      (300, Event(.control, key: 121)),
    ]
    _ = bench.run(640)
    let on = bench.sentEvents.filter { $0.event.kind == .noteOn }
    #expect(on.map(\.frame) == [0, 64, 128, 192, 256] && Self.isBalanced(bench.sentEvents.map(\.event)))
    #expect(bench.sentEvents.contains { $0.event.kind == .control && $0.event.key == 121 && $0.frame == 300 })
  }

  /// Message 123 lifts the keys; the pedal holds the arpeggio.
  @Test func thePedalHoldsAnArpeggioAgainstMessage123() {
    let clock = (0..<640).map { Float($0 % 64 < 30 ? 1 : 0) }
    let bench = KernelBench(
      Arpeggiator.self, Arpeggiator.description, inputs: [[clock], [[]]], outputs: [], [:])
    bench.events = [
      Self.on(0, 60, 100), (10, Event(.control, key: 64, value: 127)), (100, Event(.control, key: 123)),
      (300, Event(.control, key: 64, value: 0)),
    ]
    _ = bench.run(640)
    let on = bench.sentEvents.filter { $0.event.kind == .noteOn }
    #expect(on.map(\.frame) == [0, 64, 128, 192, 256] && Self.isBalanced(bench.sentEvents.map(\.event)))
  }

  @Test func heldNotesAreArpeggiated() {
    let clock = (0..<64_000).map { Float($0 % 64 < 30 ? 1 : 0) }
    func keys(_ order: Float, _ octaves: Float = 1, _ frames: Int = 64 * 9) -> [UInt8] {
      let bench = KernelBench(
        Arpeggiator.self, Arpeggiator.description, inputs: [[clock], [[]]], outputs: [],
        [Arpeggiator.order: [order], Arpeggiator.octaves: [octaves]])
      for key in [67, 60, 64] as [UInt8] { bench.events.append(Self.on(0, key, 100)) }
      for key in [67, 60, 64] as [UInt8] { bench.events.append(Self.off(frames - 70, key)) }
      _ = bench.run(frames)
      let on = bench.sentEvents.filter { $0.event.kind == .noteOn }
      #expect(on.map(\.frame) == on.indices.map { $0 * 64 }, "\(on.map(\.frame))")
      #expect(Self.isBalanced(bench.sentEvents.map(\.event)))
      return on.map(\.event.key)
    }
    #expect(keys(0).prefix(7) == [60, 64, 67, 60, 64, 67, 60])
    #expect(keys(1).prefix(4) == [67, 64, 60, 67])
    #expect(keys(2).prefix(6) == [60, 64, 67, 64, 60, 64])
    #expect(keys(3).prefix(4) == [67, 60, 64, 67])
    #expect(keys(0, 2).prefix(7) == [60, 64, 67, 72, 76, 79, 60])
    #expect(Set(keys(4, 1, 64 * 60)) == [60, 64, 67])
    var chance = Chance(5)
    let bench = KernelBench(
      Arpeggiator.self, Arpeggiator.description, inputs: [[], [[]]], outputs: [],
      [Arpeggiator.note: [0], Arpeggiator.rate: [800], Arpeggiator.order: [4], Arpeggiator.octaves: [3]])
    bench.events = Self.playing(&chance, 9600)
    _ = bench.run(9600)
    #expect(Self.isBalanced(bench.sentEvents.map(\.event)) && bench.sentEvents.count > 100)
  }

  // MARK: Formulas

  private func value(_ formula: String, _ a: Float, _ b: Float, _ x: Float = 0) -> Float? {
    let code = Self.numbers(Expr.description.parameters[Expr.formula], formula)
    guard !code.isEmpty else { return nil }
    let out = KernelBench(
      Expr.self, Expr.description,
      inputs: [[[Float](repeating: a, count: 64)], [[Float](repeating: b, count: 64)], [], []],
      outputs: [1], [Expr.formula: code, Expr.x: [x]]
    ).run(64)[0][0]
    #expect(out.allSatisfy { $0 == out[0] })
    return out[0]
  }

  @Test func formulasAreTheirFormulas() {
    var chance = Chance(77)
    func near(_ formula: String, _ a: Float, _ b: Float, _ expected: Double) {
      let found = value(formula, a, b, 0.5)
      let allowed = 3e-6 * max(1, abs(expected))
      #expect(
        found.map { abs(Double($0) - expected) <= allowed } == true,
        "\(formula) of \(a), \(b): \(found ?? .nan) in place of \(expected)")
    }
    for _ in 0..<60 {
      let (p, q) = (Float.random(in: -9...9, using: &chance), Float.random(in: -5...5, using: &chance))
      let (a, b) = (Double(p), Double(q))
      near("a + b * 2 - 3", p, q, a + b * 2 - 3)
      near("(a + b) * 2 / 4", p, q, (a + b) * 2 / 4)
      near("-a^2", p, q, -a * a)
      near("sin(a)*b", p, q, sin(a) * b)
      near("cos(a) + tanh(b)", p, q, cos(a) + tanh(b))
      near("sin(a * 100000)", p, q, sin(Double(p * 100_000)))
      near("cos(a * 100000)", p, q, cos(Double(p * 100_000)))
      near("exp(b) - 1", p, q, exp(b) - 1)
      near("log(abs(a)) + log2(abs(b) + 1)", p, q, log(abs(a)) + log2(abs(b) + 1))
      near("log10(abs(a)+1)", p, q, log10(abs(a) + 1))
      near("sqrt(abs(a)) % 1", p, q, sqrt(abs(a)).truncatingRemainder(dividingBy: 1))
      near("a > b ? a : b", p, q, max(a, b))
      near("min(a, b) + max(a, 2)", p, q, min(a, b) + max(a, 2))
      near("clip(a, -1, 1) + mix(a, b, x)", p, q, min(max(a, -1), 1) + (a + b) / 2)
      near("floor(a) + ceil(b) * 10 + round(a)", p, q, floor(a) + ceil(b) * 10 + floor(a + 0.5))
      near("frac(a) + sign(b)", p, q, a - floor(a) + (b > 0 ? 1 : -1))
      near("(a < b) + (a >= b) * 2 + (a == a) * 4 + (a != b) * 8", p, q, (a < b ? 1 : 2) + 4 + 8)
      near("a > 0 == b > 0", p, q, (a > 0) == (b > 0) ? 1 : 0)
      near("a < b != 0 >= b", p, q, (a < b) != (0 >= b) ? 1 : 0)
      near(
        "(a > 0 && b > 0) + 2 * (a > 0 || b > 0) + 4 * !a", p, q,
        (a > 0 && b > 0 ? 1 : 0) + (a > 0 || b > 0 ? 2 : 0) + (a > 0 ? 0 : 4))
      near("pow(abs(a), 1.5) + 2^-b", p, q, pow(abs(a), 1.5) + pow(2, -b))
      near("oct(b / 12) * db(-6)", p, q, pow(2, b / 12) * pow(10, -0.3))
      near("a - b - 1 - 2^3^0.5", p, q, a - b - 1 - pow(2, pow(3, 0.5)))
      near("1e1 + .5 * pi", p, q, 10 + Double(Float.pi) / 2)
    }
    near("(0-2)^3", 0, 0, -8)
    near("0 ^ 0", 0, 0, 1)
    // What is no number is 0.
    near("a / 0", 0, 0, 0)
    near("a / 0", 1, 0, 0)
    near("rate", 0, 0, 48_000)
  }

  @Test func aFaultInAFormulaHasItsPlace() {
    let formula = Expr.description.parameters[Expr.formula]
    for (text, column) in [
      ("", 1), ("a +", 4), ("a b", 3), ("sin(a", 6), ("sin a", 5), ("foo(a)", 1), ("a + 1.2.3", 5),
      ("min(a)", 6),
      ("(a", 3), ("a ? b", 6), ("a $ b", 3), ("3 * )", 5),
    ] {
      #expect(
        Self.fault(formula, text)?.column == column,
        "`\(text)`: \(String(describing: Self.fault(formula, text)))")
    }
    #expect(Self.fault(formula, String(repeating: "(", count: 2000)) != nil)
    #expect(Self.fault(formula, String(repeating: "-", count: 2000) + "a") != nil)
    #expect(
      Self.fault(formula, (0..<30).map { _ in "(a+1)*(" }.joined() + "a" + String(repeating: ")", count: 30))
        != nil)
    #expect(Self.fault(formula, String(repeating: "a+", count: 400) + "a") != nil)
  }

  /// Random texts are refused or run, and never end the program.
  @Test func anyTextIsReadOrRefused() {
    var chance = Chance(1)
    let pieces = [
      "a", "b", "x", "(", ")", "+", "-", "*", "sin(", "2", ".", "?", ":", ",", "min(", "^", "<", "=", " ",
      "é", "1e", "!",
    ]
    var read = 0
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 1...9, using: &chance)).map { _ in pieces.randomElement(using: &chance)!
      }.joined()
      if Self.fault(Expr.description.parameters[Expr.formula], text) == nil {
        read += 1
        if read % 20 == 0 { #expect(value(text, 0.3, -2)?.isFinite == true) }
      }
      _ = Self.fault(Pattern.steps, text)
      _ = Self.fault(Degrees.scale, text)
    }
    #expect(read > 300)
  }

  // MARK: Looking

  @Test(arguments: [8000.0, 48_000, 192_000]) func metersTellTheLevel(rate: Double) {
    let sine = (0..<Int(rate)).map { Float(0.5 * sin(2 * Double.pi * 997 * Double($0) / rate)) }
    let silence = [Float](repeating: 0, count: Int(rate))
    let bench = KernelBench(
      Meter.self, Meter.description, inputs: [[silence, sine]], outputs: [2], rate: rate)
    let out = bench.run(Int(rate))[0]
    #expect(out == [silence, sine])
    #expect(abs(bench.kernel.reading(0) + 6.02) < 0.1 && abs(bench.kernel.reading(2) + 6.02) < 0.1)
    #expect(abs(bench.kernel.reading(1) + 9.03) < 0.6)
    _ = bench.run(Int(rate))
    #expect(abs(bench.kernel.reading(0) + 26) < 0.5 && abs(bench.kernel.reading(2) + 6.02) < 0.1)
  }

  /// A sine of 1 kHz at -23 dB on both of two channels has -23 LUFS (EBU Tech 3341).
  @Test(arguments: [32_000.0, 44_100, 48_000, 192_000]) func loudnessIsThatOfTheRecommendation(rate: Double) {
    let level = pow(10, -23.0 / 20)
    let sine = (0..<Int(rate * 4)).map { Float(level * sin(2 * Double.pi * 1000 * Double($0) / rate)) }
    let bench = KernelBench(
      Loudness.self, Loudness.description, inputs: [[sine, sine], []], outputs: [2], rate: rate)
    let out = bench.run(sine.count)[0]
    #expect(out == [sine, sine])
    #expect(abs(bench.kernel.reading(0) + 23) < 0.1, "\(bench.kernel.reading(0))")
    #expect(abs(bench.kernel.reading(1) + 23) < 0.1, "\(bench.kernel.reading(1))")
  }
}

extension SplitTests {
  private func steps(_ text: String) -> [Float] { Pattern.steps.engineValues(of: .text(text)) }

  @Test(arguments: [Float(0), 7, 18], [0, 1]) func sequencer(note: Float, clocks: Int) {
    func bench() -> KernelBench<Sequencer> {
      var chance = Chance(3)
      let bench = KernelBench(
        Sequencer.self, Sequencer.description,
        inputs: [
          (0..<clocks).map { _ in chance.gate(2500, longest: 90) }, [chance.gate(2500, longest: 900)],
        ],
        outputs: [1, 1, 1],
        [
          Sequencer.steps: steps("C4 ~ E4?50 . x X ~ ~ D4"), Sequencer.note: [note], Sequencer.rate: [700],
          Sequencer.swing: [60],
        ])
      var transport = Transport(rate: 48_000)
      transport.apply(.tempo(900), at: 0)
      bench.transport = transport
      bench.time = 21
      bench.changes = [(700, .halt), (900, .roll), (1300, .locate(bar: 3, beat: 0.1))]
      bench.moves = [
        .init(frame: 300, parameter: Sequencer.transpose, value: 12, over: 300),
        .init(frame: 500, parameter: Sequencer.order, value: 2, over: 0),
        .init(frame: 1500, parameter: Sequencer.chance, value: 40, over: 300),
      ]
      return bench
    }
    let whole = bench()
    let expected = whole.run(2500)
    #expect(whole.sentEvents.count > 2)
    for lengths in [[1], [17], [5, 64, 30]] {
      let other = bench()
      #expect(firstDifference(expected, other.run(2500, .init(lengths: lengths))) == nil, "split \(lengths)")
      #expect(
        whole.sentEvents.elementsEqual(other.sentEvents) {
          $0.frame == $1.frame && $0.event.key == $1.event.key
        })
    }
  }

  @Test(arguments: [1, 3]) func quantizerAndExpr(channels: Int) {
    expectSameBits(
      Quantizer.self, Quantizer.description, inputs: [signals(channels)], outputs: [channels, channels],
      [Quantizer.scale: Degrees.scale.engineValues(of: .text("minor"))],
      modulation: [Quantizer.transpose: [wobble(3)]],
      moves: [.init(frame: 300, parameter: Quantizer.root, value: 5, over: 0)])
    let code = Expr.description.parameters[0].engineValues(
      of: .text("sin(a * 3 + x) * b + (c > 0 ? d : y % 2)"))
    expectSameBits(
      Expr.self, Expr.description, inputs: [signals(channels), signals(2, 5), signals(1, 7), []],
      outputs: [channels], [Expr.formula: code], modulation: [Expr.x: [wobble(2)]],
      moves: [.init(frame: 300, parameter: Expr.x + 1, value: 5, over: 300)])
  }
}
