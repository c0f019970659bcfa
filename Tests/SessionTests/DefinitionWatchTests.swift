import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// The files of sub-patches, while an editor writes into them.
@MainActor @Suite struct DefinitionWatchTests {
  /// A session that looks at the files when the test says so.
  @MainActor private final class Desk {
    let folder: Folder
    let path: String
    let session: Session
    private var time: Int64 = 1

    init(main: String = SubPatchTests.main, hall: String? = SubPatchTests.hall) throws {
      folder = try Folder()
      try FileManager.default.createDirectory(
        atPath: folder.path + "/fx", withIntermediateDirectories: true)
      if let hall { _ = try folder.file("fx/hall.patch", hall) }
      path = try folder.file("a.patch", main)
      session = try Self.open(path, followsFile: true)
      look()
    }

    deinit { MainActor.assumeIsolated { session.close() } }

    static func open(_ path: String, followsFile: Bool) throws -> Session {
      var options = SessionOptions()
      options.followsFile = followsFile
      let session = Session(options: options)
      try session.open(path)
      return session
    }

    func look(_ count: Int = 7) {
      for _ in 0..<count {
        session.followFile(now: time)
        session.followDefinitions(now: time)
        time += FileWatch.interval
      }
    }

    func write(_ hall: String, atomically: Bool = true) throws {
      try hall.write(toFile: folder.path + "/fx/hall.patch", atomically: atomically, encoding: .utf8)
    }

    var told: String { session.takeNotices().words.joined(separator: "; ") }

    /// The patch with all that is inside, and as one gets it who opens the files now.
    var whole: String { Self.whole(session) }

    static func whole(_ session: Session) -> String {
      PatchWriter.write(session.patch, catalogue: session.catalogue, whole: true)
    }

    func opened() throws -> String {
      let other = try folder.file("b.patch", try text(path))
      let session = try Self.open(other, followsFile: false)
      defer { session.close() }
      return Self.whole(session)
    }
  }

  private func value(_ session: Session, _ node: String, _ parameter: String) -> String? {
    session.patch[named: node]?.settings[ParameterPath(parameter)]?.line
  }

  /// Lines of scenes about a node that a file has lost wait for it, are told, and count again when it comes back; a reading of
  /// the same text finds the same.
  @Test func linesOfScenesWaitForANodeThatAFileHasLost() throws {
    let scene = "\nscene 2\nscene 2 set tone.freq 330Hz\nscene 2 set verb/tank.feedback 50%\n"
    let desk = try Desk(main: SubPatchTests.main + scene)
    let before = (desk.session.patch, desk.whole)
    let pool = SubPatchTests.hall.replacingOccurrences(of: "tank", with: "pool")
    try desk.write(pool)
    desk.look()
    let told = desk.told
    #expect(told.contains("scene 2 set verb/tank.feedback 50%") && told.contains("fx/hall.patch"), "\(told)")
    #expect(desk.session.patch[named: "verb/pool"] != nil)
    let text = PatchWriter.write(desk.session.patch, catalogue: desk.session.catalogue)
    #expect(text.contains("\nscene 2 set verb/tank.feedback 50%\n"))
    let (read, found) = PatchReader.read(text, file: desk.path, catalogue: desk.session.catalogue)
    #expect(found.map(\.severity) == [.warning])
    #expect(PatchWriter.write(read, catalogue: desk.session.catalogue) == text)
    try desk.session.perform("recall 2")
    #expect(value(desk.session, "tone", "freq") == "330Hz")
    for _ in 0..<2 { try desk.session.undo() }
    let isUndone = desk.session.patch == before.0
    #expect(isUndone && desk.whole == before.1)
    try desk.session.redo()
    try desk.write(SubPatchTests.hall)
    desk.look()
    try desk.session.perform("recall 2")
    #expect(value(desk.session, "verb/tank", "feedback") == "50%")
    #expect(throws: (any Error).self) { try desk.session.perform("scene 2 set verb/wall.feedback 60%") }
  }

  /// A link that leads to another file is taken as that file's content, and no save goes over it unasked.
  @Test(arguments: [false, true]) func aLinkThatLeadsElsewhereIsFollowed(isSavedAtOnce: Bool) throws {
    let desk = try Desk(
      main: "sostenuto 1\nnode tone oscillator\nnode verb patch file=fx/now.patch\n", hall: nil)
    let (manager, fx) = (FileManager.default, desk.folder.path + "/fx")
    _ = try desk.folder.file("fx/old.patch", SubPatchTests.hall)
    let new = SubPatchTests.hall.replacingOccurrences(of: "40%", with: "61%")
    _ = try desk.folder.file("fx/new.patch", new)
    func lead(to name: String) throws {
      try? manager.removeItem(atPath: fx + "/now.patch")
      try manager.createSymbolicLink(atPath: fx + "/now.patch", withDestinationPath: name)
    }
    try lead(to: "old.patch")
    desk.look(20)
    #expect(value(desk.session, "verb/tank", "feedback") == "40%")
    try desk.session.perform("set verb/tone.freq 2kHz")
    try lead(to: "new.patch")
    if isSavedAtOnce {
      #expect(throws: FileError.self) { try desk.session.save() }
      #expect(try text(fx + "/new.patch") == new)
    }
    desk.look()
    #expect(value(desk.session, "verb/tank", "feedback") == "61%")
    #expect(value(desk.session, "verb/tone", "freq") == "2kHz")
    try desk.session.save()
    #expect(try text(fx + "/old.patch") == SubPatchTests.hall)
    #expect(try text(fx + "/new.patch").contains("feedback=61%"))
  }

  /// A value that a file no longer publishes is told, and undo has it.
  @Test func aValueThatAFileNoLongerPublishesIsTold() throws {
    let desk = try Desk()
    let before = desk.whole
    try desk.write(SubPatchTests.hall.replacingOccurrences(of: "publish tank.time as size\n", with: ""))
    desk.look()
    let told = desk.told
    #expect(told.contains("size=12ms") && told.contains("left out") && told.contains("undo"), "\(told)")
    try desk.session.undo()
    #expect(desk.whole == before)
  }

  @Test(arguments: [true, false]) func aChangeOfAFileIsOneEditOfAllThatShareIt(atomically: Bool) throws {
    let desk = try Desk()
    let before = desk.session.patch
    let hall =
      SubPatchTests.hall.replacing("feedback=40%", with: "feedback=60%")
      .replacing("time=30ms", with: "time=45ms") + "\nnode more gain\nconnect in -> more\n"
    try desk.write(hall, atomically: atomically)
    desk.look()
    #expect(desk.told == "hall.patch was changed by others: verb, room; undo takes it back")
    #expect(value(desk.session, "verb/tank", "feedback") == "60%")
    #expect(value(desk.session, "room/tank", "feedback") == "60%")
    // A value of its own stays its own.
    #expect(
      value(desk.session, "verb/tank", "time") == "45ms" && value(desk.session, "room/tank", "time") == "12ms"
    )
    #expect(desk.session.patch[named: "room/more"] != nil)
    let marked = desk.session.changedByOthers.compactMap { desk.session.patch[$0]?.name }
    #expect(Set(marked).isSuperset(of: ["verb/tank", "room/tank", "verb/more"]), "\(marked)")
    #expect(!desk.session.isModified && desk.session.modifiedDefinitions.isEmpty)
    #expect(desk.session.undoList.count == 1)
    #expect(try desk.opened() == desk.whole)
    _ = try desk.session.undo()
    #expect(desk.session.patch == before)
    #expect(desk.session.modifiedDefinitions.map { PatchFile.split($0).name } == ["hall.patch"])
    _ = try desk.session.redo()
    #expect(!desk.session.isModified && desk.session.modifiedDefinitions.isEmpty)
    desk.look(20)
    #expect(desk.told == "")
  }

  @Test func editsThatAreNotSavedAreMergedUnlessBothChangedTheSame() throws {
    let desk = try Desk()
    try desk.session.perform("set verb/tone.freq 5kHz")
    try desk.session.perform("set tone.freq 330Hz")
    try desk.write(SubPatchTests.hall.replacing("feedback=40%", with: "feedback=60%"))
    desk.look()
    for name in ["verb", "room"] {
      #expect(value(desk.session, "\(name)/tank", "feedback") == "60%")
      #expect(value(desk.session, "\(name)/tone", "freq") == "5kHz")
    }
    #expect(value(desk.session, "tone", "freq") == "330Hz")
    #expect(desk.session.isModified && desk.session.modifiedDefinitions.count == 1)
    _ = desk.told
    let before = desk.session.patch
    try desk.write(SubPatchTests.hall.replacing("freq=3kHz", with: "freq=7kHz"))
    desk.look()
    #expect(desk.session.patch == before)
    #expect(desk.told.hasPrefix("hall.patch was changed by others, and not as here: "))
    // Saving would lose the other's change, and says so.
    #expect(throws: FileError.self) { try desk.session.save() }
    // An edit of something else leaves the contradiction; without the edit that made it, the other's change comes.
    try desk.session.perform("set tone.freq 220Hz")
    desk.look(5)
    #expect(desk.told == "" && value(desk.session, "verb/tone", "freq") == "5kHz")
    try desk.session.perform("set verb/tone.freq 3kHz")
    desk.look(5)
    #expect(desk.told.hasPrefix("hall.patch was changed by others: "))
    for name in ["verb", "room"] { #expect(value(desk.session, "\(name)/tone", "freq") == "7kHz") }
    #expect(desk.session.modifiedDefinitions.isEmpty)
  }

  @Test func aBrokenFileALockedStageAndAMissingFileChangeNothing() throws {
    let desk = try Desk()
    let before = desk.session.patch
    try desk.write(SubPatchTests.hall.replacing("feedback=40%", with: "feedbck=60%"))
    desk.look()
    let told = desk.told
    #expect(told.hasPrefix("hall.patch:9:27: error: "), "\(told)")
    #expect(desk.session.patch == before)
    try FileManager.default.removeItem(atPath: desk.folder.path + "/fx/hall.patch")
    desk.look(FileWatch.patience + 2)
    #expect(desk.told == "hall.patch is gone: its sub-patches stay as they are")
    #expect(desk.session.patch == before)
    desk.session.holdsFileBack = true
    try desk.write(SubPatchTests.hall.replacing("feedback=40%", with: "feedback=70%"))
    desk.look(20)
    #expect(desk.told == "hall.patch was changed by others: it waits until the stage is unlocked")
    #expect(desk.session.patch == before)
    desk.session.holdsFileBack = false
    desk.look()
    #expect(value(desk.session, "room/tank", "feedback") == "70%")
  }

  @Test func aFileThatWasMissingIsInsideWhenItComes() throws {
    let desk = try Desk(hall: nil)
    #expect(desk.session.patch[named: "verb/tank"] == nil)
    _ = desk.told
    let before = desk.session.patch
    try desk.write(SubPatchTests.hall)
    desk.look()
    let told = desk.told
    #expect(try desk.opened() == desk.whole, "\(told)")
    #expect(desk.session.patch[named: "verb/tank"] != nil && !desk.session.isModified)
    _ = try desk.session.undo()
    let isUndone = desk.session.patch == before
    #expect(isUndone)
    _ = try desk.session.redo()
    #expect(try desk.opened() == desk.whole)
  }

  /// Lines of a scene about what is inside count as soon as the file is there, and wait again after an undo.
  @Test(arguments: ["set verb/tank.feedback 50%", "set tone.freq 330Hz"])
  func aFileThatComesLateFillsTheScenesToo(line: String) throws {
    let desk = try Desk(main: SubPatchTests.main + "\nscene 2\nscene 2 \(line)\n", hall: nil)
    let (before, text) = (desk.session.patch, desk.whole)
    try desk.write(SubPatchTests.hall)
    desk.look()
    #expect(try desk.opened() == desk.whole, "\(desk.told)")
    try desk.session.perform("recall 2")
    #expect(value(desk.session, "room/tank", "time") == "12ms")
    #expect(desk.whole.contains(line.hasPrefix("set verb") ? " feedback=50%" : " freq=330Hz"))
    for _ in 0..<2 { _ = try desk.session.undo() }
    let isUndone = desk.session.patch == before
    #expect(isUndone && desk.whole == text)
    _ = try desk.session.redo()
    #expect(try desk.opened() == desk.whole)
  }

  /// Lines of the file come and go at random, before and after edits of the patch that are saved; a nested file changes with
  /// it.
  @Test(arguments: searchSeeds(1...12)) func afterAnyChangesThePatchIsWhatOneOpens(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let desk = try Desk()
    var lines = ["gain gain=-3dB", "filter freq=800Hz", "delay time=7ms", "distortion drive=6dB"]
    for round in 0..<8 {
      var hall = SubPatchTests.hall
      hall.replace("feedback=40%", with: "feedback=\(Int.random(in: 0...90, using: &random))%")
      hall.replace("time=30ms", with: "time=\(Int.random(in: 13...90, using: &random))ms")
      if Bool.random(using: &random) {
        hall.replace(
          "publish tank.time as size\n", with: "publish tank.time as size\npublish tone.freq as dark\n")
      }
      if Bool.random(using: &random) { hall.replace("connect in -> out gain=-6dB\n", with: "") }
      lines.shuffle(using: &random)
      for (number, line) in lines.prefix(Int.random(in: 0...3, using: &random)).enumerated() {
        hall += "\nnode x\(number) \(line)\nconnect tank -> x\(number)\nconnect x\(number) -> out\n"
      }
      if Bool.random(using: &random) {
        try
          "sostenuto 1\n\nnode in input\n\nnode g gain gain=-\(round)dB\nconnect in -> g\n\nnode out output\nconnect g -> out\n"
          .write(toFile: desk.folder.path + "/fx/deep.patch", atomically: true, encoding: .utf8)
        hall += "\nnode deep patch file=deep.patch\nconnect in -> deep\nconnect deep -> out\n"
      }
      if Bool.random(using: &random) {
        try desk.session.perform(
          [
            "node more\(round) patch file=fx/hall.patch", "set verb.size \(round + 2)ms", "unshare room",
            "remove room",
          ]
          .filter { !$0.contains("room") || desk.session.patch[named: "room"] != nil }
          .randomElement(using: &random)!)
        try desk.session.save()
      }
      let (before, depth) = (desk.session.patch, desk.session.undoList.count)
      try desk.write(hall)
      desk.look(24)
      let opened = try desk.opened()
      #expect(desk.whole == opened, "seed \(seed), round \(round): \(desk.told)\n\(hall)")
      #expect(
        !desk.session.isModified && desk.session.modifiedDefinitions.isEmpty, "seed \(seed), round \(round)")
      // An edit for each file.
      let (after, count) = (desk.whole, desk.session.undoList.count - depth)
      #expect(count < 3)
      for _ in 0..<count { _ = try desk.session.undo() }
      let isUndone = desk.session.patch == before
      #expect(isUndone, "seed \(seed), round \(round)")
      for _ in 0..<count { _ = try desk.session.redo() }
      #expect(desk.whole == after, "seed \(seed), round \(round)")
    }
  }
}
