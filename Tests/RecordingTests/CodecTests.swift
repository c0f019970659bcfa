import CSndfile
import Foundation
import Realtime
import Testing

@testable import Recording

/// Formats that do not take every rate, and codecs that work in blocks.
@Suite struct CodecTests {
  /// A file of a sine of 440 Hz, as libsndfile reads it.
  private func sine(_ path: String, rate: Double, frames: Int, channels: Int = 2) throws -> Heard {
    let disk = try TakeFiles.create(
      path, channels: channels, rate: rate, format: .float32, calls: DiskCalls())
    var done = 0
    while done < frames {
      let count = min(1000, frames - done)
      let samples = (0..<count * channels).map { Self.value(done + $0 / channels, rate) }
      try disk.append(samples, frames: count)
      done += count
    }
    #expect(try disk.finish([]) == Int64(frames))
    return try #require(Heard(path))
  }

  private static func value(_ frame: Int, _ rate: Double) -> Float {
    Float(0.25 * sin(2 * Double.pi * 440 * Double(frame) / rate))
  }

  /// Servers at 44.1 and 96 kHz are common, and Opus has 48 kHz: the sound is converted, in tune and in time.
  @Test(arguments: [44_100.0, 96_000, 192_000, 22_050, 384_000, 24_000, 8000])
  func opusTakesSoundOfEveryRate(rate: Double) throws {
    let folder = try Folder()
    let frames = Int(rate * 0.7) + 123
    let heard = try sine(folder.file("take.opus"), rate: rate, frames: frames)
    // Files at the low rates of Opus itself keep them.
    #expect(heard.rate == ([8000, 24_000].contains(rate) ? Int(rate) : 48_000))
    #expect(heard.frames == Int((Double(frames) * Double(heard.rate) / rate).rounded()))
    var error: Float = 0
    for frame in heard.frames / 4..<heard.frames * 3 / 4 {
      error = max(error, abs(heard.samples[2 * frame] - Self.value(frame, Double(heard.rate))))
    }
    #expect(error < 0.01, "\(error)")
  }

  /// A tick at the end of every take would be heard: the last packet is as good as those before it.
  @Test(arguments: [48_000.0, 44_100], [1, 2, 3])
  func theLastPacketOfAnOpusTakeHasNoTick(rate: Double, channels: Int) throws {
    let folder = try Folder()
    for extra in [0, 100, 480, 700] {
      let frames = Int(rate) + extra
      let heard = try sine(folder.file("\(extra).opus"), rate: rate, frames: frames, channels: channels)
      func error(_ range: Range<Int>) -> Float {
        range.reduce(0) {
          max($0, abs(heard.samples[channels * $1] - Self.value($1, Double(heard.rate))))
        }
      }
      let (body, last) = (error(10_000..<20_000), error(heard.frames - 960..<heard.frames))
      #expect(last < max(4 * body, 0.004), "\(last) at the end, \(body) before, \(extra)")
    }
  }

  /// The encoder of Ogg Vorbis refuses such a rate with the first frame only: by then the take would have begun.
  @Test(arguments: ["ogg", "flac"]) func aRateThatTheFormatDoesNotTakeIsRefusedAtTheBeginning(ending: String)
    throws
  {
    let folder = try Folder()
    let rate = ending == "ogg" ? 384_000.0 : 700_000
    do {
      _ = try TakeTests.record(
        Source(channels: 2, frames: 4800), frames: 64, to: folder.file("a." + ending), rate: rate)
      Issue.record("it was taken")
    } catch let error as RecordingError {
      #expect(error.description.contains("does not take 2 channels at \(Int(rate)) Hz"), "\(error)")
    }
    #expect(folder.names.isEmpty)
  }
}
