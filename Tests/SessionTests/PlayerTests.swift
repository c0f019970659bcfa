import Foundation
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// A player follows its script frame by frame, and keeps its position through edits downstream, in memory and
/// streamed.
@MainActor @Suite struct PlayerTests {
  static let rate = 48000
  static let frames = 3 * rate
  static let transport = [
    "at 0.1s play p", "at 1.5s stop p", "at 2s play p", "at 2.5s play p at 250ms", "at 3s cue p 1s",
    "at 3.5s play p at 2.9s",
  ]

  /// Stereo noise as 32-bit floats.
  private func makeFile(in folder: Folder) throws -> (path: String, frames: [SIMD2<Float>]) {
    var random = SeededGenerator(seed: 12)
    let frames = (0..<Self.frames).map { _ in
      SIMD2(Float.random(in: -0.5...0.5, using: &random), Float.random(in: -0.5...0.5, using: &random))
    }
    let body = frames.withUnsafeBytes { Data($0) }
    func number<Number: FixedWidthInteger>(_ value: Number) -> Data {
      withUnsafeBytes(of: value.littleEndian) { Data($0) }
    }
    var data =
      Data("RIFF".utf8) + number(UInt32(36 + body.count)) + Data("WAVEfmt ".utf8) + number(UInt32(16))
    for value in [3, 2] { data += number(UInt16(value)) }
    for value in [Self.rate, Self.rate * 8] { data += number(UInt32(value)) }
    for value in [8, 32] { data += number(UInt16(value)) }
    data += Data("data".utf8) + number(UInt32(body.count)) + body
    let path = folder.path + "/noise.wav"
    try data.write(to: URL(fileURLWithPath: path))
    return (path, frames)
  }

  /// Output of the player in four seconds.
  private func heard(_ folder: Folder, streams: Bool, edits: Bool) throws -> [SIMD2<Float>] {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = 256
    let session = Session(options: options)
    session.library.reader = { request, options in
      var options = options
      if streams { (options.largestSample, options.smallestStream) = (0, 0) }
      return FileLibrary.read(request, options)
    }
    let text = """
      sostenuto 1
      node p player file=noise.wav loop=on
      node eq equalizer
      node out output
      connect p -> eq
      connect eq -> out
      """
    try session.open(try folder.file("a.patch", text + "\n"))
    #expect(session.takeNotices().isEmpty)
    var script = Self.transport
    if edits {
      var lines = RandomLines(seed: 271, of: session.patch, keeping: ["p"])
      for index in 0..<600 { script.append("at \(0.05 + 3.9 * Double(index) / 600)s \(lines.next())") }
    }
    var request = RenderRequest(seconds: 4)
    let tap = folder.path + "/tap.wav"
    request.taps = [try #require(TapRequest("p=\(tap)"))]
    let (lines, faults) = Script.read(script.joined(separator: "\n") + "\n", file: "transport")
    #expect(faults.isEmpty)
    request.script = lines
    try session.render(request)
    #expect(session.status.underruns == 0)
    let data = try Data(contentsOf: URL(fileURLWithPath: tap)).suffix(4 * Self.rate * 8)
    return data.withUnsafeBytes { bytes in
      (0..<4 * Self.rate).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: SIMD2<Float>.self) }
    }
  }

  @Test(arguments: [false, true]) func theTransportIsExactAndRewiringChangesNoBit(streams: Bool) throws {
    let folder = try Folder()
    let (_, file) = try makeFile(in: folder)
    let quiet = try heard(folder, streams: streams, edits: false)
    #expect(try heard(folder, streams: streams, edits: true) == quiet)
    func frame(_ seconds: Double) -> Int { Int((seconds * Double(Self.rate)).rounded()) }
    /// From `start` to `end` the player is at `place` of the file: at once for the file's first frame, else
    /// after a fade of 10 ms.
    func expect(_ start: Double, _ end: Double, at place: Double, fade: Int = 480) {
      let (first, last, from) = (frame(start), frame(end), frame(place))
      let isExact = (first + fade..<last).allSatisfy { quiet[$0] == file[(from + $0 - first) % Self.frames] }
      #expect(isExact, "from \(start) s")
    }
    func expectSilence(_ start: Double, _ end: Double, fade: Int = 480) {
      let isSilent = (frame(start) + fade..<frame(end)).allSatisfy { quiet[$0] == .zero }
      #expect(isSilent, "from \(start) s")
    }
    expectSilence(0, 0.1, fade: 0)
    expect(0.1, 1.5, at: 0, fade: 0)
    expectSilence(1.5, 2)
    expect(2, 2.5, at: 1.4)
    expect(2.5, 3, at: 0.25)
    expect(3, 3.5, at: 1)
    // Across the file's end.
    expect(3.5, 4, at: 2.9)
  }
}
