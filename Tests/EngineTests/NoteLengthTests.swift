import Patch
import Realtime
import TestSupport
import Testing

@testable import Engine

/// Values that are lengths of notes follow the tempo that is in force, while sound goes on.
@Suite struct NoteLengthTests {
  private static let patch = """
    tempo 90
    node hit noise level=-20dB
    node echo delay time=1/8d mix=60% feedback=40%
    node wave lfo rate=1.5
    node level gain gain=-6dB
    node chorus chorus rate=1/2t delay=10ms
    node tone oscillator freq=300Hz channels=2
    node fall slew rise=1/16
    node out output channels=4
    connect hit -> echo
    connect echo -> level
    connect wave -> level.gain gain=-12dB
    connect level -> out map=[0,-1,-1,-1]
    connect tone -> chorus
    connect chorus -> out map=[-1,0,1,-1]
    connect wave -> fall
    connect fall -> out map=[-1,-1,-1,0]

    """

  /// A patch whose values are notes sounds as one in which they are typed as what they are, through changes of tempo.
  @Test(arguments: manyLawSeeds)
  func aNoteIsTheTimeThatItHasAtTheTempo(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rate = [8000.0, 44_100, 48_000, 192_000].randomElement(using: &random)!
    let period = [1, 37, 64, 1024].randomElement(using: &random)!
    let threads = [1, 3].randomElement(using: &random)!
    let (notes, typed) = (
      Bench(rate: rate, period: period, channels: 4, threads: threads), Bench(rate: rate, channels: 4)
    )
    try notes.begin(Self.patch)
    var tempo = 90.0
    /// What the notes are, as settings of the other patch.
    func values(_ time: String, _ sweep: String) -> String {
      let whole = 240 / tempo
      func seconds(_ note: String) -> Double {
        guard case .number(let length, .notes)? = Value(number: note) else { return 0 }
        return length * whole
      }
      return """
        set echo.time \(seconds(time)) ; set chorus.rate \(1 / seconds(sweep)) ; \
        set fall.rise \(seconds("1/16"))
        """
    }
    var (time, sweep) = ("1/8d", "1/2t")
    var first = Self.patch
    for (note, value) in [
      ("time=1/8d", "time=0.5"), ("rate=1/2t", "rate=\(1.5 * 0.75)"),
      ("rise=1/16", "rise=\(1.0 / 6)"),
    ] {
      first = first.replacing(note, with: value)
    }
    try typed.begin(first)
    for _ in 0..<6 {
      let frames = Int.random(in: 1...Int(rate / 8), using: &random)
      notes.render(frames)
      typed.render(frames)
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        tempo = Double(Int.random(in: 50...200, using: &random))
        notes.perform("tempo \(tempo)")
        typed.perform("tempo \(tempo) ; " + values(time, sweep))
      case 1:
        time = ["1/4", "1/16d", "1/8t", "3/8"].randomElement(using: &random)!
        notes.perform("set echo.time \(time)")
        typed.perform(values(time, sweep))
      default:
        sweep = ["1/2", "1/8", "1/4d"].randomElement(using: &random)!
        tempo = Double(Int.random(in: 50...200, using: &random))
        notes.perform("set chorus.rate \(sweep) ; tempo \(tempo)")
        typed.perform("tempo \(tempo) ; " + values(time, sweep))
      }
    }
    notes.render(3000)
    typed.render(3000)
    for channel in 0..<4 {
      let difference = firstDifference(notes.heard[channel], typed.heard[channel])
      #expect(
        difference == nil,
        "channel \(channel): \(difference ?? ""), \(rate) Hz, period \(period), \(threads) threads")
    }
    #expect(notes.heard[0].contains { abs($0) > 0.001 })
  }

  /// The echo's time counts in frames, at the tempo of a program that leads the transport, too.
  @Test(arguments: [8000.0, 48_000, 96_000])
  func aDelayInNotesHasTheTempoOfWhoeverLeads(rate: Double) throws {
    let bench = Bench(rate: rate, channels: 1)
    try bench.begin(
      """
      tempo 100
      node one constant
      node echo delay time=1/4 mix=100% feedback=0%
      node out output channels=1
      connect one -> echo
      connect echo -> out
      """)
    func delay() -> Float? {
      bench.engine.graph.current.values.first { $0.name == "echo" }?.slot.pointee.parameters[0].target(0)
    }
    bench.render(640)
    #expect(delay() == 0.6)
    bench.perform("tempo 50")
    bench.render(64)
    #expect(delay() == 1.2)
    // Beyond the range it is held.
    bench.perform("set echo.time 4/1")
    bench.render(64)
    #expect(delay() == 4)
    bench.perform("undo")
    bench.perform("tempo 150")
    bench.render(64)
    #expect(delay() == 0.4)
    bench.perform("set echo.time 400ms")
    bench.perform("tempo 75")
    bench.render(64)
    #expect(delay() == 0.4)
    bench.perform("set echo.time 1/4")
    bench.render(64)
    #expect(delay() == 0.8)
  }

  /// Nodes with notes come and go, and come back at another tempo.
  @Test func aNodeThatComesBackHasThePresentTempo() throws {
    let bench = Bench(channels: 1)
    try bench.begin(
      """
      node tone oscillator
      node echo delay time=1/4
      node out output channels=1
      connect tone -> echo
      connect echo -> out
      """)
    bench.render(1000)
    for frames in [10, 5000] {
      #expect(bench.perform("remove echo"))
      bench.render(frames)
      #expect(bench.attempt("undo ; tempo 60") || bench.attempt("undo"))
      #expect(bench.perform("tempo 60"))
      bench.render(frames)
      let echo = bench.engine.graph.current.values.first { $0.name == "echo" }
      #expect(echo?.slot.pointee.parameters[0].target(0) == 1)
      #expect(bench.perform("tempo 120"))
      bench.render(10)
    }
    bench.settle()
  }

  /// A wave in notes is in phase with the beat from its first frame on, and again soon after a change of tempo, rate or place.
  @Test(arguments: [("1/4", 1.0), ("1/2", 2), ("1/8t", 1.0 / 3)])
  func aWaveInNotesIsInPhaseWithTheTransport(rate: String, beats: Double) throws {
    for period in [64, 37] {
      let bench = Bench(period: period, channels: 2)
      try bench.begin(
        """
        tempo 90
        node clock transport
        node wave lfo shape=up rate=3Hz
        node out output channels=2
        connect clock.beat -> out map=[0,-1]
        connect wave -> out map=[-1,0]
        """)
      /// Largest distance of the wave from the beat in the latest frames, in cycles.
      func distance() -> Double {
        let (end, first) = (bench.heard[0].count, bench.heard[0].count - 1000)
        return (first..<end).reduce(0.0) { most, frame in
          let transport = bench.engine.renderer.transport
          let cycles = transport.beats(at: Int64(frame)) / beats
          let away = Double(bench.heard[1][frame] + 1) / 2 - cycles
          return max(most, abs(away - away.rounded()))
        }
      }
      bench.render(7000)
      #expect(distance() > 0.01)
      #expect(bench.perform("set wave.rate \(rate)"))
      bench.render(96_000)
      #expect(distance() < 2e-4, "\(distance())")
      #expect(bench.perform("tempo 133"))
      bench.render(96_000)
      #expect(distance() < 2e-4, "\(distance())")
      #expect(
        bench.perform(
          "node other lfo shape=up rate=\(rate) ; disconnect wave -> out ; connect other -> out map=[-1,0]"))
      bench.render(3000)
      #expect(distance() < 2e-4, "\(distance())")
      // In hertz it goes on by itself.
      #expect(bench.perform("set other.rate 2.9Hz"))
      bench.render(48_000)
      #expect(bench.heard[1].suffix(20_000).contains { $0 > 0.9 })
      let steps = zip(bench.heard[1].suffix(40_000), bench.heard[1].suffix(39_999)).map { $1 - $0 }.filter {
        $0 > 0
      }
      #expect(steps.allSatisfy { abs(Double($0) - 2 * 2.9 / 48_000) < 2e-6 })
    }
  }
}
