import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Any split of the same frames into blocks must give the same bits; otherwise a render would depend on the
/// period.
struct SplitTests {
  /// Runs a kernel whole and under several random splits. Returns its first output.
  @discardableResult func expectSameBits<K: Kernel>(
    _ type: K.Type, _ description: KindDescription, inputs: [[[Float]]] = [], outputs: [Int],
    _ values: [Int: [Float]] = [:], frames: Int = 1500, modulation: [Int: [[Float]]] = [:],
    moves: [KernelBench<K>.Move] = [], events: [(frame: Int, event: Event)] = [], extra: Float? = nil,
    startingAt time: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [[Float]] {
    func bench() -> KernelBench<K> {
      let bench = KernelBench(
        type, description, inputs: inputs, outputs: outputs, values, extra: extra)
      bench.events = events
      bench.modulation = modulation
      bench.moves = moves
      bench.time = time
      return bench
    }
    let whole = bench()
    let expected = whole.run(frames)
    #expect(whole.isMemoryIntact, sourceLocation: sourceLocation)
    #expect(
      expected.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } }, sourceLocation: sourceLocation)
    var splits = [[1], [17], [16], [5, 64, 30]]
    var chance = Chance(11)
    for _ in 0..<6 { splits.append(chance.lengths()) }
    for lengths in splits {
      let difference = firstDifference(expected, bench().run(frames, .init(lengths: lengths)))
      #expect(difference == nil, "split \(lengths)", sourceLocation: sourceLocation)
    }
    return expected[0]
  }

  /// Sound, then silence, then sound again from an odd frame on.
  func signals(_ channels: Int, _ seed: UInt64 = 3, frames: Int = 1500) -> [[Float]] {
    var chance = Chance(seed)
    return (0..<channels).map { _ in
      var signal = chance.signal(frames)
      for frame in frames / 3..<frames / 3 + 300 { signal[frame] = 0 }
      return signal
    }
  }

  func wobble(_ depth: Float, _ frames: Int = 1500) -> [Float] {
    (0..<frames).map { depth * Float(sin(Double($0) * 0.13)) * ($0 % 500 < 250 ? 1 : 0) }
  }

  @Test func gain() {
    expectSameBits(
      Gain.self, Gain.description, inputs: [signals(3)], outputs: [3], modulation: [Gain.gain: [wobble(1)]],
      moves: [.init(frame: 77, parameter: Gain.gain, value: 0, over: 480)])
  }

  @Test func voices() {
    for (mode, unison) in [(0, 1), (0, 3), (1, 1), (2, 2)] {
      var chance = Chance(UInt64(mode * 3 + unison))
      var events: [(frame: Int, event: Event)] = []
      for _ in 0..<80 {
        let (key, channel) = (
          UInt8.random(in: 60...70, using: &chance), UInt8.random(in: 0...3, using: &chance)
        )
        let value = Float.random(in: 0...127, using: &chance)
        let event =
          switch Int.random(in: 0..<10, using: &chance) {
          case 0...4: Event(.noteOn, channel: channel, key: key, value: value)
          case 5, 6: Event(.noteOff, channel: channel, key: key)
          case 7: Event(.bend, channel: channel, value: value / 64 - 1)
          case 8: Event(.pressure, channel: channel, value: value)
          default:
            Event(.control, channel: channel, key: [64, 66, 74].randomElement(using: &chance)!, value: value)
          }
        events.append((Int.random(in: 0..<1400, using: &chance), event))
      }
      events.sort { $0.frame < $1.frame }
      expectSameBits(
        Voices.self, Voices.description, outputs: Array(repeating: 5, count: 6),
        [
          Voices.polyphony: [5], Voices.mode: [Float(mode)], Voices.unison: [Float(unison)],
          Voices.glide: [0.004],
          Voices.mpe: [Float(unison & 1)],
        ],
        moves: [
          .init(frame: 300, parameter: Voices.glide, value: 0.01, over: 200),
          .init(frame: 640, parameter: Voices.polyphony, value: 3, over: 0),
          .init(frame: 960, parameter: Voices.bend, value: 12, over: 0),
        ], events: events)
    }
  }

  @Test func mixdown() {
    for (channels, outputs) in [(1, 2), (3, 2), (17, 2), (5, 1)] {
      expectSameBits(
        Mixdown.self, Mixdown.description, inputs: [signals(channels)], outputs: [outputs],
        [Mixdown.pan: (0..<channels).map { Float($0) / 20 - 0.3 }], modulation: [Mixdown.pan: [wobble(0.5)]],
        moves: [
          .init(frame: 77, parameter: Mixdown.spread, value: 80, over: 480),
          .init(frame: 700, parameter: Mixdown.level, value: 0.5, over: 300),
        ], extra: Float(channels))
    }
  }

  @Test func pan() {
    for channels in [1, 2, 5] {
      expectSameBits(
        Pan.self, Pan.description, inputs: [signals(channels)], outputs: [2],
        moves: [.init(frame: 77, parameter: Pan.pan, value: -0.7, over: 480)])
    }
  }

  @Test(arguments: [Float(0), 1, 2, 3]) func oscillator(shape: Float) {
    expectSameBits(
      Oscillator.self, Oscillator.description, outputs: [3],
      [Oscillator.shape: [shape], Oscillator.freq: [440, 1234.5, 15_000]],
      modulation: [Oscillator.freq: [wobble(900)]],
      moves: [
        .init(frame: 100, parameter: Oscillator.shape, value: 3 - shape, over: 200),
        .init(frame: 201, parameter: Oscillator.level, value: 0, over: 99),
        .init(frame: 905, parameter: Oscillator.level, value: 0.5, over: 99),
        .init(frame: 950, parameter: Oscillator.freq, element: 1, value: 30, over: 300),
      ])
  }

  @Test func noise() {
    expectSameBits(
      Noise.self, Noise.description, outputs: [2],
      moves: [
        .init(frame: 100, parameter: Noise.color, value: 1, over: 200),
        .init(frame: 850, parameter: Noise.color, value: 0, over: 0),
      ])
  }

  @Test func matrix() {
    var chance = Chance(5)
    var moves: [KernelBench<Matrix>.Move] = []
    for index in 0..<80 {
      moves.append(
        .init(
          frame: 97 * Int.random(in: 0..<12, using: &chance), parameter: 2 + index % 4,
          element: index % 4 == 3 ? 0 : Int.random(in: 0..<5, using: &chance),
          value: Float.random(in: 0...2, using: &chance), over: [0, 120, 480].randomElement(using: &chance)!))
    }
    moves.sort { $0.frame < $1.frame }
    expectSameBits(
      Matrix.self, Matrix.description, inputs: [signals(7)], outputs: [5],
      [
        Matrix.in: chance.signal(7).map(\.magnitude), Matrix.out: chance.signal(5).map(\.magnitude),
        Matrix.crosspoint: chance.signal(35).map { $0 < -0.5 ? 0 : $0.magnitude }, Matrix.master: [0.9],
      ], moves: moves)
  }

  @Test(arguments: [1, 2, 5]) func filterAtRest(channels: Int) {
    expectSameBits(Filter.self, Filter.description, inputs: [signals(channels)], outputs: [channels])
  }

  @Test(arguments: [Int64(0), 37]) func filterMoving(start: Int64) {
    expectSameBits(
      Filter.self, Filter.description, inputs: [signals(2)], outputs: [2],
      [Filter.type: [0], Filter.q: [8]],
      moves: [
        .init(frame: 70, parameter: Filter.freq, value: 4000, over: 100),
        .init(frame: 333, parameter: Filter.type, value: 1, over: 100),
        .init(frame: 340, parameter: Filter.type, value: 3, over: 100),
        .init(frame: 600, parameter: Filter.q, value: 0.5, over: 10),
        .init(frame: 1000, parameter: Filter.freq, value: 100, over: 0),
      ], startingAt: start)
  }

  @Test func filterModulated() {
    expectSameBits(
      Filter.self, Filter.description, inputs: [signals(3)], outputs: [3],
      [Filter.freq: [300, 2000, 15_000], Filter.type: [2]], modulation: [Filter.freq: [wobble(2500)]])
  }
}

extension SplitTests {
  @Test(arguments: [Int64(0), 37]) func equalizer(start: Int64) {
    var values: [Int: [Float]] = [Equalizer.bands: [5]]
    for band in 0..<5 {
      values[Equalizer.type(band)] = [Float(band)]
      values[Equalizer.gain(band)] = [Float(band) + 0.5]
    }
    expectSameBits(
      Equalizer.self, Equalizer.description, inputs: [signals(3)], outputs: [3], values,
      moves: [
        .init(frame: 70, parameter: Equalizer.gain(0), value: 4, over: 100),
        .init(frame: 171, parameter: Equalizer.freq(2), value: 4000, over: 100),
        .init(frame: 333, parameter: Equalizer.type(1), value: 6, over: 100),
        .init(frame: 340, parameter: Equalizer.type(1), value: 5, over: 100),
        .init(frame: 900, parameter: Equalizer.q(4), value: 9, over: 31),
      ], startingAt: start)
  }

  @Test(arguments: [Float(1), 2, 4]) func distortion(oversample: Float) {
    expectSameBits(
      Distortion.self, Distortion.description, inputs: [signals(2)], outputs: [2],
      [Distortion.oversample: [oversample], Distortion.mix: [70]],
      moves: [
        .init(frame: 70, parameter: Distortion.drive, value: 40, over: 100),
        .init(frame: 171, parameter: Distortion.shape, value: 1, over: 100),
        .init(frame: 333, parameter: Distortion.shape, value: 2, over: 100),
        .init(frame: 340, parameter: Distortion.tone, value: -1, over: 100),
        .init(frame: 900, parameter: Distortion.mix, value: 9, over: 31),
      ])
  }

  /// With the sine of its own, and with a carrier that has fewer channels.
  @Test(arguments: [0, 1]) func ringmod(carriers: Int) {
    expectSameBits(
      Ringmod.self, Ringmod.description, inputs: [signals(2), signals(carriers, 5)], outputs: [2],
      modulation: [Ringmod.freq: [wobble(900)]],
      moves: [
        .init(frame: 70, parameter: Ringmod.freq, value: 4000, over: 100),
        .init(frame: 900, parameter: Ringmod.mix, value: 30, over: 31),
      ])
  }

  /// All channels together and each for itself, by their own sound and by another one.
  @Test(arguments: [Float(0), 1], [0, 2]) func compressor(link: Float, sides: Int) {
    expectSameBits(
      Compressor.self, Compressor.description, inputs: [signals(3), signals(sides, 5)], outputs: [3],
      [Compressor.link: [link], Compressor.release: [0.01]],
      modulation: [Compressor.threshold: [wobble(0.1)]],
      moves: [
        .init(frame: 70, parameter: Compressor.ratio, value: 20, over: 100),
        .init(frame: 171, parameter: Compressor.attack, value: 0, over: 100),
        .init(frame: 333, parameter: Compressor.knee, value: 8, over: 100),
        .init(frame: 640, parameter: Compressor.makeup, value: 3, over: 100),
        .init(frame: 900, parameter: Compressor.mix, value: 9, over: 31),
      ])
  }

  /// What is too soft for a compressor and loud enough for an expander, for as long as they need to come to rest, and then no
  /// longer: a whole block at rest takes a short way.
  @Test(arguments: [Float(0), 1], [1, 2, 3, 9]) func dynamicsAtRest(link: Float, channels: Int) {
    var chance = Chance(UInt64(channels))
    let inputs = (0..<channels).map { _ in
      chance.signal(700) + chance.signal(2900, 0.01) + chance.signal(700)
    }
    let times: [Int: [Float]] = [Compressor.attack: [0.0005], Compressor.release: [0.001]]
    let compressed = expectSameBits(
      Compressor.self, Compressor.description, inputs: [inputs, []], outputs: [channels],
      times.merging([
        Compressor.link: [link], Compressor.makeup: [2], Compressor.mix: [75], Compressor.threshold: [0.1],
      ]) { a, _ in a }, frames: 4300)
    let expanded = expectSameBits(
      Expander.self, Expander.description, inputs: [inputs.map { $0.map { 0.02 + abs($0) } }, []],
      outputs: [channels],
      [
        Expander.link: [link], Expander.threshold: [0.5], Expander.attack: [0.0005],
        Expander.release: [0.001],
      ], frames: 4300, moves: [.init(frame: 900, parameter: Expander.threshold, value: 0.001, over: 100)])
    for channel in 0..<channels {
      for frame in 2500..<3500 {
        #expect(compressed[channel][frame] == inputs[channel][frame] * 1.75)
        #expect(expanded[channel][frame] == 0.02 + abs(inputs[channel][frame]))
      }
      #expect(abs(compressed[channel][4000]) < 0.9 * abs(inputs[channel][4000]) * 1.75)
    }
  }

  @Test(arguments: [Float(0), 1], [0, 2]) func gate(link: Float, sides: Int) {
    expectSameBits(
      Gate.self, Gate.description, inputs: [signals(3), signals(sides, 5)], outputs: [3],
      [Gate.link: [link], Gate.threshold: [0.7], Gate.hold: [0.0005], Gate.release: [0.002]],
      modulation: [Gate.threshold: [wobble(0.5)]],
      moves: [
        .init(frame: 70, parameter: Gate.range, value: 0.5, over: 100),
        .init(frame: 171, parameter: Gate.attack, value: 0.01, over: 100),
        .init(frame: 333, parameter: Gate.hold, value: 0.002, over: 100),
        .init(frame: 640, parameter: Gate.hysteresis, value: 1, over: 100),
      ])
  }

  @Test(arguments: [Float(0), 1], [Float(0), 1]) func limiter(peaks: Float, link: Float) {
    expectSameBits(
      Limiter.self, Limiter.description, inputs: [signals(3)], outputs: [3],
      [Limiter.peaks: [peaks], Limiter.link: [link], Limiter.release: [0.002], Limiter.ceiling: [2]],
      modulation: [Limiter.release: [wobble(0.001)]],
      moves: [
        .init(frame: 70, parameter: Limiter.ceiling, value: 0.1, over: 100),
        .init(frame: 900, parameter: Limiter.ceiling, value: 0.9, over: 31),
      ])
  }

  @Test(arguments: [1, 2, 5]) func reverb(channels: Int) {
    expectSameBits(
      Reverb.self, Reverb.description, inputs: [signals(channels, frames: 6000)], outputs: [2],
      [Reverb.size: [10], Reverb.channels: [2]], frames: 6000,
      modulation: [Reverb.damp: [wobble(20, 6000)]],
      moves: [
        .init(frame: 70, parameter: Reverb.decay, value: 0.3, over: 100),
        .init(frame: 1171, parameter: Reverb.size, value: 30, over: 400),
        .init(frame: 2333, parameter: Reverb.bass, value: 30, over: 100),
        .init(frame: 2640, parameter: Reverb.predelay, value: 0.01, over: 400),
        .init(frame: 3900, parameter: Reverb.mix, value: 90, over: 31),
      ], startingAt: 37)
  }

  @Test(arguments: [1, 3, 11]) func phaser(channels: Int) {
    expectSameBits(
      Phaser.self, Phaser.description, inputs: [signals(channels)], outputs: [channels],
      modulation: [Phaser.freq: [wobble(500)], Phaser.spread: [wobble(40)]],
      moves: [
        .init(frame: 70, parameter: Phaser.rate, value: 7, over: 100),
        .init(frame: 333, parameter: Phaser.depth, value: 4, over: 100),
        .init(frame: 640, parameter: Phaser.feedback, value: -80, over: 100),
        .init(frame: 900, parameter: Phaser.mix, value: 90, over: 31),
      ])
  }

  @Test func chorusAndFlanger() {
    expectSameBits(
      Chorus.self, Chorus.description, inputs: [signals(3)], outputs: [3], [Swept.delay: [0.001]],
      modulation: [Swept.rate: [wobble(5)], Swept.spread: [wobble(40)]],
      moves: [
        .init(frame: 333, parameter: Swept.depth, value: 0.01, over: 100),
        .init(frame: 640, parameter: Swept.feedback, value: -80, over: 100),
        .init(frame: 900, parameter: Swept.mix, value: 90, over: 31),
      ])
    expectSameBits(
      Flanger.self, Flanger.description, inputs: [signals(2)], outputs: [2], [Swept.feedback: [90]],
      modulation: [Swept.delay: [wobble(0.001)]],
      moves: [
        .init(frame: 70, parameter: Swept.rate, value: 7, over: 100),
        .init(frame: 333, parameter: Swept.depth, value: 0.001, over: 100),
      ], startingAt: 37)
  }

  @Test(arguments: [Float(0.0003), 0.005]) func delay(time: Float) {
    expectSameBits(
      Delay.self, Delay.description, inputs: [signals(2)], outputs: [2], [Delay.time: [time]],
      moves: [
        .init(frame: 70, parameter: Delay.time, value: 0.002, over: 100),
        .init(frame: 171, parameter: Delay.time, value: 0.0101, over: 100),
        .init(frame: 333, parameter: Delay.shift, value: 0.001, over: 100),
        .init(frame: 640, parameter: Delay.shift, value: 0, over: 100),
        .init(frame: 900, parameter: Delay.mix, value: 9, over: 31),
        .init(frame: 910, parameter: Delay.feedback, value: 90, over: 31),
      ])
  }

  /// What a delay line keeps when it gets a second channel does not depend on where blocks ended before.
  @Test func delayWidened() {
    func run(_ split: KernelBench<Delay>.Split) -> [[[Float]]] {
      var chance = Chance(9)
      let bench = KernelBench(
        Delay.self, Delay.description, inputs: [[chance.signal(8000)]], outputs: [1], [Delay.time: [0.002]])
      bench.moves = [
        .init(frame: 6470, parameter: Delay.shift, value: 0.001, over: 10),
        .init(frame: 6485, parameter: Delay.shift, value: 0, over: 10),
        .init(frame: 6520, parameter: Delay.time, value: 0.05, over: 100),
      ]
      _ = bench.run(6510, split)
      bench.widen([bench.inputs[0][0], chance.signal(8000)], outputs: 2)
      return bench.run(1400, split)
    }
    let expected = run(.whole)
    for lengths in [[5], [17], [16], [5, 64, 30]] {
      let difference = firstDifference(expected, run(.init(lengths: lengths)))
      #expect(difference == nil, "split \(lengths)")
    }
  }

  /// Noise that becomes mute in mid-cell and sounds again.
  @Test(arguments: [Float(0), 1]) func noise(color: Float) {
    expectSameBits(
      Noise.self, Noise.description, outputs: [2], [Noise.color: [color]],
      moves: [
        .init(frame: 70, parameter: Noise.level, value: 0, over: 41),
        .init(frame: 120, parameter: Noise.level, value: 1, over: 20),
        .init(frame: 300, parameter: Noise.level, value: 0, over: 100),
        .init(frame: 777, parameter: Noise.level, value: 1, over: 20),
      ])
  }
}
