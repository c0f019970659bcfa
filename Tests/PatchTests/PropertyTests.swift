import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// Thousands of random edits.
@Suite struct PropertyTests {
  static let seeds = searchSeeds(1, 2, 3, 20_261_121)

  @Test(arguments: seeds)
  func undoingEverythingGivesTheFirstPatchExactlyRedoingEverythingTheLast(seed: UInt64) throws {
    print("seed", seed)
    var edits = RandomEdits(seed: seed, catalogue: catalogue)
    var patch = read(example)
    var history = History()
    var states = [patch]
    var refusals = 0
    while states.count <= 1000 {
      let edit = edits.next(for: patch)
      guard let change = try? patch.applying(edit, catalogue: catalogue) else {
        refusals += 1
        continue
      }
      let back: Change
      do {
        back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue)
      } catch {
        Issue.record("undoing `\(edit)` by `\(change.inverse)`: \(error)")
        return
      }
      #expect(back.patch == patch, "undoing `\(edit)` by `\(change.inverse)`")
      // Scenes keep comments and places that are no part of their states.
      if states.count % 3 == 0 { try expectSameFile(back.patch, patch, undoing: edit, by: change.inverse) }
      expectConsistent(change.patch, after: edit)
      if change.isSilent { #expect(Self.sounding(change.patch) == Self.sounding(patch), "\(edit)") }
      history.record(change, describing: edit.line, catalogue: catalogue)
      patch = change.patch
      states.append(patch)
    }
    #expect(refusals < 2000)

    for state in states.dropLast().reversed() {
      let line = history.undoList.first ?? ""
      do {
        patch = try #require(try history.undo(patch, catalogue: catalogue)).change.patch
      } catch {
        Issue.record("undo of `\(line)`: \(error)")
        return
      }
      #expect(patch == state, "undo of `\(line)`")
    }
    #expect(try history.undo(patch, catalogue: catalogue) == nil)
    for state in states.dropFirst() {
      let line = history.redoList.first ?? ""
      do {
        patch = try #require(try history.redo(patch, catalogue: catalogue)).change.patch
      } catch {
        Issue.record("redo of `\(line)`: \(error)")
        return
      }
      #expect(patch == state, "redo of `\(line)`")
    }
    #expect(!history.canRedo)
  }

  private func expectSameFile(_ one: Patch, _ other: Patch, undoing edit: Edit, by inverse: Edit) throws {
    let texts = [one, other].map { PatchWriter.write($0, catalogue: catalogue).split(separator: "\n") }
    let difference = texts[0].difference(from: texts[1]).map { $0 }
    #expect(difference.isEmpty, "undoing `\(edit.line)` by `\(inverse.line)`")
  }

  @Test(arguments: seeds)
  func aSavedPatchReadsBackAsTheSameDocumentAndSavesAsTheSameBytes(seed: UInt64) throws {
    print("seed", seed)
    var edits = RandomEdits(seed: seed &+ 100, catalogue: catalogue)
    var patch = Patch()
    for step in 0..<1500 {
      guard let change = try? patch.applying(edits.next(for: patch), catalogue: catalogue) else { continue }
      patch = change.patch
      guard step % 5 == 0 else { continue }
      let text = PatchWriter.write(patch, catalogue: catalogue)
      let (again, diagnostics) = PatchReader.read(text, file: "", catalogue: catalogue)
      // A control may wait for what is gone.
      #expect(diagnostics.filter { !isOfControl($0, in: text) } == [], "\(text)")
      #expect(again.withPlainIdentities == patch.withPlainIdentities, "\(text)")
      #expect(PatchWriter.write(again, catalogue: catalogue) == text)
    }
  }

  @Test(arguments: seeds)
  func theLineThatDescribesAnEditDoesTheSameAsTheEdit(seed: UInt64) throws {
    print("seed", seed)
    var edits = RandomEdits(seed: seed &+ 200, catalogue: catalogue)
    var patch = read(example)
    for _ in 0..<1500 {
      let edit = edits.next(for: patch)
      guard let change = try? patch.applying(edit, catalogue: catalogue) else { continue }
      let statement = try StatementParser.parse(edit.line, patch: patch, catalogue: catalogue)
      guard case .edit(let parsed) = statement else {
        Issue.record("`\(edit)` reads as \(statement)")
        continue
      }
      let other = try patch.applying(parsed, catalogue: catalogue)
      let canonical = try patch.applying(patch.canonical(edit, catalogue: catalogue), catalogue: catalogue)
      #expect(canonical.patch.withPlainIdentities == change.patch.withPlainIdentities, "\(edit)")
      let once = try patch.applyingCanonically(edit, catalogue: catalogue)
      #expect(once.edit == patch.canonical(edit, catalogue: catalogue), "\(edit)")
      #expect(once.change.patch.withPlainIdentities == change.patch.withPlainIdentities, "\(edit)")
      #expect(
        try once.change.patch.applying(exactly: once.change.inverse, catalogue: catalogue).patch == patch,
        "\(edit)")
      #expect(other.patch.withPlainIdentities == change.patch.withPlainIdentities, "\(edit)")
      patch = change.patch
    }
  }

  private func expectConsistent(_ patch: Patch, after edit: Edit) {
    let incoming = Set(patch.incoming.values.flatMap { $0 })
    let outgoing = Set(patch.outgoing.values.flatMap { $0 })
    #expect(incoming == Set(patch.cables.keys) && outgoing == incoming, "\(edit)")
    #expect(patch.incoming.values.reduce(0) { $0 + $1.count } == patch.cables.count, "\(edit)")
    #expect(
      Dictionary(uniqueKeysWithValues: zip(patch.idsByName.keys, patch.idsByName.values))
        == Dictionary(uniqueKeysWithValues: patch.nodes.values.map { ($0.name, $0.id) }),
      "\(edit)")
    for ends in patch.cables.keys {
      #expect(patch[ends.source.node] != nil && patch[ends.destination.node] != nil, "\(edit)")
    }
    let inner = Dictionary(
      grouping: patch.nodes.values.filter { $0.name.contains("/") },
      by: { NodePath.container(of: $0.name) ?? "" })
    #expect(Set(inner.keys) == Set(patch.inside.keys), "\(edit)")
    for (path, nodes) in inner { #expect(patch.nodes(inside: path) == nodes, "\(edit)") }
    for node in patch.nodes.values { #expect(patch[node.id] == node && node.id.raw < patch.nextID) }
  }

  /// The part of a patch that the engine uses.
  private static func sounding(_ patch: Patch) -> [String] {
    patch.nodes.values.map { node in
      let values = catalogue[node.kind].map { EngineValues(of: node, description: $0).values }
      let cables = patch.cables(into: node.id, catalogue: catalogue).map {
        "\($0.ends) \($0.gain) \(String(describing: $0.map))"
      }
      return "\(node.id.raw) \(node.kind) \(values ?? []) \(cables)"
    }
  }
}
