import Engine
import Patch
import TestSupport
import Testing

@testable import Session

/// Movements of a controller in the history.
@MainActor @Suite struct MapGestureTests {
  private static let patch = """
    sostenuto 1
    map in.cc74 -> level.gain -24dB..0dB takeover=jump
    node in keyboard
    node tone oscillator
    node level gain gain=-6dB
    node out output
    connect tone -> level
    connect level -> out
    """

  /// A session and what its history should be.
  @MainActor private final class Desk {
    let session: Session
    var random: SeededGenerator
    /// Edits done and undone, each with the gain on its other side.
    var done: [(id: Int, gain: String)] = []
    var undone: [(id: Int, gain: String)] = []
    /// The edit of the latest movement.
    private var movement: Int?
    private var edits = 0
    private var place = 0

    init(seed: UInt64) {
      print("seed \(seed)")
      random = SeededGenerator(seed: seed)
      var options = SessionOptions()
      options.isOffline = true
      options.driver.period = [64, 100, 256].randomElement(using: &random)!
      session = Session(options: options)
      session.openText(MapGestureTests.patch)
    }

    var gain: String {
      session.patch.value(of: "level", ParameterPath("gain"), catalogue: session.catalogue)?.line ?? "-"
    }

    private func record() {
      done.append((edits, gain))
      undone = []
      edits += 1
    }

    /// The knob goes on for some steps. `seconds`: of rest before them.
    func turn(after seconds: Double) throws {
      if done.isEmpty || done.last?.id != movement || seconds > History.gesturePause {
        record()
        movement = edits - 1
      }
      undone = []
      let end = session.engine.renderer.time + Int64(seconds * session.engine.rate)
      while session.engine.renderer.time < end { try session.renderOneBlock() }
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        place = (place + 1) % 128
        try session.perform("control in 74 \(place)")
        for _ in 0..<Int.random(in: 2...9, using: &random) { try session.renderOneBlock() }
        if Bool.random(using: &random) { session.tick() }
      }
      session.tick()
    }

    func edit() throws {
      record()
      try session.perform("set tone.freq \(100 + edits)Hz")
    }

    func undo() throws {
      let gain = gain
      let said = try session.undo()
      guard let last = done.popLast() else {
        #expect(said == nil)
        return
      }
      #expect(self.gain == last.gain)
      undone.append((last.id, gain))
    }

    func redo() throws {
      let gain = gain
      let said = try session.redo()
      guard let next = undone.popLast() else {
        #expect(said == nil)
        return
      }
      #expect(self.gain == next.gain)
      done.append((next.id, gain))
    }
  }

  /// However undo, redo and edits come amid a movement that goes on: it is one edit as far as it has come, what follows is the
  /// next one, and no other edit is lost.
  @Test(arguments: searchSeeds(1...8)) func aMovementIsOneEditAsFarAsItHasCome(seed: UInt64) throws {
    let desk = Desk(seed: seed)
    for _ in 0..<40 {
      switch Int.random(in: 0..<8, using: &desk.random) {
      case 0: try desk.edit()
      case 1, 2: try desk.undo()
      case 3: try desk.redo()
      case 4: try desk.turn(after: History.gesturePause + 0.1)
      default: try desk.turn(after: Double.random(in: 0...History.gesturePause - 0.1, using: &desk.random))
      }
      #expect(desk.session.undoList.count == desk.done.count, "\(desk.session.undoList)")
      #expect(desk.session.redoList.count == desk.undone.count, "\(desk.session.redoList)")
    }
    while !desk.done.isEmpty { try desk.undo() }
    #expect(desk.gain == "-6dB" && desk.session.undoList.isEmpty)
  }
}
