import Realtime
import Testing

@Suite struct TransportTests {
  /// The same in whole numbers: a tempo in 1/1000 beats a minute, a rate in Hz, positions in 1/(960000 * rate) whole notes,
  /// so that every frame is exact.
  private struct Model {
    var rate: Int
    var tempo = 120_000
    var meter = (beats: 4, unit: 4)
    var isRolling = true
    var bar = 1
    /// Parts of a whole note since the bar.
    var parts = 0
    var partsOfBeat: Int { 960_000 * rate / meter.unit }

    mutating func advance(_ frames: Int) {
      guard isRolling else { return }
      parts += frames * tempo * 16 / meter.unit
      count()
    }
    private mutating func count() {
      bar += parts / (partsOfBeat * meter.beats)
      parts %= partsOfBeat * meter.beats
    }
    var beat: Double { Double(parts) / Double(partsOfBeat) }

    mutating func apply(_ change: TransportChange) {
      switch change {
      case .tempo(let tempo): self.tempo = Int((tempo * 1000).rounded())
      case .meter(let beats, let unit):
        meter = (Int(beats), Int(unit))
        count()
      case .roll: isRolling = true
      case .halt: isRolling = false
      case .locate(let bar, let beat): (self.bar, parts) = (Int(bar), Int(beat) * partsOfBeat)
      case .seek(let seconds):
        (bar, parts) = (1, Int((seconds * Double(rate)).rounded()) * tempo * 16 / meter.unit)
        count()
      case .free: break
      }
    }
  }

  private static func change(_ random: inout SeededGenerator) -> TransportChange {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: .tempo(Double(Int.random(in: 5000...999_000, using: &random)) / 1000)
    case 2:
      .meter(
        beats: Int32.random(in: 1...9, using: &random), unit: [1, 2, 4, 8, 16].randomElement(using: &random)!)
    case 3: .halt
    case 4: .locate(bar: Int32.random(in: 1...300, using: &random), beat: 0)
    case 5: .seek(seconds: Double(Int.random(in: 0...1000, using: &random)) / 8)
    default: .roll
    }
  }

  /// An hour of changes, with no drift: each place is that of whole numbers.
  @Test(arguments: 0..<30)
  func placesAreExactAfterAnyChanges(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let rate = [8000, 44_100, 48_000, 96_000].randomElement(using: &random)!
    var (transport, model) = (Transport(rate: Double(rate)), Model(rate: rate))
    var now: Int64 = 0
    for step in 0..<2000 {
      let frames = Int.random(in: 0...(step % 7 == 0 ? rate * 20 : 5000), using: &random)
      model.advance(frames)
      now += Int64(frames)
      let place = transport.place(at: now)
      // A place within rounding of a bar line is on it.
      let off = Double(Int(place.bar) - model.bar) * Double(model.meter.beats) + place.beat - model.beat
      #expect(abs(off) < 1e-7, "seed \(seed), step \(step): \(place), not \(model.bar) and \(model.beat)")
      guard abs(off) < 1e-7 else { return }
      let change = Self.change(&random)
      transport.apply(change, at: now)
      model.apply(change)
      #expect(transport.isRolling == model.isRolling)
    }
  }

  /// A clock in quarter notes goes on through any meters, and bars begin with its notes; where the first meter is back, all
  /// is as if there had been no other.
  @Test(arguments: 0..<30)
  func barsAndNotesStayTogetherWhateverTheMeter(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var transport = Transport(rate: 48000)
    var now: Int64 = 0
    for _ in 0..<200 {
      now += Int64.random(in: 0...100_000, using: &random)
      let before = transport.quarters(at: now)
      let beats = Int32.random(in: 1...9, using: &random)
      transport.apply(.meter(beats: beats, unit: [2, 4, 8, 16].randomElement(using: &random)!), at: now)
      #expect(abs(transport.quarters(at: now) - before) < 1e-7)
      let bar = transport.quarters(at: now) - transport.place(at: now).beat * transport.pulse.quarters
      #expect(abs(bar * 4 - (bar * 4).rounded()) < 1e-6, "seed \(seed): a bar begins at \(bar)")
    }
    var (left, kept) = (Transport(rate: 48000), Transport(rate: 48000))
    let away = Int64.random(in: 0...40_000, using: &random)
    left.apply(.meter(beats: 6, unit: 8), at: away)
    left.apply(.meter(beats: 4, unit: 4), at: away + 9600)
    // Eighths took as long as quarters did.
    kept.apply(.tempo(60), at: away)
    kept.apply(.tempo(120), at: away + 9600)
    let (here, there) = (left.place(at: 90_000), kept.place(at: 90_000))
    let isSame = here.bar == there.bar && abs(here.beat - there.beat) < 1e-7
    #expect(isSame, "seed \(seed): \(here), not \(there)")
  }

  /// A bar is reached at the first frame at or behind it, whoever asks and from where.
  @Test(arguments: 0..<40)
  func aBarIsReachedAtOneFrame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var transport = Transport(rate: [1000, 44_100, 48_000, 192_000].randomElement(using: &random)!)
    transport.apply(.tempo(Double.random(in: 5...999, using: &random)), at: 0)
    var now = Int64.random(in: 0...100_000, using: &random)
    if seed % 2 == 0 { transport.apply(.locate(bar: 7, beat: 0), at: now) }
    if seed % 3 == 0 { transport.apply(.meter(beats: 5, unit: 8), at: now + 777) }
    now += 777
    let here = transport.place(at: now).bar
    for bar in here + 1...here + 40 {
      let beat = Double(Int.random(in: 0...3, using: &random))
      let frame = try #require(transport.frame(ofBar: bar, beat: beat, from: now))
      for other in [now, now + (frame - now) / 2, frame - 1, frame] {
        #expect(transport.frame(ofBar: bar, beat: beat, from: other) == frame)
      }
      #expect(transport.frame(ofBar: bar, beat: beat, from: frame + 5) == frame + 5)
      let (before, there) = (transport.place(at: frame - 1), transport.place(at: frame))
      #expect(before.bar < bar || before.bar == bar && before.beat < beat)
      #expect(there.bar == bar && there.beat >= beat - 1e-8, "\(there), not \(bar) \(beat)")
      #expect(there.beat < beat + transport.step)
    }
    transport.apply(.halt, at: now)
    #expect(transport.frame(ofBar: here + 1, beat: 0, from: now) == nil)
    #expect(transport.frame(ofBar: here, beat: 0, from: now) == now)
  }

  @Test func aServersTransportIsFollowedAndChangesNothingWhileItGoesOn() {
    var transport = Transport(rate: 48000)
    func follow(_ input: TransportInput, at frame: Int64) -> Bool { transport.follow(input, at: frame) }
    transport.apply(.tempo(90), at: 0)
    func place(_ frame: Int64) -> String {
      let place = transport.place(at: frame)
      return "\(place.bar) \(place.beat)"
    }
    #expect(follow(TransportInput(isRolling: false, frame: 0), at: 0))
    #expect(!follow(TransportInput(isRolling: false, frame: 0), at: 4800))
    #expect(follow(TransportInput(isRolling: true, frame: 0), at: 9600))
    for period in 1...100 {
      let frame = Int64(period * 256)
      #expect(!follow(TransportInput(isRolling: true, frame: frame), at: 9600 + frame))
    }
    // 90 beats a minute are 32000 frames a beat.
    #expect(place(9600 + 64_000) == "1 2.0" && transport.jumps == 0)
    #expect(follow(TransportInput(isRolling: true, frame: 320_000), at: 50_000))
    #expect(place(50_000) == "3 2.0" && transport.jumps == 1)
    // A leader's ticks are coarse; its tempo and meter count.
    var input = TransportInput(isRolling: true, frame: 320_256)
    (input.pulse.tempo, input.pulse.beats, input.pulse.unit) = (60, 3, 4)
    (input.bar, input.beat, input.tolerance) = (4, 1.5, 0.01)
    #expect(follow(input, at: 50_256))
    #expect(place(50_256) == "4 1.5" && transport.isLed && transport.pulse.tempo == 60)
    input.frame += 48_000
    input.beat = 2.4921
    #expect(!follow(input, at: 98_256))
    #expect(place(98_256) == "4 2.5")
    // The patch's tempo counts when the leader has left.
    transport.apply(.tempo(100), at: 99_000)
    #expect(transport.pulse.tempo == 60)
    #expect(follow(TransportInput(isRolling: true, frame: 320_256 + 49_000), at: 99_256))
    #expect(transport.pulse.tempo == 100 && transport.pulse.beats == 4 && !transport.isLed)
  }

  /// A period that the server went on without us is made up for.
  @Test func aLatePeriodIsNoJump() {
    var transport = Transport(rate: 48000)
    func follow(_ input: TransportInput, at frame: Int64) -> Bool { transport.follow(input, at: frame) }
    _ = transport.follow(TransportInput(isRolling: true, frame: 0), at: 0)
    #expect(follow(TransportInput(isRolling: true, frame: 512), at: 256))
    #expect(transport.jumps == 0 && transport.position(at: 256) == 512)
    #expect(follow(TransportInput(isRolling: true, frame: 48_000), at: 512))
    #expect(transport.jumps == 1)
  }

  /// A late server leaves periods out. After changes of tempo the piece goes on from where it was; only a jump, before which
  /// the server stands for a cycle, is to where the present tempo has its frame.
  @Test(arguments: 0..<20)
  func periodsThatAreLeftOutPassLikeAnyOthers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    print("seed \(seed)")
    var model = Model(rate: [44100, 48000, 96000].randomElement(using: &random)!)
    var transport = Transport(rate: Double(model.rate))
    var (time, server): (Int64, Int64) = (0, 0)
    for _ in 0..<300 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let change = TransportChange.tempo(Double(Int.random(in: 5000...999_000, using: &random)) / 1000)
        transport.apply(change, at: time)
        model.apply(change)
      case 1:
        let seconds = Double(Int.random(in: 0...1000, using: &random)) / 4
        server = Int64(seconds * Double(model.rate))
        _ = transport.follow(TransportInput(isRolling: false, frame: server), at: time)
        time += 64
        model.apply(.seek(seconds: seconds))
      case 2:
        let lost = Int.random(in: 1...model.rate, using: &random)
        server += Int64(lost)
        model.advance(lost)
      default:
        let frames = Int.random(in: 1...100_000, using: &random)
        time += Int64(frames)
        server += Int64(frames)
        model.advance(frames)
      }
      _ = transport.follow(TransportInput(isRolling: true, frame: server), at: time)
      let place = transport.place(at: time)
      let distance = Double(Int(place.bar) - model.bar) * 4 + place.beat - model.beat
      #expect(distance.magnitude < 1e-6 && transport.position(at: time) == server)
    }
  }

  @Test func anotherRateKeepsThePlace() {
    var transport = Transport(rate: 48000)
    transport.apply(.locate(bar: 3, beat: 1), at: 1000)
    transport.retune(to: 44_100, at: 25_000)
    let place = transport.place(at: 25_000)
    #expect(place.bar == 3 && abs(place.beat - 2) < 1e-9)
    let next = transport.frame(ofBar: 4, beat: 0, from: 25_000)
    #expect(next == Int64(69_100), "\(next ?? 0)")
  }

  @Test func aReaderNeverSeesHalfAChange() async {
    let box = CellBox()
    async let writer: Void = {
      var transport = Transport(rate: 48000)
      for number in 1...100_000 {
        transport.apply(.locate(bar: Int32(number), beat: 0), at: Int64(number) * 96_000)
        withUnsafePointer(to: transport) { box.cell.store($0) }
      }
    }()
    var last: Int64 = 0
    while last < 100_000 {
      let found = box.cell.load()
      let place = found.place(at: found.origin)
      #expect(found.origin == 0 || found.origin == place.bar * 96_000)
      #expect(place.bar >= last)
      last = place.bar
    }
    await writer
  }

  private final class CellBox: Sendable {
    let cell = TransportCell(Transport(rate: 48000))
  }
}
