import CSndfile
import Foundation
import Realtime
import Synchronization
import Testing

@testable import Recording

/// A temporary folder for one test, removed at its end.
final class Folder {
  let path: String

  /// On the disk of this folder; nil: that of other temporary files.
  init(in parent: String? = nil) throws {
    path = (parent.map { $0 + "/" } ?? NSTemporaryDirectory()) + "recording-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}

/// A sound file as libsndfile reads it.
struct Heard {
  var samples: [Float] = []
  var frames = 0
  var channels = 0
  var rate = 0
  var format: Int32 = 0
  /// Frames of its cues.
  var cues: [Int64] = []

  /// nil: libsndfile refuses it.
  init?(_ path: String) {
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else { return nil }
    defer { sf_close(file) }
    frames = Int(info.frames)
    (channels, rate, format) = (Int(info.channels), Int(info.samplerate), info.format)
    // What it says and what it has may differ.
    var block = [Float](repeating: 0, count: 4096 * max(channels, 1))
    while true {
      let count = sf_readf_float(file, &block, 4096)
      guard count > 0 else { break }
      samples += block.prefix(Int(count) * channels)
    }
    var count: UInt32 = 0
    guard sf_command(file, Int32(SFC_GET_CUE_COUNT), &count, 4) == SF_TRUE, count > 0 else { return }
    let size = 4 + Int(count) * MemoryLayout<SF_CUE_POINT>.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    defer { memory.deallocate() }
    guard sf_command(file, Int32(SFC_GET_CUE), memory, Int32(size)) == SF_TRUE else { return }
    for index in 0..<Int(count) {
      let point = (memory + 4 + index * MemoryLayout<SF_CUE_POINT>.stride)
        .loadUnaligned(as: SF_CUE_POINT.self)
      cues.append(Int64(point.sample_offset))
    }
  }
}

/// A port that plays numbers: frame and channel can be told from each sample. Time is the test's.
final class Source: @unchecked Sendable {
  let feed: FeedReader
  let channels: Int
  private(set) var time: Int64
  /// Stretches that were lost: first frame and number.
  private(set) var lost: [(from: Int64, count: Int64)] = []
  private let memory: UnsafeMutablePointer<Float>
  private let pointers: UnsafeMutablePointer<UnsafePointer<Float>>
  var isSilent = false

  init(channels: Int, frames: Int, from time: Int64 = 0, waits: Bool = false) {
    self.channels = channels
    self.time = time
    feed = FeedReader(channels: channels, frames: frames, name: "test", waits: waits)
    memory = .allocate(capacity: channels * 64)
    pointers = .allocate(capacity: channels)
    for channel in 0..<channels { (pointers + channel).initialize(to: UnsafePointer(memory + channel * 64)) }
  }

  deinit {
    memory.deallocate()
    pointers.deallocate()
  }

  /// Exact in whole numbers of 16 bits, and never silent.
  static func value(_ time: Int64, _ channel: Int) -> Float {
    Float((time * 31 + Int64(channel) * 7919) % 32000 - 16000 | 1) / 32768
  }

  /// Plays so many frames in blocks as a driver of this period has them.
  func play(_ frames: Int, period: Int = 64, waitsForReaders: Bool = false) {
    var left = frames
    while left > 0 {
      var count = min(left, 64 - Int(time & 63))
      count = min(count, period - Int(time % Int64(period)))
      for channel in 0..<channels {
        for frame in 0..<count { memory[channel * 64 + frame] = Self.value(time + Int64(frame), channel) }
      }
      let before = feed.lost
      feed.write(
        InputPort(channels: UnsafePointer(pointers), count: channels, isSilent: isSilent, isConnected: true),
        frames: count, time: time, waitsForReaders: waitsForReaders)
      if feed.lost > before {
        if let last = lost.last, last.from + last.count == time {
          lost[lost.count - 1].count += Int64(count)
        } else {
          lost.append((time, Int64(count)))
        }
      }
      time += Int64(count)
      left -= count
    }
  }
}

/// A clock that a test moves.
final class TestClock: Sendable {
  private let value = Atomic<Int64>(0)
  var time: Int64 {
    get { value.load(ordering: .acquiring) }
    set { value.store(newValue, ordering: .releasing) }
  }
}
