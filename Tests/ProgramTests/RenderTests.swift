import Foundation
import Testing

@Suite struct RenderTests {
  private func render(_ folder: Folder, _ name: String, script: String, period: Int = 1024, threads: Int = 1)
    throws
  {
    let outcome = try Program.run(
      "render", "Patches/reconnect.patch", "--script", script, "--seconds", "8", "--period", "\(period)",
      "--threads", "\(threads)", "--output", "\(folder.path)/\(name)-out.wav", "--tap",
      "piano=\(folder.path)/\(name)-tap.wav")
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func rewiringLeavesTheSamplerAloneAndPeriodAndThreadsChangeNoBit() throws {
    let folder = try Folder()
    let script = Program.repository + "/Patches/reconnect.script"
    try render(folder, "rewired", script: script)
    let notes = try String(contentsOfFile: script, encoding: .utf8).split(separator: "\n")
      .filter { $0.contains(" note ") || $0.contains(" pedal ") }.joined(separator: "\n")
    try render(folder, "quiet", script: try folder.file("notes.script", notes + "\n"))
    #expect(try folder.bytes("rewired-tap.wav") == folder.bytes("quiet-tap.wav"))
    #expect(try folder.bytes("rewired-out.wav") != folder.bytes("quiet-out.wav"))
    // The chord sounds to the end of the seventh second.
    let tap = try folder.bytes("rewired-tap.wav")
    #expect(Set(tap.dropFirst(6 * 48000 * 8).prefix(4000)).count > 100)
    for threads in [2, 4] {
      try render(folder, "t\(threads)", script: script, threads: threads)
      #expect(
        try folder.bytes("t\(threads)-out.wav") == folder.bytes("rewired-out.wav"), "\(threads) threads")
      #expect(try folder.bytes("t\(threads)-tap.wav") == tap, "\(threads) threads")
    }
    for period in [17, 64] {
      try render(folder, "p\(period)", script: script, period: period)
      #expect(try folder.bytes("p\(period)-out.wav") == folder.bytes("rewired-out.wav"), "period \(period)")
      #expect(try folder.bytes("p\(period)-tap.wav") == tap, "period \(period)")
    }
  }

  @Test func theLogOfEditsSaysWhatEachDidToTheSound() throws {
    let folder = try Folder()
    let patch = try folder.file(
      "a.patch", "sostenuto 1\nnode tone oscillator level=0dB\nnode out output\nconnect tone -> out\n")
    let script = try folder.file(
      "a.script", "at 0.5s insert g gain into tone -> out\nat 0.505s undo\nat 1s disconnect tone -> out\n")
    let outcome = try Program.run(
      "render", patch, "--script", script, "--seconds", "1.5", "--output", folder.path + "/out.wav",
      "--edits", folder.path + "/edits.json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/edits.json"))
    let log = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    let lines = log.map { $0["line"] as? String ?? "" }
    #expect(
      lines == [
        "insert g gain into tone -> out", "undo: insert g gain into tone -> out", "disconnect tone -> out",
      ])
    let times = log.map { $0["time"] as? Double ?? 0 }
    #expect(times == [0.5, 0.505, 1])
    for entry in log { #expect(entry["residue"] as? Double ?? -200 < -90, "\(entry)") }
  }

  @Test func mistakesInAScriptAreFoundBeforeAnythingIsRendered() throws {
    let folder = try Folder()
    let script = try folder.file(
      "bad.script", "at 1s note piano on C4\nat 2s remove disst\nat 3s undo\nat 4s frobnicate\n")
    let outcome = try Program.run(
      "render", "Patches/reconnect.patch", "--script", script, "--seconds", "5", "--output",
      folder.path + "/out.wav")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("\(script):2:14: error: no node `disst`; did you mean `dist`?"))
    #expect(outcome.errors.contains("\(script):4:7: error: "))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/out.wav"))
  }

  @Test func aMissingSampleIsAWarningAndTheRestSounds() throws {
    let folder = try Folder()
    let path = try folder.file(
      "a.patch",
      """
      sostenuto 1
      node tone oscillator
      node piano sampler instrument=none.sfz
      node out output
      connect tone -> out
      connect piano -> out
      """)
    let outcome = try Program.run(
      "render", path, "--seconds", "0.5", "--output", folder.path + "/out.wav", "--json")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("warning: ") && outcome.errors.contains("none.sfz"))
    #expect(Set(try folder.bytes("out.wav")).count > 50)
    let answer = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(answer?["frames"] as? Int == 24000)
    #expect(try Program.run("check", path).output.contains("warning: no file"))
  }

  @Test func playingWithoutAFrontEndSaysHowItWent() throws {
    let outcome = try Program.run(
      "play", "Patches/reconnect.patch", "--script", "Patches/reconnect.script", "--headless", "--driver",
      "clock", "--seconds", "1.2", "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let answer = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(answer?["driver"] as? String == "clock")
    #expect(answer?["edits"] as? Int == 1)
    #expect(answer?["voices"] as? Int == 3)
  }
}
