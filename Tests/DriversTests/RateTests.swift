import Engine
import Foundation
import Instruments
import Patch
import Realtime
import Testing

@testable import Drivers

/// A held chord while the driver's rate and period change.
@Suite struct RateTests {
  /// A driver by hand: whole periods of any size, counted as a driver does.
  private final class Listener {
    let graph: LiveGraph
    private let host: RenderHost
    private var buffers: [UnsafeMutablePointer<Float>] = []

    init(_ graph: LiveGraph, channels: Int) {
      self.graph = graph
      host = RenderHost(graph.engine.renderer)
      for channel in 0..<channels {
        buffers.append(.allocate(capacity: 2048))
        host.outputs[channel] = buffers[channel]
      }
    }

    deinit { buffers.forEach { $0.deallocate() } }

    func render(frames: Int, period: Int) -> [[Float]] {
      var heard = [[Float]](repeating: [], count: buffers.count)
      while heard[0].count < frames {
        #expect(host.render(frames: period, budget: 1_000_000_000))
        for channel in heard.indices {
          heard[channel] += UnsafeBufferPointer(start: buffers[channel], count: period)
        }
        graph.engine.collect()
      }
      return heard
    }
  }

  /// Least-squares fit of sines and cosines to a signal, evaluated at any time.
  private struct Tones {
    private let frequencies: [Double]
    private var weights: [Double]

    /// `samples` end at time -1 / rate.
    init(_ samples: ArraySlice<Float>, _ frequencies: [Double], rate: Double) {
      self.frequencies = frequencies
      let count = 2 * frequencies.count
      var rows = [[Double]](repeating: [Double](repeating: 0, count: count + 1), count: count)
      for (index, sample) in samples.enumerated() {
        let basis = Self.basis(Double(index - samples.count) / rate, frequencies)
        for i in 0..<count {
          for j in 0..<count { rows[i][j] += basis[i] * basis[j] }
          rows[i][count] += basis[i] * Double(sample)
        }
      }
      // Gauss-Jordan elimination; the matrix is positive definite.
      for i in 0..<count {
        let pivot = rows[i][i]
        for j in i...count { rows[i][j] /= pivot }
        for k in 0..<count where k != i {
          let factor = rows[k][i]
          for j in i...count { rows[k][j] -= factor * rows[i][j] }
        }
      }
      weights = rows.map { $0[count] }
    }

    private static func basis(_ time: Double, _ frequencies: [Double]) -> [Double] {
      frequencies.flatMap { [sin(2 * .pi * $0 * time), cos(2 * .pi * $0 * time)] }
    }

    func value(_ time: Double) -> Double {
      zip(Self.basis(time, frequencies), weights).reduce(0) { $0 + $1.0 * $1.1 }
    }
  }

  /// Five chords at once, each on driver channels of its own.
  private static let patch = """
    node low oscillator freq=[220Hz,277.18Hz,329.63Hz] channels=3 level=-24dB
    node sum mix
    node piano sampler quality=sinc level=-12dB
    node echo delay time=250ms feedback=30% mix=50%
    node soft filter freq=8kHz
    node one output channels=1
    node two output channels=1
    node three output channels=1
    node four output channels=1
    connect low -> one mix=discrete
    connect piano -> two
    connect low -> echo
    connect echo -> three map=[0]
    connect low -> soft
    connect soft -> four map=[1]

    """

  /// Instrument of a looped 1 kHz sine, one second long; key C4 plays it at its own pitch.
  private static func instrument() throws -> Resource {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sostenuto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let graph = try LiveGraph(
      "node tone oscillator freq=1kHz level=-6dB\nnode out output channels=1\nconnect tone -> out")
    let wave = folder.appending(path: "tone.wav").path
    try OfflineRenderer(engine: graph.engine, rate: 48000, tracks: [.outputs(to: wave)]).render(frames: 48000)
    let text =
      "<region> sample=tone.wav pitch_keycenter=60 loop_mode=loop_continuous loop_start=0 loop_end=47999\n"
    let file = folder.appending(path: "tone.sfz")
    try text.write(to: file, atomically: true, encoding: .utf8)
    return try InstrumentLoader.load(path: file.path).resource
  }

  @Test(arguments: [(44_100.0, 32, 96_000.0, 2048), (96_000, 2048, 44_100, 32), (48_000, 64, 48_000, 2048)])
  func aHeldChordKeepsPitchAndPhaseFromTheFirstFrameAndNothingIsAllocated(
    _ from: Double, _ period: Int, _ to: Double, _ otherPeriod: Int
  ) throws {
    let graph = try LiveGraph(Self.patch, rate: from, period: period)
    let piano = try #require(graph.patch[named: "piano"])
    graph.engine.use(try Self.instrument(), for: piano.id)
    let listener = Listener(graph, channels: 4)
    let audit = Audit(period: period)
    for key in [48, 52, 55] {
      graph.engine.perform(Event(.noteOn, key: UInt8(key), value: 100), on: piano.id)
    }
    let before = audit.watchRenders { listener.render(frames: Int(from * 2), period: period) }
    graph.engine.retune(rate: to, period: otherPeriod)
    let after = audit.watchRenders { listener.render(frames: Int(to / 2), period: otherPeriod) }
    if Audit.isBuiltIn { #expect(audit.found.callbacks > 10) }
    #expect(audit.found.breaches == 0, "\(audit.words)")

    let low = [220, 277.18, 329.63]
    let keys = [48, 52, 55].map { 1000 * exp2(Double($0 - 60) / 12) }
    // Pitch and phase continue: the fit of the sound before the change predicts the sound after it.
    for (channel, tones, bound) in [
      (0, [low[0]], 3.2e-5), (1, keys, 1e-4), (2, [low[0]], 1e-4), (3, [low[1]], 3e-3),
    ] {
      let model = Tones(before[channel].suffix(Int(from / 4)), tones, rate: from)
      var worst = 0.0
      var first = 0.0
      for frame in 0..<Int(to / 5) {
        let deviation = abs(Double(after[channel][frame]) - model.value(Double(frame) / to))
        worst = max(worst, deviation)
        if frame < 64 { first = max(first, deviation) }
      }
      print("\(from) to \(to), channel \(channel): \(worst), in the first block \(first)")
      #expect(worst < bound, "channel \(channel)")
    }
    #expect(graph.engine.report().nodes.first { $0.name == "piano" }?.voices == 3)
  }

  @Test(arguments: [(44_100.0, 96_000.0), (96_000, 44_100)])
  func whatMovesOverTimeKeepsItsTimeAtAnotherRate(_ from: Double, _ to: Double) throws {
    let graph = try LiveGraph(
      """
      node high oscillator freq=2Hz shape=square level=0dB
      node way gain
      node main matrix inputs=2 outputs=2
      node out output channels=2
      connect high -> way
      connect way -> main
      connect main -> out
      """, rate: from)
    let listener = Listener(graph, channels: 2)
    _ = listener.render(frames: Int(from / 10), period: 64)
    let start = graph.engine.renderer.time
    try graph.perform("set way.gain -inf over 2s")
    try graph.perform("set main.master -6.020599913279624dB over 2s")
    _ = listener.render(frames: Int(from), period: 64)
    let done = Double(graph.engine.renderer.time - start) / from
    graph.engine.retune(rate: to, period: 64)
    let rest = listener.render(frames: Int(to * 1.2), period: 64)[0]
    // A square wave: its level is the product of both ramps, up to the smoothing at its edges.
    func factor(_ time: Double) -> Double {
      let t = min(time / 2, 1)
      let fraction = t * t * t * (10 + t * (-15 + 6 * t))
      // A gain goes in decibels, with silence at -80 dB; a matrix evenly.
      return (pow(1.0001, 1 - fraction) * pow(0.0001, fraction) - 0.0001) * (1 - 0.5 * fraction)
    }
    for time in [0.05, 0.3, 0.6, 0.8] {
      let level = abs(Double(rest[Int(time * to)]))
      #expect(abs(level - factor(done + time)) < 2e-3, "\(time) s: \(level), not \(factor(done + time))")
    }
    #expect(rest[Int((2 - done + 0.001) * to)] == 0)
    #expect(rest[Int((2 - done - 0.05) * to)] != 0)
  }

  @Test(arguments: [(44_100.0, 96_000.0), (96_000, 44_100)])
  func aCableThatFadesKeepsItsTimeAtAnotherRate(_ from: Double, _ to: Double) throws {
    let graph = try LiveGraph(
      """
      node high oscillator freq=2Hz shape=square level=0dB
      node out output channels=1
      connect high -> out
      """, rate: from)
    let listener = Listener(graph, channels: 1)
    // Between its edges a square is as high as its overshoots at them leave it.
    let high = abs(Double(listener.render(frames: Int(from / 10), period: 64)[0].last!))
    let start = graph.engine.renderer.time
    try graph.perform("disconnect high -> out", fade: 2)
    _ = listener.render(frames: Int(from), period: 64)
    let done = Double(graph.engine.renderer.time - start) / from
    graph.engine.retune(rate: to, period: 64)
    let rest = listener.render(frames: Int(to * 1.2), period: 64)[0]
    for time in [0.05, 0.3, 0.6, 0.8] {
      let t = min((done + time) / 2, 1)
      let expected = high * (1 - t * t * t * (10 + t * (-15 + 6 * t)))
      let level = abs(Double(rest[Int(time * to)]))
      #expect(abs(level - expected) < 2e-3, "\(time) s: \(level), not \(expected)")
    }
    #expect(rest[Int((2 - done + 0.001) * to)] == 0)
  }

  @Test func aRateChangeBetweenADelaysWideningAndItsMemorysArrivalSpoilsNeither() throws {
    let graph = try LiveGraph(
      """
      node mono oscillator freq=300Hz
      node pair oscillator freq=[200Hz,500Hz] channels=2 level=-inf
      node echo delay time=4s feedback=0% mix=100%
      node out output channels=2
      connect mono -> echo
      connect echo -> out
      """, rate: 44_100)
    let listener = Listener(graph, channels: 2)
    _ = listener.render(frames: 44_100, period: 64)
    // Retuned twice, with no render in between.
    try graph.perform("connect pair -> echo")
    graph.engine.retune(rate: 192_000, period: 64)
    try graph.perform("disconnect mono -> echo")
    graph.engine.retune(rate: 96_000, period: 64)
    let heard = listener.render(frames: Int(96_000 * 4.5), period: 2048)
    // The second heard before the change returns four seconds later, on both channels.
    let place = Int(96_000 * 3.2)..<Int(96_000 * 3.9)
    for channel in 0..<2 { #expect(heard[channel][place].contains { $0 > 0.2 }, "channel \(channel)") }
    #expect(heard[0][Int(96_000 * 4.2)...].allSatisfy { abs($0) < 1e-4 })
  }
}
