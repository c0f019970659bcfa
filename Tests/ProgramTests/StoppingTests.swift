import Foundation
import Testing

/// The program stopped by ctrl-z, and continued.
@Suite(.serialized, .enabled(if: Terminal.isInstalled)) struct StoppingTests {
  /// The connections of the program's first port, as `jack_lsp` lists them.
  private func connections(_ server: JackServer) throws -> [String] {
    let listed = try Program.run(tool: "/usr/bin/jack_lsp", ["-s", server.name, "-c", "sostenuto:out_1"])
    return listed.output.split(separator: "\n").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// Waits until a process has stopped, or ended.
  private func stops(_ process: Process) -> Bool {
    var news = siginfo_t()
    let error = waitid(P_PID, id_t(process.processIdentifier), &news, WSTOPPED | WEXITED | WNOWAIT)
    return error == 0 && news.si_code == CLD_STOPPED
  }

  /// Waits until the first port is connected to the card, or 60 seconds. Each look is a program that runs and ends.
  private func isConnected(_ server: JackServer) throws -> Bool {
    let deadline = Date().addingTimeInterval(60)
    while Date() < deadline {
      if try connections(server) == ["system:playback_1"] { return true }
    }
    return false
  }

  /// Starts a tone on a server, and waits for its connection.
  private func play(_ server: JackServer, _ folder: Folder) throws -> Process {
    let patch = try folder.file(
      "p.patch", "sostenuto 1\nnode o oscillator\nnode out output\nconnect o -> out\n")
    signal(SIGTERM, SIG_DFL)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = [
      "play", patch, "--headless", "--json", "--driver", "jack", "--jack-server", server.name,
    ]
    process.standardOutput = try FileHandle(forUpdating: URL(fileURLWithPath: try folder.file("summary", "")))
    process.standardError = FileHandle.nullDevice
    try process.run()
    #expect(try isConnected(server))
    return process
  }

  /// Cycles in which the server has missed the program.
  private func missed(by server: JackServer) -> Int {
    server.report.components(separatedBy: "sostenuto was not finished").count - 1
  }

  /// On the main actor, as all tests with JACK servers are.
  @MainActor @Test func aStoppedProgramHoldsUpNoServerAndIsConnectedAgainWhenItGoesOn() throws {
    let folder = try Folder()
    let server = try JackServer()
    let process = try play(server, folder)
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    for _ in 0..<2 {
      kill(process.processIdentifier, SIGTSTP)
      #expect(stops(process))
      // It has left the cycle before it stopped.
      #expect(try connections(server).isEmpty)
      kill(process.processIdentifier, SIGCONT)
      #expect(try isConnected(server))
    }
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    #expect(try connections(server).isEmpty)
  }

  /// A debugger stops the program without asking: it cannot leave the cycle before. The server misses it at every cycle.
  @MainActor @Test func aProgramThatADebuggerStoppedPlaysOnWhenItGoesOn() throws {
    let folder = try Folder()
    let server = try JackServer()
    let process = try play(server, folder)
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    kill(process.processIdentifier, SIGSTOP)
    #expect(stops(process))
    let deadline = Date().addingTimeInterval(60)
    while missed(by: server) < 40, Date() < deadline {}
    kill(process.processIdentifier, SIGCONT)
    #expect(try isConnected(server))
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    let summary = try JSONSerialization.jsonObject(with: try folder.bytes("summary")) as? [String: Any]
    #expect(
      summary?["driver"] as? String == "jack" && summary?["disturbed"] as? Bool == false, "\(summary ?? [:])")
  }

  @MainActor @Test func aServersNameThatNoneCanHaveIsRefusedOnTheLineAndInTheEnvironment() throws {
    let folder = try Folder()
    let patch = try folder.file("p.patch", "sostenuto 1\nnode out output\n")
    let name = String(repeating: "n", count: 300)
    let refused = try Program.run("play", patch, "--headless", "--seconds", "0.1", "--jack-server", name)
    #expect(refused.status == 2 && refused.errors.contains("--jack-server is 1 to 100 bytes"), "\(refused)")
    let played = try Program.run(
      tool: Program.path, ["play", patch, "--headless", "--seconds", "0.1", "--driver", "jack"],
      ["JACK_DEFAULT_SERVER": name])
    #expect(played.status == 0 && played.errors.contains("the JACK server's name has more than 100 bytes"))
  }
}
