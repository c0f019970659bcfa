import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// What must not be lost where sub-patches meet other edits: scenes, copies, names, saving; and held notes.
@MainActor @Suite struct SubPatchKeepingTests {
  private static let hall = """
    sostenuto 1

    # The size of it.
    publish tank.time as size  # in time

    node in input

    # The hall itself.
    node tank delay time=30ms feedback=40% mix=100%  # echoes
    # Into it.
    connect in -> tank

    node tone filter freq=3kHz
    connect tank -> tone

    node out output
    connect tone -> out

    """

  private func folder(main: String = SubPatchTests.main) throws -> (Folder, String) {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path + "/fx", withIntermediateDirectories: true)
    _ = try folder.file("fx/hall.patch", Self.hall)
    _ = try folder.file(
      "fx/other.patch",
      "sostenuto 1\n\npublish drive.drive as dirt\n\nnode in input\n\nnode drive distortion\nconnect in -> drive\n\nnode out output\nconnect drive -> out\n"
    )
    return (folder, try folder.file("a.patch", main))
  }

  private func open(_ path: String) throws -> Session {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.open(path)
    return session
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  private func whole(_ session: Session) -> String {
    PatchWriter.write(session.patch, catalogue: session.catalogue, whole: true)
  }

  private nonisolated static let absences = [
    "remove verb bridge", "remove room", "expand verb", "expand room", "replace verb gain gain=-3dB",
    "set verb.file fx/other.patch", "set room.size 40ms", "unshare verb", "collapse verb into box",
    "remove verb/tone bridge", "rename verb hall", "disconnect room",
  ]

  /// A scene brings sub-patches back with what they publish, whatever has happened to them, and no recall changes the file
  /// that others have inside, but for what is really edited in it.
  @Test(arguments: absences) func aRecallBringsSubPatchesBackWhole(edit: String) throws {
    let (folder, path) = try folder()
    let session = try open(path)
    let before = whole(session)
    let hall = try text(folder.path + "/fx/hall.patch")
    try session.perform("scene 1")
    try session.perform(edit)
    try session.perform("recall 1")
    // Names are followed by scenes, and values of controls and the like are no part of them.
    if !edit.hasPrefix("rename") {
      var now = session.patch
      now = try now.applying(exactly: .scene(1, .drop), catalogue: session.catalogue).patch
      let text = PatchWriter.write(now, catalogue: session.catalogue, whole: true)
      // Where a node stands in the file, and what was beside the lines of one that left, may be another.
      func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map {
          String($0.split(separator: "#")[0]).trimmingCharacters(in: .whitespaces)
        }
        .filter { !$0.isEmpty }.sorted()
      }
      func plain(_ text: String) -> [String] { lines(text.replacingOccurrences(of: "\n#", with: "\n\n")) }
      let far = Set(plain(text)).symmetricDifference(plain(before))
      #expect(far.isEmpty, "\(edit): \(far)")
    }
    let alive = session.patch
    try session.save()
    let edits = edit.hasPrefix("remove verb/") || edit == "unshare verb"
    if !edits {
      let saved = try text(folder.path + "/fx/hall.patch")
      func code(_ text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.split(separator: "#")[0]) }
      }
      let far = Set(code(saved)).symmetricDifference(code(hall))
      #expect(far.isEmpty, "\(edit): \(far)")
    }
    session.close()
    let again = try open(path)
    #expect(again.diagnostics == [], "\(edit)")
    #expect(again.patch.withPlainIdentities.scenes.count == 1)
    let (a, b) = (
      PatchWriter.write(alive, catalogue: again.catalogue, whole: true), whole(again)
    )
    let far = Set(a.split(separator: "\n")).symmetricDifference(b.split(separator: "\n"))
    #expect(far.isEmpty, "\(edit): \(far)")
    again.close()
  }

  /// A scene with a sub-patch that the patch no longer has, through a file.
  @Test(arguments: ["remove verb", "expand verb"]) func aSavedSceneBringsItBackToo(edit: String) throws {
    let (folder, path) = try folder()
    let session = try open(path)
    let before = session.patch
    try session.perform("scene 1")
    try session.perform(edit)
    try session.save()
    session.close()
    let again = try open(path)
    #expect(again.diagnostics == [])
    try again.perform("recall 1")
    #expect(again.patch.settings.publications == before.settings.publications)
    try again.save()
    #expect(try text(folder.path + "/fx/hall.patch").contains("publish tank.time as size"))
    again.close()
    #expect(try open(path).diagnostics == [])
  }

  @Test func acopyChangesNoFileOfTheOther() throws {
    let (folder, path) = try folder()
    let session = try open(path)
    try session.perform("copy room third")
    try session.save()
    #expect(try text(folder.path + "/fx/hall.patch") == Self.hall)
    #expect(try text(path).contains("node third patch file=fx/hall.patch size=12ms"))
    try session.perform("set third/tank.feedback 50%")
    try session.save()
    #expect(
      try text(folder.path + "/fx/hall.patch")
        == Self.hall.replacingOccurrences(of: "feedback=40%", with: "feedback=50%"))
    session.close()
  }

  /// Published values stay each one's own when their node has another name or goes into a sub-patch, and the file keeps its.
  @Test(arguments: [
    ("rename verb/tank verb/echo", "echo"), ("rename room/tank room/echo", "echo"),
    ("collapse verb/tank into verb/box", "box/tank"),
    ("collapse room/tank room/tone into room/box", "box/tank"),
  ])
  func publishedValuesOutliveNewNamesOfTheirNodes(edit: String, name: String) throws {
    let (folder, path) = try folder()
    let session = try open(path)
    try session.perform(edit)
    try session.save()
    session.close()
    let saved = try text(path)
    #expect(saved.contains("node verb patch file=fx/hall.patch\n"), "\(saved)")
    #expect(saved.contains("node room patch file=fx/hall.patch size=12ms\n"), "\(saved)")
    let hall = try text(folder.path + "/fx/hall.patch")
    #expect(hall.contains("node \(name) delay time=30ms feedback=40% mix=100%"), "\(hall)")
    let again = try open(path)
    defer { again.close() }
    #expect(again.diagnostics == [])
    #expect(value(again, "verb/" + name, "time") == "30ms" && value(again, "room/" + name, "time") == "12ms")
  }

  /// What was each one's own becomes one for all: that of the sub-patch in which it is said.
  @Test(arguments: [
    "copy verb/tank verb/more", "copy room/tank room/more", "publish verb/size off", "publish room/size off",
  ])
  func whatIsHeardIsSaved(edit: String) throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    let time = edit.contains("verb") ? "30ms" : "12ms"
    try session.perform(edit)
    for name in ["verb", "room"] {
      let node = edit.hasPrefix("copy") ? "more" : "tank"
      #expect(session.patch[named: "\(name)/\(node)"]?.settings[ParameterPath("time")]?.line == time)
    }
    let alive = whole(session)
    try session.save()
    session.close()
    let again = try open(path)
    #expect(again.diagnostics == [])
    let far = Set(whole(again).split(separator: "\n")).symmetricDifference(alive.split(separator: "\n"))
    #expect(far.isEmpty, "\(far)")
    again.close()
  }

  @Test(arguments: [
    ("rename room/tank tank", "`room/tank`"), ("rename tone room/other", "`other`"),
    ("rename verb room/verb", "`verb`"), ("insert z gain into room/tank -> room/tone", "`room/z`"),
    ("insert room/z gain into room -> out", "`z`"),
  ]) func aNameInAnotherSubPatchIsRefusedWithTheOneThatFits(line: String, name: String) throws {
    try expectRefusal(of: line, saying: ["another sub-patch", name])
  }

  @Test(arguments: [
    "copy room verb/room", "node verb/room patch file=fx/hall.patch",
    "insert verb/x patch file=fx/hall.patch into verb/tank -> verb/tone",
    "replace verb/tone patch file=fx/hall.patch",
  ]) func nothingGoesIntoItself(line: String) throws {
    try expectRefusal(of: line, saying: ["itself", "hall.patch"])
  }

  private func expectRefusal(of line: String, saying words: [String]) throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    let before = session.patch
    do {
      try session.perform(line)
      Issue.record("\(line) was made")
    } catch {
      #expect(words.allSatisfy("\(error)".contains), "\(error)")
    }
    #expect(session.patch == before)
    session.close()
  }

  // MARK: Held notes

  private static let synth = """
    sostenuto 1
    node keys keyboard
    node v voices polyphony=4
    connect keys -> v
    node tone oscillator level=-20dB
    connect v -> tone by 1oct
    node env envelope attack=5ms decay=0ms sustain=100% release=20ms
    connect v -> env
    node amp multiply
    connect tone -> amp
    connect env -> amp.with
    node down mixdown
    connect amp -> down
    node piano sampler instrument=tone.sfz
    connect keys -> piano
    node out output
    connect down -> out
    connect piano -> out gain=-12dB
    """

  /// Renders a held chord with edits; the output's samples.
  private func heard(_ folder: Folder, _ edits: [(seconds: Double, line: String)], release: Double?) throws
    -> [Float]
  {
    _ = try folder.file("tone.sfz", "<region> sample=*saw ampeg_release=0.02 pitch_keycenter=60\n")
    let session = try open(try folder.file("s.patch", Self.synth))
    var script = "at 0.1s note keys on C4 100 ; note keys on G4 80 ; pedal keys sustain on\n"
    for edit in edits { script += "at \(edit.seconds)s \(edit.line)\n" }
    if let release {
      script += "at \(release)s pedal keys sustain off ; note keys off C4 ; note keys off G4\n"
    }
    var request = RenderRequest(seconds: 2.5)
    request.output = folder.path + "/o.wav"
    let (lines, faults) = Script.read(script, file: "")
    #expect(faults.isEmpty, "\(faults)")
    request.script = lines
    try session.render(request)
    session.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/o.wav"))
    let start = try #require(bytes.range(of: Data("data".utf8))).upperBound + 4
    return bytes[start...].withUnsafeBytes { raw in
      (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
    }
  }

  private nonisolated static let around = [
    ["collapse v tone env amp down into synth", "expand synth"],
    ["collapse keys into hands", "expand hands"],
    ["collapse piano into box", "undo", "redo", "expand box", "undo"],
    [
      "collapse keys piano into box", "collapse v tone env amp down into synth",
      "collapse box synth into all", "expand all",
    ],
  ]

  /// Held notes, and those that a pedal holds, go on while the edge of a sub-patch comes into the way of their events, and
  /// end when they are let go.
  @Test(arguments: around, [0.3, 0.011]) func heldNotesOutliveEdgesInTheWayOfTheirEvents(
    lines: [String], pause: Double
  ) throws {
    let folder = try Folder()
    let edits = lines.enumerated().map { (0.5 + pause * Double($0), $1) }
    // The pedal and the keys have other names by then.
    let last = Self.keys(after: lines)
    func run(_ edits: [(Double, String)], _ keys: String) throws -> [Float] {
      let off = [(1.9, "pedal \(keys) sustain off ; note \(keys) off C4 ; note \(keys) off G4")]
      return try heard(folder, edits + off, release: nil)
    }
    let (still, moved) = (try run([], "keys"), try run(edits, last))
    let far = zip(still, moved).map { abs($0 - $1) }.max()!
    #expect(far < 1e-6 && still.contains { abs($0) > 0.05 }, "\(lines): \(far)")
    #expect(moved.suffix(9600).allSatisfy { $0 == 0 })
  }

  private static func keys(after lines: [String]) -> String {
    if lines.contains("collapse keys piano into box") { return "box/keys" }
    return "keys"
  }

  /// What has gone through an edge ends with the cable behind which it stands.
  @Test(arguments: ["disconnect keys -> synth", "remove keys", "disconnect synth/in -> synth/v"])
  func notesThatWentOnEndWithTheirNewWay(line: String) throws {
    let folder = try Folder()
    let moved = try heard(
      folder,
      [(0.4, "remove piano"), (0.5, "collapse v tone env amp down into synth"), (1, line)], release: nil)
    #expect(moved[(2 * 40_000)..<(2 * 47_000)].contains { abs($0) > 0.05 })
    #expect(moved.suffix(48_000).allSatisfy { $0 == 0 }, "\(line)")
  }
}
