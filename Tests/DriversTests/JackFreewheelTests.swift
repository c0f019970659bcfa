import CJack
import Engine
import Foundation
import Testing

@testable import Drivers

/// A server that freewheels: as fast as its clients are.
@Suite(.serialized) @MainActor struct JackFreewheelTests {
  private let text = """
    node slow oscillator freq=0.7Hz
    node saw oscillator shape=saw freq=110.7Hz level=-20dB
    node wind noise level=-30dB
    node low filter freq=700Hz
    node echo delay time=130ms feedback=40%
    node amp gain
    node out output channels=1
    connect saw -> low
    connect wind -> low
    connect low -> echo
    connect echo -> amp
    connect slow -> amp.gain
    connect amp -> out
    """

  private func rendered(_ frames: Int) throws -> [Float] {
    let path = FileManager.default.temporaryDirectory.appending(path: "freewheel-\(UUID().uuidString).wav")
      .path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let renderer = try OfflineRenderer(
      engine: LiveGraph(text).engine, rate: 48000, period: 1024, tracks: [.outputs(to: path)])
    try renderer.render(frames: Int64(frames))
    let data = try Data(contentsOf: URL(filePath: path))
    let start = try #require(data.firstRange(of: Data("data".utf8))).upperBound + 4
    return data[start...].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  /// From real time to freewheel and back another program hears the samples of a render, without one between them.
  @Test func whatIsHeardInFreewheelAndAtRealTimeIsWhatARenderGivesSampleBySample() throws {
    // Synchronous server (`-S`): on a busy machine the server is late, and its clients lose no frames.
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(text)
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let probe = try #require(TestClient(server: server.name))
    let recorder = try #require(JackRecorder(server: server.name, source: "sostenuto:out_1"))
    func record(_ frames: Int) {
      let end = recorder.count + frames
      #expect(
        wait {
          graph.engine.collect()
          return recorder.count >= end
        })
    }
    record(24_000)
    let first = recorder.count
    let began = monotonicTime()
    #expect(jack_set_freewheel(probe.client, 1) == 0)
    #expect(wait { driver.status.isFreewheeling })
    record(480_000)
    #expect(jack_set_freewheel(probe.client, 0) == 0)
    #expect(wait { !driver.status.isFreewheeling })
    // Ten seconds took less.
    #expect(Double(monotonicTime() - began) * 1e-9 < 10)
    record(24_000)
    let heard = recorder.sound
    #expect(heard.count > first + 480_000)

    let wanted = try rendered(Int(graph.engine.renderer.time))
    // Behind the fade in.
    let begin = 4800
    let head = heard[begin..<begin + 64]
    let place = try #require(
      wanted.indices.dropLast(64).first {
        wanted[$0] == head[begin] && wanted[$0..<$0 + 64].elementsEqual(head)
      })
    let count = min(heard.count - begin, wanted.count - place)
    #expect(count > 520_000)
    let difference = (0..<count).first { heard[begin + $0] != wanted[place + $0] }
    #expect(
      difference == nil, "at \(difference ?? 0) of \(count), the first freewheeling is \(first - begin)")
    #expect(heard.contains { abs($0) > 0.01 })
  }
}
