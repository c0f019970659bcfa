import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Recalls beside the same edits by hand, under a held chord, and scenes through crashes and moves.
@MainActor @Suite struct SceneTests {
  private static let chord = [
    "pedal piano sustain on", "note piano on C4 100", "note piano on E4 90", "note piano on G4 80",
  ]

  /// The demo after random edits, with three scenes of it on the way.
  private func session(seed: UInt64, period: Int, threads: Int) throws -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    options.threads = threads
    let session = Session(options: options)
    try session.open(repository + "/Patches/reconnect.patch")
    var edits = RandomLines(seed: seed, of: session.patch, keeping: ["piano", "keys"], makesCycles: false)
    for number in 1...3 {
      for _ in 0..<12 { try session.perform(edits.next()) }
      try session.perform("scene \(number)")
      // Nothing takes the scene back.
      edits.draft = Draft(session.patch)
    }
    return session
  }

  private static let recalls: [(time: Double, number: Int, over: Double?)] = [
    (0.3, 1, 0.15), (0.36, 2, 0.4), (0.7, 3, nil), (0.9, 1, 0.25), (1.0003, 3, 0.1), (1.3, 2, nil),
  ]

  private func render(_ session: Session, lines: [String], into path: String) throws -> [Data] {
    var request = RenderRequest(seconds: 2)
    request.output = path + ".wav"
    request.taps = [try #require(TapRequest("piano=\(path).tap.wav"))]
    var script = Self.chord.map { "at 0.05s \($0)\n" }.joined()
    for (recall, line) in zip(Self.recalls, lines) { script += "at \(recall.time)s \(line)\n" }
    let (read, faults) = Script.read(script, file: "scenes")
    #expect(faults.isEmpty)
    request.script = read
    try session.render(request)
    return try [".wav", ".tap.wav"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
  }

  private static var byName: [String] {
    recalls.map { recall in
      "recall \(recall.number)" + (recall.over.map { " over \(Value.number($0, .seconds).line)" } ?? "")
    }
  }

  /// The lines that one would type instead of the recalls.
  private func byHand(_ session: Session) throws -> [String] {
    var patch = session.patch
    return try Self.recalls.map { recall in
      let steps = try patch.steps(
        ofRecalling: recall.number, over: recall.over, catalogue: session.catalogue)
      for step in steps { patch = try patch.applying(step, catalogue: session.catalogue).patch }
      return steps.map(\.line).joined(separator: " ; ")
    }
  }

  @Test(arguments: searchSeeds(71, 73, 75))
  func aRecallIsTheSameBitsAsItsEditsByHandWhateverThePeriodAndTheThreads(seed: UInt64) throws {
    print("seed \(seed)")
    let folder = try Folder()
    let first = try session(seed: seed, period: 256, threads: 1)
    let hand = try byHand(first)
    let recalled = try render(first, lines: Self.byName, into: folder.path + "/recalled")
    #expect(first.undoList.prefix(6) == Self.byName.reversed()[...])
    #expect(first.presentScene == PresentScene(number: 2, isChanged: false))
    let quiet = try render(
      try session(seed: seed, period: 256, threads: 1), lines: [], into: folder.path + "/quiet")
    #expect(isSearched(seed) || quiet[0] != recalled[0], "the scenes have to differ to the ear")
    #expect(quiet[1] == recalled[1], "the chord is the same with and without recalls")
    for (period, threads) in [(256, 1), (64, 2), (1000, 1), (37, 3)] {
      let other = try session(seed: seed, period: period, threads: threads)
      let typed = try render(other, lines: hand, into: folder.path + "/typed")
      #expect(typed == recalled, "seed \(seed), period \(period), \(threads) threads")
      #expect(other.patch.withPlainIdentities == first.patch.withPlainIdentities)
    }
    // One undo each.
    for _ in Self.recalls { try first.undo() }
    #expect(first.presentScene == PresentScene(number: 3, isChanged: false))
  }

  @Test func aLongCrossfadeHasNoSteps() throws {
    func effect(_ line: String) throws -> EditEntry {
      var options = SessionOptions()
      options.isOffline = true
      let session = Session(options: options)
      for line in [
        "node a oscillator freq=220Hz", "node b oscillator freq=331Hz", "node out output", "connect a -> out",
        "scene 1 on", "disconnect a -> out", "connect b -> out gain=-6dB", "set b.level -30dB",
        "scene 2 off2",
        "recall 1",
      ] { try session.perform(line) }
      var request = RenderRequest(seconds: 2)
      request.watchesEdits = true
      request.output = try Folder().path + ".wav"
      defer { try? FileManager.default.removeItem(atPath: request.output ?? "") }
      request.script = Script.read("at 0.5s \(line)", file: "").lines
      try session.render(request)
      return try #require(session.finishedEditLog().last)
    }
    let long = try effect("recall 2 over 500ms")
    let short = try effect("recall 2")
    print("500 ms:", long, "10 ms:", short)
    #expect(long.fade > 0.45 && short.fade < 0.05, "\(long.fade) \(short.fade)")
    #expect(long.stepLevel < -60 && long.residueLevel < -60)
    #expect(try effect("recall 2 over 0s").fade == short.fade, "no time is shorter than a crossfade")
  }

  @Test func aCrashAfterAStoreLosesNothing() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    for line in [
      "scene 1 \"verse\"", "node extra gain ; comment extra \"why\"", "scene 2 \"chorus\"",
      "recall 1 over 2s",
      "scene 1 set extra2.gain 3dB",
    ] { _ = try? session?.perform(line) }
    let before = canonical(try #require(session))
    #expect(before.contains("scene 2 \"chorus\"\nscene 2 node extra gain"))
    #expect(before.contains("scene 2 comment extra \"why\""))
    session = nil
    session = try open(path)
    #expect(canonical(try #require(session)) == before)
    #expect(session?.undoList.first == "recall 1 over 2s")
    // Undo and redo through a save.
    try session?.save()
    #expect(session?.isModified == false)
    for _ in 0..<2 { try session?.undo() }
    session = nil
    session = try open(path)
    #expect(session?.patch.scenes.keys.sorted() == [1])
    #expect(session?.patch.names.contains("extra") == true)
    for _ in 0..<2 { try session?.redo() }
    session?.close()
  }

  /// A scene that is stored twice, of a patch with two outlets of a sub-patch: undo and redo of the second time give it the same
  /// cables again.
  @Test func undoAndRedoOfASceneKeepTheOutletsOfASubPatchApart() throws {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    for line in [
      "node out output", "node tone oscillator level=-inf", "node en envelope", "node mx matrix outputs=3",
      "connect mx -> out", "connect en -> tone.level", "scene 2", "collapse tone into s1",
      "collapse mx en into s2", "scene 2",
    ] { try session.perform(line) }
    let before = canonical(session)
    for _ in 0..<3 {
      try session.undo()
      try session.redo()
      #expect(canonical(session) == before)
    }
    for _ in 0..<4 { try session.undo() }
    for _ in 0..<4 { try session.redo() }
    #expect(canonical(session) == before)
  }

  @Test func theMarkFollowsTheHistory() throws {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    session.openText("node g gain\nnode out output\nconnect g -> out\nscene 4 x\nscene 4 set g.gain -3dB")
    #expect(session.presentScene == nil)
    try session.perform("set g.gain -3dB")
    #expect(session.presentScene == PresentScene(number: 4, isChanged: false), "it is there, however it came")
    try session.perform("scene 1 \"a ; recall 4 x\"")
    try session.perform("set g.gain -6dB")
    #expect(session.presentScene == PresentScene(number: 1, isChanged: true))
    try session.perform("set g.gain -3dB")
    #expect(session.presentScene == PresentScene(number: 1, isChanged: false))
    try session.perform("recall 4 over 1s ; comment g \"not a state\"")
    #expect(session.presentScene == PresentScene(number: 4, isChanged: false))
    for _ in 0..<3 { try session.undo() }
    #expect(session.presentScene == PresentScene(number: 1, isChanged: false))
  }

  @Test func filesOfScenesMoveWithThePatch() throws {
    let folder = try Folder()
    let path = try folder.file(
      "a.patch", "node p player file=x.wav\nscene 1 a\nscene 1 set p.file sub/y.wav\n")
    try FileManager.default.createDirectory(atPath: folder.path + "/other", withIntermediateDirectories: true)
    let session = try open(path)
    try session.save(as: folder.path + "/other/b.patch")
    let moved = try text(folder.path + "/other/b.patch")
    #expect(moved.contains("node p player file=../x.wav"), "\(moved)")
    #expect(moved.contains("scene 1 set p.file ../sub/y.wav"), "\(moved)")
    session.close()
  }
}
