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

  @Test func nobodyWaitsForARevertThatCannotSucceed() throws {
    let session = try session()
    session.journaled.undo = 3
    session.history = History()
    #expect(throws: FileError.self) { try session.revert() }
  }
}
