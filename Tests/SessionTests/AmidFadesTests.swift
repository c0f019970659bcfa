import Engine
import Foundation
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Takes of edits whose effect depends on what fades and rings: each is replayed to the same bits, whenever the session looked.
@MainActor @Suite(.serialized) struct AmidFadesTests {
  /// A session with a tape, and a driver of which the test is the clock.
  private final class Player {
    let folder: Folder
    let session: Session
    let period: Int
    var random: SeededGenerator

    @MainActor init(_ patch: String, seed: UInt64) throws {
      print("seed \(seed)")
      var random = SeededGenerator(seed: seed)
      period = [64, 100, 256, 441].randomElement(using: &random)!
      self.random = random
      folder = try Folder()
      var options = SessionOptions()
      options.keepsTape = true
      options.driver.period = period
      session = Session(options: options)
      try session.open(try folder.file("a.patch", patch))
      play(0.1)
      try session.perform("record out \(folder.path)/take.wav")
      play(0.1)
    }

    /// Renders so many seconds. The session looks after some periods and not after others.
    @MainActor func play(_ seconds: Double) {
      let inputs = UnsafeMutablePointer<UnsafePointer<Float>?>.allocate(capacity: 256)
      let outputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: 256)
      inputs.initialize(repeating: nil, count: 256)
      outputs.initialize(repeating: nil, count: 256)
      defer {
        inputs.deallocate()
        outputs.deallocate()
      }
      let end = session.engine.renderer.time + Int64(seconds * 48_000)
      while session.engine.renderer.time < end {
        session.engine.renderer.render(frames: period, inputs: inputs, outputs: outputs)
        if Int.random(in: 0..<3, using: &random) == 0 { session.tick() }
      }
      session.tick()
    }

    /// Performs lines, with random pauses of so many seconds after them.
    @MainActor func perform(_ lines: [String], apart pauses: ClosedRange<Double>) throws {
      for line in lines {
        try session.perform(line)
        play(Double.random(in: pauses, using: &random))
      }
    }

    /// Ends the take, and compares it with its replay.
    @MainActor func expectReplay(isHeardAtEnd: Bool = false) throws {
      try session.perform("record out off")
      play(0.1)
      session.close()
      if isHeardAtEnd {
        #expect(try samples(folder.path + "/take.wav").suffix(4000).contains { abs($0) > 0.01 })
      }
      try SessionTests.expectReplay("take", in: folder, "period \(period)")
    }
  }

  private static let chain = """
    sostenuto 1
    node tone oscillator shape=saw freq=220Hz level=-12dB
    node dist distortion drive=12dB
    connect tone -> dist
    node main matrix inputs=2 outputs=2
    connect dist -> main map=[0]
    node out output
    connect main -> out
    """

  /// Nodes with latencies come and go faster than their fades. With a map whose controller rests, undo and redo are the same.
  @Test(arguments: searchSeeds(1...10), [false, true])
  func editsUndoAndRedoAmidFades(seed: UInt64, hasMap: Bool) throws {
    let map = "\nnode keys keyboard\nmap keys.cc1 -> main.master -40dB..0dB"
    let player = try Player(Self.chain + (hasMap ? map : ""), seed: seed)
    let lines = [
      "replace dist pitchshift", "replace dist gain", "insert x pitchshift into dist -> main",
      "remove x bridge", "remove dist bridge", "connect tone -> main map=[-1,0]", "disconnect tone -> main",
      "undo", "undo", "undo", "redo", "redo",
    ]
    for _ in 0..<60 {
      // A line that does not fit is refused, and nothing happens.
      _ = try? player.session.perform(lines.randomElement(using: &player.random)!)
      player.play(Double.random(in: 0...0.03, using: &player.random))
    }
    player.play(0.2)
    try player.expectReplay()
  }

  /// The inside goes back through states that no edit by hand may lead to.
  @Test(arguments: searchSeeds(31...33)) func undoOfAnExpandedSubPatchBesideAMap(seed: UInt64) throws {
    let player = try Player(
      Self.chain + "\nnode keys keyboard\nmap keys.cc1 -> main.master -40dB..0dB", seed: seed)
    try player.perform(
      ["collapse tone dist into box", "expand box", "undo", "redo", "undo", "undo"], apart: 0.005...0.1)
    try player.expectReplay()
  }

  /// Of a chain and its end, at which a cable that was delayed becomes direct.
  @Test(arguments: searchSeeds(11...14)) func aFeedbackLoopThatIsClosedAndOpened(seed: UInt64) throws {
    let player = try Player(
      """
      sostenuto 1
      node osc oscillator freq=220Hz level=-12dB
      node g gain
      connect osc -> g
      node out output
      connect g -> out
      """, seed: seed)
    try player.perform(
      ["connect g -> osc.freq by 1oct", "undo", "redo", "disconnect osc -> g", "undo"], apart: 0.02...0.3)
    try player.expectReplay()
  }

  /// A node that was removed with its tail falls silent, and what it fed goes on without it.
  @Test(arguments: searchSeeds(21...23)) func theEndOfASilentTail(seed: UInt64) throws {
    let player = try Player(
      """
      sostenuto 1
      node keys keyboard
      node v voices polyphony=4
      connect keys -> v
      node tone oscillator level=-14dB
      connect v -> tone by 1oct
      node env envelope attack=20ms release=300ms sustain=100% decay=50ms
      connect v -> env
      node amp multiply
      connect tone -> amp
      connect env -> amp.with
      node down mixdown
      connect amp -> down
      node out output
      connect down -> out
      """, seed: seed)
    try player.session.perform("note keys on C4 100")
    player.play(0.3)
    try player.session.perform("remove env tail")
    player.play(Double.random(in: 1.4...1.6, using: &player.random))
    try player.session.perform("set tone.level -20dB")
    player.play(0.2)
    try player.expectReplay(isHeardAtEnd: true)
  }
}
