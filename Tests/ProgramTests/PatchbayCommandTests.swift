import Foundation
import Testing

/// `sostenuto patchbay` and `print --clients` beside the tools of JACK.
@Suite(.serialized, .enabled(if: Terminal.isInstalled)) struct PatchbayCommandTests {
  private func start(_ tool: String, _ arguments: [String], on server: JackServer) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/" + tool)
    process.arguments = arguments
    process.environment = ["JACK_DEFAULT_SERVER": server.name, "JACK_NO_START_SERVER": "1"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// The connections of the metronome, as `jack_lsp` lists them.
  private func connections(_ server: JackServer) throws -> [String] {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/jack_lsp")
    process.arguments = ["-c", "metro"]
    process.environment = ["JACK_DEFAULT_SERVER": server.name, "JACK_NO_START_SERVER": "1"]
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix("system") }.sorted()
  }

  private func wait(for wanted: [String], _ server: JackServer) throws {
    let deadline = Date().addingTimeInterval(20)
    // Each look is a program that runs and ends.
    var found = try connections(server)
    while found != wanted, Date() < deadline { found = try connections(server) }
    #expect(found == wanted)
  }

  @MainActor @Test func aConnectionIsMadeByKeysTakenBackAndComesBackWithItsProgram() throws {
    let folder = try Folder()
    let server = try JackServer()
    var metro = try start("jack_metro", ["-b", "100", "-n", "metro"], on: server)
    // Killed: a test's child may have inherited a mask that holds SIGTERM back.
    defer { kill(metro.processIdentifier, SIGKILL) }
    let path = folder.path + "/bay.patch"
    let terminal = try Terminal(
      "XDG_STATE_HOME=\(folder.path) '\(Program.path)' patchbay '\(path)' --jack-server \(server.name)")
    try terminal.wait(for: " system ", "100_bpm", "programs 2   connections 0")
    // Whichever was found first has the focus.
    try terminal.press("/", "metro", "Enter")
    try terminal.wait(for: "┏ metro ")
    let both = ["system:playback_1", "system:playback_2"]
    // From the metronome's only port to the card's.
    try terminal.press("c", "a", "a")
    try terminal.wait(for: "to which input?")
    try terminal.press("d", "a")
    // Not the message: a late period's may take its place on a busy machine.
    try terminal.wait(for: "connections 2")
    try wait(for: both, server)
    try terminal.press("u")
    try terminal.wait(for: "undone: ", "connections 0")
    try wait(for: [], server)
    try terminal.press("C-r")
    try wait(for: both, server)

    kill(metro.processIdentifier, SIGKILL)
    metro.waitUntilExit()
    try terminal.wait(for: "not running", "┈┈")
    metro = try start("jack_metro", ["-b", "100", "-n", "metro"], on: server)
    try wait(for: both, server)
    try terminal.wait(for: "connections 2")

    // What others connect is found.
    let other = try start("jack_connect", ["system:capture_1", "system:playback_2"], on: server)
    other.waitUntilExit()
    try terminal.wait(for: "connections 3", "capture_1")
    try terminal.type(#"disconnect "system:*" -> "system:*""#)
    try terminal.wait(for: "connections 2")
    try terminal.press("C-s")
    try terminal.wait(for: "saved ")
    try terminal.press("q")
    try terminal.wait(for: "left 0")
    let saved =
      "sostenuto 1\n\nnode metro client\n\nnode system client\nconnect metro.100_bpm -> system.playback_*\n"
    #expect(try String(contentsOfFile: path, encoding: .utf8) == saved)
    // Without the program the connections stay.
    try wait(for: both, server)

    let printed = try Program.run("print", "--clients", path, "--jack-server", server.name)
    #expect(printed.output.contains("# metro   {client}  running"), "\(printed.output)")
    #expect(printed.output.contains("-> system.playback_*  made"))
    #expect(printed.output.hasSuffix(saved))
    #expect(try Program.run("check", path).status == 0)
    let json = try Program.run("print", "--json", "--clients", path, "--jack-server", server.name)
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    let clients = object?["clients"] as? [[String: Any]] ?? []
    #expect(clients.map { $0["name"] as? String }.contains("metro"))
    for client in clients {
      #expect(client["program"] is String && client["running"] is Bool && client["found"] is Bool)
      for port in client["ports"] as? [[String: Any]] ?? [] {
        #expect(port["name"] is String)
        #expect(["input", "output"].contains(port["direction"] as? String))
        #expect(["audio", "events"].contains(port["format"] as? String))
      }
    }
  }

  /// Who reads that there is no server would start a second one.
  @MainActor @Test func aServerThatHangsIsToldAsSuch() throws {
    let folder = try Folder()
    let server = try JackServer()
    server.stall()
    let printed = try Program.run("print", "--clients", "--jack-server", server.name)
    #expect(printed.status == 1 && printed.errors.contains("`\(server.name)` does not answer"), "\(printed)")
    let terminal = try Terminal(
      "XDG_STATE_HOME=\(folder.path) '\(Program.path)' patchbay --jack-server \(server.name)")
    try terminal.wait(for: "does not answer")
    server.proceed()
    try terminal.wait(for: " system ")
  }

  @Test func clientsArePrintedOnlyFromAServer() throws {
    let none = try Program.run("print", "--clients", "--jack-server", "sostenuto-no-such-server")
    #expect(none.status == 1)
    #expect(none.errors.contains("JACK server `sostenuto-no-such-server` is not running"), "\(none.errors)")
    #expect(try Program.run("print").status == 2)
    #expect(try Program.run("print", "Patches/basics/client.patch", "--jack-server", "x").status == 2)
    #expect(try Program.run("print", "Patches/basics/client.patch").status == 0)
  }
}
