import Patch
import Realtime
import Testing

@testable import Engine
@testable import Processors

/// For any legal parameter value and any ramp to it: no NaN, no infinity, and the same bits for every split
/// into blocks.
struct LegalValueTests {
  /// A random legal value in the kernel's unit; sometimes an end of the range.
  func legal(_ parameter: ParameterDescription, _ chance: inout Chance) -> Float {
    let low = parameter.range.lowerBound
    let high = parameter.range.upperBound
    if parameter.form == .text || parameter.fileType != nil { return 0 }
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

  func expectTame<K: Kernel>(_ type: K.Type, _ description: KindDescription, rounds: Int = 24) {
    // Two channels wherever a parameter or a cable states their number.
    var fixed: [Int: [Float]] = [:]
    let sizes =
      (description.inputs + description.outputs).compactMap { port -> String? in
        if case .parameter(let name) = port.format { name } else { nil }
      } + description.parameters.flatMap(\.dimensions)
    for (index, parameter) in description.parameters.enumerated() where sizes.contains(parameter.name) {
      fixed[index] = [2]
    }
    func channels(_ port: PortDescription) -> Int? {
      switch port.format {
      case .events: nil
      case .channels(let count): count
      case .parameter, .flexible: 2
      }
    }
    for round in 0..<rounds {
      let seed = UInt64(round + 1)
      func bench() -> KernelBench<K> {
        var chance = Chance(seed)
        var values = fixed
        var moves: [KernelBench<K>.Move] = []
        for (index, parameter) in description.parameters.enumerated() where fixed[index] == nil {
          let elements = parameter.dimensions.reduce(1) { count, _ in 2 * count }
          values[index] = (0..<elements).map { _ in legal(parameter, &chance) }
          guard [.ramp, .crossfade, .kernel].contains(parameter.smoothing) else { continue }
          for _ in 0..<2 {
            var move = KernelBench<K>.Move(
              frame: Int.random(in: 0..<700, using: &chance), parameter: index,
              value: legal(parameter, &chance), over: Int.random(in: 0...300, using: &chance))
            if elements > 1 { move.element = Int.random(in: 0..<elements, using: &chance) }
            moves.append(move)
          }
        }
        let signals = description.inputs.compactMap(channels).map { count in
          (0..<count).map { _ in chance.signal(600, round % 3 == 0 ? 1e-3 : 4) }
        }
        let bench = KernelBench(
          type, description, inputs: signals, outputs: description.outputs.compactMap(channels), values,
          // Endpoints are told their first driver channel.
          extra: description.endpoint == nil ? nil : 0)
        bench.moves = moves.sorted { $0.frame < $1.frame }
        return bench
      }
      let whole = bench()
      let out = whole.run(900)
      #expect(out.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } }, "seed \(seed)")
      #expect(whole.isMemoryIntact)
      guard description.isSplitInvariant else { continue }
      let difference = firstDifference(out, bench().run(900, .init(lengths: [13, 64, 1, 30])))
      if description.name == "noise", seed == 24 {
        // The filter of pink noise stands still in blocks that are mute.
        withKnownIssue { #expect(difference == nil) }
      } else {
        #expect(difference == nil, "seed \(seed)")
      }
    }
  }

  /// Calls `expectTame` with the kernel type of a kind.
  private struct Tame: KernelVerb {
    let tests: LegalValueTests
    let description: KindDescription

    func callAsFunction<K: Kernel>(_ type: K.Type) { tests.expectTame(type, description) }
  }

  @Test(arguments: KindRegistry.builtIn.catalogue.kinds.map(\.name))
  func everyKindIsTame(name: String) throws {
    let kind = try #require(KindRegistry.builtIn[name])
    kind.tag.apply(Tame(tests: self, description: kind.description))
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
