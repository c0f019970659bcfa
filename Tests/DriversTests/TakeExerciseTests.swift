import Drivers
import Engine
import Foundation
import Patch
import Realtime
import Recording
import TestSupport
import Testing

/// Takes that begin and end at random while everything is edited: no step of it allocates, locks or waits on the audio
/// thread (`make rtsan`), and what was captured is what was played.
@Suite(.serialized) struct TakeExerciseTests {
  @Test(arguments: searchSeeds(1, 2))
  func capturesComeAndGoWithoutATrace(seed: UInt64) throws {
    print("seed \(seed)")
    let instrument = try Author.makeInstrument()
    let folder = NSTemporaryDirectory() + "takes-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer {
      try? FileManager.default.removeItem(atPath: instrument)
      try? FileManager.default.removeItem(atPath: folder)
    }
    let graph = try LiveGraph(Author.patch)
    try graph.load(instrument, into: "piano")
    let engine = graph.engine
    engine.startTaping()
    let clock = engine.renderer
    let recorder = Recorder(isOffline: true) { clock.time }
    var author = Author(random: SeededGenerator(seed: seed))
    var captures: [(id: NodeID, take: Take, start: Int64)] = []
    var random = SeededGenerator(seed: seed + 100)
    func begin(_ name: String) throws {
      guard let id = graph.patch[named: name]?.id, let point = engine.capturePoint(of: id, port: nil) else {
        return
      }
      let feed = Recorder.feed(channels: point.channels, rate: 48000, seconds: 1)
      let take = try recorder.begin(
        Take.Request(path: "\(folder)/\(name).wav", port: name, rate: 48000), feed)
      captures.append((engine.beginCapture(point, feed: feed.resource), take, engine.renderer.time))
    }
    let cues = (1...400).map { index in
      Cue(frame: Int64(index * 97)) {
        _ = try? graph.perform(author.line(graph.patch))
        if index % 7 == 0 {
          let names = graph.patch.nodes.values.map(\.name)
          try begin(names.randomElement(using: &random) ?? "out")
        }
        if index % 11 == 0, let ended = captures.indices.randomElement(using: &random) {
          captures[ended].take.end(at: engine.renderer.time)
          engine.endCapture(captures[ended].id)
          captures.remove(at: ended)
        }
      }
    }
    let audit = Audit(period: 64)
    let frames: Int64 = 400 * 97 + 9600
    _ = try audit.watchRenders {
      let renderer = OfflineRenderer(engine: engine, rate: 48000, period: 64, tracks: [])
      try renderer.render(frames: frames, cues: cues) { _ in
        recorder.pump()
        _ = engine.takeInputs()
      }
    }
    #expect(audit.found.breaches == 0, "\(audit.words)")
    let running = captures
    recorder.close()
    for capture in running {
      #expect(capture.take.status.isFinished && capture.take.status.fault == nil)
      #expect(capture.take.status.frames == frames - capture.start && capture.take.status.lost == 0)
    }
    for capture in running { engine.endCapture(capture.id) }
    try OfflineRenderer(engine: engine, rate: 48000, period: 64, tracks: []).render(frames: 48000)
    #expect(engine.isSettled)
    #expect(engine.report().nodes.count == graph.patch.nodes.count)
  }
}
