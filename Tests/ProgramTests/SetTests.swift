import Foundation
import Testing

/// A set on a stage, shortened in time and complete in its steps: scenes, maps, controls, a change of tempo and rewiring, at
/// 80x24 without colours and without a mouse, with a chord held throughout.
@Suite(.serialized, .enabled(if: Terminal.isInstalled)) struct SetTests {
  @Test func theHeldChordIsThatOfTheNotesAloneBitForBit() throws {
    let folder = try Folder()
    let text = try String(contentsOfFile: Program.repository + "/Patches/reconnect.patch", encoding: .utf8)
    let patch = try folder.file(
      "set.patch",
      text.replacingOccurrences(of: "../Instruments", with: Program.repository + "/Instruments"))
    let terminal = try Terminal(
      """
      env TERM=vt100 NO_COLOR=1 LC_ALL=C.UTF-8 XDG_STATE_HOME=\(folder.path) XDG_CONFIG_HOME=\(folder.path) \
      '\(Program.path)' '\(patch)' --driver clock --period 256
      """, columns: 80, rows: 24)
    try terminal.wait(for: "voices  0/64", "organ.sfz 0")
    try terminal.type("record piano \(folder.path)/take.wav")
    try terminal.wait(for: "recording piano.out")
    try terminal.press("F6", "Space", "z", "c", "b")
    try terminal.wait(for: "organ.sfz 3", "keys C4 E4 G4")

    // Controls, while both hands play.
    try terminal.press("M-1")
    try terminal.wait(for: "control 1 turns")
    try terminal.type(text: "dist.drive", "Enter")
    try terminal.wait(for: "control 1 dist.drive")
    try terminal.press("Right")
    try terminal.wait(for: "set dist.drive 19dB")
    try leaveControl(terminal)

    // Scenes: states between which a control goes, and one with other nodes; at once, and in time.
    try terminal.press("M-Q")
    try terminal.wait(for: "scene 1")
    try terminal.press("M-1")
    try terminal.wait(for: "control 1 turns dist.drive")
    try terminal.press("S-Right")
    try terminal.wait(for: "set dist.drive 29dB")
    try leaveControl(terminal)
    try terminal.press("M-W")
    try terminal.wait(for: "scene 2")
    try terminal.press("M-3")
    try terminal.wait(for: "control 3 turns")
    try terminal.type(text: "morph", "Enter")
    try terminal.wait(for: "control 3 morph 1 2")
    try terminal.press("S-Left")
    try terminal.wait(for: "morph 1 2 50%")
    try leaveControl(terminal)
    try terminal.press("F7")
    try terminal.wait(for: "replace dist equalizer")
    try terminal.press("F8")
    try terminal.wait(for: "insert delay")
    try terminal.press("M-E")
    try terminal.wait(for: "scene 3")
    try terminal.press("M-q")
    try terminal.wait(for: "recall 1", "distortion")
    try terminal.press("M-o")
    try terminal.wait(for: "over 500ms")
    try terminal.press("M-e")
    try terminal.wait(for: "recall 3 over 500ms", "equalizer")

    // Every view, and a gain in the matrix, without leaving the piano.
    try terminal.press("F3")
    try terminal.wait(for: "[printout]", "{output}")
    try terminal.press("F5")
    try terminal.wait(for: "[trace]")
    try terminal.press("M-m")
    try terminal.wait(for: "[meters]", "piano.out")
    try terminal.press("F4")
    try terminal.wait(for: "[matrix]")
    try terminal.press("S-Up")
    try terminal.wait(for: "set main[0,0] 1dB")
    try terminal.press("F12")
    try terminal.wait(for: "[history]", "edits are done")
    try terminal.press("F2")
    try terminal.wait(for: "organ.sfz 3")

    // A tempo, an echo beside, a map, and a controller that moves it.
    try terminal.press("Escape")
    try terminal.wait(for: " PATCH ")
    try terminal.type("tempo 132")
    try terminal.wait(for: "tempo 132")
    try terminal.type(
      "node echo delay feedback=40% time=312.5ms ; connect piano -> echo ; connect echo -> out")
    try terminal.wait(for: "node echo delay")
    try terminal.type("tempo 96")
    try terminal.wait(for: " tempo 96")
    try terminal.type("map keys.cc74 -> main.master")
    try terminal.wait(for: "map keys.cc74 -> main.master")
    for value in [127, 20, 90] {
      try terminal.type("control keys 74 \(value)")
      try terminal.wait(for: "control keys 74 \(value)")
    }
    // Back, and the lock of the stage.
    try terminal.type("undo")
    try terminal.wait(for: "undone: set main.master")
    try terminal.press("M-l")
    try terminal.wait(for: "locked: Alt-L unlocks")
    try terminal.press("q")
    try terminal.wait(for: "locked: the program stays")
    try terminal.press("M-l")
    try terminal.wait(for: "unlocked")
    try terminal.wait(for: "organ.sfz 3")
    try terminal.type("record piano off")
    // A long path stands in a line of its own.
    try terminal.wait(for: "recorded")
    try terminal.type("quit!")
    try terminal.wait(for: "left 0")

    // The same notes at the same frames, and no edit.
    let journal = try String(contentsOfFile: folder.path + "/take.journal", encoding: .utf8)
    let lines = journal.split(separator: "\n", omittingEmptySubsequences: false)
    func isEdit(_ line: Substring) -> Bool {
      let words = line.split(separator: " ")
      return words.count > 2 && words[0] == "at"
        && ["edit", "amend", "apply", "undo", "redo"].contains(words[2])
    }
    let edits = lines.filter(isEdit)
    #expect(edits.count > 15, "\(journal)")
    for verb in [
      "recall", "morph", "tempo", "map", "replace", "insert", "control", "scene", "set main[0,0]",
      "node echo",
    ] {
      #expect(edits.contains { $0.contains(" edit \(verb)") }, "no \(verb) in \(journal)")
    }
    #expect(lines.count { $0.contains(" event keys ") } >= 4)
    let alone = try folder.file(
      "alone.journal", lines.filter { !isEdit($0) }.joined(separator: "\n"))
    let outcome = try Program.run("replay", alone, "--output", folder.path + "/alone.wav")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let (take, notes) = (try samples(folder, "take.wav"), try samples(folder, "alone.wav"))
    #expect(take.count == notes.count && take.count > 48000, "\(take.count) \(notes.count)")
    #expect(take.contains { abs($0) > 0.1 }, "the chord sounds")
    #expect(
      zip(take, notes).allSatisfy { $0.bitPattern == $1.bitPattern },
      "first difference at \(zip(take, notes).enumerated().first { $1.0 != $1.1 }?.offset ?? -1)")
  }

  /// Esc, which would leave play mode a second time: so only when the control is let go.
  private func leaveControl(_ terminal: Terminal) throws {
    try terminal.press("Escape")
    try terminal.wait(for: " dist > distortion", "PLAY")
  }

  /// The samples of a WAV file of floats.
  private func samples(_ folder: Folder, _ name: String) throws -> [Float] {
    let bytes = [UInt8](try folder.bytes(name))
    var place = 12
    while place + 8 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[place + 4 + $1]) << (8 * $1) }
      if bytes[place..<place + 4].elementsEqual("data".utf8) {
        let data = bytes[place + 8..<min(bytes.count, place + 8 + size)]
        return stride(from: data.startIndex, to: data.endIndex - 3, by: 4).map { index in
          Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(data[index + $1]) << (8 * UInt32($1)) })
        }
      }
      place += 8 + size + size % 2
    }
    return []
  }
}
