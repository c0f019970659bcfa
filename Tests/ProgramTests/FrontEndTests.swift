import Foundation
import Testing

/// The main workflow as a user performs it: real keys in a real terminal, a real JACK server.
@Suite(.serialized, .enabled(if: Terminal.isInstalled)) struct FrontEndTests {
  /// A copy of the patch, so that neither journal nor edits reach the repository.
  private func patch(in folder: Folder) throws -> String {
    let text = try String(contentsOfFile: Program.repository + "/Patches/reconnect.patch", encoding: .utf8)
    return try folder.file(
      "demo.patch", text.replacingOccurrences(of: "../Instruments", with: Program.repository + "/Instruments")
    )
  }

  /// On the main actor, as all tests with JACK servers are: servers of one user share a database, and are not made
  /// to begin and end at the same time.
  @MainActor @Test func aHeldChordOutlivesEveryRewiringAndTheServer() throws {
    let folder = try Folder()
    let server = try JackServer()
    let terminal = try Terminal(
      "XDG_STATE_HOME=\(folder.path) '\(Program.path)' '\(try patch(in: folder))' --jack-server \(server.name)"
    )
    do {
      try terminal.wait(for: "jack 48 kHz/1024", "voices  0/64")
    } catch {
      Issue.record("\(server.report)")
      throw error
    }
    try terminal.press("F6", "Space", "z", "c", "b")
    let chord = "voices  3/64"
    try terminal.wait(for: chord)
    try terminal.press("Escape")
    try terminal.wait(for: " PATCH ")
    for line in [
      "replace dist equalizer band1.gain=6dB", "insert echo delay into piano -> dist", "remove echo bridge",
    ] {
      try terminal.type(line)
      try terminal.wait(for: line, always: chord)
    }
    for undone in ["remove echo", "insert echo", "replace dist"] {
      try terminal.type("undo")
      try terminal.wait(for: "undone: \(undone)", always: chord)
    }
    try terminal.press("F5")
    let trace = try terminal.wait(for: "detail", "retired", always: chord)
    let piano = trace.split(separator: "\n").filter { $0.contains(" piano ") && !$0.contains("since") }
    #expect(piano.count { $0.contains("note on") } == 3, "\(trace)")
    #expect(piano.count { $0.contains("allocated") } <= 1)
    for word in ["fading", "retired", "freed", "reset", "muted"] {
      #expect(!piano.contains { $0.contains(word) }, "\(piano)")
    }
    server.kill()
    try terminal.wait(for: "JACK server gone")
    try terminal.press("F2")
    try terminal.wait(for: "clock driver", "organ.sfz ─ 3")
    try terminal.press("q")
    try terminal.wait(for: "left 0")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/.demo.patch.journal"))
  }

  /// An instrument that is opened has a patch without a name, which is written down as other patches are; another one that is
  /// opened meanwhile is not replaced by it.
  @Test func aKilledFrontEndLosesNoEditOfAPatchWithoutAName() throws {
    let folder = try Folder()
    let organ = "\(Program.repository)/Instruments/organ/organ.sfz"
    for (arguments, seen, unseen) in [
      (organ, "organ.sfz", "extra"), ("tour", "tour 1 of", "extra"), (organ, "extra", "tour 1 of"),
      ("", "extra", "tour 1 of"),
    ] {
      let terminal = try Terminal(
        "sh -c 'echo $$ > \(folder.path)/process; exec env XDG_STATE_HOME=\(folder.path) "
          + "\(Program.path) \(arguments) --driver clock'")
      let screen = try terminal.wait(for: seen, " PATCH ")
      #expect(!screen.contains(unseen), "\(screen)")
      if unseen == "extra", arguments == organ {
        try terminal.type("node extra gain")
        try terminal.wait(for: "╭ extra")
      }
      let process = try String(contentsOfFile: folder.path + "/process", encoding: .utf8)
      let id = try #require(Int32(process.trimmingCharacters(in: .whitespacesAndNewlines)))
      #expect(kill(id, SIGKILL) == 0)
    }
  }

  @Test func aKilledFrontEndLosesNoEdit() throws {
    let folder = try Folder()
    let path = try patch(in: folder)
    let command = "XDG_STATE_HOME=\(folder.path) '\(Program.path)' '\(path)' --driver clock"
    let first = try Terminal(
      "sh -c 'echo $$ > \(folder.path)/process; exec env \(command.replacingOccurrences(of: "'", with: ""))'")
    try first.wait(for: "voices  0/64")
    try first.type("insert echo delay into piano -> dist")
    // The box in the graph, and not only the line at the prompt.
    try first.wait(for: "insert echo delay into piano -> dist", "╭ echo ")
    let process = try String(contentsOfFile: folder.path + "/process", encoding: .utf8)
    let id = try #require(Int32(process.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(id, SIGKILL) == 0)
    try first.wait(for: "left 137")

    let second = try Terminal(command)
    try second.wait(for: "recovered 1 unsaved edit", "echo ━")
    try second.type("undo")
    try second.wait(for: "undone: insert echo")
    try second.press("q")
    try second.wait(for: "left 0")
  }

  /// What the help of `:q!` says.
  @Test func editsThatAreNotSavedOutliveQuittingByForce() throws {
    let folder = try Folder()
    let command = "XDG_STATE_HOME=\(folder.path) '\(Program.path)' '\(try patch(in: folder))' --driver clock"
    // What a killed program left of its history; no process has such a number.
    try FileManager.default.createDirectory(
      atPath: folder.path + "/sostenuto", withIntermediateDirectories: true)
    let left = try folder.file("sostenuto/.history.4194999.new", "undo")
    let first = try Terminal(command)
    try first.wait(for: "voices  0/64")
    #expect(!FileManager.default.fileExists(atPath: left))
    try first.type("insert echo delay into piano -> dist")
    try first.wait(for: "insert echo delay into piano -> dist", "╭ echo ")
    try first.type("q!")
    try first.wait(for: "left 0")
    let second = try Terminal(command)
    try second.wait(for: "recovered 1 unsaved edit", "echo ━")
    try second.press("q", "n")
    try second.wait(for: "left 0")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/.demo.patch.journal"))
  }

  /// A device with two channels, and one with as many as are requested.
  @Test func channelsThatADeviceLacksAreMarkedAndSoundWhereTheyAre() throws {
    let folder = try Folder()
    let patch = try folder.file(
      "wide.patch",
      """
      sostenuto 1
      node tone oscillator channels=2
      node out output channels=2
      connect tone -> out map=[0,1]
      """)
    let devices = try folder.file(
      "devices.conf",
      """
      </usr/share/alsa/alsa.conf>
      pcm.two { type multi
        slaves.a.pcm "null"
        slaves.a.channels 2
        bindings.0.slave a
        bindings.0.channel 0
        bindings.1.slave a
        bindings.1.channel 1
      }
      """)
    func open(_ device: String) throws -> Terminal {
      try Terminal(
        "XDG_STATE_HOME=\(folder.path) ALSA_CONFIG_PATH='\(devices)' '\(Program.path)' '\(patch)'"
          + " --driver alsa --device \(device)")
    }
    let narrow = try open("two")
    try narrow.wait(for: "alsa 48 kHz", "╰────")
    try narrow.type("set out.channels 4; disconnect tone -> out; connect tone -> out map=[0,1,0,1]")
    try narrow.wait(for: "driver has 2 of 4", "silent")
    try narrow.type("undo")
    #expect(!(try narrow.wait(for: "undone", "│ R ")).contains("driver has"))
    try narrow.press("q", "y")
    try narrow.wait(for: "left 0")

    let wide = try open("null")
    try wide.wait(for: "alsa 48 kHz", "│ R ")
    try wide.type("set out.channels 4; disconnect tone -> out; connect tone -> out map=[0,1,0,1]")
    #expect(!(try wide.wait(for: "│ 3 ▇")).contains("driver has"))
    try wide.press("q", "y")
    try wide.wait(for: "left 0")
  }
}
