import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// The difference of two patches.
@Suite struct DifferenceTests {
  /// The patch written and read again, so that its identities are new.
  private func reread(_ patch: Patch) -> Patch {
    PatchReader.read(PatchWriter.write(patch, catalogue: catalogue), file: "", catalogue: catalogue).patch
  }

  @Test func itIsWhatWasDoneAsOneWouldHaveTypedIt() throws {
    let old = read(MergeCase.base)
    for line in [
      "rename dist fuzz", "remove osc", "set main[0,2] -3dB", "disconnect osc -> dist", "layout main auto",
      "connect comp -> main gain=-6dB map=[1,0]", "node verb delay time=1s before main", "node verb delay",
      "move osc before main", "move keys last", "replace comp delay time=1s", "header", "footer \"The end.\"",
      "comment dist", "set dist.drive default",
    ] {
      let new = reread(try edited(old, line))
      let edits = try PatchDifference.edits(from: old, to: new, catalogue: catalogue)
      #expect(edits.map(\.line) == [line])
    }
    #expect(try PatchDifference.edits(from: old, to: reread(old), catalogue: catalogue) == [])
  }

  /// A node may be renamed into a sub-patch whose file is not read, at which a cable waits. Scenes follow the node.
  @Test(arguments: ["", "\nscene 1 \"s\"\n"])
  func aNodeIsRenamedIntoASubPatchThatWaitsForItsFile(scene: String) throws {
    let old = read(
      """
      sostenuto 1
      node room patch file=hall.patch size=3ms
      node box patch
      node box/out outlet
      node out output
      connect room -> out
      connect box -> out

      """ + scene)
    let new = read(
      """
      sostenuto 1
      node room patch
      node room/out outlet
      node out output
      connect room -> out

      """ + scene)
    var patch = old
    for edit in try PatchDifference.edits(from: old, to: new, catalogue: catalogue) {
      patch = try patch.applying(edit, catalogue: catalogue, acceptsUnknownKinds: true).patch
    }
    #expect(PatchWriter.write(patch, catalogue: catalogue) == PatchWriter.write(new, catalogue: catalogue))
  }

  @Test(arguments: searchSeeds(51, 52, 53, 54, 55))
  func itsLinesLeadExactlyToTheOtherPatchCommentsAndOrderIncluded(seed: UInt64) throws {
    print("seed", seed)
    var random = RandomEdits(seed: seed, catalogue: catalogue)
    var states: [Patch] = [Patch(), read(example)]
    var patch = states[1]
    for step in 0..<1200 {
      guard let change = try? patch.applying(random.next(for: patch), catalogue: catalogue) else { continue }
      patch = change.patch
      if step % 10 == 0 { states.append(reread(patch)) }
    }
    // Unknown kinds come from files.
    states.append(
      read(
        "node x wobble a=1 b=\"two words\"\n# why\nset x.c 3\nnode y wobbler\nconnect x -> y.side gain=-3dB",
        warnings: 2))
    for _ in 0..<300 {
      let old = states.randomElement(using: &random.random)!
      let new = states.randomElement(using: &random.random)!
      let edits = try PatchDifference.edits(from: old, to: new, catalogue: catalogue)
      let draft = try typing(edits, on: old)
      let texts = [draft.patch, new].map {
        PatchWriter.write($0, catalogue: catalogue).split(separator: "\n")
      }
      let lines = edits.map(\.line).joined(separator: "\n")
      #expect(texts[0] == texts[1], "\(texts[0].difference(from: texts[1]).map { $0 }) by\n\(lines)")
      #expect(draft.patch.withPlainIdentities == new.withPlainIdentities)
    }
  }

  /// A cable from outside leads to a parameter inside only while that is published.
  @Test func cablesToPublishedParametersComeBehindThePublicationAndGoBeforeIt() throws {
    let apart = read(
      """
      node a oscillator
      node b delay
      node c delay
      node d oscillator
      node e distortion
      connect d -> b
      connect b -> c
      connect c -> e
      connect a -> b.time by 3ms
      connect a -> e.drive by 6dB
      """)
    let together = try edited(apart, "collapse b c into s")
    let states = [
      apart, together, try edited(together, "collapse s e into t"), try edited(apart, "collapse b e into s"),
      try edited(together, "publish s/c.time as s/time ; connect a -> s.time by 1ms"),
      try edited(together, "disconnect a -> s.time ; publish s/c.time as s/time"),
      try edited(together, "disconnect a -> s.time ; rename s t"), try edited(together, "remove s/b"),
    ].map(reread)
    for old in states {
      for new in states {
        let draft = try typing(PatchDifference.edits(from: old, to: new, catalogue: catalogue), on: old)
        #expect(
          PatchWriter.write(draft.patch, catalogue: catalogue) == PatchWriter.write(new, catalogue: catalogue)
        )
      }
    }
  }

  private func read(_ text: String, warnings: Int = 0) -> Patch {
    let (patch, diagnostics) = PatchReader.read(text, file: "", catalogue: catalogue)
    #expect(diagnostics.count == warnings, "\(diagnostics)")
    return patch
  }
}
