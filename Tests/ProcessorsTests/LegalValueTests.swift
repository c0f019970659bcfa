import Patch
import Realtime
import TestSupport
import Testing

@testable import Engine
@testable import Processors

/// For any legal parameter value, any ramp to it and any modulation of it: no NaN, no infinity, and the same bits
/// for every split into blocks.
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

  /// A modulation within a parameter's range, with silence between.
  private func bursts(_ parameter: ParameterDescription, _ chance: inout Chance) -> [[Float]] {
    var edges = (0..<4).map { _ in Int.random(in: 0..<900, using: &chance) }
    edges.sort()
    let depth = min(Float(parameter.range.upperBound), 2000) / 4
    return (0..<Int.random(in: 1...2, using: &chance)).map { _ in
      (0..<900).map { frame in
        (edges[0]..<edges[1]).contains(frame) || (edges[2]..<edges[3]).contains(frame)
          ? Float.random(in: -depth...depth, using: &chance) : 0
      }
    }
  }

  func expectTame<K: Kernel>(_ type: K.Type, _ description: KindDescription) {
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
    for seed in manyLawSeeds {
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
          (0..<count).map { _ in chance.signal(600, seed % 3 == 1 ? 1e-3 : 4) }
        }
        let bench = KernelBench(
          type, description, inputs: signals, outputs: description.outputs.compactMap(channels), values,
          // Endpoints are told their first driver channel.
          extra: description.endpoint == nil ? nil : 0)
        bench.moves = moves.sorted { $0.frame < $1.frame }
        for (index, parameter) in description.parameters.enumerated()
        where parameter.smoothing == .ramp && Int.random(in: 0..<3, using: &chance) == 0 {
          bench.modulation[index] = bursts(parameter, &chance)
        }
        return bench
      }
      let whole = bench()
      let out = whole.run(900)
      #expect(out.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } }, "seed \(seed)")
      #expect(whole.isMemoryIntact)
      guard description.isSplitInvariant else { continue }
      let difference = firstDifference(out, bench().run(900, .init(lengths: [13, 64, 1, 30])))
      #expect(difference == nil, "seed \(seed)")
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

  /// Widens a kernel of a kind from one channel to two.
  private struct Widened: KernelVerb {
    let description: KindDescription

    func callAsFunction<K: Kernel>(_ type: K.Type) {
      var chance = Chance(3)
      func channels(_ port: PortDescription, _ flexible: Int) -> Int {
        if case .channels(let count) = port.format { count } else { flexible }
      }
      let bench = KernelBench(
        type, description, inputs: description.inputs.map { $0.role == .main ? [chance.signal(600)] : [] },
        outputs: description.outputs.map { channels($0, 1) })
      _ = bench.run(300)
      bench.widen(
        [[chance.signal(600), chance.signal(600)]], outputs: description.outputs.map { channels($0, 2) })
      let out = bench.run(300)
      #expect(out.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } }, "it reads its old memory")
      #expect(bench.isMemoryIntact, "it writes to its old memory")
    }
  }

  private static let flexible = KindRegistry.builtIn.catalogue.kinds.filter {
    $0.inputs.first?.format == .flexible
  }

  @Test(arguments: flexible.map(\.name)) func everyKindThatWidensLeavesItsOldMemory(name: String) throws {
    let kind = try #require(KindRegistry.builtIn[name])
    kind.tag.apply(Widened(description: kind.description))
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
