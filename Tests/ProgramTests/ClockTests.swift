import Foundation
import Testing

/// A MIDI clock from one program to another, as two users see it.
@Suite(.serialized, .enabled(if: Terminal.isInstalled)) struct ClockTests {
  @MainActor @Test func oneProgramFollowsTheClockOfAnotherAndSaysWhenItIsLost() throws {
    let folder = try Folder()
    let server = try JackServer()
    let master = try folder.file(
      "master.patch",
      """
      sostenuto 1
      tempo 93
      transport off
      node clock transport
      node beats midiout connect=slave:*
      connect clock.events -> beats

      """)
    let slave = try folder.file("slave.patch", "sostenuto 1\ntransport midi\n")
    func open(_ patch: String, _ name: String) throws -> Terminal {
      try Terminal(
        "XDG_STATE_HOME=\(folder.path) '\(Program.path)' '\(patch)' --jack-server \(server.name) --jack-name \(name)"
      )
    }
    let second = try open(slave, "slave")
    try second.wait(for: "jack 48 kHz/1024", "no clock")
    let first = try open(master, "master")
    try first.wait(for: "jack 48 kHz/1024", " 93 4/4")
    try second.wait(for: " 93 4/4 clock's tempo")
    try first.type("halt")
    try second.wait(for: "■ ", " 93 4/4 clock", "the transport goes by the MIDI clock now")
    try second.type("roll")
    try second.wait(for: "only the MIDI clock can")
    try first.type("locate bar 7")
    try second.wait(for: "■ 7.1")
    try first.type("tempo 124.5; roll")
    try second.wait(for: "▶ ", " 124.5 4/4 clock")
    try first.press("q", "y")
    try first.wait(for: "left 0")
    try second.wait(for: "clock lost", "no MIDI clock comes any more", "▶ ")
    try second.press("q")
    try second.wait(for: "left 0")
  }
}
