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

@MainActor func open(_ path: String) throws -> Session {
  let session = Session()
  try session.open(path)
  return session
}

@MainActor func canonical(_ session: Session) -> String {
  PatchWriter.write(session.patch, catalogue: Engine.catalogue)
}

/// Random numbers from a seed (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014), so that a failure can be repeated.
struct Random: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Lines of the edit language that are legal one after the other, from a seed. Nothing of them touches
/// the nodes in `kept`, except for cables away from them.
struct RandomEdits {
  var random: Random
  var rehearsal: Rehearsal
  let kept: Set<String>
  private var count = 0
  static let kinds = ["gain", "pan", "mix", "filter", "equalizer", "distortion", "delay", "matrix"]

  init(seed: UInt64, patch: Patch, keeping kept: Set<String>) {
    random = Random(state: seed)
    rehearsal = Rehearsal(patch: patch)
    self.kept = kept
  }

  mutating func next() -> String {
    while true {
      let line = candidate()
      guard
        let statement = try? StatementParser.parse(
          line, patch: rehearsal.patch, catalogue: Engine.catalogue)
      else { continue }
      var trial = rehearsal
      guard (try? trial.perform(statement)) != nil, trial.patch != rehearsal.patch else { continue }
      rehearsal = trial
      return line
    }
  }

  private mutating func candidate() -> String {
    let names = rehearsal.patch.names
    let free = names.filter { !kept.contains($0) }
    let kind = Self.kinds.randomElement(using: &random)!
    let cables = rehearsal.patch.orderedCables(catalogue: Engine.catalogue)
      .map { rehearsal.patch.name(of: $0.ends) }
      .filter { !kept.contains($0.destination.node) }
    let node = free.randomElement(using: &random)
    count += 1
    // A patch that has grown shrinks again.
    let choice = Int.random(in: free.count > 12 ? 2...13 : 0...13, using: &random)
    switch choice {
    case 0, 1:
      return
        "node n\(count) \(kind) ; connect \(names.randomElement(using: &random)!) -> n\(count) gain=-12dB"
    case 2: return "remove \(node ?? "none") bridge"
    case 3: return "remove \(node ?? "none")"
    case 4: return "replace \(node ?? "none") \(kind)"
    case 5, 6:
      guard free.count < 12, let cable = cables.randomElement(using: &random) else { return "undo" }
      return "insert n\(count) \(kind) into \(cable)"
    case 7, 8:
      let gain = Int.random(in: -30 ... -9, using: &random)
      return "connect \(names.randomElement(using: &random)!) -> \(node ?? "none") gain=\(gain)dB"
    case 9: return "disconnect \(cables.randomElement(using: &random)?.description ?? "a -> b")"
    case 10: return "rename \(node ?? "none") r\(count)"
    case 11: return "layout \(names.randomElement(using: &random)!) \(count % 9),\(count % 5)"
    case 12:
      return
        "set \(node ?? "none").\(["gain", "freq", "drive", "pan", "time", "master"].randomElement(using: &random)!) \(count % 3)"
    default: return Bool.random(using: &random) ? "undo" : "redo"
    }
  }
}
