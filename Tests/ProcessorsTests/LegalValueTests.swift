import Engine
import Patch
import Realtime
import Testing

@testable import Processors

/// For any legal parameter value and any ramp to it: no NaN, no infinity, and the same bits for every split
/// into blocks.
struct LegalValueTests {
  /// A random legal value in the kernel's unit; sometimes an end of the range.
  func legal(_ parameter: ParameterDescription, _ chance: inout Chance) -> Float {
    let low = parameter.range.lowerBound
    let high = parameter.range.upperBound
    let value: Double
    switch Int.random(in: 0..<6, using: &chance) {
    case 0: value = low
    case 1: value = high
    default: value = Double.random(in: max(low, -100)...min(high, 100_000), using: &chance)
    }
    if parameter.unit == .decibels { return linear(value) }
    switch parameter.form {
    case .choice, .integer, .toggle: return Float(value.rounded())
    default: return Float(value)
    }
  }

  func expectTame<K: Kernel>(
    _ type: K.Type, _ description: KindDescription, inputs counts: [Int], outputs: [Int],
    fixed: [Int: [Float]] = [:], rounds: Int = 12, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for round in 0..<rounds {
      let seed = UInt64(round + 1)
      func bench() -> KernelBench<K> {
        var chance = Chance(seed)
        var values = fixed
        var moves: [KernelBench<K>.Move] = []
        for (index, parameter) in description.parameters.enumerated() where fixed[index] == nil {
          values[index] = [legal(parameter, &chance)]
          guard [.ramp, .crossfade].contains(parameter.smoothing) else { continue }
          for _ in 0..<2 {
            moves.append(
              .init(
                frame: Int.random(in: 0..<700, using: &chance), parameter: index,
                value: legal(parameter, &chance), over: Int.random(in: 0...300, using: &chance)))
          }
        }
        let signals = counts.map { count in
          (0..<count).map { _ in chance.signal(600, round % 3 == 0 ? 1e-3 : 4) }
        }
        let bench = KernelBench(type, description, inputs: signals, outputs: outputs, values)
        bench.moves = moves.sorted { $0.frame < $1.frame }
        return bench
      }
      let whole = bench()
      let out = whole.run(900)
      #expect(
        out.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } }, "seed \(seed)",
        sourceLocation: sourceLocation)
      #expect(whole.isMemoryIntact, sourceLocation: sourceLocation)
      let difference = firstDifference(out, bench().run(900, .init(lengths: [13, 64, 1, 30])))
      #expect(difference == nil, "seed \(seed)", sourceLocation: sourceLocation)
    }
  }

  @Test func gain() { expectTame(Gain.self, Gain.description, inputs: [2], outputs: [2]) }
  @Test func pan() { expectTame(Pan.self, Pan.description, inputs: [2], outputs: [2]) }
  @Test func oscillator() {
    expectTame(
      Oscillator.self, Oscillator.description, inputs: [], outputs: [2],
      fixed: [Oscillator.channels: [2]], rounds: 24)
  }
  @Test func noise() {
    expectTame(
      Noise.self, Noise.description, inputs: [], outputs: [2], fixed: [Noise.channels: [2]])
  }
  @Test func filter() {
    expectTame(Filter.self, Filter.description, inputs: [2], outputs: [2], rounds: 24)
  }
  @Test func equalizer() {
    expectTame(Equalizer.self, Equalizer.description, inputs: [2], outputs: [2], rounds: 24)
  }
  @Test func distortion() {
    expectTame(Distortion.self, Distortion.description, inputs: [2], outputs: [2], rounds: 24)
  }
  @Test func delay() {
    expectTame(Delay.self, Delay.description, inputs: [2], outputs: [2], rounds: 24)
  }

  @Test func everyKindDescribesItselfWell() {
    for kind in KindRegistry.builtIn.catalogue.kinds {
      #expect(!kind.summary.isEmpty)
      let names = kind.parameters.map(\.name)
      #expect(Set(names).count == names.count, "\(kind.name)")
      let ports = kind.inputs.map(\.name)
      for parameter in kind.parameters {
        // A parameter with a ramp is also a port, so its name must differ from all inputs.
        if parameter.smoothing == .ramp { #expect(!ports.contains(parameter.name)) }
        #expect(!parameter.summary.isEmpty, "\(kind.name).\(parameter.name)")
        if case .number(let value, let unit) = parameter.defaultValue {
          #expect(parameter.range.contains(value), "\(kind.name).\(parameter.name)")
          #expect(unit == parameter.unit, "\(kind.name).\(parameter.name)")
        }
        for dimension in parameter.dimensions {
          #expect(kind.parameters.contains { $0.name == dimension && $0.form == .integer })
        }
      }
    }
  }
}
