import Drivers
import Engine
import Foundation
import Glibc
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Session

/// Edit times of large patches, printed for reading; nothing fails. By hand: `SOSTENUTO_TIMING=1 make test`,
/// or with `--filter EditTimings`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SOSTENUTO_TIMING"] != nil), .serialized)
@MainActor struct EditTimings {
  /// CPU time of this thread, so that other programs do not count.
  static func time() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  static func chain(_ count: Int) -> String {
    var text = "sostenuto 1\nnode osc oscillator\n"
    for index in 0..<count { text += "node n\(index) gain gain=-0.001dB\n" }
    text += "node out output\nconnect osc -> n0\n"
    for index in 1..<count { text += "connect n\(index - 1) -> n\(index)\n" }
    return text + "connect n\(count - 1) -> out\n"
  }

  static func random(_ count: Int) -> String {
    var random = SeededGenerator(seed: 7)
    var text = "sostenuto 1\nnode osc oscillator\n"
    for index in 0..<count { text += "node n\(index) \(index % 3 == 0 ? "mix" : "gain")\n" }
    text += "node out output\nconnect osc -> n0\n"
    for index in 1..<count {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let source = Int.random(in: max(0, index - 400)..<index, using: &random)
        text += "connect n\(source) -> n\(index) gain=-\(Int.random(in: 1...20, using: &random))dB\n"
      }
    }
    return text + "connect n\(count - 1) -> out\n"
  }

  @Test(arguments: ["chain", "random", "loop"], [1000, 10000]) func edits(shape: String, count: Int) throws {
    let folder = try Folder()
    var text = shape == "random" ? Self.random(count) : Self.chain(count)
    if shape == "loop" { text += "connect n\(count - 1) -> n0 gain=-20dB\n" }
    text += "node grid matrix inputs=2 outputs=2\nconnect n5 -> grid\nconnect grid -> out gain=-60dB\n"
    let path = try folder.file("large.patch", text)
    let session = Session()
    let opening = Self.time()
    try session.open(path)
    let opened = Self.time()
    try session.renderOneBlock()
    let rendered = Self.time()
    session.engine.prepareMemory()
    print("\(shape) \(count): open \(ms(opened - opening)), first block and report \(ms(rendered - opened))")
    // The first edit writes the journal's base.
    try measure("first edit", session, ["set n5.gain -1dB"])
    let middle = count / 2
    let name = "n\(middle - middle % 3 + 1)"
    let cable = try #require(
      session.patch.cables.values.first { session.patch[$0.ends.destination.node]?.name == name })
    let before = session.patch[cable.ends.source.node]!.name
    try measure("parameter", session, ["set \(name).gain -3dB"])
    try measure(
      "gain", session, ["connect \(before) -> \(name) gain=-6dB", "connect \(before) -> \(name) gain=-7dB"])
    try measure("crosspoint", session, ["set grid[0,1] -6dB"])
    try measure("insert", session, ["insert new1 filter into \(before) -> \(name)"])
    try measure("replace", session, ["replace new1 equalizer"])
    try measure("remove", session, ["remove new1 bridge"])
    try measure("connect", session, ["connect n1 -> \(name) gain=-30dB"])
    try measure("disconnect", session, ["disconnect n1 -> \(name)"])
    try measure("rename", session, ["rename \(name) other"])
    try measure("undo", session, ["undo", "undo", "undo", "undo", "undo"])
    try measure("redo", session, ["redo", "redo", "redo", "redo", "redo"])
    var reports: [UInt64] = []
    for _ in 0..<5 {
      let start = Self.time()
      session.refreshReport()
      _ = session.report
      reports.append(UInt64(Self.time() - start))
    }
    print("  report \(reports.map { ms(Int64($0)) }.joined(separator: " "))")
    session.close()
  }

  private func ms(_ nanoseconds: Int64) -> String { "\(Printout.fixed(Double(nanoseconds) * 1e-6, 2)) ms" }

  private func measure(_ what: String, _ session: Session, _ lines: [String]) throws {
    var times: [String] = []
    var tidies: [String] = []
    let outputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(
      capacity: DriverChannels.capacity)
    outputs.initialize(repeating: nil, count: DriverChannels.capacity)
    let inputs = UnsafeMutablePointer<UnsafePointer<Float>?>.allocate(capacity: DriverChannels.capacity)
    inputs.initialize(repeating: nil, count: DriverChannels.capacity)
    defer {
      outputs.deallocate()
      inputs.deallocate()
    }
    for line in lines {
      let start = Self.time()
      try session.perform(line)
      times.append(ms(Self.time() - start))
      var longest: Int64 = 0
      for _ in 0..<12 {
        session.engine.renderer.render(frames: 64, inputs: inputs, outputs: outputs)
        let start = Self.time()
        session.engine.collect()
        longest = max(longest, Self.time() - start)
      }
      tidies.append(ms(longest))
    }
    print("  \(what): \(times.joined(separator: " "))   tidy \(tidies.joined(separator: " "))")
  }
}
