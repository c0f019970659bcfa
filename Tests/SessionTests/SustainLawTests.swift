import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// The main law, with real instruments: a held voice is the same bit for bit, whatever is edited elsewhere.
@MainActor @Suite struct SustainLawTests {
  static let seconds = 8.0
  static let chord = [
    "pedal piano sustain on", "note piano on C4 100", "note piano on E4 90", "note piano on G4 80",
  ]

  private func session(
    of path: String = repository + "/Patches/reconnect.patch", period: Int = 256
  ) throws -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    let session = Session(options: options)
    try session.open(path)
    #expect(session.takeNotices().isEmpty)
    return session
  }

  private func render(_ session: Session, edits: [String], into path: String) throws -> Data {
    var request = RenderRequest(seconds: Self.seconds)
    request.taps = [try #require(TapRequest("piano=\(path)"))]
    var script = Self.chord.map { "at 0.05s \($0)\n" }.joined()
    // Spread evenly from 0.2 s on, so that many edits come during the fades of others.
    for (index, text) in edits.enumerated() {
      let time = 0.2 + (Self.seconds - 0.4) * Double(index) / Double(edits.count)
      script += "at \(time)s \(text)\n"
    }
    let (lines, faults) = Script.read(script, file: "random")
    #expect(faults.isEmpty)
    request.script = lines
    try session.render(request)
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test func twoThousandEditsLeaveAHeldChordAlone() throws {
    let seed: UInt64 = 314_159
    print("seed \(seed)")
    let folder = try Folder()
    let quiet = try render(session(), edits: [], into: folder.path + "/quiet.wav")
    #expect(quiet.count > Int(Self.seconds * 48000) * 8)
    #expect(Set(quiet.suffix(4000)).count > 100, "the chord has to sound to the end")

    let edited = try session()
    var edits = RandomLines(seed: seed, of: edited.patch, keeping: ["piano", "keys"], storesScenes: true)
    let lines = (0..<2000).map { _ in edits.next() }
    let busy = try render(edited, edits: lines, into: folder.path + "/busy.wav")
    #expect(busy == quiet, "seed \(seed)")
    #expect(edited.patch.withPlainIdentities == edits.draft.patch.withPlainIdentities)
    #expect(edited.engine.plansSent > 1000)

    // Nothing happened at the sampler except its notes.
    let trace = edited.trace(since: 0).filter { $0.name == "piano" && $0.time > 0 }
    for entry in trace {
      switch entry.happening {
      case .noteOn, .noteOff, .pedal: continue
      default: Issue.record("seed \(seed): \(entry)")
      }
    }

    let last = edited.patch
    let redoable = edited.redoList.count
    var undone = 0
    while try edited.undo() != nil { undone += 1 }
    #expect(undone >= 1000, "the history goes back over a thousand edits at least")
    for _ in 0..<(edited.redoList.count - redoable) { try edited.redo() }
    #expect(edited.patch == last, "seed \(seed)")

    // Fades and tails end, the longest after a minute. Every plan sent comes back, except the current one.
    let settle = RenderRequest(seconds: 3)
    for _ in 0..<22 where !edited.engine.isSettled { try edited.render(settle) }
    #expect(edited.engine.isSettled)
    #expect(edited.engine.plansReturned == edited.engine.plansSent - 1)
  }

  /// Every kind stands behind the chord, modulated or not, and every other one replaces it; each is undone.
  @Test func eachKindReplacedByEachOtherLeavesAHeldChordAlone() throws {
    let seed: UInt64 = 2_718
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let kinds = KindRegistry.builtIn.catalogue.kinds
      .filter { !["client", "patch", "inlet", "outlet"].contains($0.name) }
    var edits: [String] = []
    for (first, second) in kinds.flatMap({ a in kinds.map { (a, $0) } }).shuffled(using: &random)
    where first.name != second.name {
      edits.append("replace x \(first.name)")
      let moved = first.parameters.filter {
        KindDescription.isPort($0) && $0.dimensions.isEmpty && !$0.takesNotes
      }
      if Bool.random(using: &random), let parameter = moved.randomElement(using: &random) {
        edits.append("connect lfo -> x.\(parameter.name)")
      }
      edits += ["replace x \(second.name)", "undo"]
      if Int.random(in: 0..<3, using: &random) == 0 { edits += ["redo", "undo"] }
    }
    #expect(edits.count > 20_000)
    let folder = try Folder()
    let patch = """
      node keys keyboard
      node piano sampler instrument=\(repository)/Instruments/organ/organ.sfz
      node x gain
      node lfo lfo rate=3Hz
      node main gain
      node out output channels=2
      connect keys -> piano
      connect piano -> x
      connect x -> main
      connect piano -> main gain=-6dB
      connect main -> out
      """
    try patch.write(toFile: folder.path + "/kinds.patch", atomically: true, encoding: .utf8)
    let alone = try render(
      session(of: folder.path + "/kinds.patch"), edits: [], into: folder.path + "/quiet.wav")
    #expect(Set(alone.suffix(4000)).count > 100, "the chord has to sound to the end")
    let busy = try session(of: folder.path + "/kinds.patch")
    #expect(try render(busy, edits: edits, into: folder.path + "/busy.wav") == alone)
    #expect(busy.takeNotices().isEmpty)
  }
}
