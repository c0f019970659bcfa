import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// A reverb whose settings are moved: it never grows, and what it gives lies between what it gives at rest.
struct ReverbMovementTests {
  /// After a burst, every half second is at most as loud as the one before, whatever moves the settings how fast and how far.
  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  func nothingMovedMakesItGrow(seed: UInt64) {
    var chance = Chance(seed)
    let rate = [22_050.0, 48_000, 96_000, 192_000][Int(seed) % 4]
    // First those that would grow fastest: much bass, and a decay between next to nothing and long, in turns of a few blocks.
    let isWild = seed < 5
    let bass: Float = isWild ? 200 : [25, 100, 200].randomElement(using: &chance)!
    let damp: Float = isWild ? 50 : [0, 50, 100].randomElement(using: &chance)!
    let size: Float = isWild ? 50 : [10, 50, 100].randomElement(using: &chance)!
    let decay: Float = isWild ? 20 : [2, 20, 60].randomElement(using: &chance)!
    let frames = Int(rate * 2.6)
    func wave(_ depth: Float) -> [Float] {
      let shape = isWild ? Int(seed) % 2 : Int.random(in: 0..<3, using: &chance)
      let turn = shape == 0 ? 4 : Double.random(in: 2...3.5, using: &chance)
      let frequency = isWild ? rate / 64 / turn : exp(Double.random(in: 3...7, using: &chance))
      var held: Float = 0
      return (0..<frames).map { frame in
        let phase = Double(frame) * frequency / rate
        switch shape {
        case 1: return phase.truncatingRemainder(dividingBy: 1) < 0.5 ? depth : -depth
        case 0: return depth * Float(sin(2 * .pi * phase))
        default:
          if Int(phase) != Int(phase - frequency / rate) || frame == 0 {
            held = Float.random(in: -depth...depth, using: &chance)
          }
          return held
        }
      }
    }
    let bench = KernelBench(
      Reverb.self, Reverb.description, inputs: [[chance.signal(Int(rate * 0.1))]], outputs: [16],
      [
        Reverb.decay: [decay], Reverb.bass: [bass], Reverb.damp: [damp], Reverb.mix: [100],
        Reverb.size: [size], Reverb.channels: [16],
      ], rate: rate)
    bench.modulation[Reverb.decay] = [wave(decay)]
    if seed > 8 { bench.modulation[Reverb.damp] = [wave(100)] }
    if seed > 10 { bench.modulation[Reverb.bass] = [wave(170)] }
    let out = bench.run(frames)[0]
    let length = Int(rate * 0.5)
    let powers = (0..<5).map { (part: Int) -> Double in
      let start = Int(rate * 0.1) + part * length
      return out.reduce(0.0) { sum, channel in
        channel[start..<start + length].reduce(sum) { $0 + Double($1) * Double($1) }
      }
    }
    for (before, after) in zip(powers, powers.dropFirst()) {
      #expect(after <= before * 1.02, "\(rate) Hz, decay \(decay), bass \(bass), damp \(damp): \(powers)")
    }
    #expect(bench.isMemoryIntact)
  }

  /// No section of any line has a gain above 1 from its input and state to its output and next state, nor has one on the way
  /// between any two.
  @Test(arguments: [8000, 44_100, 192_000] as [Float]) func noWayBetweenDecaysAmplifies(rate: Float) {
    var chance = Chance(UInt64(rate))
    func sections() -> [ReverbSection] {
      let scale = Float.random(in: 0.1...1, using: &chance) * rate / 48_000
      let decay = ReverbDecay(
        ReverbTank.longest * scale, decay: exp(Float.random(in: -3...7, using: &chance)),
        bass: exp(Float.random(in: 2.3...6, using: &chance)),
        damp: [0, 100, Float.random(in: 0...100, using: &chance)].randomElement(using: &chance)!, rate: rate)
      return [decay.low, decay.high]
    }
    // A quarter of what comes out of the second section is the matrix's.
    let factors = [1.0, 4.0]
    /// The largest singular value.
    func gain(_ a: Double, _ b: Double, _ c: Double, _ d: Double) -> Double {
      let (sum, determinant) = (a * a + b * b + c * c + d * d, a * d - b * c)
      return ((sum + max(sum * sum - 4 * determinant * determinant, 0).squareRoot()) / 2).squareRoot()
    }
    for _ in 0..<500 {
      let (from, to) = (sections(), sections())
      let share = Double.random(in: 0...1, using: &chance)
      for (section, factor) in factors.enumerated() {
        var largest = 0.0
        for line in 0..<16 {
          for share in [0, share, 1] {
            func mixed(_ row: KeyPath<ReverbSection, Frames>) -> Double {
              Double(from[section][keyPath: row][line]) * (1 - share)
                + Double(to[section][keyPath: row][line]) * share
            }
            largest = max(
              largest, gain(mixed(\.a), mixed(\.b), factor * mixed(\.c), factor * mixed(\.d)))
          }
        }
        #expect(largest < 1.000_001, "section \(section): \(largest)")
      }
    }
  }

  /// Settings that hardly move, and rest again, give the sound that they give at rest.
  @Test(arguments: [(Float(100), Float(0)), (100, 50), (25, 100), (200, 30)])
  func aSettingThatHardlyMovesGivesTheSoundThatItGivesAtRest(bass: Float, damp: Float) {
    var chance = Chance(UInt64(bass + damp))
    let noise = chance.signal(24_000)
    func response(_ moves: [Int]) -> [Float] {
      let bench = KernelBench(
        Reverb.self, Reverb.description, inputs: [[noise]], outputs: [1],
        [
          Reverb.decay: [2], Reverb.size: [20], Reverb.bass: [bass], Reverb.damp: [damp], Reverb.mix: [100],
          Reverb.channels: [1],
        ])
      bench.moves = moves.enumerated().map { number, frame in
        .init(frame: frame, parameter: Reverb.decay, value: number % 2 == 0 ? 2.00001 : 2, over: 300)
      }
      return bench.run(noise.count)[0][0]
    }
    let rest = response([])
    let moved = response((0..<20).map { 2000 + $0 * 1000 + Int.random(in: 0..<600, using: &chance) })
    let difference = zip(rest, moved).map { abs($0 - $1) }.max()!
    #expect(difference < 2e-5 && difference > 0, "\(difference)")
  }
}
