import Engine
import Patch
import PatchLanguage
import Testing

@testable import Session

/// Scripts are looked through before they are performed.
@Suite @MainActor struct ScriptCheckTests {
  private func session() throws -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    let session = Session(options: options)
    try session.perform("node a gain ; node b gain")
    return session
  }

  private func check(_ text: String) throws -> [String] {
    Script.check(Script.read(text, file: "s").lines, on: try session().patch, file: "s").map {
      "\($0.line):\($0.column)"
    }
  }

  @Test func halfOfARefusedLineCountsForNothingAsWhenItIsPerformed() throws {
    #expect(try check("note a on C4 ; remove b\nset b.gain -3dB") == ["1:6"])
    // The second half is refused: afterwards `c` does not exist, and `b` still does.
    #expect(
      try check("node c player ; play c ; remove b ; remove nobody\nplay c\nset b.gain -3dB") == [
        "1:44", "2:6",
      ])
    #expect(try check("node c player ; play c ; undo ; remove b\nset b.gain -3dB") == ["2:5"])
  }

  @Test func aPlayerMadeInALineIsPlayedByThatLine() throws {
    #expect(try check("node q player ; connect q -> a ; play q at 1s ; stop q") == [])
    let session = try session()
    #expect(try session.perform("node q player ; play q") == "node q player ; play q")
    #expect(session.patch[named: "q"] != nil)
    #expect(throws: Diagnostic.self) { try session.perform("node r player ; play nobody") }
    #expect(session.patch[named: "r"] == nil)
  }

  @Test(arguments: ["node a/x gain", "rename b a/b", "copy b a/x"])
  func aScriptPutsNothingIntoANodeThatIsNoSubPatch(line: String) throws {
    let session = try session()
    let lines = Script.read(line, file: "s").lines
    let (after, faults) = Script.apply(lines, to: session.patch, file: "s")
    #expect(faults.count == 1 && "\(faults)".contains("`a` is no sub-patch"), "\(faults)")
    #expect(after == session.patch)
    #expect(throws: (any Error).self) { try session.perform(line) }
    // A sub-patch may come behind what is inside, and a node of an unknown kind may be one.
    for others in ["node p/x gain\nnode p patch\nrename b p/b", "node w wobble\nnode w/x gain"] {
      let lines = Script.read(others, file: "s").lines
      let faults = Script.apply(lines, to: session.patch, file: "s").diagnostics
      #expect(faults.allSatisfy { $0.severity == .warning }, "\(faults)")
    }
  }

  @Test(arguments: ["node p/x gain", "copy b p/x", "rename b p/x"])
  func nobodyPutsANodeIntoASubPatchThatIsNotThere(line: String) throws {
    #expect(try check(line).count == 1)
    let session = try session()
    let before = session.patch
    #expect(throws: (any Error).self) { try session.perform(line) }
    #expect(session.patch == before)
  }

  /// The lines of `diff`: a node goes into another one that becomes a sub-patch.
  @Test func aNodeGoesIntoWhatTheScriptMakesASubPatch() throws {
    func read(_ lines: String) -> Patch {
      let text = Array("sostenuto 1\n\(lines)node out output\n".utf8)
      return PatchReader.read(bytes: text, file: "", catalogue: KindRegistry.builtIn.catalogue).patch
    }
    let old = read("node a oscillator freq=333Hz level=-7dB\nnode g gain\n")
    let new = read("node g patch\nnode g/a oscillator freq=333Hz level=-7dB\n")
    let edits = try PatchDifference.edits(from: old, to: new, catalogue: KindRegistry.builtIn.catalogue)
    let lines = edits.map(\.line).joined(separator: "\n")
    #expect(lines.contains("rename a g/a"), "\(lines)")
    let (after, faults) = Script.apply(Script.read(lines, file: "s").lines, to: old, file: "s")
    #expect(faults == [], "\(faults) by\n\(lines)")
    #expect(
      PatchWriter.write(after, catalogue: KindRegistry.builtIn.catalogue)
        == PatchWriter.write(new, catalogue: KindRegistry.builtIn.catalogue))
  }

  @Test func nobodyWaitsForARevertThatCannotSucceed() throws {
    let session = try session()
    session.journaled.undo = 3
    session.history = History()
    #expect(throws: FileError.self) { try session.revert() }
  }
}
