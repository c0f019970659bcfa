import Engine
import Foundation
import Patch
import TestSupport
import Testing

@testable import Session

/// A patch that is saved into another folder: its nodes play the same files, whatever is undone, redone or recovered
/// afterwards.
@MainActor @Suite struct MovedHistoryTests {
  /// `one` and `two/deep`, with files in and beside them, and a link that leads from the top into the depth.
  private func folders() throws -> Folder {
    let folder = try Folder()
    for name in ["one/samples", "two/deep", "home"] {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/" + name, withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link", withDestinationPath: "two/deep")
    return folder
  }

  /// Every file that a patch names, as the system finds its folder; those of the person's own and those from the root
  /// as they are written.
  private func files(_ session: Session) -> [String: String] {
    var files: [String: String] = [:]
    for node in session.patch.nodes.values {
      for (path, value) in node.settings {
        guard case .text(let written) = value, Self.parameters.contains(path.name) else { continue }
        let isPlain = written.hasPrefix("/") || written.hasPrefix("~/")
        let full = session.absolute(written)
        let place = FilePath.realFolder(of: full).map { $0 + "/" + PatchFile.split(full).name }
        files["\(node.name).\(path.line)"] = isPlain ? written : place ?? full
      }
    }
    return files
  }

  private static let parameters: Set = ["instrument", "file", "tuning", "keymap"]

  /// Lines with `@name` where the file `name` of the folder is meant.
  private static func line(_ line: String, in folder: Folder, for session: Session) throws -> String {
    let place = FilePath.realFolder(of: try #require(session.file)) ?? ""
    let root = FilePath.realFolder(of: folder.path + "/x") ?? ""
    return line.split(separator: " ", omittingEmptySubsequences: false).map { word in
      guard let mark = word.firstIndex(of: "@") else { return String(word) }
      return word[..<mark] + "\""
        + FilePaths.relative(root + "/" + word[word.index(after: mark)...], to: place)
        + "\""
    }.joined(separator: " ")
  }

  static let start = """
    sostenuto 1

    # plays
    node old sampler instrument=samples/x.sfz tuning=../two/t.scl  # its file

    node root player file=/usr/share/none.wav

    node own player file=~/none.wav

    node out output
    connect old -> out

    """

  /// Edits before the patch is saved elsewhere; all of them are undone afterwards, and redone.
  static let scripts = [
    ["set old.instrument @two/y.sfz", "set old.tuning default", "set old.tuning @u.scl over 2s"],
    ["remove old", "node old player file=@one/z.wav"],
    ["replace old player file=@two/deep/p.wav", "set old.file @home/q.wav", "replace old gain"],
    [
      "node a player file=@a.wav ; connect a -> out ; set a.file @one/b.wav", "rename a b", "remove b bridge",
    ],
    ["replace old player file=@one/z.wav ; set old.file @two/z.wav", "comment old.file \"why\""],
    ["set own.file /usr/share/other.wav", "set root.file ~/other.wav", "set own.file @own.wav"],
    ["set old.level 3dB", "layout old 3,4", "set old.instrument \"samples/with a space.sfz\""],
  ]

  @Test(arguments: ["two/deep/b.patch", "b.patch", "one/samples/b.patch", "link/b.patch", "one/b.patch"])
  func undoAndRedoLeadToTheSameFiles(place: String) throws {
    for script in Self.scripts {
      let folder = try folders()
      let session = try open(try folder.file("one/a.patch", Self.start))
      var seen = [files(session)]
      // Lines that are refused here tell nothing there.
      for text in script {
        let line = try Self.line(text, in: folder, for: session)
        if (try? session.perform(line)) == nil { continue }
        seen.append(files(session))
      }
      try #require(seen.count > 2, "\(script)")
      // Some of it is undone before: it can be redone afterwards.
      try session.undo()
      try session.save(as: folder.path + "/" + place)
      #expect(files(session) == seen[seen.count - 2], "\(script)")
      for step in (0..<seen.count - 2).reversed() {
        try session.undo()
        #expect(files(session) == seen[step], "undo \(step) of \(script)")
      }
      #expect(try session.undo() == nil)
      for step in 1..<seen.count {
        try session.redo()
        #expect(files(session) == seen[step], "redo \(step) of \(script)")
      }
      #expect(try session.redo() == nil)
      session.close()
    }
  }

  @Test func theListOfEditsNamesFilesAsTheyAreNamedNow() throws {
    let folder = try folders()
    let session = try open(try folder.file("one/a.patch", Self.start))
    try session.perform("set old.instrument samples/y.sfz ; layout out 3,4")
    try session.perform("node far player file=/usr/share/far.wav")
    try session.perform("set old.instrument ../z.sfz")
    try session.undo()
    try session.save(as: folder.path + "/two/deep/a.patch")
    #expect(
      session.undoList == [
        "node far player file=/usr/share/far.wav",
        "set old.instrument ../../one/samples/y.sfz ; layout out 3,4",
      ])
    #expect(session.redoList == ["set old.instrument ../../z.sfz"])
    session.close()
  }

  @Test func recoveryAfterwardsFindsTheSameFiles() throws {
    for script in Self.scripts {
      let folder = try folders()
      var session: Session? = try open(try folder.file("one/a.patch", Self.start))
      func now() throws -> Session { try #require(session) }
      for text in script { _ = try? session?.perform(try Self.line(text, in: folder, for: try now())) }
      let target = folder.path + "/two/deep/b.patch"
      try session?.save(as: target)
      for _ in 0..<3 {
        // One step at a time beyond the save, and killed.
        try session?.undo()
        let before = try files(now())
        session = nil
        session = try open(target)
        #expect(try files(now()) == before, "\(script)")
        #expect(session?.takeNotices().words.contains { $0.contains("could not") } == false)
        session?.close(keepingEdits: true)
        session = try open(target)
        #expect(try files(now()) == before, "\(script)")
      }
      session?.close()
      // The old file is as it was, and nothing is left beside it.
      #expect(try text(folder.path + "/one/a.patch") == Self.start)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/one")
      #expect(left.sorted() == ["a.patch", "samples"])
    }
  }

  /// The journal that is written anew says the whole way, in the new folder's paths.
  @Test func aJournalThatIsShortenedKeepsTheHistory() throws {
    let folder = try folders()
    var session: Session? = try open(try folder.file("one/a.patch", Self.start))
    try session?.perform("set old.instrument samples/y.sfz")
    try session?.perform("replace old player file=../z.wav")
    let target = folder.path + "/two/deep/b.patch"
    try session?.save(as: target)
    try session?.perform("set old.file w.wav")
    try session?.rewriteJournal()
    let lists = (session?.undoList, files(try #require(session)))
    session = nil
    session = try open(target)
    #expect(session?.undoList == lists.0)
    #expect(session?.undoList.count == 3)
    #expect(files(try #require(session)) == lists.1)
    for _ in 0..<3 { try session?.undo() }
    #expect(files(try #require(session))["old.instrument"]?.hasSuffix("/one/samples/x.sfz") == true)
    session?.close()
  }

  /// Two sessions get the same orders; one is saved here and there, the other always where it is.
  @Test(arguments: searchSeeds(51, 52, 53, 54))
  func whereverItIsSavedItPlaysWhatItWouldHere(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let moving = Subject(in: try folders())
    let staying = Subject(in: try folders())
    func some(_ list: [String]) -> String { list.randomElement(using: &random)! }
    let names = ["old", "root", "own", "a", "b", "c"]
    let places = [
      "@x.wav", "@one/x.wav", "@one/samples/y.wav", "@two/deep/z.wav", "/usr/none.wav", "~/x.wav",
    ]
    let kinds = ["player file", "sampler instrument", "sampler tuning"]
    try moving.open("one/a.patch", Self.start)
    try staying.open("one/a.patch", Self.start)
    for step in 0..<400 {
      let what = Int.random(in: 0..<12, using: &random)
      var order = ""
      switch what {
      case 0:
        order = "save \(some(["one/a", "two/deep/b", "link/c", "d", "home/e"])).patch"
        try moving.save(String(order.dropFirst(5)))
        try staying.save("one/a.patch")
      case 1:
        order = "shorten"
        try moving.session?.rewriteJournal()
        try staying.session?.rewriteJournal()
      case 2:
        order = "kill"
        try moving.kill()
        try staying.kill()
      case 3: order = "node \(some(names)) \(some(kinds))=\(some(places))"
      case 4: order = "replace \(some(names)) \(some(kinds))=\(some(places))"
      case 5: order = "remove \(some(names))"
      case 6, 7: order = "set \(some(names)).\(some(["file", "instrument", "tuning"])) \(some(places))"
      case 8: order = "set \(some(names)).file \(some(places)) ; rename \(some(names)) \(some(names))"
      case 9: order = "redo"
      default: order = "undo"
      }
      if what > 2 {
        let isDone = try moving.perform(order)
        #expect(try staying.perform(order) == isDone, "seed \(seed), step \(step): \(order)")
      }
      let (here, there) = (try #require(moving.session), try #require(staying.session))
      #expect(
        moving.local(files(here)) == staying.local(files(there)), "seed \(seed), step \(step): \(order)")
      #expect(here.undoList.count == there.undoList.count, "seed \(seed), step \(step): \(order)")
      #expect(here.redoList.count == there.redoList.count, "seed \(seed), step \(step): \(order)")
      #expect(
        here.takeNotices().words.contains { $0.contains("could not") || $0.contains("others") } == false)
    }
    moving.session?.close()
    staying.session?.close()
  }

  /// A session and its folders.
  @MainActor private final class Subject {
    let folder: Folder
    private(set) var session: Session?
    private let root: String

    init(in folder: Folder) {
      self.folder = folder
      root = FilePath.realFolder(of: folder.path + "/x") ?? folder.path
    }

    func open(_ name: String, _ text: String) throws {
      session = try SessionTests.open(try folder.file(name, text))
    }

    func save(_ name: String) throws {
      try session?.save(as: folder.path + "/" + name, despite: [.exists])
    }

    func kill() throws {
      let path = try #require(session?.file)
      session = nil
      session = try SessionTests.open(path)
    }

    /// False: it is refused.
    func perform(_ line: String) throws -> Bool {
      let session = try #require(session)
      return (try? session.perform(try MovedHistoryTests.line(line, in: folder, for: session))) != nil
    }

    /// Places as seen from the top folder.
    func local(_ files: [String: String]) -> [String: String] {
      files.mapValues { $0.hasPrefix(root) ? String($0.dropFirst(root.count)) : $0 }
    }
  }
}
