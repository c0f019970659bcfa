import Engine
import Patch
import TestSupport
import Testing

/// Mute, solo and polarity of the matrix in sound, and their effect on gains.
@Suite struct MatrixSwitchTests {
  /// Two constants into a 2 x 2 matrix.
  private func start(_ settings: String = "") throws -> Bench {
    let bench = Bench(channels: 2)
    bench.feed(0.25)
    bench.feed(0.5, channel: 1)
    try bench.begin(
      """
      node mic input channels=2
      node main matrix inputs=2 outputs=2
      connect mic -> main
      \(settings)
      node out output
      connect main -> out
      """)
    return bench
  }

  private func levels(_ bench: Bench) -> [Float] { bench.heard.map { $0.last ?? .nan } }

  @Test func whatIsMutedSoloedOrInvertedIsHeardSo() throws {
    let bench = try start("set main[..,..] 0dB\n")
    bench.render(960)
    #expect(levels(bench) == [0.75, 0.75])
    let steps: [(String, [Float])] = [
      ("set main.mute.in[0] on", [0.5, 0.5]), ("set main.in[0] 6.020599913279624dB", [0.5, 0.5]),
      ("set main.mute.in[0] off", [1, 1]), ("set main.invert[0,1] on", [1, 0]),
      ("set main.solo.in[0] on", [0.5, -0.5]), ("set main.solo.in[1] on", [1, 0]),
      ("set main.mute.in[1] on", [0.5, -0.5]),
      ("set main.solo.in[..] off ; set main.mute.in[..] off", [1, 0]),
      ("set main.solo[1,0] on", [0.5, 0]), ("set main.solo.out[1] on", [0, 0]),
      ("set main.solo[0,1] on", [0, -0.5]), ("set main.invert.out[1] on", [0, 0.5]),
      ("undo", [0, -0.5]), ("undo", [0, 0]), ("undo", [0.5, 0]), ("undo", [1, 0]),
    ]
    for (line, wanted) in steps {
      let isAccepted = bench.attempt(line)
      #expect(isAccepted, "\(line)")
      bench.render(960)
      #expect(levels(bench) == wanted, "\(line)")
    }
  }

  @Test func switchesAreThereFromTheFirstFrame() throws {
    let bench = try start("set main.mute.in[0] on\nset main.invert.in[1] on\n")
    bench.render(64)
    #expect(bench.heard[0] == [Float](repeating: 0, count: 64))
    #expect(bench.heard[1] == [Float](repeating: -0.5, count: 64))
  }

  @Test func polarityPassesThroughZeroAlongTheDocumentedRamp() throws {
    let bench = try start()
    bench.render(640)
    bench.perform("set main.invert.in[1] on")
    bench.render(960)
    for frame in 0..<480 {
      let t = Double(frame) / 480
      let fraction = t * t * t * (10 + t * (-15 + 6 * t))
      let wanted = 0.5 * (1 - 2 * fraction)
      #expect(abs(Double(bench.heard[1][640 + frame]) - wanted) < 1e-6, "frame \(frame)")
    }
    #expect(bench.heard[1][1120] == -0.5)
    // The other channels do not move.
    #expect(bench.heard[0].allSatisfy { $0 == 0.25 })
  }

  @Test func aMuteMayTakeItsTime() throws {
    let bench = try start()
    bench.render(640)
    bench.perform("set main.mute.in[0] on over 100ms")
    bench.perform("set main.solo[1,1] on over 200ms")
    bench.render(9600)
    #expect(abs(bench.heard[0][640 + 2400] - 0.125 * (1 - 0.103515625)) < 1e-5)
    #expect(bench.heard[0][640 + 4799] != 0 && bench.heard[0][640 + 4800] == 0)
  }
}
