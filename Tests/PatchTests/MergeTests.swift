import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

/// Patch files in git.
@Suite struct MergeTests {
  @Test func editsOfDifferentNodesMergeWithoutAConflictAndTheMergedFileIsCanonical() throws {
    let base = read(example)
    let ours = try edited(
      base,
      "set dist.drive 3dB ; connect piano -> dist gain=-9dB ; comment dist \"warmer\" ; node verb delay before out"
    )
    let theirs = try edited(
      base, "set main[1,0] -20dB ; layout main 4,2 ; set piano.polyphony 8 ; remove keys")
    let merged = try mergeFile(base: base, ours: ours, theirs: theirs)

    let expected = try edited(
      ours, "set main[1,0] -20dB ; layout main 4,2 ; set piano.polyphony 8 ; remove keys")
    #expect(merged == PatchWriter.write(expected, catalogue: catalogue))
  }

  @Test(arguments: searchSeeds(31, 32))
  func randomEditsThatLeaveAParagraphBetweenThemMerge(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let lines = (0..<12).map { "node n\($0) distortion" } + (1..<12).map { "connect n\($0 - 1) -> n\($0)" }
    let base = read(lines.joined(separator: "\n"))
    func change(_ index: Int) -> String {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: "set n\(index).drive 7dB"
      case 1: "layout n\(index) 3,3"
      case 2: "connect n0 -> n\(index).mix gain=-3dB"
      case 3: "comment n\(index) \"remark\""
      default: "replace n\(index) delay"
      }
    }
    for _ in 0..<20 {
      let places = (0..<12).shuffled(using: &random)
      let (mine, yours) = (change(places[0]), change(places[1]))
      let merged = try mergeFile(base: base, ours: try edited(base, mine), theirs: try edited(base, yours))
      let both = try edited(try edited(base, mine), yours)
      #expect(merged == PatchWriter.write(both, catalogue: catalogue), "\(mine) ; \(yours)")
    }
  }

  @Test func movingABoxChangesItsLayoutLineAlone() throws {
    let base = try edited(read(example), "layout main 1,1")
    let moved = try edited(base, "layout main 2,5")
    let before = PatchWriter.write(base, catalogue: catalogue).split(separator: "\n")
    let after = PatchWriter.write(moved, catalogue: catalogue).split(separator: "\n")
    let difference = zip(before, after).filter { $0 != $1 }
    #expect(before.count == after.count && difference.map(\.1) == ["layout main 2,5"])
  }

  private func mergeFile(base: Patch, ours: Patch, theirs: Patch) throws -> String {
    let merged = try mergeLines(base: base, ours: ours, theirs: theirs)
    #expect(merged.conflicts == 0)
    return merged.text
  }
}

/// Git's merge of the files by lines alone.
func mergeLines(base: Patch, ours: Patch, theirs: Patch) throws -> (text: String, conflicts: Int32) {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  for (name, patch) in [("base", base), ("ours", ours), ("theirs", theirs)] {
    let text = PatchWriter.write(patch, catalogue: catalogue)
    try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
  }
  let git = Process()
  git.executableURL = URL(filePath: "/usr/bin/env")
  git.arguments = ["git", "merge-file", "ours", "base", "theirs"]
  git.currentDirectoryURL = folder
  try git.run()
  git.waitUntilExit()
  return (try String(contentsOf: folder.appending(path: "ours"), encoding: .utf8), git.terminationStatus)
}
