import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Random patches that others write into an open file, with scenes, maps and the files of sub-patches: there, missing, or inside
/// another one.
@MainActor @Suite struct ReloadStorm {
  private static let hall = """
    sostenuto 1
    publish tank.time as size

    node in inlet

    node tank delay time=30ms feedback=40%  # the hall itself
    connect in -> tank

    node out outlet
    connect tank -> out
    connect in -> out gain=-6dB

    """

  private static let box = """
    sostenuto 1
    publish hall.size as size

    node osc oscillator

    node hall patch file=hall.patch size=7ms
    connect osc -> hall

    node out outlet
    connect hall -> out

    """

  private static let start = """
    sostenuto 1
    map keys.cc74 -> verb.size 10ms..1s

    node keys keyboard

    node tone oscillator freq=220Hz

    node verb patch file=hall.patch
    connect tone -> verb

    node room patch file=box.patch size=12ms
    connect tone -> verb.size depth=1

    node out output
    connect room -> out
    connect verb -> out

    scene 1
    scene 1 set verb/tank.feedback 60%

    scene 2 "bare"
    scene 2 remove room

    """

  private func text(_ session: Session) -> String {
    PatchWriter.write(session.patch, catalogue: session.catalogue)
  }

  @Test(arguments: searchSeeds(81, 82, 83))
  func reloadingLeadsToTheTextOfTheFileAndUndoBack(seed: UInt64) throws {
    print("seed", seed)
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    _ = try folder.file("hall.patch", Self.hall)
    _ = try folder.file("box.patch", Self.box)
    let path = try folder.file("a.patch", Self.start)
    var edits = RandomEdits(
      seed: seed, files: ["hall.patch", "box.patch", "gone.patch"],
      catalogue: DefinitionLibrary.catalogue(for: path))
    let (texts, unstable) = edits.texts(4, from: Self.start, file: path)
    #expect(unstable == nil, "seed \(seed), saved again:\n\(unstable ?? "")")
    for one in texts {
      let other = texts.randomElement(using: &edits.random)!
      for (from, to) in [(one, other), (other, one)] {
        _ = try folder.file("a.patch", from)
        var session: Session? = try open(path)
        _ = try folder.file("a.patch", to)
        do {
          _ = try session?.reload()
          #expect(session.map(text) == to, "seed \(seed): from\n\(from)")
          if from == to { continue }
          try session?.undo()
          #expect(session.map(text) == from, "seed \(seed): back from\n\(to)")
          // Killed: the journal has what undo has brought back.
          session = nil
          session = try open(path)
          #expect(session.map(text) == from, "seed \(seed): recovered over\n\(to)")
          try session?.undo()
          #expect(session.map(text) == to, "seed \(seed): the recovered step from\n\(from)")
          _ = try session?.reload()
        } catch {
          Issue.record("seed \(seed): \(error)\nfrom\n\(from)\nto\n\(to)")
        }
        session?.close()
      }
    }
  }
}
