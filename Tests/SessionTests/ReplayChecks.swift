import Foundation
import Testing

@testable import Session

/// Samples of a WAV file of 32-bit floats, channel by channel in each frame.
func samples(_ path: String) throws -> [Float] {
  let data = try Data(contentsOf: URL(fileURLWithPath: path))
  let head = try #require(data.range(of: Data("data".utf8))).upperBound
  return data.withUnsafeBytes { bytes in
    let size = Int(bytes.loadUnaligned(fromByteOffset: head, as: UInt32.self))
    return stride(from: head + 4, to: head + 4 + size, by: 4).map {
      bytes.loadUnaligned(fromByteOffset: $0, as: Float.self)
    }
  }
}

/// A stereo take that has a sound equals its replay. `setting` is told with a difference.
@MainActor func expectReplay(_ name: String, in folder: Folder, _ setting: String = "") throws {
  let take = try samples("\(folder.path)/\(name).wav")
  #expect(take.contains { abs($0) > 0.01 })
  let replay = try Replay(path: "\(folder.path)/\(name).journal")
  #expect(replay.doubts.isEmpty, "\(replay.doubts)")
  var options = SessionOptions()
  options.isOffline = true
  options.driver.rate = replay.rate
  options.quality = replay.quality
  let session = Session(options: options)
  let repeated = try samples(try session.render(replay, to: folder.path + "/again.wav").path)
  #expect(repeated.count == take.count)
  guard let place = zip(take, repeated).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset
  else { return }
  let begin = replay.journal.entries.first { if case .take = $0.happening { true } else { false } }
  let frame = (begin?.frame ?? 0) + Int64(place / 2)
  let near = replay.journal.entries.filter { abs($0.frame - frame) < 6000 }.map(\.line)
  Issue.record(
    "\(setting) frame \(place / 2) of \(take.count / 2), \(frame) of the session:\n\(near.joined())")
}
