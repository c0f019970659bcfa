import Engine
import Patch
import TestSupport
import Testing

/// Sound that nodes remember while edits change what goes into them.
@Suite struct MemoryAfterEditsTests {
  private func start(_ text: String, settled frames: Int = 48_000) throws -> Bench {
    let bench = Bench(channels: 2)
    try bench.begin(text)
    bench.render(frames)
    return bench
  }

  private func peak(_ bench: Bench, _ first: Int, _ count: Int) -> Float {
    bench.heard[0][first..<first + count].reduce(0) { max($0, abs($1)) }
  }

  /// The largest third difference: next to nothing for a sine, large for a step.
  private func roughness(_ bench: Bench, _ first: Int, _ count: Int) -> Float {
    let heard = bench.heard[0][first..<first + count].map { Double($0) }
    return (3..<count).reduce(0) { most, index in
      let third = heard[index] - 3 * heard[index - 1] + 3 * heard[index - 2] - heard[index - 3]
      return max(most, Float(abs(third)))
    }
  }

  /// A cable of three or more channels comes and goes: what a mono delay holds is as loud as before.
  @Test(
    arguments: ["delay time=100ms mix=100% feedback=0%", "pitchshift", "echo", "limiter"], [2, 3, 4, 5, 7])
  func whatANodeHoldsIsAsLoudWhenAWideCableHasGone(kind: String, channels: Int) throws {
    let bench = try start(
      """
      node tone oscillator freq=313Hz level=-12dB
      node wide constant level=0 channels=\(channels)
      node way \(kind)
      connect tone -> way
      node out output channels=1
      connect way -> out map=[0]
      """)
    bench.perform("connect wide -> way")
    bench.render(48_000)
    let before = peak(bench, 86_000, 9600)
    bench.perform("disconnect wide -> way")
    bench.render(14_400)
    for first in stride(from: 96_000, to: 110_000, by: 480) {
      let level = peak(bench, first, 400)
      #expect(level > 0.9 * before && level < 1.1 * before, "\(level), not \(before), at \(first)")
    }
  }

  /// Three constants take turns at an input, by fades of any lengths, each in the midst of the one before: they are one.
  @Test(arguments: 1...30) func crossfadesOfAnyLengthsAddUpToOne(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let bench = Bench(channels: 1)
    let sources = ["a", "b", "c"]
    let mixed = [node("m", "mix"), node("out", "output", "channels=1"), cable("a", "m"), cable("m", "out")]
    try bench.begin(sources.map { node($0, "constant", "level=1") } + mixed)
    bench.render(960)
    var now = "a"
    for _ in 0..<8 {
      let next = sources.filter { $0 != now }.randomElement(using: &random)!
      let frames = 480 << Int.random(in: 0...7, using: &random)
      let fade = Double(frames) / 48000
      try bench.edit([.disconnect(CableName(now, "m")), cable(next, "m")], fade: fade)
      now = next
      bench.render(Int.random(in: 1...frames, using: &random))
    }
    bench.render(96_000)
    let furthest = bench.heard[0].dropFirst(64).map { abs($0 - 1) }.max()!
    #expect(furthest < 1e-4, "the sum is off by \(furthest)")
  }

  /// The gain in front of a long impulse rises: nothing is heard above 3 kHz of a tone of 313 Hz.
  @Test func aResonatorBeginsWithoutABurst() throws {
    for kind in ["modal freq=200Hz modes=32", "string freq=110Hz", "delay time=20ms feedback=90%"] {
      let bench = try start(
        """
        node tone oscillator freq=313Hz level=-12dB
        node way gain
        connect tone -> way
        node out output channels=1
        connect way -> out
        """)
      let before = roughness(bench, 40_000, 8000)
      bench.perform("insert new \(kind) into way -> out")
      bench.render(48_000)
      let after = roughness(bench, 48_000, 40_000)
      #expect(after < 40 * before, "\(kind): \(after) beside \(before)")
    }
  }

  /// A filter with a high resonance comes into a low tone, wherever in its period and in its block: nothing rings, and the
  /// tone that it lets pass is as loud as before.
  @Test(arguments: [1, 2, 3, 4] as [UInt64], [1, 2, 9])
  func aResonanceIsNotSetRinging(seed: UInt64, channels: Int) throws {
    print("seed \(seed)")
    var chance = SeededGenerator(seed: seed)
    let kinds: [(name: String, passes: Bool)] = [
      ("filter freq=3kHz q=30", true), ("filter type=notch freq=4kHz q=30", true),
      ("filter type=highpass freq=4kHz q=30", false), ("svf freq=6kHz q=100", true),
      ("svf freq=3kHz q=30 saturate=on", true), ("ladder freq=3kHz resonance=95%", false),
      ("equalizer band1.freq=4kHz band1.gain=36dB band1.q=40", true),
      ("equalizer band2.type=lowpass band2.freq=4kHz band2.q=40", true),
      ("phaser feedback=-95% mix=100% freq=3kHz depth=0 stages=12", false),
    ]
    for (kind, passes) in kinds {
      let bench = try start(
        """
        node tone oscillator freq=220Hz level=-12dB channels=\(channels)
        node way gain
        connect tone -> way
        node out output channels=1
        connect way -> out map=[\(channels - 1)]
        """, settled: 12_000 + Int.random(in: 0..<218, using: &chance))
      let first = bench.heard[0].count
      let (before, level) = (roughness(bench, 8000, 2000), peak(bench, 8000, 2000))
      bench.perform("insert new \(kind) into way -> out")
      bench.render(4800)
      let (after, most) = (roughness(bench, first, 4800), peak(bench, first, 4800))
      #expect(after < 5 * before, "\(kind): \(after) beside \(before)")
      guard passes else { continue }
      #expect(most < 1.02 * level, "\(kind): \(most) beside \(level)")
      for place in stride(from: first, to: first + 4400, by: 48) {
        let now = peak(bench, place, 220)
        #expect(now > 0.9 * level, "\(kind): \(now) beside \(level), \(place - first) frames after")
      }
    }
  }

  /// A flat equalizer that comes changes nothing at all to the ear.
  @Test func aFlatEqualizerComesUnheard() throws {
    let bench = try start(
      """
      node tone oscillator freq=997Hz level=-12dB
      node way gain
      connect tone -> way
      node out output channels=1
      connect way -> out
      """)
    bench.perform("insert new equalizer into way -> out")
    bench.render(4800)
    let quiet = try start(
      """
      node tone oscillator freq=997Hz level=-12dB
      node way gain
      connect tone -> way
      node out output channels=1
      connect way -> out
      """, settled: 52_800)
    let worst = zip(bench.heard[0], quiet.heard[0]).reduce(0) { max($0, abs($1.0 - $1.1)) }
    #expect(worst < 1e-6, "\(worst)")
  }

  /// Fewer modes are louder each: they become so within the fade.
  @Test(arguments: [(64, 8), (16, 4), (1, 64)]) func anotherNumberOfModesIsNoBurst(old: Int, new: Int) throws
  {
    let bench = try start(
      """
      node tone oscillator freq=1000Hz level=-12dB
      node way modal freq=200Hz modes=\(old) decay=100ms
      connect tone -> way
      node out output channels=1
      connect way -> out
      """)
    let before = peak(bench, 40_000, 8000)
    bench.perform("set way.modes \(new)")
    bench.render(48_000)
    let after = peak(bench, 86_000, 8000)
    #expect(peak(bench, 48_000, 9600) < 1.6 * max(before, after), "from \(before) to \(after)")
  }

  /// A loop that is started again while its end still fades goes on where it is.
  @Test(arguments: [96, 192, 384, 960], ["play", "overdub"])
  func aLoopThatIsStartedAgainAtOnceDoesNotJump(pause: Int, mode: String) throws {
    let bench = try start(
      """
      node tone oscillator freq=313Hz level=0dB
      node way looper channels=1 through=-inf
      connect tone -> way
      node out output channels=1
      connect way -> out
      """, settled: 4800)
    bench.perform("set way.mode record")
    bench.render(38_480)
    bench.perform("set way.mode play")
    bench.render(48_000)
    let steady = roughness(bench, 50_000, 40_000)
    bench.perform("set way.mode stop")
    bench.render(pause)
    bench.perform("set way.mode \(mode)")
    bench.render(9600)
    #expect(roughness(bench, 91_000, 9600) < 5 * steady + 1e-5)
  }

  /// Minutes of a glide: a float would round its steps away.
  @Test(arguments: [48_000.0, 192_000]) func aSlewOfMinutesTakesAsLongAsItSays(rate: Double) throws {
    let bench = Bench(rate: rate, period: 1024, channels: 2)
    try bench.begin(
      """
      node step constant level=5 channels=2
      node way slew rise=0s fall=100s
      connect step -> way
      node slow slew rise=0s fall=20s shape=exponential
      connect step -> slow
      node out output channels=2
      connect way -> out map=[0,-1] gain=-20dB
      connect slow -> out map=[-1,0] gain=-20dB
      """)
    bench.render(4096)
    bench.perform("set step.level 4")
    bench.render(Int(rate * 10))
    let (linear, exponential) = (bench.heard[0].last! * 10, bench.heard[1].last! * 10)
    #expect(abs(linear - 4.9) < 0.001, "\(linear)")
    #expect(abs(exponential - 4.60653) < 0.002, "\(exponential)")
  }

  /// Levels of seconds, of one channel and of many: what a float keeps of one less their share would be some percent longer
  /// or shorter.
  @Test(arguments: [1, 2, 3, 9], [48_000.0, 192_000])
  func aFollowerOfSecondsTakesAsLongAsItSays(channels: Int, rate: Double) throws {
    let bench = Bench(rate: rate, period: 1024, channels: 2)
    try bench.begin(
      """
      node step constant level=0 channels=\(channels)
      node way follower attack=5s release=5s
      connect step -> way
      node out output channels=1
      connect way -> out map=[\(channels - 1)]
      """)
    bench.render(4096)
    bench.perform("set step.level 1")
    bench.render(Int(rate * 5))
    let up = bench.heard[0].last!
    #expect(abs(up - 0.63212) < 0.002, "\(up)")
    bench.perform("set step.level 0")
    bench.render(Int(rate * 5))
    let down = bench.heard[0].last! / up
    #expect(abs(down - 0.36788) < 0.002, "\(down)")
  }

  /// Silence is as quiet as a tone below the threshold: the expander goes on to close in it.
  @Test(arguments: ["-inf", "-200dB"]) func anExpanderClosesInSilenceToo(level: String) throws {
    let bench = try start(
      """
      node tone oscillator freq=1000Hz level=-6dB
      node way expander threshold=-30dB ratio=10 attack=500ms release=500ms
      connect tone -> way
      node out output channels=1
      connect way -> out
      """)
    let before = peak(bench, 40_000, 8000)
    bench.perform("set tone.level \(level)")
    bench.render(240_000)
    bench.perform("set tone.level -6dB")
    bench.render(4800)
    let after = peak(bench, 48_000 + 240_000 + 1000, 400)
    #expect(after < 0.003 * before, "\(after) of \(before)")
  }
}
