import Glibc
import Realtime
import Testing

@testable import Processors

/// The matrix against products in double precision: any set of crosspoints, at rest and in motion.
@Suite struct MatrixProductTests {
  /// Values of a `Ramp`, frame by frame.
  private static func frames(_ from: Float, _ to: Float, start: Int = 0, over: Int, _ count: Int) -> [Double]
  {
    var ramp = Ramp(from)
    var values = [Double](repeating: Double(from), count: start)
    ramp.move(to: to, over: over)
    let block = UnsafeMutablePointer<Float>.allocate(capacity: 64)
    defer { block.deallocate() }
    while values.count < count {
      ramp.fill(block, frames: 64)
      values += (0..<64).map { Double(block[$0]) }
    }
    return values
  }

  /// One product of the sum: an input and its current gain, and an upper bound of its magnitude during the
  /// ramp. As the documentation of `MatrixTravels` states, the gain is the target plus a fraction of the
  /// distance.
  private struct Term {
    var value: Double
    var size: Double

    init(_ input: Float, _ from: Float, _ to: Float, _ fraction: Double, _ factor: Double) {
      let scale = Double(input) * factor
      value = scale * (Double(to) + (Double(from) - Double(to)) * fraction)
      size = abs(scale) * Double(max(abs(from), abs(to)))
    }
  }

  /// Error of `output`, relative to the sum of the terms' magnitudes.
  private static func error(_ output: Float, _ terms: [Term]) -> Double {
    let sum = terms.reduce(0) { $0 + $1.value }
    return abs(Double(output) - sum) / max(terms.reduce(0) { $0 + $1.size }, 1e-30)
  }

  /// Every on/off set of a 4 x 4, one crosspoint after the other, with the documented ramp between.
  @Test func everyOnOffSetOfA4x4OneCrosspointAfterTheOther() {
    let seed: UInt64 = 20
    print("seed", seed)
    var chance = Chance(seed)
    let gains = (0..<16).map { _ in Float.random(in: -2...2, using: &chance) }
    let (ins, outs) = (chance.signal(4, 2), chance.signal(4, 2))
    let master: Float = -0.7
    let inputs = (0..<4).map { _ in chance.signal(64) }
    let bench = KernelBench(
      Matrix.self, Matrix.description, inputs: [inputs], outputs: [4],
      [
        Matrix.in: ins, Matrix.out: outs, Matrix.master: [master],
        Matrix.crosspoint: [Float](repeating: 0, count: 16),
      ])
    var present = [Float](repeating: 0, count: 16)
    let fractions = Self.frames(1, 0, over: 24, 64)
    var worst = 0.0
    var seen = Set<Int>()
    for step in 0..<65536 {
      // Consecutive words of F. Gray's code (1953) differ by one crosspoint.
      let set = step ^ step >> 1
      seen.insert(set)
      let old = present
      for index in 0..<16 { present[index] = set >> index & 1 == 1 ? gains[index] : 0 }
      for index in 0..<16 where present[index] != old[index] {
        bench.kernel.set(Matrix.crosspoint, element: index, to: present[index], over: 24)
      }
      bench.rewind()
      let output = bench.run(64)[0]
      for frame in [0, 1, 7, 23, 24, 63] {
        for j in 0..<4 {
          let terms = (0..<4).map { i -> Term in
            let (from, to) = (old[i * 4 + j], present[i * 4 + j])
            let factor: Double = Double(ins[i]) * Double(outs[j]) * Double(master)
            return Term(inputs[i][frame], from, to, fractions[frame], factor)
          }
          worst = max(worst, Self.error(output[j][frame], terms))
        }
      }
    }
    print("largest error \(worst)")
    #expect(seen.count == 65536)
    #expect(worst < 1e-6)
  }

  @Test(arguments: [0, 480, 4800])
  func aMatrixOf64x64RandomGainsAtRestAndWhileEveryGainMoves(over: Int) {
    let seed: UInt64 = 21
    print("seed", seed)
    var chance = Chance(seed)
    func gain() -> Float {
      Int.random(in: 0..<10, using: &chance) == 0
        ? 0
        : linear(Double.random(in: -60...12, using: &chance))
          * (Bool.random(using: &chance) ? 1 : -1)
    }
    let frames = 1280
    let inputs = (0..<64).map { _ in chance.signal(frames) }
    let ins = (0..<64).map { _ in gain() }
    let outs = (0..<64).map { _ in gain() }
    let first = (0..<4096).map { _ in gain() }
    let last = (0..<4096).map { _ in gain() }
    let bench = KernelBench(
      Matrix.self, Matrix.description, inputs: [inputs], outputs: [64],
      [Matrix.in: ins, Matrix.out: outs, Matrix.master: [0.5], Matrix.crosspoint: over > 0 ? first : last])
    if over > 0 {
      for index in 0..<4096 {
        bench.kernel.set(Matrix.crosspoint, element: index, to: last[index], over: over)
      }
    }
    let output = bench.run(frames)[0]
    let fractions = over > 0 ? Self.frames(1, 0, over: over, frames) : []
    var worst = 0.0
    for frame in stride(from: 0, to: frames, by: 37) {
      for j in 0..<64 {
        let fraction = over > 0 ? fractions[frame] : 0
        let terms = (0..<64).map { i -> Term in
          let (from, to) = ((over > 0 ? first : last)[i * 64 + j], last[i * 64 + j])
          let factor: Double = Double(ins[i]) * Double(outs[j]) * 0.5
          return Term(inputs[i][frame], from, to, fraction, factor)
        }
        worst = max(worst, Self.error(output[j][frame], terms))
      }
    }
    print("largest error \(worst)")
    #expect(worst < 1e-6)
  }

  @Test func gainsOfInputsOutputsAndTheMasterMoveAlongTheDocumentedRamp() {
    let inputs = [[Float](repeating: 1, count: 960), [Float](repeating: 0.5, count: 960)]
    let bench = KernelBench(
      Matrix.self, Matrix.description, inputs: [inputs], outputs: [2],
      [
        Matrix.in: [1, 1], Matrix.out: [1, 1], Matrix.master: [1], Matrix.crosspoint: [1, 0, 0, 1],
      ])
    bench.moves = [
      .init(frame: 10, parameter: Matrix.in, element: 0, value: -1, over: 480),
      .init(frame: 100, parameter: Matrix.out, element: 1, value: 0.25, over: 300),
      .init(frame: 200, parameter: Matrix.master, value: 2, over: 123),
    ]
    let output = bench.run(960)[0]
    let input = Self.frames(1, -1, start: 10, over: 480, 960)
    let side = Self.frames(1, 0.25, start: 100, over: 300, 960)
    let master = Self.frames(1, 2, start: 200, over: 123, 960)
    let wanted = [(0..<960).map { input[$0] * master[$0] }, (0..<960).map { 0.5 * side[$0] * master[$0] }]
    for channel in 0..<2 {
      let worst = zip(output[channel], wanted[channel]).map { abs(Double($0) - $1) }.max() ?? 1
      #expect(worst < 1e-6)
    }
  }
}
