import Realtime
import Testing

/// A MIDI clock that comes in moves a transport: tempos, jitter, periods and rates at random.
@Suite struct MidiClockTests {
  /// A sender, the clock's follower and the transport that it moves, period by period.
  private struct Rig {
    var clock = MidiClock()
    var transport: Transport
    let period: Int
    let inputs: UnsafeMutablePointer<MidiInput>
    var now: Int64 = 0
    /// Messages to come, by their frames.
    var messages: [(frame: Double, key: UInt8, detail: Int32)] = []
    var port = 3
    /// Changes of the transport.
    var changes = 0

    init(rate: Double, period: Int, tempo: Double = 120) {
      transport = Transport(rate: rate)
      transport.apply(.tempo(tempo), at: 0)
      self.period = period
      inputs = .allocate(capacity: MidiInput.ports)
      for port in 0..<MidiInput.ports { (inputs + port).initialize(to: MidiInput(generation: 1)) }
    }

    func free() {
      for port in 0..<MidiInput.ports { inputs[port].deallocate() }
      inputs.deallocate()
    }

    /// Renders until a frame. `look` gets the transport at the first frame of each period.
    mutating func run(until end: Double, look: (Transport, Int64) -> Void = { _, _ in }) {
      while Double(now) < end {
        let next = Double(now) + Double(period)
        while let message = messages.first, message.frame < next {
          let offset = Int32(max(0, min(message.frame - Double(now), Double(period - 1))))
          inputs[port].append(Event(.system, key: message.key, offset: offset, detail: message.detail))
          messages.removeFirst()
        }
        if let input = clock.follow(inputs, frames: period, transport: transport, at: now),
          transport.follow(input, at: now + Int64(input.offset))
        {
          changes += 1
        }
        for port in 0..<MidiInput.ports { inputs[port].removeAll() }
        now += Int64(period)
        look(transport, now)
      }
    }

    mutating func send(_ key: UInt8, _ detail: Int32 = 0, at frame: Double) {
      messages.append((frame, key, detail))
    }

    /// Ticks with jitter, each later by up to that many frames. Returns the frame of the next one.
    mutating func tick(
      _ count: Int, from start: Double, every length: Double, jitter: Double = 0,
      random: inout SeededGenerator
    ) -> Double {
      for number in 0..<count {
        let late = jitter > 0 ? Double.random(in: 0...jitter, using: &random) : 0
        messages.append((start + Double(number) * length + late, 0x8, 0))
      }
      messages.sort { $0.frame < $1.frame }
      return start + Double(count) * length
    }

    var tempo: Double { transport.pulse.tempo * transport.pulse.quarters }
  }

  @Test(arguments: 0..<60) func anyTempoIsLockedWithinFourBeatsAndThePlaceStaysWithTheTicks(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let rate = [8000.0, 44100, 48000, 96000, 192_000].randomElement(using: &random)!
    let period = [8, 16, 64, 100, 256, 1024].randomElement(using: &random)!
    let tempo = Double.random(in: 30...300, using: &random)
    let length = 60 * rate / (24 * tempo)
    // Up to 2 ms and a fifth of a tick, besides what a frame is.
    let jitter = Double.random(in: 0...min(0.002 * rate, 0.2 * length), using: &random)
    let share = (jitter + 1) / length
    var rig = Rig(rate: rate, period: period, tempo: .random(in: 30...300, using: &random))
    defer { rig.free() }
    if Bool.random(using: &random) { rig.transport.apply(.meter(beats: 6, unit: 8), at: 0) }
    let start = Double.random(in: 0...rate, using: &random).rounded()
    rig.send(0xA, at: start)
    let end = rig.tick(24 * 24, from: start, every: length, jitter: jitter, random: &random)
    rig.run(until: start + 4 * 24 * length)
    #expect(rig.clock.state == .whole && rig.transport.isRolling && rig.transport.isLed)
    #expect(abs(rig.tempo / tempo - 1) < 0.004 + 0.2 * share, "\(rig.tempo), not \(tempo)")
    let jumps = rig.transport.jumps
    var (worst, last, farthest) = (0.0, 0.0, 0.0)
    rig.run(until: start + 8 * 24 * length)
    rig.run(until: end - length) { transport, now in
      // Ticks come half of the jitter late, in the mean.
      let wanted = (Double(now) - start - jitter / 2) / length / 24
      let quarters = transport.quarters(at: now)
      farthest = max(farthest, abs(quarters - wanted))
      worst = max(worst, abs(transport.pulse.tempo * transport.pulse.quarters / tempo - 1))
      #expect(quarters >= last)
      last = quarters
    }
    #expect(farthest * 24 < 0.3 * share + 0.02, "\(farthest * 24) ticks")
    #expect(worst < 0.001 + 0.05 * share, "\(worst)")
    #expect(rig.transport.jumps == jumps)
  }

  @Test func itBeginsStopsGoesOnAndIsMovedAtTheFramesOfTheMessages() {
    var random = SeededGenerator(seed: 1)
    var rig = Rig(rate: 48000, period: 256)
    defer { rig.free() }
    // 125 beats a minute: 960 frames a tick. Ticks alone give the tempo, and leave the rest.
    _ = rig.tick(1000, from: 100, every: 960, random: &random)
    rig.run(until: 48_000)
    #expect(rig.clock.state == .tempo && abs(rig.tempo - 125) < 0.2 && rig.transport.isRolling)
    // Each tick is one, if not that of the piece.
    let ticks = rig.transport.quarters(at: 100 + 960 * 40) * 24
    #expect(abs(ticks - ticks.rounded()) < 0.15)
    rig.send(0xA, at: 100 + 960 * 60 - 50)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: 100 + 960 * 61)
    #expect(abs(rig.transport.quarters(at: 100 + 960 * 60)) < 1e-9, "\(rig.transport)")
    // 48 ticks later, a stop between two.
    let stop = 100.0 + 960 * 107 + 500
    rig.send(0xC, at: stop)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: stop + 20_000)
    #expect(!rig.transport.isRolling)
    #expect(abs(rig.transport.quarters(at: rig.now) * 24 - 47.5) < 0.1)
    // The 48th tick comes first when it goes on.
    let on = 100.0 + 960 * 150
    rig.send(0xB, at: on - 3)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: on + 900)
    #expect(rig.transport.isRolling && abs(rig.transport.quarters(at: Int64(on)) - 2) < 1e-9)
    // Bar 5 is 16 quarters: the 64th sixteenth.
    let move = 100.0 + 960 * 200
    rig.send(0xC, at: move)
    rig.send(0x2, 64, at: move + 5)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: move + 5000)
    #expect(rig.transport.place(at: rig.now) == (5, 0) && !rig.transport.isRolling)
    rig.send(0xB, at: move + 960 * 20 - 1)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: move + 960 * 24)
    #expect(abs(rig.transport.quarters(at: Int64(move) + 960 * 20) - 16) < 1e-9)
    #expect(rig.transport.isRolling)
  }

  /// Senders of ticks that have never said where they are, as when they were under way before: `continue` goes on from where
  /// `stop` came, and no `start` of long ago is gone back to.
  @Test func itGoesOnWhereItStoodWhenTheClockHasNotSaidItsPlace() {
    var random = SeededGenerator(seed: 5)
    var rig = Rig(rate: 48000, period: 256)
    defer { rig.free() }
    // 125 beats a minute: 960 frames a tick.
    let end = rig.tick(480, from: 100, every: 960, random: &random)
    rig.send(0xC, at: 100 + 960 * 100 + 480)
    rig.send(0xB, at: 100 + 960 * 150 - 100)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: 100 + 960 * 140)
    #expect(rig.clock.state == .whole && !rig.transport.isRolling)
    let place = rig.transport.quarters(at: rig.now) * 24
    #expect(abs(place - 100) < 10, "\(place)")
    rig.run(until: 100 + 960 * 200)
    let later = rig.transport.quarters(at: 100 + 960 * 190) * 24
    #expect(
      rig.transport.isRolling && later - place - 40 > -0.1 && later - place - 40 < 1.1, "\(later), \(place)")
    // The ticks stay away and come back; then a stop, a pause without ticks, and `continue`.
    rig.run(until: end + 100_000)
    let again = rig.tick(96, from: end + 100_000, every: 960, random: &random)
    rig.send(0xC, at: again - 100)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: again + 60_000)
    let stood = rig.transport.quarters(at: rig.now) * 24
    #expect(!rig.transport.isRolling && stood > later + 300, "\(stood), \(later)")
    let last = rig.tick(96, from: again + 60_000, every: 960, random: &random)
    rig.send(0xB, at: again + 60_000 + 960 * 48 - 100)
    rig.messages.sort { $0.frame < $1.frame }
    rig.run(until: last)
    let moved = rig.transport.quarters(at: Int64(last)) * 24 - stood
    #expect(rig.transport.isRolling && moved > 47.9 && moved < 49.2, "\(moved)")
  }

  @Test func aClockThatIsLostLeavesTempoAndPlaceAndIsFoundAgain() {
    var random = SeededGenerator(seed: 2)
    var rig = Rig(rate: 48000, period: 64, tempo: 77)
    defer { rig.free() }
    rig.send(0xA, at: 1000)
    let end = rig.tick(96, from: 1000, every: 1250, random: &random)
    rig.run(until: end)
    #expect(rig.clock.state == .whole && abs(rig.tempo - 96) < 0.05)
    rig.run(until: end + 30_000)
    #expect(rig.clock.state == .lost && rig.transport.isRolling && !rig.transport.isLed)
    #expect(abs(rig.tempo - 96) < 0.05)
    #expect(abs(rig.transport.quarters(at: Int64(end)) - 4) < 0.01)
    // An edit of the tempo counts, as does an order.
    rig.transport.apply(.tempo(200), at: rig.now)
    rig.run(until: end + 40_000)
    #expect(rig.tempo == 200)
    rig.transport.apply(.halt, at: rig.now)
    rig.run(until: end + 50_000)
    #expect(!rig.transport.isRolling)
    // From another input, in the middle: the tempo, and with `continue` the rest.
    rig.port = 7
    let again = rig.tick(48, from: end + 60_000, every: 1000, random: &random)
    rig.run(until: again - 500)
    #expect(rig.clock.state == .tempo && !rig.transport.isRolling && abs(rig.tempo - 120) < 0.05)
    rig.send(0x2, 8, at: again - 200)
    rig.send(0xB, at: again - 100)
    let last = rig.tick(48, from: again, every: 1000, random: &random)
    rig.run(until: last)
    #expect(rig.clock.state == .whole && rig.transport.isRolling)
    #expect(abs(rig.transport.quarters(at: Int64(last)) - 4) < 0.01)
  }

  @Test(arguments: 0..<40) func lostTicksAndChangesOfTempoAreFollowed(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let rate = [44100.0, 48000, 96000].randomElement(using: &random)!
    var rig = Rig(rate: rate, period: [32, 64, 256, 512].randomElement(using: &random)!)
    defer { rig.free() }
    var (at, ticks) = (1000.0, 0)
    rig.send(0xA, at: at)
    for _ in 0..<6 {
      let tempo = Double.random(in: 30...300, using: &random)
      let length = 60 * rate / (24 * tempo)
      let count = Int.random(in: 96...200, using: &random)
      at = rig.tick(count, from: at, every: length, jitter: min(0.05 * length, 48), random: &random)
      ticks += count
      // A tick is lost here and there, once the tempo is known.
      if count > 120, Bool.random(using: &random) { rig.messages.remove(at: rig.messages.count - 20) }
      rig.run(until: at - length)
      #expect(abs(rig.tempo / tempo - 1) < 0.01, "\(rig.tempo), not \(tempo)")
      let place = rig.transport.quarters(at: Int64(at)) * 24
      #expect(abs(place - Double(ticks)) < 0.3, "\(place), not \(ticks)")
    }
    #expect(rig.clock.state == .whole)
  }

  /// Ticks that a late period brings all at once are counted as if they had come in time.
  @Test func ticksThatComeInABunchAreCounted() {
    var random = SeededGenerator(seed: 3)
    var rig = Rig(rate: 48000, period: 128)
    defer { rig.free() }
    rig.send(0xA, at: 0)
    let end = rig.tick(240, from: 0, every: 900, random: &random)
    for index in rig.messages.indices.dropFirst(120).prefix(8) { rig.messages[index].frame = 127 * 900 }
    rig.run(until: end - 900)
    #expect(abs(rig.transport.quarters(at: Int64(end)) * 24 - 240) < 0.1)
    #expect(rig.transport.jumps <= 2)
  }

  @Test func aSteadyClockChangesNothing() {
    var random = SeededGenerator(seed: 4)
    var rig = Rig(rate: 48000, period: 64)
    defer { rig.free() }
    rig.send(0xA, at: 0)
    let end = rig.tick(2400, from: 0, every: 1000, random: &random)
    rig.run(until: 100_000)
    rig.changes = 0
    rig.run(until: end - 1000)
    #expect(rig.changes == 0)
    // The patch's meter counts, and the place stays.
    rig.transport.apply(.meter(beats: 3, unit: 4), at: rig.now)
    let quarters = rig.transport.quarters(at: rig.now)
    rig.run(until: end - 900)
    #expect(rig.transport.pulse.beats == 3 && rig.transport.jumps <= 2)
    #expect(abs(rig.transport.quarters(at: rig.now) - quarters) < 0.1)
  }
}
