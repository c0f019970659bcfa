import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Sub-patches: files that are inside others, edits of what is inside, saving, crashes, and sound.
@MainActor @Suite struct SubPatchTests {
  static let hall = """
    sostenuto 1
    # A hall with two echoes.

    tempo 97
    publish tank.time as size

    node in input port=mic

    node tank delay time=30ms feedback=40% mix=100%  # the hall itself
    connect in -> tank

    node tone filter freq=3kHz
    connect tank -> tone

    node out output connect=system:playback_1
    connect tone -> out
    connect in -> out gain=-6dB

    """

  static let main = """
    sostenuto 1

    node tone oscillator freq=220Hz

    node verb patch file=fx/hall.patch
    connect tone -> verb

    node room patch file=fx/hall.patch size=12ms
    connect tone -> room gain=-3dB

    node out output
    connect room -> out
    connect verb -> out

    """

  private func folder(main: String = main) throws -> (Folder, String) {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path + "/fx", withIntermediateDirectories: true)
    _ = try folder.file("fx/hall.patch", Self.hall)
    return (folder, try folder.file("a.patch", main))
  }

  private func refusal(_ work: () throws -> Void) -> String {
    do { try work() } catch { return "\(error)" }
    return ""
  }

  @Test func aFileIsInsideTwoNodesWithItsPortsAndAValueOfEachsOwn() throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    #expect(session.diagnostics == [])
    #expect(
      session.patch[named: "verb/in"]?.kind == "inlet" && session.patch[named: "room/out"]?.kind == "outlet")
    #expect(value(session, "verb/tank", "time") == "30ms" && value(session, "room/tank", "time") == "12ms")
    #expect(cables(session).isSuperset(of: ["tone -> verb", "tone -> room", "verb -> out", "room -> out"]))
    #expect(cables(session).contains("verb/in -> verb/tank"))
    // What belongs to the file as a whole stays there.
    #expect(session.patch.settings.tempo == 120)
    try session.save()
    #expect(try text(path) == Self.main)
    #expect(try text(path.replacingOccurrences(of: "a.patch", with: "fx/hall.patch")) == Self.hall)
    session.close()
  }

  @Test func anEditInsideIsInEachOfThemIsUndoneAndIsSavedWithTheFile() throws {
    let (folder, path) = try folder()
    let session = try open(path)
    let before = session.patch
    #expect(try session.perform("set verb/tank.feedback 55%") == "set verb/tank.feedback 55%")
    #expect(value(session, "room/tank", "feedback") == "55%")
    try session.perform("insert verb/soft gain gain=-2dB into verb/in -> verb/tank")
    #expect(session.patch[named: "room/soft"] != nil && cables(session).contains("room/soft -> room/tank"))
    try session.perform("rename room/tone room/dark")
    #expect(session.patch[named: "verb/dark"] != nil)
    // A published value is each one's own.
    try session.perform("set verb.size 44ms")
    #expect(value(session, "verb/tank", "time") == "44ms" && value(session, "room/tank", "time") == "12ms")
    let edited = session.patch
    for _ in 0..<4 { try session.undo() }
    #expect(session.patch == before)
    for _ in 0..<4 { try session.redo() }
    #expect(session.patch.withPlainIdentities == edited.withPlainIdentities)
    let hall = folder.path + "/fx/hall.patch"
    #expect(try text(hall) == Self.hall)
    #expect(try session.save() == "saved \(path), with hall.patch")
    let saved = try text(hall)
    for line in [
      "node soft gain gain=-2dB", "connect soft -> tank", "node dark filter freq=3kHz", "tempo 97",
      "node in input port=mic", "node tank delay time=30ms feedback=55% mix=100%  # the hall itself",
      "node out output connect=system:playback_1", "# A hall with two echoes.", "publish tank.time as size",
    ] {
      #expect(saved.contains(line + "\n"), "\(line)\n\(saved)")
    }
    #expect(try text(path).contains("node verb patch file=fx/hall.patch size=44ms\n"))
    #expect(try text(path).contains("node room patch file=fx/hall.patch size=12ms\n"))
    session.close()
    let again = try open(path)
    #expect(PatchWriter.write(again.patch, catalogue: again.catalogue) == (try text(path)))
    #expect(again.patch.withPlainIdentities == edited.withPlainIdentities)
    again.close()
  }

  @Test func aKilledSessionLosesNoEditInside() throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    for lines in [
      ["set verb/tank.feedback 70%", "node more patch file=fx/hall.patch size=5ms", "set more/tank.mix 50%"],
      ["remove room", "undo", "unshare verb", "set verb/tank.mix 10%"],
      [
        "rename verb echo", "copy room third", "replace tone noise",
        "insert pre patch file=fx/hall.patch into tone -> room",
      ],
      ["set room.file default", "set room.file fx/hall.patch", "replace echo gain", "undo"],
    ] {
      var session: Session? = try open(path)
      for line in lines { _ = try? session?.perform(line) }
      let before = try #require(session).patch.withPlainIdentities
      session = nil
      let next = try open(path)
      #expect(next.patch.withPlainIdentities == before, "\(lines)")
      #expect(!next.takeNotices().words.contains { $0.contains("could not") }, "\(lines)")
      next.close(keepingEdits: true)
    }
  }

  @Test func unsharedItIsABlockOfTheFileAndGoesItsOwnWay() throws {
    let (folder, path) = try folder()
    let session = try open(path)
    try session.perform("unshare room")
    try session.perform("set room/tank.feedback 10%")
    #expect(value(session, "verb/tank", "feedback") == "40%")
    try session.save()
    #expect(try text(folder.path + "/fx/hall.patch") == Self.hall)
    for line in [
      "publish room/tank.time as room/size", "node room patch", "node room/in inlet channels=2",
      "connect tone -> room gain=-3dB",
      "node room/tank delay time=12ms feedback=10% mix=100%  # the hall itself",
    ] {
      #expect(try text(path).contains(line + "\n"), "\(line)")
    }
    let saved = session.patch.withPlainIdentities
    session.close()
    let again = try open(path)
    #expect(again.diagnostics == [] && again.patch.withPlainIdentities == saved)
    // A new file for the block.
    try again.perform("set room.file fx/room.patch")
    try again.save()
    #expect(try text(folder.path + "/fx/room.patch").contains("node in input\n"))
    #expect(try text(path).contains("node room patch file=fx/room.patch\n"))
    let file = try text(path)
    #expect(!file.contains("room/"))
    again.close()
  }

  @Test func recursionIsRefusedWithItsPath() throws {
    let (folder, path) = try folder()
    _ = try folder.file("fx/loop.patch", "sostenuto 1\nnode a patch file=deep.patch\n")
    _ = try folder.file("fx/deep.patch", "sostenuto 1\nnode b patch file=loop.patch\n")
    let session = try open(path)
    let before = session.patch
    #expect(
      refusal { try session.perform("node x patch file=fx/loop.patch") }
        .contains("loop.patch -> deep.patch -> loop.patch"))
    #expect(refusal { try session.perform("node x patch file=a.patch") }.contains("a.patch -> a.patch"))
    #expect(session.patch == before)
    session.close()
    let own = try open(try folder.file("own.patch", "sostenuto 1\nnode me patch file=own.patch\n"))
    #expect(own.diagnostics.map(\.message).first?.contains("own.patch -> own.patch") == true)
    own.close()
  }

  /// A file is the same through folders and links: its sub-patches share every edit, and it does not get into itself.
  @Test func aFileIsOneByWhateverNameItIsCalled() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    try FileManager.default.createDirectory(atPath: folder.path + "/fx", withIntermediateDirectories: true)
    let hall = try folder.file("fx/hall.patch", Self.hall)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link.patch", withDestinationPath: "fx/hall.patch")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/more", withDestinationPath: "fx")
    let names = ["fx/hall.patch", "link.patch", "more/hall.patch", "./fx/../fx/hall.patch", hall]
    let nodes = names.enumerated().map { "node v\($0) patch file=\($1)\n" }.joined()
    let path = try folder.file("a.patch", "sostenuto 1\n" + nodes)
    let session = try open(path)
    for (number, feedback) in [(0, "55%"), (1, "56%"), (4, "57%")] {
      try session.perform("set v\(number)/tank.feedback \(feedback)")
      for other in names.indices { #expect(value(session, "v\(other)/tank", "feedback") == feedback) }
      try session.save()
      #expect(try text(hall).contains("feedback=\(feedback)"))
    }
    try session.undo()
    for other in names.indices { #expect(value(session, "v\(other)/tank", "feedback") == "56%") }
    let before = session.patch
    for name in names {
      let words = refusal { try session.perform("node v0/x patch file=\(name)") }
      #expect(words.contains("cannot have itself inside: fx/hall.patch -> "), "\(name): \(words)")
    }
    #expect(session.patch == before)
    session.close()
  }

  /// Another sub-patch of a file has what is inside the first one, saved or not, so that a save loses no edit.
  @Test(arguments: ["node more patch file=fx/hall.patch", "set room.file fx/hall.patch"])
  func anotherSubPatchOfAFileHasItsEditsBeforeTheyAreSaved(line: String) throws {
    let (folder, path) = try folder(
      main: "sostenuto 1\nnode verb patch file=fx/hall.patch\nnode room patch\n")
    let session = try open(path)
    try session.perform("set verb/tank.feedback 55%")
    try session.perform(line)
    let new = line.hasPrefix("node") ? "more" : "room"
    #expect(value(session, new + "/tank", "feedback") == "55%")
    try session.undo()
    try session.redo()
    #expect(value(session, new + "/tank", "feedback") == "55%")
    // Inside it a file that has it inside would have itself inside, though that is in no file yet.
    _ = try folder.file("b.patch", "sostenuto 1\nnode g gain\n")
    try session.perform("node w patch file=b.patch")
    try session.perform("node verb/x patch file=b.patch")
    let words = refusal { try session.perform("node w/y patch file=fx/hall.patch") }
    #expect(words.contains("b.patch -> fx/hall.patch -> b.patch"), "\(words)")
    #expect(try session.save() == "saved \(path), with hall.patch")
    #expect(try text(folder.path + "/fx/hall.patch").contains("feedback=55%"))
    session.close()
  }

  /// What is inside would be in no file once the session ends. A folder that is gone, such as a drive's, is left alone.
  @Test func aSaveWritesAFileThatOthersHaveRemoved() throws {
    let (folder, path) = try folder()
    let session = try open(path)
    let hall = folder.path + "/fx/hall.patch"
    let before = try PatchWriter.write(
      #require(session.catalogue.definition(of: session.patch[named: "verb"]!)),
      catalogue: DefinitionLibrary.catalogue(for: hall))
    try FileManager.default.removeItem(atPath: hall)
    try session.perform("set tone.freq 330Hz")
    #expect(try session.save() == "saved \(path), with hall.patch")
    #expect(try text(hall) == before)
    try FileManager.default.removeItem(atPath: folder.path + "/fx")
    try session.perform("set tone.freq 331Hz")
    #expect(try session.save() == "saved \(path)")
    session.close()
  }

  /// There are more ways through such files than could be followed.
  @Test func filesThatAllNameEachOtherAreReadOnce() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let names = (0..<14).map { "c\($0).patch" }
    let text = "sostenuto 1\n" + names.map { "node \($0.dropLast(6)) patch file=\($0)\n" }.joined()
    for name in names { _ = try folder.file(name, text) }
    let path = try folder.file("a.patch", text)
    let catalogue = DefinitionLibrary.catalogue(for: path)
    let (patch, faults) = PatchReader.read(text, file: path, catalogue: catalogue)
    #expect(patch.nodes.count == names.count)
    #expect(faults.count == names.count && faults.allSatisfy { $0.message.contains("have itself inside") })
    // What is set right is read again.
    for name in names { _ = try folder.file(name, "sostenuto 1\nnode g gain\n") }
    let (whole, none) = PatchReader.read(text, file: path, catalogue: catalogue)
    #expect(whole.nodes.count == 2 * names.count && none == [])
  }

  @Test func filesThatMultiplyAreRefusedWithTheirPlace() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    func nodes(_ count: Int, _ kind: String) -> String {
      "sostenuto 1\n" + (0..<count).map { "node n\($0) \(kind)\n" }.joined()
    }
    _ = try folder.file("1.patch", nodes(50, "gain"))
    _ = try folder.file("2.patch", nodes(50, "patch file=1.patch"))
    _ = try folder.file("3.patch", nodes(50, "patch file=2.patch"))
    _ = try folder.file("4.patch", nodes(3, "patch file=3.patch"))
    let text = "sostenuto 1\nnode g gain\nnode v patch file=4.patch\n"
    let path = try folder.file("a.patch", text)
    let catalogue = DefinitionLibrary.catalogue(for: path)
    let (patch, faults) = PatchReader.read(text, file: path, catalogue: catalogue)
    #expect(patch.names == ["g", "v"])
    #expect(faults.map(\.line) == [3] && faults.first?.message.hasPrefix("`v` does not fit") == true)
    #expect(throws: EditError.tooManyNodes("w")) {
      let node = Node(
        id: NodeID(raw: 0), name: "w", kind: "patch", settings: [ParameterPath("file"): .text("4.patch")])
      _ = try patch.applying(.add(node, before: nil), catalogue: catalogue)
    }
  }

  @Test func aMissingFileIsAPlaceholderWhoseCablesAndValuesWait() throws {
    let (folder, path) = try folder()
    let hall = folder.path + "/fx/hall.patch"
    try FileManager.default.moveItem(atPath: hall, toPath: hall + ".away")
    let session = try open(path)
    #expect(canonical(session) == Self.main)
    try session.perform("node extra gain")
    try session.save()
    session.close()
    try FileManager.default.moveItem(atPath: hall + ".away", toPath: hall)
    let again = try open(path)
    #expect(value(again, "room/tank", "time") == "12ms")
    #expect(cables(again).isSuperset(of: ["tone -> verb", "room -> out"]))
    again.close()
  }

  @Test func aCableLeadsThroughTheEdgeOnly() throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    let before = session.patch
    for line in [
      "connect tone -> verb/tank", "connect verb/tank -> out", "connect verb/tank -> room/tank",
      "connect tone -> verb/tone.freq", "connect verb/in -> out", "rename tone verb/osc",
      "node nothing/x gain",
      "connect tone -> verb.nothing", "collapse verb/out into verb/deep",
      "collapse verb/in verb/tank into verb/deep",
    ] {
      #expect(refusal { try session.perform(line) } != "", "\(line)")
    }
    #expect(session.patch == before)
    try session.perform("node lfo lfo")
    try session.perform("publish verb/tone.freq as verb/bright")
    try session.perform("connect lfo -> verb.bright by 2oct")
    // The parameter is published by both, the cable is one's own.
    try session.perform("set room.bright 500Hz")
    #expect(value(session, "room/tone", "freq") == "500Hz" && value(session, "verb/tone", "freq") == "3kHz")
    #expect(cables(session).contains("lfo -> verb.bright") && !cables(session).contains("lfo -> room.bright"))
    try session.perform("connect verb -> verb gain=-20dB")
    try session.save()
    #expect(try text(path).contains("connect lfo -> verb.bright by 2oct\n"))
    session.close()
    let again = try open(path)
    #expect(cables(again).contains("verb -> verb"))
    again.close()
  }

  /// No cable leads past the edge of a sub-patch, which no file may have.
  private func expectNoCableThroughAnEdge(
    _ session: Session, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for ends in session.patch.cables.keys {
      #expect(throws: Never.self, sourceLocation: sourceLocation) {
        try session.patch.checkScope(of: ends, catalogue: session.catalogue)
      }
    }
  }

  /// A removed outlet has its inside on one of its sides and its outside on the other.
  @Test func aRemovedPortIsBridgedByNoCableThroughTheEdge() throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    let before = session.patch
    for port in ["out", "in"] {
      try session.perform("remove verb/\(port) bridge")
      expectNoCableThroughAnEdge(session)
      try session.perform("undo")
      #expect(session.patch == before)
    }
  }

  /// Another kind in the place of a port, and a port in the place of another kind, keep no cable that no file may have.
  @Test(arguments: [
    "verb/out gain", "verb/in gain", "verb/out inlet", "verb/in outlet", "verb/tank outlet",
    "verb/tank inlet",
  ])
  func aReplacedPortLeavesNoCableThroughTheEdge(line: String) throws {
    let (folder, path) = try folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    let before = session.patch
    try session.perform("replace \(line)")
    expectNoCableThroughAnEdge(session)
    try session.perform("undo")
    #expect(session.patch == before)
  }

  @Test func filesWithinFilesAreNamedFromTheirOwnFolders() throws {
    let (folder, _) = try folder()
    _ = try folder.file(
      "fx/big.patch",
      """
      sostenuto 1

      publish small.size as depth

      node in input

      node small patch file=hall.patch size=20ms
      connect in -> small

      node out output
      connect small -> out

      """)
    let path = try folder.file(
      "b.patch",
      "sostenuto 1\nnode big patch file=fx/big.patch depth=25ms\nnode hall patch file=fx/hall.patch\n")
    let session = try open(path)
    #expect(session.diagnostics == [])
    #expect(value(session, "big/small", "file") == "fx/hall.patch")
    #expect(value(session, "big/small/tank", "time") == "25ms")
    try session.perform("set big/small/tank.feedback 5%")
    #expect(value(session, "hall/tank", "feedback") == "5%")
    try session.perform("set big.depth 26ms")
    try session.save()
    #expect(try text(folder.path + "/fx/hall.patch").contains("feedback=5%"))
    #expect(try text(folder.path + "/fx/big.patch").contains("node small patch file=hall.patch size=20ms\n"))
    #expect(try text(path).contains("node big patch file=fx/big.patch depth=26ms\n"))
    session.close()
  }

  @Test(arguments: searchSeeds(1, 2, 3, 4, 5, 6))
  func collapsedAndExpandedItIsTheSamePatch(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let session = try open(repository + "/Patches/reconnect.patch")
    defer { session.close() }
    var edits = RandomLines(seed: seed, of: session.patch, makesCycles: false)
    for _ in 0..<30 { _ = try? session.perform(edits.next()) }
    let before = session.patch
    // An inlet that goes into a sub-patch is at its edge, and leaves with it.
    let names = before.nodes.values.filter { session.catalogue[$0.kind]?.boundary == nil }.map(\.name)
      .shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
    let line = "collapse \(names.joined(separator: " ")) into box"
    #expect(try session.perform(line) == line)
    for name in names { #expect(session.patch[named: "box/\(name)"]?.id == before[named: name]?.id) }
    let text = PatchWriter.write(session.patch, catalogue: session.catalogue)
    let (again, faults) = PatchReader.read(text, file: "", catalogue: session.catalogue)
    #expect(faults.filter { $0.severity == .error } == [], "\(text)")
    #expect(again.withPlainIdentities.cables.count == session.patch.cables.count)
    try session.perform("expand box")
    #expect(Set(session.patch.names) == Set(before.names))
    func all(_ patch: Patch) -> Set<String> {
      Set(patch.cables.values.map { "\(patch.name(of: $0.ends)) \($0.settings)" })
    }
    #expect(all(session.patch) == all(before), "\(line)")
    try session.undo()
    try session.undo()
    #expect(session.patch == before)
  }

  // MARK: Sound

  /// The same patch with what is inside beside the rest, under other names.
  private static let inlined: String = {
    var text = "sostenuto 1\nnode tone oscillator freq=220Hz\n"
    for (name, size, gain) in [("verb", "30ms", "0dB"), ("room", "12ms", "-3dB")] {
      text += """
        node \(name)_in inlet channels=2
        node \(name)_tank delay time=\(size) feedback=40% mix=100%
        node \(name)_tone filter freq=3kHz
        node \(name)_out outlet channels=2
        connect tone -> \(name)_in gain=\(gain)
        connect \(name)_in -> \(name)_tank
        connect \(name)_tank -> \(name)_tone
        connect \(name)_in -> \(name)_out gain=-6dB
        connect \(name)_tone -> \(name)_out

        """
    }
    return text + "node out output\nconnect room_out -> out\nconnect verb_out -> out\n"
  }()

  /// Lines about what is inside, where `@` stands for the sub-patch; `!`: of one only. Each with the line for the inlined patch.
  private static func lines(_ count: Int, seed: UInt64) -> [(sub: String, plain: String)] {
    var random = SeededGenerator(seed: seed)
    var (extra, result): ([String], [(String, String)]) = ([], [])
    for step in 0..<count {
      let one = Bool.random(using: &random) ? "verb" : "room"
      func both(_ line: String) -> (String, String) {
        (
          line.replacingOccurrences(of: "@", with: one + "/"),
          ["verb_", "room_"].map { line.replacingOccurrences(of: "@", with: $0) }.joined(separator: " ; ")
        )
      }
      switch Int.random(in: 0..<11, using: &random) {
      case 0: result.append(both("set @tank.feedback \(Int.random(in: 0...80, using: &random))%"))
      case 1: result.append(both("set @tone.freq \(Int.random(in: 200...9000, using: &random))Hz over 40ms"))
      case 2: result.append(both("connect @in -> @out gain=-\(Int.random(in: 0...30, using: &random))dB"))
      case 3:
        let size = Int.random(in: 5...60, using: &random)
        result.append(("set \(one).size \(size)ms", "set \(one)_tank.time \(size)ms"))
      case 4:
        extra.append("n\(step)")
        result.append(
          both("node @n\(step) gain gain=-4dB ; connect @tank -> @n\(step) ; connect @n\(step) -> @out"))
      case 5 where !extra.isEmpty: result.append(both("remove @\(extra.removeLast())"))
      case 6 where !extra.isEmpty:
        let kind = ["distortion", "filter", "mix", "chorus"].randomElement(using: &random)!
        result.append(both("replace @\(extra.last!) \(kind)"))
      case 7: result.append(("connect tone -> \(one) gain=-7dB", "connect tone -> \(one)_in gain=-7dB"))
      case 8: result.append(("disconnect \(one) -> out", "disconnect \(one)_out -> out"))
      case 9: result.append(("connect \(one) -> out", "connect \(one)_out -> out"))
      default: result.append(Bool.random(using: &random) ? ("undo", "undo") : ("redo", "redo"))
      }
    }
    return result
  }

  private func render(_ path: String, _ lines: [String], period: Int, threads: Int, to output: String) throws
    -> Data
  {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    options.threads = threads
    let session = Session(options: options)
    try session.open(path)
    var request = RenderRequest(seconds: 2)
    request.output = output
    let script = lines.enumerated().map { "at \(0.1 + 0.0371 * Double($0))s \($1)\n" }.joined()
    let (read, faults) = Script.read(script, file: "script")
    #expect(faults.isEmpty)
    request.script = read
    try session.render(request)
    return try Data(contentsOf: URL(fileURLWithPath: output))
  }

  @Test(arguments: searchSeeds(41, 42, 43))
  func itSoundsAsItsInlinedCopyBitForBitThroughEditsInsideUndoPeriodsAndThreads(seed: UInt64) throws {
    print("seed \(seed)")
    let (folder, path) = try folder()
    let plain = try folder.file("plain.patch", Self.inlined)
    // Lines that are refused, such as a cable that is gone, are refused in both.
    let all = Self.lines(48, seed: seed)
    let (first, second) = (try open(path), try open(plain))
    var kept: [(sub: String, plain: String)] = []
    for line in all {
      let isMade = (try? first.perform(line.sub)) != nil
      #expect(((try? second.perform(line.plain)) != nil) == isMade, "\(line)")
      if isMade { kept.append(line) }
    }
    #expect(kept.count > 30)
    first.close()
    second.close()
    let wanted = try render(plain, kept.map(\.plain), period: 256, threads: 1, to: folder.path + "/p.wav")
    #expect(isSearched(seed) || Set(wanted.suffix(20000)).count > 100, "it has to sound")
    for (period, threads) in [(256, 1), (64, 1), (1000, 3)] {
      let heard = try render(
        path, kept.map(\.sub), period: period, threads: threads, to: folder.path + "/s.wav")
      #expect(heard == wanted, "seed \(seed), period \(period), \(threads) threads")
    }
  }

  @Test func aHeldChordOutlivesCollapsingAndExpandingAroundItAndOfIt() throws {
    let folder = try Folder()
    func play(_ lines: [String]) throws -> (tap: Data, session: Session) {
      var options = SessionOptions()
      options.isOffline = true
      let session = Session(options: options)
      try session.open(repository + "/Patches/reconnect.patch")
      var request = RenderRequest(seconds: 2)
      request.taps = [try #require(TapRequest("piano=\(folder.path)/tap.wav"))]
      var script = ["pedal piano sustain on", "note piano on C4 100", "note piano on G4 80"]
        .map { "at 0.05s \($0)\n" }.joined()
      for (index, line) in lines.enumerated() { script += "at \(0.4 + 0.1003 * Double(index))s \(line)\n" }
      let (read, faults) = Script.read(script, file: "")
      #expect(faults.isEmpty)
      request.script = read
      try session.render(request)
      for entry in session.trace(since: 0) where entry.name.hasSuffix("piano") && entry.time > 10_000 {
        switch entry.happening {
        case .allocated, .prepared, .started, .loaded, .noteOn, .fadingOut, .retired:
          Issue.record("\(entry.happening)")
        default: continue
        }
      }
      return (try Data(contentsOf: URL(fileURLWithPath: folder.path + "/tap.wav")), session)
    }
    let still = try play([]).tap
    let around = [
      "collapse dist main into box", "set box/dist.drive 3dB", "undo", "undo", "redo", "expand box", "undo",
    ]
    #expect(try play(around).tap == still)
    let session = try play(["collapse keys piano into box", "collapse box dist into more"]).session
    #expect(session.report.nodes.first { $0.name == "more/box/piano" }?.voices == 2)
  }
}
