import Processors
import Realtime
import Testing

/// Signals and clock of the transport, frame by frame.
struct TransportSourceTests {
  private static func bench(
    _ changes: [(frame: Int, change: TransportChange)] = [], rate: Double = 48000
  ) -> KernelBench<TransportSource> {
    let bench = KernelBench(
      TransportSource.self, TransportSource.description, outputs: [1, 1, 1], rate: rate)
    bench.transport = Transport(rate: rate)
    bench.changes = changes
    return bench
  }

  private static func words(_ events: [(frame: Int, event: Event)]) -> [String] {
    events.map { frame, event in
      switch event.key {
      case 0x8: "\(frame) clock"
      case 0xA: "\(frame) start"
      case 0xB: "\(frame) continue"
      case 0xC: "\(frame) stop"
      case 0x2: "\(frame) position \(event.detail)"
      default: "\(frame) ?"
      }
    }
  }

  @Test func theClockStartsContinuesAndStopsAtItsFrames() {
    // 120 beats a minute: 24000 frames a beat, 1000 a clock, 6000 a sixteenth.
    let bench = Self.bench([
      (2500, .halt), (3000, .roll), (9100, .locate(bar: 2, beat: 1)), (10_200, .halt),
      (10_300, .locate(bar: 1, beat: 0)), (10_400, .roll),
    ])
    _ = bench.run(11_000)
    #expect(
      Self.words(bench.sentEvents) == [
        "0 start", "0 clock", "1000 clock", "2000 clock", "2500 stop",
        // The next sixteenth is the first place that receivers can find.
        "3000 position 1", "6500 continue", "6500 clock", "7500 clock", "8500 clock",
        "9100 stop", "9100 position 20", "9100 continue", "9100 clock", "10100 clock", "10200 stop",
        "10300 position 0", "10400 start", "10400 clock",
      ])
  }

  @Test func signalsTurnAtTheFrameOfTheBeatAndTheBar() {
    let bench = Self.bench([(0, .meter(beats: 3, unit: 4)), (100_000, .halt)])
    let outputs = bench.run(120_000)
    let (run, beat, bar) = (outputs[0][0], outputs[1][0], outputs[2][0])
    for frame in 0..<120_000 {
      let place = Double(min(frame, 100_000)) / 24_000
      #expect(run[frame] == (frame < 100_000 ? 1 : 0))
      #expect(abs(Double(beat[frame]) - (place - place.rounded(.down))) < 1e-6)
      let part = place / 3
      #expect(abs(Double(bar[frame]) - (part - part.rounded(.down))) < 1e-6)
      if abs(Double(bar[frame]) - (part - part.rounded(.down))) >= 1e-6 { break }
    }
    #expect(beat[24_000] == 0 && beat[23_999] > 0.999 && bar[72_000] == 0 && bar[71_999] > 0.999)
  }

  private static func changes(_ random: inout Chance, _ frames: Int) -> [(
    frame: Int, change: TransportChange
  )] {
    (0..<40).map { _ in
      let change: TransportChange =
        switch Int.random(in: 0..<9, using: &random) {
        case 0...2: .tempo(Double.random(in: 5...999, using: &random))
        case 3:
          .meter(
            beats: Int32.random(in: 1...9, using: &random), unit: [2, 4, 8].randomElement(using: &random)!)
        case 4: .halt
        case 5: .locate(bar: Int32.random(in: 1...2000, using: &random), beat: 2)
        case 6: .seek(seconds: Double.random(in: 0...100, using: &random))
        default: .roll
        }
      return (Int.random(in: 0..<frames, using: &random), change)
    }
  }

  /// What a receiver counts is where the transport is: no clock is lost or doubled by blocks, tempos, meters and jumps.
  @Test(arguments: 0..<24)
  func aReceiverIsWhereTheTransportIs(seed: UInt64) {
    var random = Chance(seed)
    let (frames, rate) = (60_000, [8000.0, 44_100, 48_000, 96_000].randomElement(using: &random)!)
    let bench = Self.bench(Self.changes(&random, frames), rate: rate)
    _ = bench.run(frames, .init(lengths: random.lengths()))
    // The transport again, frame by frame.
    var transport = Transport(rate: rate)
    let changes = bench.changes.enumerated().sorted {
      ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset)
    }
    .map(\.element)
    var (nextChange, nextEvent) = (0, 0)
    var (clock, isPlaying): (Int?, Bool) = (nil, false)
    for frame in 0..<frames {
      while nextChange < changes.count, changes[nextChange].frame == frame {
        transport.apply(changes[nextChange].change, at: Int64(frame))
        nextChange += 1
      }
      while nextEvent < bench.sentEvents.count, bench.sentEvents[nextEvent].frame == frame {
        let event = bench.sentEvents[nextEvent].event
        nextEvent += 1
        switch event.key {
        case 0xA: (clock, isPlaying) = (-1, true)
        case 0x2:
          #expect(!isPlaying, "a position while it plays")
          clock = Int(event.detail) * 6 - 1
        case 0xB:
          #expect(clock != nil)
          isPlaying = true
        case 0xC: isPlaying = false
        case 0x8:
          #expect(isPlaying)
          clock = (clock ?? 0) + 1
        default: Issue.record("an unknown event")
        }
      }
      guard isPlaying, let clock else { continue }
      #expect(transport.isRolling)
      // The first frame at or behind the clock.
      let place = transport.quarters(at: Int64(frame)) * 24
      let isRight = clock == Int((place + 1e-6).rounded(.down)) || abs(place - place.rounded()) < 1e-5
      #expect(isRight, "seed \(seed), frame \(frame): clock \(clock) at \(place)")
      if !isRight || transport.quarters(at: Int64(frame)) > 4000 { return }
    }
  }

  @Test(arguments: 0..<8)
  func anySplitGivesTheSameBitsAndEvents(seed: UInt64) {
    var random = Chance(seed)
    let changes = Self.changes(&random, 12_000)
    let whole = Self.bench(changes)
    let expected = whole.run(12_000)
    for lengths in [[1], [17], [5, 64, 30], random.lengths(), random.lengths()] {
      let split = Self.bench(changes)
      #expect(split.run(12_000, .init(lengths: lengths)) == expected)
      #expect(Self.words(split.sentEvents) == Self.words(whole.sentEvents))
    }
  }
}
