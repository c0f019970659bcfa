import Glibc
import Realtime
import Testing

@Suite struct RampTests {
  private func run(_ ramp: inout Ramp, _ frames: Int, splits: [Int] = [64]) -> [Float] {
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4, alignment: 64).bindMemory(
      to: Float.self, capacity: 64)
    defer { buffer.deallocate() }
    var result: [Float] = []
    var turn = 0
    while result.count < frames {
      let count = min(splits[turn % splits.count], frames - result.count)
      turn += 1
      ramp.fill(buffer, frames: count)
      result += UnsafeBufferPointer(start: buffer, count: count)
    }
    return result
  }

  @Test func itLeavesFromWhereItIsAndArrivesExactly() {
    var ramp = Ramp(0.25)
    ramp.move(to: 1, over: 480)
    let values = run(&ramp, 481)
    #expect(values[0] == 0.25)
    #expect(abs(values[240] - 0.625) < 1e-6, "half way at half time")
    #expect(values[480] == 1)
    #expect(!ramp.isMoving)
  }

  @Test(arguments: [[1], [17], [5, 64, 3], [63, 1]]) func splittingChangesNoBit(splits: [Int]) {
    var whole = Ramp(0)
    var split = Ramp(0)
    whole.move(to: 0.7, over: 333)
    split.move(to: 0.7, over: 333)
    #expect(run(&whole, 400).map(\.bitPattern) == run(&split, 400, splits: splits).map(\.bitPattern))
  }

  @Test func skippingIsFillingWithoutLooking() {
    var filled = Ramp(0)
    var skipped = Ramp(0)
    filled.move(to: 1, over: 300)
    skipped.move(to: 1, over: 300)
    _ = run(&filled, 100)
    skipped.skip(100)
    #expect(filled.value == skipped.value)
    skipped.skip(1000)
    #expect(skipped.value == 1)
  }

  /// Gains that add up to one and ramp together keep adding up to one, even with new targets during a ramp.
  @Test func fadesThatMoveTogetherAddUp() {
    var fades = [Ramp(1), Ramp(0), Ramp(0)]
    let targets: [[Float]] = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    for target in targets {
      for index in fades.indices { fades[index].move(to: target[index], over: 480) }
      var columns = fades
      let values = columns.indices.map { run(&columns[$0], 100) }
      fades = columns
      for frame in 0..<100 {
        let sum = values[0][frame] + values[1][frame] + values[2][frame]
        #expect(abs(sum - 1) < 3e-6)
      }
    }
  }

  /// The engine drops a cable once its gain can no longer be heard. A gain sent to silence repeatedly swings
  /// through zero: its value is small then, but its ceiling is not.
  @Test(arguments: 20...120) func itsCeilingBoundsAllThatIsToCome(interval: Int) {
    var ramp = Ramp(1)
    var (bounds, values): ([Float], [Float]) = ([], [])
    for move in 0..<80 {
      if move < 60 { ramp.move(to: 0, over: 480) }
      for _ in 0..<interval {
        bounds.append(ramp.ceiling)
        values.append(abs(ramp.value))
        ramp.skip(1)
      }
    }
    var largest: Float = 0
    let isBound = values.indices.reversed().allSatisfy { frame in
      largest = max(largest, values[frame])
      return bounds[frame] >= largest * 0.9999
    }
    #expect(isBound)
    #expect(values.indices.contains { values[$0] < 1e-3 && bounds[$0] > 0.1 }, "it swings")
    ramp.skip(480)
    #expect(ramp.ceiling == 0)
  }

  /// Click of a fade on a constant signal: its content above 5 kHz. The filter is eight one-pole high-passes;
  /// the loudest sample behind it counts.
  @Test func aFadeOfTenMillisecondsHasNoClick() {
    func residue(_ make: (inout Ramp) -> [Float]) -> Float {
      var ramp = Ramp(1)
      var signal = [Double](repeating: 1, count: 2000) + make(&ramp).map(Double.init)
      signal += [Double](repeating: signal.last ?? 0, count: 2000)
      for _ in 0..<8 {
        let a = 1 / (1 + 2 * Double.pi * 5000 / 48000)
        var (last, state) = (signal[0], 0.0)
        signal = signal.map { x in
          state = a * (state + x - last)
          last = x
          return state
        }
      }
      return Float(signal.map(abs).max() ?? 0)
    }
    let plain = residue { ramp in
      ramp.move(to: 0, over: 480)
      return run(&ramp, 960)
    }
    #expect(plain < 3.2e-5, "\(plain) is above -90 dB")
    let turned = residue { ramp in
      ramp.move(to: 0, over: 480)
      var values = run(&ramp, 150)
      ramp.move(to: 1, over: 480)
      values += run(&ramp, 200)
      ramp.move(to: 0.3, over: 480)
      return values + run(&ramp, 960)
    }
    #expect(turned < 3.2e-5, "\(turned) is above -90 dB")
    let step = residue { _ in Array(repeating: 0, count: 960) }
    #expect(step > 0.01, "the measurement hears a step")
  }

  @Test func aCrossfadeThatIsAskedForDuringAnotherWaits() {
    var choice = Crossfade(0)
    choice.move(to: 1, over: 128)
    choice.move(to: 2, over: 128)
    #expect((choice.old, choice.new) == (0, 1))
    #expect(choice.target == 2)
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4, alignment: 64).bindMemory(
      to: Float.self, capacity: 64)
    defer { buffer.deallocate() }
    for _ in 0..<2 {
      choice.fill(buffer, frames: 64)
      choice.settle()
    }
    #expect((choice.old, choice.new) == (1, 2))
    for _ in 0..<2 {
      choice.fill(buffer, frames: 64)
      choice.settle()
    }
    #expect(!choice.isMoving)
    #expect(choice.new == 2)
  }
}

/// Glides by ratio: gains in decibels, frequencies in octaves.
extension RampTests {
  @Test(arguments: [(Float(1), Float(0.001)), (0.01, 4), (440, 7040), (20_000, 20)])
  func aGlideByRatioIsEvenInTheLogarithm(from: Float, to: Float) {
    var ramp = Ramp(from)
    ramp.move(to: to, over: 4800, law: .ratio)
    let values = run(&ramp, 4801)
    #expect(abs(values[0] / from - 1) < 1e-6)
    #expect(values[4800] == to, "exact at the end")
    for frame in stride(from: 0, to: 4800, by: 100) {
      let t = Float(frame) / 4800
      let part: Float = t * t * t * (10 + t * (6 * t - 15))
      let expected: Float = from * powf(to / from, part)
      #expect(abs(values[frame] / expected - 1) < 2e-5, "frame \(frame)")
    }
  }

  /// Silence counts as -80 dB, without a step there.
  @Test(arguments: [(Float(0), Float(1)), (1, 0), (0.5, 0.000_03)]) func silenceIsReachedWithoutAStep(
    from: Float, to: Float
  ) {
    var ramp = Ramp(from)
    ramp.move(to: to, over: 4800, law: .ratio)
    let values = run(&ramp, 4801)
    #expect(abs(values[0] - from) < 1e-6 && values[4800] == to)
    let product: Float = (from + 1e-4) * (to + 1e-4)
    let middle: Float = product.squareRoot() - 1e-4
    #expect(abs(values[2400] - middle) < 1e-5)
    let steps: [Float] = zip(values, values.dropFirst()).map { abs($1 - $0) }
    #expect(steps.max()! < 0.003 && abs(values[4799] - to) < max(to, 0.01) * 1e-6)
    let isDown = from > to
    #expect(zip(values, values.dropFirst()).allSatisfy { isDown ? $1 <= $0 + 2e-6 : $1 >= $0 - 2e-6 })
  }

  @Test func splittingAGlideChangesNoBit() {
    for splits in [[1], [17], [5, 64, 3], [63, 1]] {
      func run(_ splits: [Int]) -> [UInt32] {
        var ramp = Ramp(0.02)
        ramp.move(to: 1.7, over: 333, law: .ratio)
        var values = self.run(&ramp, 100, splits: splits)
        values.append(ramp.value)
        ramp.move(to: 0, over: 777, law: .ratio)
        values += self.run(&ramp, 300, splits: splits)
        ramp.move(to: 1, over: 200)
        return (values + self.run(&ramp, 300, splits: splits)).map(\.bitPattern)
      }
      #expect(run(splits) == run([64]))
    }
  }

  /// Turned in mid-move, to a longer one too, and with the other course: no kink, and no swing far beyond the targets.
  @Test(arguments: [(Ramp.Law.ratio, 100_000), (.ratio, 3000), (.even, 4800)])
  func aTurnInMidGlideHasNoKinkAndNoWideSwing(law: Ramp.Law, frames: Int) {
    var ramp = Ramp(0.001)
    ramp.move(to: 1, over: 4800, law: .ratio)
    var values = run(&ramp, 2600)
    ramp.move(to: 0.5, over: frames, law: law)
    values += run(&ramp, frames + 1)
    #expect(values.last == 0.5)
    #expect(values.max()! < 1.5 && values.min()! > 0)
    // Second differences of a smooth course are tiny beside those of a kink.
    let bends: [Float] = (2590..<2610).map { (frame: Int) -> Float in
      let mean: Float = 0.5 * (values[frame - 1] + values[frame + 1])
      return 2 * abs(mean - values[frame])
    }
    #expect(bends.allSatisfy { $0 < 3e-6 }, "\(bends)")
  }

  /// Between 0 and 1, turned anywhere to moves that are shorter or a thousand times as long. A glide by ratio swings
  /// farther, as it may be hundreds of decibels a second fast.
  @Test(arguments: 1...40, [false, true]) func noTurnInMidMoveSwingsFarBeyondItsTargets(
    seed: UInt64, glides: Bool
  ) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      var ramp = Ramp(0)
      var target: Float = 1
      var (least, most): (Float, Float) = (0, 0)
      for _ in 0..<Int.random(in: 2...7, using: &random) {
        let frames = 20 << Int.random(in: 0...10, using: &random)
        ramp.move(to: target, over: frames, law: glides && Bool.random(using: &random) ? .ratio : .even)
        let values = run(&ramp, Int.random(in: 1...frames, using: &random))
        (least, most) = (min(least, values.min()!), max(most, values.max()!))
        target = [0, 0.001, 0.5, 1].randomElement(using: &random)!
      }
      let swing: Float = glides ? 1.4 : 0.1
      #expect(least > -swing && most < 1 + swing, "from \(least) to \(most)")
    }
  }

  @Test func aGlideWithANegativeEndIsEven() {
    var ramp = Ramp(1)
    ramp.move(to: -1, over: 480, law: .ratio)
    let values = run(&ramp, 481)
    #expect(abs(values[240]) < 1e-6 && values[480] == -1)
  }
}
