import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// `<effect>` headers of an instrument, applied to the sum of its voices.
@Suite struct InstrumentEffects {
  let folder = Folder()

  func rig(_ text: String, findings: Int = 0) throws -> Rig<Sampler> {
    try folder.rig("<global> amp_veltrack=0", text, findings: findings)
  }

  @Test func effectsAreForTheSumOfAllVoices() throws {
    // Two voices of 0.5 add up to one: the bit reduction applies to the sum, not to each voice.
    let text = "<region> sample=one.wav pan=-100 loop_mode=loop_continuous volume=-3 "
    let plain = try rig(text).run(2000, [(0, .on(60)), (0, .on(60))])[0][1000]
    let crushed = try rig(text + "<effect> type=lofi bitred=97").run(2000, [(0, .on(60)), (0, .on(60))])[0][
      1000]
    #expect(crushed == Float(Int(plain * 3 + 0.5)) / 3)
    #expect(crushed != plain)
  }

  @Test func gainsWidthsFiltersAndBandsAct() throws {
    let region = "<region> sample=*saw loop_mode=loop_continuous "
    func level(_ effects: String, _ hertz: Double) throws -> Double {
      Oscillators.level(try rig(region + effects).run(20000, [(0, .on(57))])[0][2000...], hertz)
    }
    let plain = try (first: level("", 220), tenth: level("", 2200))
    #expect(abs(try level("<effect> type=gain gain=-6", 220) / plain.first - 0.501) < 0.01)
    #expect(abs(try level("<effect> directtomain=50", 220) / plain.first - 0.5) < 0.01)
    #expect(try level("<effect> type=filter filter_type=lpf_2p filter_cutoff=500", 2200) < 0.1 * plain.tenth)
    #expect(try level("<effect> type=filter filter_type=hpf_4p filter_cutoff=2000", 220) < 0.01 * plain.first)
    #expect(
      abs(try level("<effect> type=eq eq_freq=2200 eq_gain=12 eq_bw=0.5", 2200) / plain.tenth - 3.98) < 0.1)
    #expect(try level("<effect> type=disto disto_depth=50", 220) > plain.first)
    // In series.
    let both = "<effect> type=gain gain=-6\n<effect> type=gain gain=-6"
    #expect(abs(try level(both, 220) / plain.first - 0.251) < 0.01)
  }

  /// The fade from the instrument before ends within a cell: after 480 frames.
  @Test(arguments: [17, 33, 63])
  func anEffectSoundsTheSameInBlocksOfAnyLength(step: Int) throws {
    let text = "<region> sample=*saw loop_mode=loop_continuous <effect> type=gain gain=-40"
    let notes: [(Int, Event)] = [(0, .on(57)), (100, .on(64))]
    let whole = try rig(text).run(2000, notes)
    #expect(try rig(text).run(2000, notes, step: { step }) == whole)
  }

  @Test func widthBringsTheSidesTogether() throws {
    folder.wav("sides.wav", [[Float](repeating: 0.5, count: 4000), [Float](repeating: -0.25, count: 4000)])
    let output = try rig("<region> sample=sides.wav <effect> type=width width=0").run(2000, [(0, .on(60))])
    #expect(output[0][1000] == output[1][1000])
    #expect(output[0][1000] > 0.05)
  }

  @Test func whatVoicesSendComesBackThroughItsOwnEffects() throws {
    let region = "<region> sample=*saw loop_mode=loop_continuous effect1=50 "
    let plain = try rig(region).run(20000, [(0, .on(57))])[0][2000...]
    let wet = "<effect> type=filter filter_type=lpf_4p filter_cutoff=300 bus=fx1 fx1tomain=100 directtomain=0"
    let output = try rig(region + wet).run(20000, [(0, .on(57))])[0][2000...]
    #expect(abs(Oscillators.level(output, 220) / Oscillators.level(plain, 220) - 0.5) < 0.1)
    #expect(Oscillators.level(output, 2200) < 0.01 * Oscillators.level(plain, 2200))
  }

  @Test func effectsThatThereAreNotAreReportedWithTheirPlaces() throws {
    let text =
      "<region> sample=*sine\n<effect> type=fverb\nreverb_size=50\n<effect> type=lofi bus=fx3\n<effect> type=lofi wobble=1"
    let report = try InstrumentLoader.load(path: folder.write("a.sfz", text)).report
    #expect(report.findings.map(\.line) == [2, 4, 5])
    #expect(report.notUnderstood == ["<effect> type=fverb", "<effect> wobble"])
    #expect(report.opcodes.first { $0.name == "<effect> reverb_size" }?.isUnderstood == false)
  }

  /// A filter rings after the voices end, and then the sampler is silent. The split into blocks changes
  /// nothing.
  @Test func tailsAreWholeAndTheSplitChangesNothing() throws {
    let text =
      "<region> sample=*saw ampeg_release=0.01 effect2=100 <effect> type=filter filter_type=bpf_2p filter_cutoff=200 "
      + "filter_resonance=30 <effect> type=lofi decim=30 bitred=20 <effect> bus=fx2 type=disto fx2tomain=30"
    let events: [(Int, Event)] = [
      (10, .on(57)), (3000, .off(57)), (4500, .control(1, 5)), (9000, .on(64)), (9500, .off(64)),
      (30000, .on(50)),
    ]
    let whole = try rig(text).run(40000, events)
    #expect(whole[0][3600..<4000].contains { abs($0) > 1e-4 })
    var random = SeededGenerator(seed: 9)
    for _ in 0..<4 {
      let split = try rig(text).run(40000, events) { Int.random(in: 1...64, using: &random) }
      #expect(whole == split)
    }
    let rig = try rig(text)
    _ = rig.run(3000, [(0, .on(57)), (2000, .off(57))])
    let isOver = rig.kernel.isFinished()
    _ = rig.run(480_000)
    let isOverLater = rig.kernel.isFinished()
    #expect(!isOver && isOverLater)
  }

  /// Loading another instrument with other effects during a note makes no step.
  @Test func effectsComeInWithoutAClick() throws {
    folder.wav("low.wav", [sine(48000, period: 480)])
    let low = "<region> sample=low.wav loop_mode=loop_continuous "
    let first = try InstrumentLoader.load(path: folder.write("a.sfz", low + "<effect> type=gain gain=12"))
      .resource
    let second = try InstrumentLoader.load(path: folder.write("b.sfz", low + "<effect> type=gain gain=-12"))
      .resource
    let third = try InstrumentLoader.load(path: folder.write("c.sfz", low)).resource
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(first)
    var output = rig.run(5000, [(0, .on(60))])[0]
    let before = output[1000...].max()!
    rig.use(second)
    output += rig.run(5000)[0]
    rig.use(third)
    output += rig.run(5000)[0]
    let steps = zip(output[1000...], output[1001...]).map { abs($0 - $1) }
    // Slope of the loud sine, plus that of a 10 ms fade.
    #expect(steps.max()! < before * (2 * .pi / 480 + 2.0 / 480))
    #expect(output[6000..<9000].max()! < 0.1 * before)
  }
}
