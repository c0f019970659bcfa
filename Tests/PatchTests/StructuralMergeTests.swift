import Patch
import PatchLanguage
import TestSupport
import Testing

/// Merging by nodes, settings and cables.
@Suite struct StructuralMergeTests {
  private static let base = read(MergeCase.base)

  /// The three documents read from files, each with new identities.
  private func versions(_ test: MergeCase) throws -> (base: Patch, ours: Patch, theirs: Patch) {
    func reread(_ patch: Patch) -> Patch { read(PatchWriter.write(patch, catalogue: catalogue)) }
    return (
      Self.base, reread(try edited(Self.base, test.ours)), reread(try edited(Self.base, test.theirs))
    )
  }

  private func wanted(_ test: MergeCase) throws -> Patch? {
    switch test.outcome {
    case .both: try edited(try edited(Self.base, test.ours), test.theirs)
    case .edits(let line): try edited(Self.base, line)
    case .conflict: nil
    }
  }

  @Test(arguments: MergeCase.all)
  func whatTwoPeopleDidIsJoinedOrIsAConflictThatShowsBoth(test: MergeCase) throws {
    let (base, ours, theirs) = try versions(test)
    let result = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
    let text = MergeText.write(result, catalogue: catalogue)
    if let wanted = try self.wanted(test) {
      #expect(result.conflicts == [])
      #expect(text == PatchWriter.write(wanted, catalogue: catalogue))
      #expect(result.patch == result.theirs)
    } else {
      #expect(!result.conflicts.isEmpty)
      let (here, there) = sides(of: text)
      #expect(here == PatchWriter.write(result.patch, catalogue: catalogue))
      #expect(there == PatchWriter.write(result.theirs, catalogue: catalogue))
      #expect(here != there)
      for text in [here, there] {
        #expect(PatchReader.read(text, file: "", catalogue: catalogue).diagnostics == [])
      }
    }
    // The merge is symmetric, except for the order of additions from both sides.
    let mirrored = PatchMerge.merge(base: base, ours: theirs, theirs: ours, catalogue: catalogue)
    #expect(mirrored.conflicts.count == result.conflicts.count)
    #expect(paragraphs(mirrored.patch) == paragraphs(result.theirs))
  }

  @Test func moreCasesMergeRightlyThanByLinesAndNoneWrongly() throws {
    var rows: [String] = []
    var right = (git: 0, ours: 0)
    for test in MergeCase.all {
      let (base, ours, theirs) = try versions(test)
      let wanted = try self.wanted(test).map { PatchWriter.write($0, catalogue: catalogue) }
      let lines = try mergeLines(base: base, ours: ours, theirs: theirs)
      let result = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
      let text = MergeText.write(result, catalogue: catalogue)
      let git = verdict(lines.text, lines.conflicts > 0, wanted)
      let own = verdict(text, !result.conflicts.isEmpty, wanted)
      if git == "right" { right.git += 1 }
      if own == "right" { right.ours += 1 }
      rows.append("| \(test.what) | \(git) | \(own) |")
    }
    print("| case | git merge-file | sostenuto merge |\n|---|---|---|\n" + rows.joined(separator: "\n"))
    print("right: git merge-file \(right.git), sostenuto merge \(right.ours), of \(MergeCase.all.count)")
    #expect(right.ours == MergeCase.all.count)
    #expect(right.git < right.ours)
  }

  private func verdict(_ text: String, _ conflicts: Bool, _ wanted: String?) -> String {
    guard let wanted else {
      if conflicts { return "right" }
      let faults = PatchReader.read(text, file: "", catalogue: catalogue).diagnostics
      return faults.isEmpty ? "loses one side" : "invalid"
    }
    if conflicts { return "needless conflict" }
    let (patch, faults) = PatchReader.read(text, file: "", catalogue: catalogue)
    if !faults.isEmpty { return "invalid" }
    return PatchWriter.write(patch, catalogue: catalogue) == wanted ? "right" : "wrong"
  }

  @Test func nobodysNodeLosesItsIdentitySoThatAnOpenSessionGoesOn() throws {
    let ours = try edited(Self.base, "rename dist fuzz ; set osc.level -20dB ; move keys last")
    let theirs = read(
      PatchWriter.write(
        try edited(Self.base, "node a delay before piano ; set dist.drive 3dB ; remove comp"),
        catalogue: catalogue))
    let result = PatchMerge.merge(base: Self.base, ours: ours, theirs: theirs, catalogue: catalogue)
    #expect(result.conflicts == [])
    for node in result.patch.nodes.values where node.name != "a" {
      #expect(ours[node.id]?.name == node.name)
    }
    #expect(result.patch[named: "a"].map { ours[$0.id] } == .some(nil))
    #expect(result.patch[named: "fuzz"]?.settings[ParameterPath("drive")] == .number(3, .decibels))
    let edits = try PatchDifference.edits(from: ours, to: result.patch, catalogue: catalogue)
    let change = try ours.applying(.all(edits), catalogue: catalogue)
    #expect(change.patch.withPlainIdentities == result.patch.withPlainIdentities)
    for node in change.patch.nodes.values where ours.id(named: node.name) != nil {
      #expect(ours.id(named: node.name) == node.id)
    }
  }

  @Test(arguments: searchSeeds(41, 42, 43, 44))
  func randomEditsOnBothSidesGiveAPatchThatHolds(seed: UInt64) throws {
    print("seed", seed)
    var edits = RandomEdits(seed: seed, catalogue: catalogue)
    var base = read(example)
    func walk(_ patch: Patch, _ steps: Int) -> Patch {
      var patch = patch
      for _ in 0..<steps {
        if let change = try? patch.applying(edits.next(for: patch), catalogue: catalogue) {
          patch = change.patch
        }
      }
      return patch
    }
    var clean = 0
    for round in 0..<150 {
      base = walk(base, 3)
      let ours = walk(base, 1 + round % 5)
      let theirs = walk(base, 1 + round % 7)
      for (b, o, t) in [(base, ours, base), (base, base, ours), (base, ours, ours)] {
        let result = PatchMerge.merge(base: b, ours: o, theirs: t, catalogue: catalogue)
        #expect(result.conflicts == [])
        let text = PatchWriter.write(result.patch, catalogue: catalogue)
        #expect(text == PatchWriter.write(ours, catalogue: catalogue))
      }
      let result = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
      for patch in [result.patch, result.theirs] {
        let text = PatchWriter.write(patch, catalogue: catalogue)
        let (again, faults) = PatchReader.read(text, file: "", catalogue: catalogue)
        #expect(faults.allSatisfy { isOfControl($0, in: text) }, "\(text)")
        #expect(again.withPlainIdentities == patch.withPlainIdentities, "\(text)")
      }
      if result.conflicts.isEmpty {
        clean += 1
        #expect(result.patch == result.theirs)
      } else {
        #expect(result.patch != result.theirs, "\(result.conflicts)")
      }
      let mirrored = PatchMerge.merge(base: base, ours: theirs, theirs: ours, catalogue: catalogue)
      #expect(mirrored.conflicts.isEmpty == result.conflicts.isEmpty)
      #expect(paragraphs(mirrored.patch) == paragraphs(result.theirs))
    }
    print("merged without a conflict:", clean, "of 150")
    #expect(clean > 10)
  }

  /// One side has the inside of a sub-patch in lines, and the other leads a cable to it, whose file is not
  /// read. Scenes of both have such cables, too.
  @Test(arguments: [false, true]) func aCableLeadsToTheInsideThatTheOtherSideHas(isScene: Bool) throws {
    let sources = "node b oscillator\nnode a oscillator\nnode out output\n"
    let base = sources + "node w patch file=hall.patch\n"
    var ours = sources + "node w patch\nnode w/in inlet\nnode w/out outlet\n"
    ours += "connect w/in -> w/out\nconnect a -> w\n"
    var theirs = base + "connect b -> w gain=-6dB  # new\nconnect w -> out\n"
    var old = base
    if isScene {
      let empty = "remove a\nremove b\nremove out\n"
      func scene(_ text: String) throws -> String {
        let stored = try edited(read(text), "scene 1")
        let patch = try empty.split(separator: "\n").reduce(stored) { try edited($0, String($1)) }
        return PatchWriter.write(try edited(patch, "remove w"), catalogue: catalogue)
      }
      (old, ours, theirs) = (try scene(old), try scene(ours), try scene(theirs))
    }
    let result = PatchMerge.merge(
      base: read(old), ours: read(ours), theirs: read(theirs), catalogue: catalogue)
    #expect(result.conflicts == [])
    let text = MergeText.write(result, catalogue: catalogue)
    for cable in ["a -> w\n", "b -> w gain=-6dB", "w -> out\n"] {
      #expect(text.contains("connect \(cable)"), "\(text)")
    }
    #expect(PatchWriter.write(read(text), catalogue: catalogue) == text)
  }

  /// Paragraphs of a file, sorted by node name.
  private func paragraphs(_ patch: Patch) -> [String] {
    var names = patch.names.sorted()[...]
    var patch = patch
    while let name = names.popFirst() {
      if let moved = try? patch.applying(.move(name, before: nil), catalogue: catalogue) {
        patch = moved.patch
      }
    }
    return PatchWriter.write(patch, catalogue: catalogue).split(separator: "\n").map(String.init)
  }

  /// Text on either side of the conflict markers.
  private func sides(of text: String) -> (String, String) {
    var (here, there): ([Substring], [Substring]) = ([], [])
    var side = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "<<<<<<< ours" {
        side = 1
      } else if line == "=======", side == 1 {
        side = 2
      } else if line
        == ">>>>>>> theirs"
      {
        side = 0
      } else {
        if side != 2 { here.append(line) }
        if side != 1 { there.append(line) }
      }
    }
    return (here.joined(separator: "\n"), there.joined(separator: "\n"))
  }
}
