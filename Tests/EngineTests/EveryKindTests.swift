import Engine
import Foundation
import Patch
import Testing

/// What every kind of the registry needs: a documentation, a face, a benchmark row and an example. The laws for
/// kernels (ProcessorsTests) and the random edits take the registry too.
@Suite struct EveryKindTests {
  private static let kinds = KindRegistry.builtIn.catalogue.kinds
  private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.repository.appendingPathComponent(path), encoding: .utf8)
  }

  /// The files below a folder whose names end like this.
  private func files(_ folder: String, _ ending: String) throws -> [String] {
    let names = try #require(
      FileManager.default.enumerator(atPath: Self.repository.appendingPathComponent(folder).path))
    return names.compactMap { $0 as? String }.filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }
  }

  @Test func everyKernelOfTheProgramIsInTheRegistry() throws {
    var described: Set<String> = []
    for file in try files("Sources/Processors", ".swift") + files("Sources/Sampler", ".swift") {
      for match in try text(file).matches(of: /KindDescription\(\s*name: "([a-z]+)"/) {
        described.insert(String(match.1))
      }
    }
    let missing = described.subtracting(Self.kinds.map(\.name))
    #expect(missing.isEmpty, "without a line in KernelTag.apply: \(missing.sorted())")
    #expect(described.count == Self.kinds.count)
  }

  @Test func everyKindIsDocumented() {
    for kind in Self.kinds {
      #expect(kind.summary.hasSuffix("."), "\(kind.name) has no summary")
      for parameter in kind.parameters {
        #expect(!parameter.summary.isEmpty, "\(kind.name).\(parameter.name) has no summary")
      }
      for reading in kind.readings {
        #expect(!reading.summary.isEmpty, "\(kind.name): the reading \(reading.name) has no summary")
      }
    }
  }

  @Test func whatADescriptionNamesIsThere() {
    for kind in Self.kinds {
      var named: [String] = []
      switch kind.face {
      case .channels(let labels?): named.append(labels)
      case .response(let bands): named.append(bands ?? "freq")
      case .keys: named.append("octave")
      case .channels, .level, .settings: break
      }
      switch kind.amplification {
      case .by(let parameter): named.append(parameter)
      case .byModulation(let parameters): named += parameters
      case .never, .possible: break
      }
      named += kind.parameters.compactMap(\.requirement?.parameter)
      named += [kind.stateParameter].compactMap { $0 }
      for port in kind.inputs + kind.outputs {
        if case .parameter(let name) = port.format { named.append(name) }
      }
      for name in named {
        #expect(kind[parameter: name] != nil, "\(kind.name) has no parameter `\(name)`, which it names")
      }
      #expect(kind.cost.nanoseconds(inputs: [2], outputs: [2]) > 0, "\(kind.name) has no cost")
    }
  }

  @Test func everyKindHasABenchmarkRow() throws {
    let rows = try text("Benchmarks/kinds.py")
    for kind in Self.kinds {
      #expect(rows.contains("\n    \"\(kind.name)\": ("), "\(kind.name) has no row in Benchmarks/kinds.py")
    }
  }

  @Test func everyKindHasAnExample() throws {
    let examples = try files("Patches", ".patch").filter { !$0.contains("/benchmarks/") }.map(text)
    for kind in Self.kinds {
      let line = try Regex("(?m)^node \\S+ \(kind.name)( |$)")
      #expect(examples.contains { $0.contains(line) }, "\(kind.name) has no example in Patches")
    }
  }
}
