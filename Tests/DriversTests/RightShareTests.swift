import Foundation
import Patch
import Realtime
import TestSupport
import Testing

@testable import Drivers
@testable import Engine

/// Outputs of a single channel are heard on both sides, and nothing clicks where an output becomes one or gets more channels.
@Suite struct RightShareTests {
  /// Rendered channels of an `output` that gets other numbers of channels at random frames.
  private func render(_ seed: UInt64, period: Int) throws -> [Float] {
    var random = SeededGenerator(seed: seed)
    let graph = try LiveGraph(
      """
      node o oscillator freq=100Hz level=-14dB channels=\(Int.random(in: 1...2, using: &random))
      node out output channels=\(Int.random(in: 1...4, using: &random))
      connect o -> out
      """)
    var frame: Int64 = 9600
    var cues: [Cue] = []
    for _ in 0..<12 {
      let line = "set out.channels \(Int.random(in: 1...4, using: &random))"
      cues.append(Cue(frame: frame) { [frame] in try? graph.perform(line, at: frame) })
      frame += Int64.random(in: 1...3000, using: &random)
    }
    let path = FileManager.default.temporaryDirectory.appending(path: "sostenuto-right-\(UUID()).wav").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try OfflineRenderer(
      engine: graph.engine, rate: 48000, period: period, tracks: [.outputs(to: path, channels: 2)]
    ).render(frames: frame + 4800, cues: cues)
    return try AudioSamples.read(path)
  }

  @Test(arguments: 1...20) func noSideOfAFileHasAStep(seed: UInt64) throws {
    let sound = try render(seed, period: 64)
    for side in 0..<2 {
      var largest: Float = 0
      for index in stride(from: 9600 + side, to: sound.count, by: 2) {
        let (now, before, first) = (sound[index], sound[index - 2], sound[index - 4])
        largest = max(largest, abs(now - 2 * before + first))
      }
      // Of the tone alone it is 3.4e-5; the step was 0.1.
      #expect(largest < 2e-4, "side \(side)")
    }
    #expect(try render(seed, period: 1000) == sound)
  }

  /// The same of a card's channels, whose routing the worker changes.
  @Test(arguments: 1...20) func noSideOfACardHasAStep(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (routing, period, width) = (Routing(rate: 48000), 64, Int.random(in: 1...4, using: &random))
    defer { routing.deallocate() }
    let outputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: channelCapacity)
    outputs.initialize(repeating: nil, count: channelCapacity)
    let level = UnsafeMutablePointer<Float>.allocate(capacity: period)
    let mixed = UnsafeMutablePointer<Float>.allocate(capacity: period * width)
    defer {
      outputs.deallocate()
      level.deallocate()
      mixed.deallocate()
    }
    // The first channel is 0.5, the others are silent.
    level.initialize(repeating: 0.5, count: period)
    outputs[0] = level
    var last: [Float]?
    for _ in 0..<40 {
      let channels = Int.random(in: 1...3, using: &random)
      routing.update([
        Endpoint(
          node: NodeID(raw: 1), name: "out", isInput: false, firstChannel: 0, channels: channels,
          isTap: false)
      ])
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        routing.mix(outputs, from: 0, into: mixed, channels: width, frames: period)
        for frame in 0..<period {
          let now = (0..<width).map { mixed[frame * width + $0] }
          if let last { #expect(zip(now, last).allSatisfy { abs($0 - $1) < 0.006 }) }
          last = now
        }
      }
      #expect(last?[0] == 0.5)
    }
    for _ in 0..<8 { routing.mix(outputs, from: 0, into: mixed, channels: width, frames: period) }
    routing.update([
      Endpoint(node: NodeID(raw: 1), name: "out", isInput: false, firstChannel: 0, channels: 1, isTap: false)
    ])
    for _ in 0..<9 { routing.mix(outputs, from: 0, into: mixed, channels: width, frames: period) }
    #expect((0..<width).allSatisfy { mixed[(period - 1) * width + $0] == ($0 < 2 ? 0.5 : 0) })
  }
}
