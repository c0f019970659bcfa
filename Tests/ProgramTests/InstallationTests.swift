import Foundation
import Testing

/// `make install` and `make uninstall`, by the script behind them.
@Suite struct InstallationTests {
  @Test func whatIsInstalledPlaysAndIsRemovedWithoutATrace() throws {
    let folder = try Folder()
    func install(_ argument: String) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Program.repository + "/Tools/install")
      process.arguments = [argument]
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["DESTDIR": folder.path, "PREFIX": "/opt/sostenuto"]) { $1 }
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    try install(Program.path)
    let root = folder.path + "/opt/sostenuto"
    for file in ["man/man1/sostenuto.1", "man/man5/sostenuto-patch.5", "man/man7/sostenuto-kinds.7"] {
      #expect(try String(contentsOfFile: "\(root)/share/\(file)", encoding: .utf8).hasPrefix(".\\\""))
    }
    let program = Process()
    program.executableURL = URL(fileURLWithPath: root + "/bin/sostenuto")
    program.arguments = [
      "render", root + "/share/sostenuto/Patches/reconnect.patch", "--seconds", "0.1", "--output",
      folder.path + "/out.wav",
    ]
    program.standardError = FileHandle.nullDevice
    try program.run()
    program.waitUntilExit()
    #expect(program.terminationStatus == 0)
    #expect(try folder.bytes("out.wav").count > 10_000)
    try install("--remove")
    let left = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    let files = left.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
        && !isFolder.boolValue
    }
    #expect(files == [])
  }
}
