import Engine
import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// Cables to, from and between other programs, as edits and as text.
@Suite struct ClientTests {
  private let catalogue = KindRegistry.builtIn.catalogue

  private func patch(_ lines: String) -> Patch {
    let (patch, diagnostics) = PatchReader.read("sostenuto 1\n" + lines, file: "", catalogue: catalogue)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
    return patch
  }

  private func refusal(of line: String, in patch: Patch) -> String {
    do {
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      guard case .edit(let edit) = statement else { return "no edit" }
      _ = try patch.applying(edit, catalogue: catalogue)
      return ""
    } catch let error as EditError {
      return error.message
    } catch {
      return "\(error)"
    }
  }

  private let file = """
    sostenuto 1

    node keys midi
    connect seq.out -> keys

    node line input
    connect system.capture_* -> line

    node main output
    connect line -> main

    node system client
    connect main -> system map=[1,0] mix=discrete
    connect web -> system.playback_*
    connect main.2 -> system."to the left"

    node seq client

    node web client client="Web Player*"

    """

  @Test func theCanonicalTextReadsBackTheSame() {
    let read = PatchReader.read(file, file: "", catalogue: catalogue)
    #expect(read.diagnostics.isEmpty, "\(read.diagnostics)")
    #expect(PatchWriter.write(read.patch, catalogue: catalogue) == file)
    #expect(read.patch[named: "web"]?.program == "Web Player*")
    #expect(read.patch[named: "seq"]?.program == "seq")
  }

  @Test func aPortIsNamedAsTheServerNamesIt() throws {
    let patch = patch(
      "node main output\nnode web client client=\"Web Player\"\nnode card client client=system")
    for line in [
      #"connect "Web Player:out_*" -> "system:play back:1""#, #"connect web.out_* -> system:"play back:1""#,
    ].prefix(1) {
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      guard case .edit(let edit) = statement else {
        throw EditError.notSet(SettingName("", ParameterPath("")))
      }
      let applied = try patch.applyingCanonically(edit, catalogue: catalogue)
      #expect(applied.edit.line == #"connect web.out_* -> card."play back:1""#)
      #expect(applied.change.patch.cables.count == 1)
      // The written line gives the same cable.
      let again = try StatementParser.parse(applied.edit.line, patch: patch, catalogue: catalogue)
      guard case .edit(let written) = again else { return }
      #expect(
        try Set(patch.applying(written, catalogue: catalogue).patch.cables.keys)
          == Set(applied.change.patch.cables.keys))
    }
    #expect(PortName(program: "Web \"Player\"", port: "a").description == #""Web \"Player\":a""#)
  }

  @Test func onlyPortsTowardsOtherProgramsAreJoinedWithThem() {
    let patch = patch(
      "node tone gain\nnode main output\nnode line input\nnode keys midi\nnode a client\nnode b client")
    for line in [
      "connect main -> a", "connect main.64 -> a.in", "connect a -> line.2", "connect a -> keys",
      "connect a.x -> b.y", "connect a -> a", "connect main -> a map=[1,0]",
    ] {
      #expect(refusal(of: line, in: patch) == "", "\(line)")
    }
    for (line, words) in [
      ("connect tone -> a", "`tone` has no port there for other programs"),
      ("connect a -> tone", "`tone` has no port there for other programs"),
      ("connect a -> main", "`main` has no port there for other programs"),
      ("connect line -> a", "`line` has no port there for other programs"),
      ("connect keys -> a", "`keys` has no port there for other programs"),
      ("connect main.left -> a", "`main` has no output `left`"),
      ("connect main.0 -> a", "`main` has no output `0`"),
      ("connect main.065 -> a", "`main` has no output `065`"),
      ("connect a -> keys.1", "`keys` has no input `1`"),
      ("connect main -> a gain=-3dB", "`main.* -> a.*` is a connection of the server's: it has no gain"),
      ("connect main -> line", "`main` has no outputs (a node of kind `output`)"),
      ("insert x gain into main -> a", "no cable from `main` to `a`"),
    ] {
      #expect(refusal(of: line, in: patch) == words, "\(line)")
    }
  }

  @Test func everyEditOfAPatchWithProgramsIsTakenBackExactly() throws {
    let patch = patch(String(file.dropFirst("sostenuto 1\n".count)))
    for line in [
      "remove system", "remove web", "remove main", "remove keys", "remove system bridge",
      "rename system card", "replace main output channels=4", "replace main gain", "replace web client",
      "replace system output", "replace line oscillator", "disconnect main.2 -> system",
      "disconnect web -> system", "connect main -> system", "connect web.a -> keys", "copy web other",
      "set web.client Chrome", "move system before keys", "comment main -> system \"both\"",
    ] {
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      guard case .edit(let edit) = statement else { continue }
      let change: Change
      do { change = try patch.applying(edit, catalogue: catalogue) } catch {
        Issue.record("\(line): \(error)")
        continue
      }
      let back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch
      #expect(back.withPlainIdentities == patch.withPlainIdentities, "\(line)")
      // Whatever cables are left can be read again.
      let text = PatchWriter.write(change.patch, catalogue: catalogue)
      #expect(PatchReader.read(text, file: "", catalogue: catalogue).diagnostics.isEmpty, "\(line): \(text)")
    }
  }

  /// Random edits with programs, for fixed seeds: inverses are exact, and the text reads back.
  @Test(arguments: searchSeeds(1...40)) func randomCablesOfProgramsAreTakenBackAndReadBack(seed: UInt64)
    throws
  {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    func next(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
    let ports = ["", ".*", ".1", ".2", ".a b", ".out_*", ".in", #"."x:y""#, #"."->""#, #".";""#, ".out"]
    let nodes = ["keys", "line", "main", "system", "seq", "web", "tone"]
    var patch = patch(String(file.dropFirst("sostenuto 1\n".count)) + "node tone oscillator")
    var accepted = 0
    for _ in 0..<200 {
      let (from, to) = (nodes[next(7)] + ports[next(11)], nodes[next(7)] + ports[next(11)])
      let line: String
      switch next(8) {
      case 0: line = "disconnect \(from) -> \(to)"
      case 1: line = "replace \(nodes[next(7)]) \(["client", "output", "input", "midi", "gain"][next(5)])"
      case 2: line = "connect \(from) -> \(to) map=[\(next(3)),-1]"
      default: line = "connect \(from) -> \(to)"
      }
      guard case .edit(let edit)? = try? StatementParser.parse(line, patch: patch, catalogue: catalogue),
        let (canonical, change) = try? patch.applyingCanonically(edit, catalogue: catalogue)
      else { continue }
      accepted += 1
      let back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch
      #expect(back.withPlainIdentities == patch.withPlainIdentities, "\(line)")
      guard
        case .edit(let again) = try StatementParser.parse(canonical.line, patch: patch, catalogue: catalogue)
      else { continue }
      #expect(
        try patch.applying(again, catalogue: catalogue).patch.withPlainIdentities
          == change.patch.withPlainIdentities, "\(line): \(canonical.line)")
      patch = change.patch
      let text = PatchWriter.write(patch, catalogue: catalogue)
      let read = PatchReader.read(text, file: "", catalogue: catalogue)
      #expect(read.diagnostics.isEmpty, "\(read.diagnostics) in \(text)")
      #expect(PatchWriter.write(read.patch, catalogue: catalogue) == text)
    }
    #expect(accepted > 20)
  }
}
