import Engine
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Drivers
@testable import Session

/// Takes while controllers move values, and their replays.
extension RecordingTests {
  /// A take under way, of a patch of which controllers 74 and 75 move a gain and a drive.
  private func movedTake() throws -> (folder: Folder, session: Session) {
    let (folder, _) = try folder()
    let maps = """

      node mi midi
      map mi.cc74 -> main.master -20dB..0dB takeover=jump
      map mi.cc75 -> dist.drive takeover=jump
      """
    let session = try live(try folder.file("m.patch", Self.patch + maps))
    play(session, 0.1)
    try session.perform("record out \(folder.path)/take.wav")
    return (folder, session)
  }

  /// Ends the take, of which a replay has the same bits.
  private func end(_ session: Session, in folder: Folder) throws {
    try session.perform("record out off")
    play(session, 0.2)
    session.close()
    try expectReplay("take", in: folder)
  }

  /// A map moves a gain while a script, which tells times ahead, undoes and redoes: the take is replayed to the same bits.
  @Test(arguments: searchSeeds(1...6))
  func aTakeWithUndoUnderAMovingMapIsReplayedToTheSameBits(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let (folder, session) = try movedTake()
    let ahead = Int64(4800)
    for step in 0..<60 {
      let line = [
        "set tone.freq \(200 + 10 * step)Hz", "undo", "undo", "redo", "set dist.tone \(step)%",
      ].randomElement(using: &random)!
      let time = session.engine.renderer.time + ahead
      try session.perform(line, at: time)
      if Bool.random(using: &random) {
        // Each another value: an edit that finds its own value there does nothing.
        let event = Event(
          .control, key: [74, 75].randomElement(using: &random)!,
          value: Float(step * 37 % 128))
        session.play(event, on: try #require(session.patch[named: "mi"]).id)
      }
      play(session, Double.random(in: 0...0.03, using: &random))
    }
    play(session, 0.2)
    try end(session, in: folder)
  }

  /// A scene is stored while controllers move: with the values that the patch has then, whether or not the latest movements
  /// have reached it. The take is replayed to the same bits.
  @Test(arguments: [false, true])
  func aSceneOfMovedValuesIsReplayedToTheSameBits(isLate: Bool) throws {
    let (folder, session) = try movedTake()
    func turn(_ value: Int) throws {
      for key: UInt8 in [74, 75] {
        session.play(
          Event(.control, key: key, value: Float(value)), on: try #require(session.patch[named: "mi"]).id)
      }
      play(session, 0.05)
    }
    try turn(90)
    // Movements from here on are read after the scene.
    if isLate { session.changesOfLine = [] }
    try turn(60)
    try session.perform("scene 1")
    session.changesOfLine = nil
    try turn(20)
    try session.perform("recall 1 over 20ms")
    play(session, 0.2)
    try end(session, in: folder)
  }
}
