import Patch
import PatchLanguage
import TestSupport
import Testing

/// Lines from a clipboard or an editor.
@Suite struct PastedLinesTests {
  private let start = read(
    """
    sostenuto 1

    node keys keyboard
    node piano sampler
    connect keys -> piano
    node dist distortion drive=18dB
    connect piano -> dist
    node out output
    connect dist -> out gain=-3dB
    """)

  private func paste(_ text: String, into patch: Patch) throws -> Patch {
    let pasted = try PastedLines(text, patch: patch, catalogue: catalogue)
    guard case .edit(let edit) = pasted.statement else {
      Issue.record("\(pasted.statement)")
      return patch
    }
    // Its line says the same, since history and journal have the line.
    let again = try StatementParser.parse(edit.line, patch: patch, catalogue: catalogue)
    let change = try patch.applying(edit, catalogue: catalogue)
    if case .edit(let read) = again {
      let other = try patch.applying(read, catalogue: catalogue).patch
      #expect(other.withPlainIdentities == change.patch.withPlainIdentities)
    } else {
      Issue.record("\(again)")
    }
    #expect(try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch == patch)
    return change.patch
  }

  private func text(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: catalogue) }

  private func ids(_ names: [String], _ patch: Patch) -> Set<NodeID> {
    Set(names.compactMap(patch.id(named:)))
  }

  @Test func whatIsCopiedAndPastedGetsFreeNamesAndItsCablesFollow() throws {
    let lines = PatchWriter.lines(of: ids(["piano", "dist"], start), in: start, catalogue: catalogue)
    #expect(
      lines == """
        node piano sampler

        node dist distortion drive=18dB
        connect piano -> dist

        """)
    var patch = try paste(lines, into: start)
    patch = try paste(lines, into: patch)
    #expect(patch.names == ["keys", "piano", "dist", "out", "piano2", "dist2", "piano3", "dist3"])
    #expect(patch.cables.count == 5)
    #expect(text(patch).contains("node dist3 distortion drive=18dB\nconnect piano3 -> dist3\n"))
    #expect(text(patch).hasPrefix(text(start)))
  }

  @Test func cablesToNodesThatAreNotPastedGoToThoseThatAreThere() throws {
    let patch = try paste("node eq delay\nconnect piano -> eq\nconnect eq -> out", into: start)
    #expect(text(patch).contains("node eq delay\nconnect piano -> eq\n"))
    #expect(text(patch).contains("connect eq -> out\n"))
  }

  @Test func aFilesLinesStandInAnyOrderWithTheirComments() throws {
    let patch = try paste(
      """
      sostenuto 1
      # about nothing

      connect hall -> out  # last
      set hall.time 400ms
      # the big one
      # at the back
      node hall delay  # wet
      set m[0,1] -6dB ; node m matrix inputs=2 outputs=2
      """, into: start)
    let end = String(text(patch).dropFirst(text(start).count - "connect dist -> out gain=-3dB\n".count))
    #expect(
      end == """
        connect dist -> out gain=-3dB
        connect hall -> out  # last

        # the big one
        # at the back
        node hall delay time=400ms  # wet

        node m matrix
        set m[0,1] -6dB

        """)
  }

  @Test func otherEditsAreTakenAsTypedOneAfterTheOther() throws {
    let patch = try paste(
      "remove dist bridge # goes\r\nrename piano organ\r\n\r\nnode dist delay", into: start)
    #expect(patch.names == ["keys", "organ", "out", "dist"])
    #expect(patch[named: "dist"]?.kind == "delay")
  }

  @Test(arguments: [
    ("node a delay\nconnct a -> out", "2:1"), ("node a delay\n\n  connect a -> outt", "3:16"),
    ("node a delay\nnode a delay", "2:6"), ("remove dist\nset dist.drive 3dB", "2:5"),
    ("node é delay ; node b dealy", "1:23"),
  ])
  func aRefusalNamesItsLine(text: String, place: String) throws {
    var found: Diagnostic?
    do throws(Diagnostic) {
      let pasted = try PastedLines(text, patch: start, catalogue: catalogue)
      guard case .edit(let edit) = pasted.statement else { return }
      do throws(EditError) {
        _ = try start.applying(edit, catalogue: catalogue)
      } catch {
        found = pasted.diagnostic(for: error, on: start, catalogue: catalogue)
      }
    } catch {
      found = error
    }
    #expect(found.map { "\($0.line):\($0.column)" } == place, "\(String(describing: found))")
  }

  @Test func nothingIsPastedFromBlankLines() throws {
    #expect(try PastedLines("\n# x\n\n", patch: start, catalogue: catalogue).statement == .nothing)
  }

  @Test(arguments: searchSeeds(1, 2, 3, 20_261_123))
  func pastingAllOfARandomPatchIntoItselfAddsItAgain(seed: UInt64) throws {
    print("seed", seed)
    var edits = RandomEdits(seed: seed &+ 700, catalogue: catalogue)
    var patch = start
    for _ in 0..<300 {
      guard let change = try? patch.applying(edits.next(for: patch), catalogue: catalogue) else { continue }
      patch = change.patch
    }
    let lines = PatchWriter.lines(of: Set(patch.nodes.keys), in: patch, catalogue: catalogue)
    let twice: Patch
    do {
      twice = try paste(lines, into: patch)
    } catch {
      Issue.record("\(error)\n\(lines)")
      return
    }
    #expect(twice.nodes.count == 2 * patch.nodes.count)
    #expect(twice.cables.count == 2 * patch.cables.count)
    var part = twice
    // A sub-patch leaves with its inside.
    for name in patch.names where NodePath.container(of: name) == nil {
      part = try part.applying(.remove(name, bridge: false), catalogue: catalogue).patch
    }
    #expect(part.nodes.values.map(\.kind) == patch.nodes.values.map(\.kind))
    #expect(part.nodes.values.map(\.settings) == patch.nodes.values.map(\.settings))
  }

  @Test func aFreeNameGoesOnCounting() {
    func free(_ name: String, _ taken: Set<String>) -> String {
      NodeName.free(like: name) { taken.contains($0) }
    }
    #expect(free("dist", ["dist"]) == "dist2")
    #expect(free("dist9", ["dist9", "dist10"]) == "dist11")
    #expect(free("7", ["7"]) == "72")
    let long = String(repeating: "é", count: 32)
    #expect(NodeName.fault(in: free(long, [long])) == nil)
    #expect(free(long, [long]).hasSuffix("é2"))
  }
}
