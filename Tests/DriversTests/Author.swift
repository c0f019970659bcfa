import Drivers
import Engine
import Foundation
import Patch
import TestSupport

/// Generates random lines of the patch language. The patch refuses many; the accepted ones are the test.
struct Author {
  /// Initial patch.
  static let patch = """
    node keys keyboard
    node piano sampler
    node tone oscillator shape=saw freq=110Hz
    node wind noise level=-30dB
    node line input channels=2
    node main matrix inputs=2 outputs=2
    node out output channels=2
    connect keys -> piano
    connect piano -> main
    connect tone -> main gain=-6dB
    connect wind -> main gain=-12dB
    connect line -> main
    connect main -> out
    """

  /// A short tone, as an instrument for the sampler.
  static func makeInstrument() throws -> String {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "sostenuto-exercise-\(UUID().uuidString).wav").path
    let graph = try LiveGraph(
      "node tone oscillator freq=261.6Hz shape=triangle\nnode out output channels=1\nconnect tone -> out")
    try OfflineRenderer(engine: graph.engine, rate: 48000, tracks: [.outputs(to: path)]).render(frames: 24000)
    return path
  }

  var random: SeededGenerator
  var made = 0
  /// Kinds with an audio path, so that any of them can be inserted anywhere.
  let kinds = KindRegistry.builtIn.catalogue.kinds
    .filter { [.effect, .mixing, .modulation, .source].contains($0.category) }
    .map(\.name)

  mutating func line(_ patch: Patch) -> String {
    let names = patch.nodes.values.map(\.name).filter { $0 != "out" && $0 != "piano" && $0 != "keys" }
    let some = names.randomElement(using: &random) ?? "main"
    let other = names.randomElement(using: &random) ?? "main"
    let kind = kinds.randomElement(using: &random)!
    switch Int.random(in: 0..<15, using: &random) {
    case 0:
      made += 1
      return "node n\(made) \(kind) ; connect \(some) -> n\(made)"
    case 1:
      made += 1
      return "insert n\(made) \(kind) into \(some) -> \(other)"
    case 2: return names.count > 6 ? "remove \(some) bridge" : "connect \(some) -> main"
    case 3: return names.count > 12 ? "remove \(some)" : "replace \(some) \(kind)"
    case 4, 5: return "connect \(some) -> \(other) gain=\(Int.random(in: -30...0, using: &random))dB"
    case 6: return "connect \(some) -> out gain=-20dB"
    case 7: return "disconnect \(some) -> \(other)"
    case 8: return "set \(parameter(of: some, in: patch))"
    case 9: return "set \(parameter(of: other, in: patch)) over 30ms"
    case 10: return "pedal piano sustain \(Bool.random(using: &random) ? "on" : "off")"
    case 11: return time()
    case 12: return "note piano off \(Int.random(in: 48...72, using: &random))"
    default: return "note piano on \(Int.random(in: 48...72, using: &random)) 90"
    }
  }

  private mutating func time() -> String {
    let lines = [
      "roll", "halt", "locate bar \(Int.random(in: 1...99, using: &random))",
      "tempo \(Int.random(in: 5...999, using: &random))",
      "meter \(Int.random(in: 1...9, using: &random))/8",
    ]
    return lines.randomElement(using: &random) ?? "roll"
  }

  private mutating func parameter(of name: String, in patch: Patch) -> String {
    guard let node = patch[named: name], let kind = KindRegistry.builtIn.catalogue[node.kind],
      let parameter = kind.parameters.randomElement(using: &random)
    else { return "main.master -3dB" }
    return setting(parameter, of: name) ?? "main.master -1dB"
  }

  /// A random value for a parameter, in the syntax of `set`; nil for files and texts.
  mutating func setting(_ parameter: ParameterDescription, of name: String) -> String? {
    let indices = parameter.dimensions.isEmpty ? "" : "[0\(parameter.dimensions.count > 1 ? ",1" : "")]"
    switch parameter.form {
    case .choice(let words): return "\(name).\(parameter.name) \(words.randomElement(using: &random)!)"
    case .toggle: return "\(name).\(parameter.name)\(indices) \(Bool.random(using: &random) ? "on" : "off")"
    case .integer: return "\(name).\(parameter.name) \(Int.random(in: 1...4, using: &random))"
    case .continuous:
      let low = max(parameter.range.lowerBound, -40)
      let value = Double.random(in: low...max(low, min(parameter.range.upperBound, 2000)), using: &random)
      return "\(name).\(parameter.name)\(indices) \(value)\(parameter.unit == .decibels ? "dB" : "")"
    case .file, .text: return nil
    }
  }
}
