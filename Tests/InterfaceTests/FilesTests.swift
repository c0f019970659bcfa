import Foundation
import Patch
import Screen
import Session
import Testing

@testable import Interface

/// Files from the screen: the browser and what is heard in it, completion of paths, and opening another patch.
@Suite @MainActor struct FilesTests {
  /// A folder with a patch, a folder with an instrument, a sound file, a MIDI file and others.
  private final class Shelf {
    let path: String

    init() throws {
      path = NSTemporaryDirectory() + "shelf-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path + "/my bank", withIntermediateDirectories: true)
      try write("song.patch", "sostenuto 1\n\nnode tone oscillator\n\nnode out output\nconnect tone -> out\n")
      try write("my bank/organ.sfz", "<region> sample=*sine key=60 lokey=0 hikey=127\n")
      try write("notes.txt", "no sound")
      try Data(Self.wave).write(to: URL(fileURLWithPath: path + "/beep.wav"))
      try Data(Self.midi).write(to: URL(fileURLWithPath: path + "/tune.mid"))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func write(_ name: String, _ text: String) throws {
      try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
    }

    /// A tenth of a second of a square wave of 16 bits.
    private static var wave: [UInt8] {
      let frames = 4800
      func bytes(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(number >> (8 * $0) & 255) }
      }
      return Array("RIFF".utf8) + bytes(36 + frames * 2, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4)
        + bytes(1, 2) + bytes(1, 2) + bytes(48000, 4) + bytes(96000, 4) + bytes(2, 2) + bytes(16, 2)
        + Array("data".utf8) + bytes(frames * 2, 4)
        + (0..<frames).flatMap { bytes(($0 / 50) % 2 == 0 ? 8000 : 57536, 2) }
    }

    /// Format 0, a note C4 on channel 1 from the start, for half a second.
    private static let midi: [UInt8] =
      Array("MThd".utf8) + [0, 0, 0, 6, 0, 0, 0, 1, 0, 96] + Array("MTrk".utf8)
      + [0, 0, 0, 12, 0, 0x90, 60, 100, 96, 0x80, 60, 0, 0, 0xFF, 0x2F, 0]
  }

  private func browser(_ stage: Stage) -> Browser? { stage.app.state.overlay as? Browser }

  @Test(arguments: [(110, 30), (80, 24), (60, 24)])
  func theBrowserStandsBesideTheGraphAndCoversNothing(columns: Int, rows: Int) throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (columns, rows)
    stage.app.browse(shelf.path)
    let frame = ViewFrame(stage.app.scene, stage.app.state, columns: columns, rows: rows)
    let rect = try #require(frame.inspector)
    #expect(!rect.intersects(frame.view))
    let screen = stage.screen
    #expect(screen.contains("my bank/") && screen.contains("beep.wav") && screen.contains("song.patch"))
    #expect(screen.contains("tune.mid") && !screen.contains("notes.txt"))
    // The cursor and the chosen item are told without colours.
    #expect(screen.contains("▸ my bank/"))
    stage.press("down")
    #expect(stage.screen.contains("▸ beep.wav"))
  }

  @Test func foldersAreEnteredAndLeftAndLettersFilter() throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    stage.app.browse(shelf.path)
    stage.press("enter")
    #expect(browser(stage)?.shown.first?.name == "organ.sfz")
    stage.press("left")
    #expect(browser(stage)?.item?.name == "my bank", "the folder that one comes from")
    stage.type("tune")
    #expect(browser(stage)?.item?.name == "tune.mid")
    stage.press("backspace backspace backspace backspace")
    #expect(browser(stage)?.folder.hasSuffix((shelf.path as NSString).lastPathComponent) == true)
    stage.press("esc")
    #expect(stage.app.state.overlay == nil)
  }

  /// What is heard is another session's: the patch is the same, and has no edit.
  @Test func theFileUnderTheCursorIsHeardAndThePatchIsUntouched() throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    let before = stage.session.patch
    stage.app.browse(shelf.path)
    stage.press("down")
    #expect(stage.workbench.player?.patch.names == nil, "nothing at once")
    stage.play(seconds: 0.3)
    #expect(stage.workbench.player?.patch[named: "sound"]?.kind == "player")
    // Another file ends it, and is heard in its place.
    stage.press("home enter")
    #expect(stage.workbench.player?.patch.names == ["out"])
    stage.play(seconds: 0.3)
    #expect(stage.workbench.player?.patch[named: "sound"]?.kind == "sampler")
    #expect(stage.screen.contains("1 region"))
    // Silent on request.
    stage.press("tab")
    #expect(stage.workbench.player?.patch.names == ["out"])
    stage.press("esc")
    #expect(stage.workbench.player == nil)
    #expect(stage.session.patch == before && stage.session.undoList.count == 9)
  }

  /// The reason why a file is not heard is seen whole, at the lower edge of the list.
  @Test(arguments: [(110, 30), (80, 24), (60, 24)])
  func whatIsWrongWithAFileIsSeenWhole(columns: Int, rows: Int) throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (columns, rows)
    stage.app.browse(shelf.path)
    let before = stage.screen
    var scene = stage.app.scene
    scene.preview = "/home/me/music/bad.sfz:1: no <region> in it: `junk` is neither a header nor an opcode"
    let screen = Views.draw(scene, stage.app.state, columns: columns, rows: rows).text
    func letters(_ text: String) -> String { text.filter { !$0.isWhitespace && !"│─".contains($0) } }
    // Beside the list stands the graph.
    if columns < 100 { #expect(letters(screen).contains(letters(scene.preview)), "\(screen)") }
    #expect(letters(screen).contains("opcode"), "\(screen)")
    #expect(screen.contains("my bank/") && screen.contains("beep.wav"), "\(screen)")
    #expect(!before.contains("opcode"))
  }

  @Test func aPatchIsOpenedInPlaceOfTheOtherAfterAQuestion() throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    stage.app.browse(shelf.path)
    stage.type("song.p")
    stage.press("enter")
    #expect(stage.screen.contains("Not saved"))
    stage.press("esc")
    #expect(stage.names == ["keys", "piano", "dist", "main", "out"])
    stage.press(":")
    stage.type("open \(shelf.path)/song.patch")
    stage.press("enter n")
    stage.play(seconds: 0.05)
    #expect(stage.names == ["tone", "out"])
    #expect(stage.screen.contains("song.patch") && stage.focus == "tone" || stage.focus == "out")
    #expect(!stage.session.isModified && stage.session.undoList.isEmpty)
    // What cannot be read leaves it as it is.
    stage.press(":")
    stage.type("open \(shelf.path)/nothing.sfz")
    stage.press("enter")
    #expect(stage.names == ["tone", "out"] && stage.app.state.message?.isError == true)
    // A locked stage stays.
    stage.press("alt-l :")
    stage.type("open \(shelf.path)/beep.wav")
    stage.press("enter")
    #expect(stage.names == ["tone", "out"])
  }

  @Test func aNameWithQuotesIsCompletedAndOpened() throws {
    let shelf = try Shelf()
    try "sostenuto 1\nnode buzz oscillator\n".write(
      toFile: shelf.path + "/a\"b.patch", atomically: true, encoding: .utf8)
    let stage = Stage()
    stage.press(":")
    stage.type("open \(shelf.path)/a")
    stage.press("tab enter")
    #expect(stage.names == ["buzz"], "\(stage.screen)")
    // Quotes that stay open name no file; the mark stands below them.
    stage.press(":")
    stage.type("open \"\(shelf.path)/song.patch")
    stage.press("enter")
    let error = try #require((stage.app.state.overlay as? Prompt)?.error)
    #expect(error.text == "the quotes are not closed" && error.column == 5)
    #expect(stage.names == ["buzz"])
  }

  /// The front end would wait for ever for what is typed on its own keyboard.
  @Test(arguments: [
    "open -", "open /dev/stdin", "open \"/dev/fd/0\"", "save -", "save /dev/stdin", "wq -", "export -",
    "export /proc/self/fd/1", "piano /dev/stdin",
  ])
  func aStreamIsNoFile(line: String) {
    let stage = Stage.demo()
    stage.press(":")
    stage.type(line)
    stage.press("enter")
    let error = (stage.app.state.overlay as? Prompt)?.error?.text ?? ""
    #expect(error.contains("is no file: only files can be opened and saved here"), "\(stage.screen)")
    #expect(stage.app.wish == .none && stage.session.file == nil)
  }

  @Test func aPathFromTheHomeFolderIsFoundWhereverOneIsTyped() {
    for command in ["save", "export", "wq"] {
      let stage = Stage.demo()
      stage.press(":")
      stage.type("\(command) ~/no such folder \(UUID().uuidString)/x")
      stage.press("enter")
      #expect(stage.app.state.message?.isError == true && !stage.message.contains("~"), "\(stage.message)")
    }
  }

  @Test func aFileThatIsNotThereIsANewPatch() throws {
    let shelf = try Shelf()
    var options = SessionOptions()
    options.keepsJournal = false
    let workbench = SessionWorkbench(session: Session(options: options))
    #expect(try workbench.open(shelf.path + "/none.patch").text == "none.patch is a new patch")
    #expect(try workbench.open(shelf.path + "/song.patch").text == "opened \(shelf.path)/song.patch")
    workbench.session.close()
  }

  @Test func tabCompletesPathsWhereverOneIsTyped() throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    func completions(_ line: String) -> [String] {
      stage.press("esc :")
      stage.type(line)
      defer { stage.press("esc") }
      return (stage.app.state.overlay as? Prompt)?.completions ?? []
    }
    stage.press(":")
    #expect(completions("open \(shelf.path)/so").contains("\(shelf.path)/song.patch"))
    #expect(completions("save \(shelf.path)/s") == ["\(shelf.path)/song.patch"])
    #expect(completions("set piano.instrument \(shelf.path)/be") == ["\(shelf.path)/beep.wav"])
    #expect(completions("set piano.instrument \(shelf.path)/my") == ["\"\(shelf.path)/my bank/"])
    #expect(
      completions("set piano.instrument \"\(shelf.path)/my bank/o") == ["\"\(shelf.path)/my bank/organ.sfz\""]
    )
    #expect(
      completions("node p player file=\(shelf.path)/b") == ["file=\(shelf.path)/beep.wav"])
    #expect(
      completions("record main \(shelf.path)/") == ["\"\(shelf.path)/my bank/", "\(shelf.path)/beep.wav"])
    #expect(completions("set dist.drive \(shelf.path)/").isEmpty)
    // Tab goes on into a folder, and a line that it made is performed.
    stage.press("esc :")
    stage.type("set piano.instrument \(shelf.path)/my")
    stage.press("tab tab enter")
    #expect(
      stage.session.patch[named: "piano"]?.settings[ParameterPath("instrument")]
        == .text("\(shelf.path)/my bank/organ.sfz"))
  }

  @Test func theInspectorsFileIsCompletedAndBrowsed() throws {
    let shelf = try Shelf()
    let stage = Stage.demo()
    let piano = try #require(stage.session.patch.id(named: "piano"))
    stage.app.desk.focus(piano)
    stage.press("enter enter")
    stage.type("\(shelf.path)/my")
    stage.press("tab tab enter")
    let wanted = Value.text("\(shelf.path)/my bank/organ.sfz")
    #expect(stage.session.patch[named: "piano"]?.settings[ParameterPath("instrument")] == wanted)
    // The browser begins where the file is, and takes another.
    stage.press("ctrl-o")
    #expect(browser(stage)?.folder.hasSuffix("my bank") == true)
    stage.press("left")
    stage.type("beep")
    stage.press("enter")
    #expect(
      stage.session.patch[named: "piano"]?.settings[ParameterPath("instrument")]
        == .text("\(shelf.path)/beep.wav"))
    stage.press("u")
    #expect(stage.session.patch[named: "piano"]?.settings[ParameterPath("instrument")] == wanted)
  }

  /// A MIDI file's notes come to the sampler behind the `midi` node, at their times, each its channel.
  @Test func aSongPlaysOnTheNodesBehindMidiOfItsChannel() throws {
    let shelf = try Shelf()
    let stage = Stage(
      "node one midi channel=1", "node two midi channel=2", "node a sampler", "node b sampler",
      "node out output", "connect one -> a", "connect two -> b", "connect a -> out", "connect b -> out")
    try stage.session.playSong(shelf.path + "/tune.mid")
    #expect(stage.session.songName == "tune.mid")
    stage.play(seconds: 0.3)
    func notes(_ name: String, _ kind: String) -> Int {
      stage.session.trace(since: 0).count { entry in
        guard entry.name == name else { return false }
        switch entry.happening {
        case .noteOn: return kind == "on"
        default: return false
        }
      }
    }
    #expect(notes("a", "on") == 1 && notes("b", "on") == 0)
    #expect(stage.session.report.nodes.first { $0.name == "a" }?.heldNotes == 1)
    stage.play(seconds: 1)
    #expect(stage.session.report.nodes.first { $0.name == "a" }?.heldNotes == 0)
    #expect(stage.session.songName == nil)
    #expect(stage.session.undoList.count == 9, "a performance is no edit")
  }
}
