import Engine
import Foundation
import Patch
import PatchLanguage
import Testing

@testable import Session

/// A folder of its own for each test, gone at its end.
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

/// The root of the repository.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().path

/// A session that is let go without `close` is as one that was killed: nothing more reaches the disk.
@MainActor func open(_ path: String) throws -> Session {
  let session = Session()
  try session.open(path)
  return session
}

@MainActor func canonical(_ session: Session) -> String {
  PatchWriter.write(session.patch, catalogue: Engine.catalogue)
}
