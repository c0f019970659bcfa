import Engine
import Foundation
import Testing

@testable import Session

/// Inputs and outputs with more channels than the driver has.
@MainActor @Suite struct LackingChannelsTests {
  /// An output that changes its shape is there twice for a while, one fading out and one fading in.
  @Test func anOutputWithoutRoomIsToldOnceAndMayChangeAllTheSame() throws {
    var options = SessionOptions()
    options.driver.preference = .clock
    let session = Session(options: options)
    let folder = try Folder()
    let full = (1...4).map { "node full\($0) output channels=64\n" }.joined()
    try session.open(
      try folder.file("a.patch", full + "node tone oscillator\nnode more output channels=3\ntone -> more"))
    session.start()
    defer { session.close() }
    var told: [String] = []
    func play(until isOver: () -> Bool) {
      let end = ContinuousClock.now + .seconds(20)
      while !isOver(), ContinuousClock.now < end {
        session.tick()
        told += session.takeNotices().map(\.text).filter { $0.contains("lack") }
        sched_yield()
      }
    }
    play { !told.isEmpty }
    for channels in 4...9 {
      let start = session.engine.renderer.time
      try session.perform("set more.channels \(channels)")
      play { session.engine.renderer.time > start + 480 }
    }
    play { told.count > 1 }
    // Another one makes room, and an output takes its channels when it changes.
    try session.perform("set full4.channels 2")
    let start = session.engine.renderer.time
    play { session.engine.renderer.time > start + 4800 }
    try session.perform("set more.channels 8")
    play { session.engine.lackingChannels.isEmpty }
    #expect(
      told == [
        "`more` lacks 3 channels: a patch has 256 at most",
        "`more` lacks 9 channels: a patch has 256 at most",
      ])
    #expect(session.engine.lackingChannels.isEmpty)
  }
}
