import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Sessions killed at any moment, with full disks, vanished folders, torn journals, and a second session.
/// After reopening, every acknowledged edit is there, and no older state.
@Suite(.serialized) struct StormTests {
  /// Commands sent to the session, and the expected document after each.
  private struct Model {
    var states: [String] = []
    /// Index of the last state acknowledged as safe, or saved.
    var safe = 0
    var saves = 0
    var midSaves = 0
    var failures = 0
    var vanished = 0
    var torn = 0
    var seconds = 0
  }

  /// State of the files that a session writes.
  private struct Traces: Equatable {
    var inode: UInt64
    var journalSize: Int64
    var isWriting: Bool

    init(of path: String) {
      var info = stat()
      inode = stat(path, &info) == 0 ? UInt64(info.st_ino) : 0
      journalSize = stat(Journal.besidePath(for: path), &info) == 0 ? Int64(info.st_size) : 0
      let folder = (path as NSString).deletingLastPathComponent
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      isWriting = names.contains { $0.hasSuffix(".new") }
    }
  }

  /// The moment in a session's work at which it is killed; at its end if that comes first.
  private enum Moment: CaseIterable {
    case atOnce, journalWritten, newFileBegun, fileReplaced, allDone

    func hasCome(_ before: Traces, _ now: Traces) -> Bool {
      switch self {
      case .atOnce: true
      case .journalWritten: now.journalSize != before.journalSize
      case .newFileBegun: now.isWriting
      case .fileReplaced: now.inode != before.inode
      case .allDone: false
      }
    }
  }

  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init)
  }

  @Test func noAcknowledgedEditIsLostAndNothingStaleComesBack() throws {
    let kills = Self.number("SOSTENUTO_STORM") ?? 40
    let seed = UInt64(Self.number("SOSTENUTO_STORM_SEED") ?? 7)
    print("storm of \(kills) kills, seed \(seed)")
    signal(SIGPIPE, SIG_IGN)
    let home = try Folder()
    let place = home.path + "/patches"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let path = place + "/a.patch"
    try JournalTests.patch.write(toFile: path, atomically: false, encoding: .utf8)
    var random = SeededGenerator(seed: seed)
    let start = PatchReader.read(JournalTests.patch, file: "", catalogue: KindRegistry.builtIn.catalogue)
      .patch
    var lines = RandomLines(seed: seed, of: start, standing: ["out"])
    var model = Model(states: [JournalTests.patch])

    for round in 0..<kills {
      let worker = try Worker(stateFolder: home.path + "/state")
      try #require(try worker.ask("open \(path)") == "opened", "round \(round)")
      let found = try worker.text("text")
      guard let index = model.states.lastIndex(of: found), index >= model.safe else {
        let notices = try worker.text("notices")
        let how = model.states.contains(found) ? "stale" : "none of the states"
        Issue.record(
          "seed \(seed), round \(round): what came back is \(how); \(notices)\n\(found)\nwanted:\n\(model.states[model.safe])"
        )
        return
      }
      lines.draft = Draft(PatchReader.read(found, file: "", catalogue: KindRegistry.builtIn.catalogue).patch)
      model.states = [found]
      model.safe = 0
      try perform(worker, round, &lines, &model, &random, path: path, home: home)
    }
    print(
      "storm: \(model.midSaves) kills in mid-save, \(model.saves) saves, \(model.failures) edits on a full disk, "
        + "\(model.vanished) folders gone, \(model.torn) torn journals, \(model.seconds) second sessions")
    #expect(model.midSaves >= kills / 10)
    #expect(model.failures > 0 && model.vanished > 0 && model.torn > 0 && model.seconds > 0)
  }

  /// Runs one session from opening to its end.
  private func perform(
    _ worker: Worker, _ round: Int, _ lines: inout RandomLines, _ model: inout Model,
    _ random: inout SeededGenerator,
    path: String, home: Folder
  ) throws {
    let kind = round < 4 ? round : Int.random(in: 0..<10, using: &random)
    if kind == 0 {
      let size =
        (try? FileManager.default.attributesOfItem(atPath: Journal.besidePath(for: path))[.size] as? Int) ?? 0
      // In the first round for certain, however slow the machine is: there it has all the time that it takes.
      let room = round == 0 ? 0 : Int.random(in: 0...150, using: &random)
      try worker.ask("limit \(max(1, size) + room)")
    }
    // Sent without waiting for answers, so that the kill hits the session at work.
    var sent: [String] = []
    for _ in 0..<Int.random(in: 1...25, using: &random) {
      // The disk is full for one edit at least.
      if kind == 0, !sent.isEmpty, Int.random(in: 0..<12, using: &random) == 0 {
        sent.append(Bool.random(using: &random) ? "limit 0" : "tick")
      } else {
        sent.append("do \(lines.next())")
      }
      model.states.append(canonical(lines.draft.patch))
      if Int.random(in: 0..<15, using: &random) == 0 {
        sent.append("save")
        model.states.append(canonical(lines.draft.patch))
      }
    }
    let endsInSave = kind >= 4
    if endsInSave {
      sent.append("save")
      model.states.append(canonical(lines.draft.patch))
    }
    if kind == 1 { try second(path, home, &model) }
    for line in sent { try worker.send(line) }
    // States count from 1; 0 is the document as opened.
    var answered = 0
    var isSaving = false
    func take(_ answer: String) {
      switch answer {
      case "saving":
        isSaving = true
        return
      case "saved":
        isSaving = false
        model.saves += 1
        model.safe = answered + 1
      case "done": if sent[answered].hasPrefix("do ") { model.safe = answered + 1 }
      case "unsafe": model.failures += 1
      default:
        // A save on a full disk may fail.
        isSaving = false
        #expect(kind == 0 && answer.hasPrefix("unsaved"), "\(sent[answered]): \(answer)")
      }
      answered += 1
    }
    let some = endsInSave ? sent.count - 1 : Int.random(in: 0...sent.count, using: &random)
    // The first is waited for, so that a busy machine has met a full disk as well.
    let wanted = round == 0 ? sent.count : some
    while answered < wanted, let answer = worker.next() { take(answer) }
    if kind == 2 {
      while answered < sent.count, let answer = worker.next() { take(answer) }
      try vanish(worker, path)
      model.states.append(model.states[model.states.count - 1])
      model.safe = model.states.count - 1
      model.vanished += 1
    } else {
      if endsInSave { while !isSaving, answered < sent.count, let answer = worker.next() { take(answer) } }
      let moment = Moment.allCases.randomElement(using: &random)!
      let before = Traces(of: path)
      while answered < sent.count, !moment.hasCome(before, Traces(of: path)) {
        guard worker.hasAnswer else { continue }
        guard let answer = worker.next() else { break }
        take(answer)
      }
    }
    worker.kill()
    while let answer = worker.next() { take(answer) }
    if isSaving { model.midSaves += 1 }
    if kind == 3 { try tear(path, &random, &model) }
  }

  /// Removes the folder with all its files while the session is open: journals move to the state folder.
  private func vanish(_ worker: Worker, _ path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    let file = try Data(contentsOf: URL(fileURLWithPath: path))
    try FileManager.default.removeItem(atPath: folder)
    // An edit and its undo, so that the state is known.
    #expect(try worker.ask("do header \"gone\"") == "done")
    #expect(try worker.ask("do undo") == "done")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try file.write(to: URL(fileURLWithPath: path))
  }

  /// A second session opens the patch: it is told about the lock, does not save, and removes nothing.
  private func second(_ path: String, _ home: Folder, _ model: inout Model) throws {
    let other = try Worker(stateFolder: home.path + "/state")
    #expect(try other.ask("open \(path)") == "locked")
    #expect(try other.ask("do header \"other\"") == "unsafe")
    #expect(try other.ask("save") == "saving")
    #expect(other.next()?.hasPrefix("unsaved") == true)
    other.kill()
    model.seconds += 1
  }

  /// Appends the start of a record, as an interrupted write leaves it.
  private func tear(_ path: String, _ random: inout SeededGenerator, _ model: inout Model) throws {
    let journal = Journal.besidePath(for: path)
    guard let handle = FileHandle(forWritingAtPath: journal) else { return }
    try handle.seekToEnd()
    let torn = Bool.random(using: &random) ? "edit set out.chan" : "und"
    if try handle.offset() > 0 {
      try handle.write(contentsOf: Data(torn.utf8))
      model.torn += 1
    }
    try handle.close()
  }

  private func canonical(_ patch: Patch) -> String {
    PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue)
  }
}
