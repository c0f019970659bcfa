import Engine
import Foundation
import Patch
import PatchLanguage
import Testing

@testable import Session

/// A temporary folder for one test, removed at its end.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "sostenuto-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String, _ text: String? = nil) throws -> String {
    let full = path + "/" + name
    if let text { try text.write(toFile: full, atomically: false, encoding: .utf8) }
    return full
  }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}

func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

/// Root folder of the repository.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().path

/// Opens a session. Released without `close`, it acts like a killed one: it writes nothing more to disk.
@MainActor func open(_ path: String) throws -> Session {
  let session = Session()
  try session.open(path)
  return session
}

@MainActor func canonical(_ session: Session) -> String {
  PatchWriter.write(session.patch, catalogue: KindRegistry.builtIn.catalogue)
}
