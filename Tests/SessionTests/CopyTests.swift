import Engine
import Foundation
import PatchLanguage
import TestSupport
import Testing

@testable import Patch
@testable import Session

/// `copy NODE NAME`, of every kind, with the journal and in sound.
@MainActor @Suite struct CopyTests {
  private static let names = ["twin", "a-b", "é", "copy", "before", "main2", "x_1"]

  @Test(arguments: searchSeeds(11, 12, 13))
  func copiesOfRandomNodesAreUndoneRedoneAndRecovered(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let folder = try Folder()
    let path = try folder.file("a.patch", "sostenuto 1\nnode out output\nnode piano sampler\n")
    var session: Session? = try open(path)
    var (copies, refusals) = (0, 0)
    for step in 0..<150 {
      if Int.random(in: 0..<10, using: &random) == 0 {
        // A kill, which no other reference may outlive; the journal has every edit.
        let text = canonical(try #require(session))
        session = nil
        session = try open(path)
        #expect(canonical(try #require(session)) == text, "seed \(seed), step \(step)")
      }
      let live = try #require(session)
      let before = live.patch
      let name = try #require(before.names.randomElement(using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0: _ = try? live.undo()
      case 1: _ = try? live.redo()
      case 2...4:
        guard let node = Self.node("n\(step)", &random) else { continue }
        try live.perform(.add(node, before: nil))
        if node.kind == "matrix" { try live.perform("set n\(step)[..,1] -6dB ; set n\(step).mute.in[0] on") }
      default:
        let fresh = Self.names.randomElement(using: &random)! + "\(step)"
        let other =
          Int.random(in: 0..<6, using: &random) == 0 ? before.names.randomElement(using: &random)! : fresh
        guard let line = try? live.perform("copy \(name) \(other)") else {
          #expect(before[named: other] != nil && live.patch == before)
          refusals += 1
          continue
        }
        copies += 1
        #expect(line == "copy \(name) \(other)")
        try check(live, copy: other, of: name, before)
        let after = live.patch
        #expect(try live.undo() == line)
        #expect(live.patch == before)
        if Bool.random(using: &random) {
          #expect(try live.redo() == line)
          #expect(live.patch == after)
        }
      }
    }
    #expect(copies > 30 && refusals > 0)
    session?.close()
  }

  private func check(_ session: Session, copy: String, of name: String, _ before: Patch) throws {
    let original = try #require(session.patch[named: name])
    let new = try #require(session.patch[named: copy])
    #expect(original == before[named: name])
    #expect(new.kind == original.kind && new.settings == original.settings && new.id != original.id)
    #expect(new.place == nil && new.comments.isEmpty)
    #expect(session.patch.cables == before.cables)
  }

  /// A node of a random kind, with random settings or none.
  private static func node(_ name: String, _ random: inout SeededGenerator) -> Node? {
    guard let kind = KindRegistry.builtIn.catalogue.kinds.randomElement(using: &random) else { return nil }
    var node = Node(name: name, kind: kind.name)
    for parameter in kind.parameters where parameter.dimensions.isEmpty && Bool.random(using: &random) {
      let range = parameter.range
      switch parameter.form {
      case .choice(let words):
        node.settings[ParameterPath(parameter.name)] = .text(words.randomElement(using: &random)!)
      case .toggle:
        node.settings[ParameterPath(parameter.name)] = .text(Bool.random(using: &random) ? "on" : "off")
      case .continuous where range.lowerBound.isFinite && range.upperBound.isFinite:
        let number = Double.random(in: range, using: &random)
        node.settings[ParameterPath(parameter.name)] = .number(number, parameter.unit)
      default: break
      }
    }
    return kind.checked(node).refusals.isEmpty ? node : Node(name: name, kind: kind.name)
  }

  private func render(_ lines: [String], of name: String, seconds: Double = 2) throws -> Data {
    let folder = try Folder()
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.open(repository + "/Patches/reconnect.patch")
    let path = folder.path + "/\(name).wav"
    // Before the render only what makes the node.
    for line in lines where line.hasPrefix("copy") { try session.perform(line) }
    var request = RenderRequest(seconds: seconds)
    request.taps = [try #require(TapRequest("\(name)=\(path)"))]
    let (script, faults) = Script.read(
      lines.filter { !$0.hasPrefix("copy") }.joined(separator: "\n"), file: "s")
    #expect(faults.isEmpty)
    request.script = script
    try session.render(request)
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test func aCopyOfASamplerSoundsAsItsOriginal() throws {
    let notes = ["at 0.1s note NODE on C4 100", "at 0.3s note NODE on G4 60", "at 1s note NODE off C4"]
    let original = try render(notes.map { $0.replacing("NODE", with: "piano") }, of: "piano")
    let copy = try render(["copy piano twin"] + notes.map { $0.replacing("NODE", with: "twin") }, of: "twin")
    #expect(Set(original).count > 100)
    #expect(copy == original)
  }

  @Test func heldNotesDoNotNoticeCopies() throws {
    let seed: UInt64 = 4711
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let chord = [
      "at 0.05s pedal piano sustain on", "at 0.05s note piano on C4 100", "at 0.06s note piano on E4 90",
    ]
    let quiet = try render(chord, of: "piano")
    var edits: [String] = []
    for number in 0..<40 {
      let time = 0.1 + 1.8 * Double(number) / 40
      let name = ["piano", "main", "dist", "out", "keys"].randomElement(using: &random)!
      let kinds = [
        "copy \(name) n\(number)", "copy piano n\(number) ; connect n\(number) -> main", "undo", "redo",
        "note piano on C4 1 ; note piano off C4",
      ]
      edits.append("at \(time)s \(kinds.dropLast().randomElement(using: &random)!)")
    }
    let known = edits.filter { !$0.contains("undo") && !$0.contains("redo") }
    #expect(known.count > 10)
    #expect(try render(chord + edits, of: "piano") == quiet, "seed \(seed)")
  }

  @Test func aCopyTakesTheStateThatOnlyTheEngineKnows() throws {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.add(.times())
    try session.perform("node it times factor=3 ; node out output channels=1 ; connect it -> out")
    try session.render(RenderRequest(seconds: 0.1))
    let line = try session.perform("copy it twin")
    let original = try #require(session.patch[named: "it"])
    let state = try #require(session.engine.state(of: original.id))
    #expect(state != "" && state != "0")
    #expect(line == "copy it twin ; set twin.state \(Value.text(state).line)")
    #expect(session.patch[named: "twin"]?.settings[ParameterPath("state")] == .text(state))
    #expect(
      session.patch[named: "it"]?.settings[ParameterPath("state")] == nil, "the original goes on as it is")
    #expect(try session.undo() == line)
    #expect(session.patch.names == ["it", "out"])
    session.close()
  }
}
