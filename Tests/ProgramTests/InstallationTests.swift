import Foundation
import Testing

/// `make install`, `make install-portable` and `make uninstall`, by the script behind them.
@Suite struct InstallationTests {
  private let folder: Folder
  private let root: String

  init() throws {
    folder = try Folder()
    root = folder.path + "/opt/sostenuto"
  }

  /// Output and status of a program; what it says besides goes to the output as well.
  @discardableResult private func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let path = try folder.file("output", "")
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    return (try String(contentsOfFile: path, encoding: .utf8), process.terminationStatus)
  }

  private func install(_ arguments: String...) throws {
    var (output, status) = ("", Int32(0))
    // A program that was just copied is busy as long as a process that another test starts has its descriptor, too.
    repeat {
      (output, status) = try run(
        Program.repository + "/Tools/install", arguments,
        environment: ["DESTDIR": folder.path, "PREFIX": "/opt/sostenuto"])
    } while output.contains("Text file busy")
    #expect(status == 0, "\(output)")
  }

  private func expectNothingIsLeft() throws {
    try install("--remove")
    let left = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    let files = left.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
        && !isFolder.boolValue
    }
    #expect(files == [])
  }

  private func expectItPlays() throws {
    let (output, status) = try run(
      root + "/bin/sostenuto",
      [
        "render", root + "/share/sostenuto/Patches/reconnect.patch", "--seconds", "0.1", "--output",
        folder.path + "/out.wav",
      ])
    #expect(status == 0, "\(output)")
    #expect(try folder.bytes("out.wav").count > 10_000)
  }

  @Test func whatIsInstalledPlaysAndIsRemovedWithoutATrace() throws {
    try install(Program.path)
    for file in ["man/man1/sostenuto.1", "man/man5/sostenuto-patch.5", "man/man7/sostenuto-kinds.7"] {
      #expect(try String(contentsOfFile: "\(root)/share/\(file)", encoding: .utf8).hasPrefix(".\\\""))
    }
    try expectItPlays()
    try expectNothingIsLeft()
  }

  #if arch(x86_64)
    /// Of programs for several processors the one for this processor is started, with what its user wrote; it finds
    /// its files where the others would, and is what git is told to start.
    @Test func ofProgramsForSeveralProcessorsTheFittingOneIsStarted() throws {
      let launcher = Program.repository + "/.build-launcher/sostenuto"
      let (messages, made) = try run(
        "/usr/bin/make", ["-s", "-C", Program.repository, ".build-launcher/sostenuto"])
      #expect(made == 0, "\(messages)")
      let levels = ["x86-64", "x86-64-v3", "x86-64-v4"]
      let built = try levels.map { level in
        let place = "\(folder.path)/.build-\(level)/release"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Program.path, toPath: place + "/sostenuto")
        return place + "/sostenuto"
      }
      try install("--launcher", launcher, built[0], built[1], built[2])
      try expectItPlays()
      let program = root + "/bin/sostenuto"
      let (said, status) = try run(
        program, ["git-setup", "--global"],
        environment: [
          "HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "PATH": root + "/bin:/usr/bin:/bin",
        ])
      #expect(status == 0, "\(said)")
      let configured = try String(contentsOfFile: folder.path + "/.gitconfig", encoding: .utf8)
      #expect(configured.contains("driver = sostenuto merge"), "\(configured)")

      for level in levels {
        let script = "\(root)/lib/sostenuto/\(level)/sostenuto"
        try "#!/bin/sh\necho \(level) \"$1\" $#\n".write(toFile: script, atomically: false, encoding: .utf8)
      }
      func started(_ environment: [String: String] = [:]) throws -> String {
        try run(program, ["a b", "c"], environment: environment).output
      }
      let flags = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
      let fitting = flags.contains(" avx512vl") ? 2 : flags.contains(" avx2") ? 1 : 0
      #expect(try started() == "\(levels[fitting]) a b 2\n")
      #expect(try started(["SOSTENUTO_CPU": "x86-64"]) == "x86-64 a b 2\n")
      let (refused, failed) = try run(program, [], environment: ["SOSTENUTO_CPU": "z80"])
      #expect(failed == 1 && refused.contains("SOSTENUTO_CPU=z80"), "\(refused)")
      for level in levels.dropFirst() {
        try FileManager.default.removeItem(atPath: "\(root)/lib/sostenuto/\(level)")
      }
      #expect(try started() == "x86-64 a b 2\n")
      try expectNothingIsLeft()
    }
  #endif
}
