import Foundation
import Testing

/// The built program, run as a user runs it.
enum Program {
  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// Path from `SOSTENUTO` if set, else the program beside the test binary.
  static var path: String {
    if let given = ProcessInfo.processInfo.environment["SOSTENUTO"] { return given }
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = (own as NSString).deletingLastPathComponent
    // Swift Testing's runner is elsewhere; its command line names the test bundle.
    if !FileManager.default.isExecutableFile(atPath: folder + "/sostenuto") {
      let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ""
      folder = (bundle as NSString).deletingLastPathComponent
    }
    return folder + "/sostenuto"
  }

  struct Outcome {
    var output: String
    var errors: String
    var status: Int32
  }

  /// Runs the program in the repository's folder until it ends.
  static func run(_ arguments: String...) throws -> Outcome { try run(arguments) }

  static func run(_ arguments: [String], in directory: String = repository) throws -> Outcome {
    try run(tool: path, arguments, in: directory)
  }

  /// Runs any program until it ends, with these variables beside the environment's own.
  static func run(
    tool: String, _ arguments: [String], in directory: String = repository,
    _ variables: [String: String] = [:]
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    // Files rather than pipes: a full pipe would block a program with much output.
    let folder = try Folder()
    let output = try folder.file("output", "")
    let errors = try folder.file("errors", "")
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    process.waitUntilExit()
    return Outcome(
      output: try String(contentsOfFile: output, encoding: .utf8),
      errors: try String(contentsOfFile: errors, encoding: .utf8), status: process.terminationStatus)
  }
}

/// A temporary folder for one test, removed at its end.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "sostenuto-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String, _ text: String) throws -> String {
    let full = path + "/" + name
    try text.write(toFile: full, atomically: false, encoding: .utf8)
    return full
  }

  func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)) }
}
