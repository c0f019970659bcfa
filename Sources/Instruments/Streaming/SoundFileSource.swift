import CSamplerate
import CSndfile
import Glibc

/// Frames of a sound file, read by libsndfile on demand. The file is opened only while needed, since an
/// instrument has more samples than a process may open files. Worker.
final class SoundFileSource: FrameSource {
  /// Conversion between integer sample rates. Each part is converted on its own, with as many neighbouring
  /// frames as the converter uses, so a frame does not depend on earlier reads.
  struct Conversion {
    /// Ratio of file frames to converted frames, in lowest terms.
    var input: Int
    var output: Int
    /// Extra file frames on either side, at least as many as the converter uses.
    var guardFrames: Int

    /// nil: not between integers, or by more than the converter can.
    init?(from: Int, to rate: Double) {
      guard rate == rate.rounded(), rate < 1e7, src_is_valid_ratio(rate / Double(from)) != 0 else {
        return nil
      }
      let to = Int(rate)
      var (a, b) = (from, to)
      while b != 0 { (a, b) = (b, a % b) }
      input = from / a
      output = to / a
      guardFrames = 256 * max(1, (from + to - 1) / to)
    }

    var ratio: Double { Double(output) / Double(input) }

    /// Number of converted frames.
    func frames(of count: Int) -> Int { convertedFrames(count, ratio: ratio) }

    /// File frames from which these frames are converted, with those that the converter uses around them. The first
    /// coincides with a converted frame.
    func source(of frames: Range<Int>) -> Range<Int> {
      let first = frames.lowerBound
      let period = (first < 0 ? (first + 1) / output - 1 : first / output) - guardFrames / input - 1
      return period * input..<frames.upperBound * input / output + 1 + guardFrames
    }

    /// Converted frames before such a source.
    func start(of source: Range<Int>) -> Int { source.lowerBound / input * output }
  }

  private let path: String
  /// Channels of the file; of the result, when more than two are folded into two.
  private let fileChannels: Int
  private let isFolded: Bool
  private let isShort: Bool
  private let fileFrames: Int
  private let conversion: Conversion?
  private var file: OpaquePointer?
  /// Read position of the file.
  private var position = 0

  init(
    path: String, channels: Int, frames: Int, isFolded: Bool, isShort: Bool, conversion: Conversion?
  ) {
    self.path = path
    fileChannels = channels
    fileFrames = frames
    self.isFolded = isFolded
    self.isShort = isShort
    self.conversion = conversion
  }

  deinit { rest() }

  func rest() {
    if let file { sf_close(file) }
    file = nil
  }

  func read(_ first: Int, _ count: Int, into memory: UnsafeMutableRawPointer, stride: Int) {
    if isShort {
      let samples = read(first, count, as: Int16.self, sf_readf_short)
      spread(samples, count, fileChannels, into: memory, stride: stride)
      return
    }
    let samples = conversion.map { converted(first, count, $0) } ?? frames(first..<first + count)
    spread(samples, count, isFolded ? 2 : fileChannels, into: memory, stride: stride)
  }

  private func finish(_ samples: inout [Float]) {
    for index in samples.indices where !SoundFile.isSound(samples[index]) { samples[index] = 0 }
    if isFolded { samples = SoundFile.fold(samples, channels: fileChannels) }
  }

  /// Interleaved frames of the file, as far as they exist.
  private func read<Sample: Numeric>(
    _ first: Int, _ count: Int, as type: Sample.Type,
    _ read: (OpaquePointer?, UnsafeMutablePointer<Sample>?, sf_count_t) -> sf_count_t
  ) -> [Sample] {
    if file == nil {
      var info = SF_INFO()
      let opened = try? PlainFile.open(path).file
      file = opened.flatMap { sf_open_fd($0, Int32(SFM_READ), &info, Int32(SF_TRUE)) }
      position = 0
      // The file has been replaced by another one.
      if file != nil, info.channels != fileChannels { rest() }
    }
    guard let file else { return [] }
    if position != first {
      guard sf_seek(file, sf_count_t(first), SEEK_SET) == first else {
        rest()
        return []
      }
    }
    var samples = [Sample](repeating: 0, count: count * fileChannels)
    let piece = max(1, longestRead / (fileChannels * MemoryLayout<Sample>.size))
    var done = 0
    while done < count {
      let got = samples.withUnsafeMutableBufferPointer {
        read(file, $0.baseAddress! + done * fileChannels, sf_count_t(min(piece, count - done)))
      }
      guard got > 0 else { break }
      done += Int(got)
    }
    position = first + done
    samples.removeLast((count - done) * fileChannels)
    return samples
  }

  /// Interleaved frames of the file as they are before a conversion.
  func frames(_ range: Range<Int>) -> [Float] {
    var samples = read(range.lowerBound, range.count, as: Float.self, sf_readf_float)
    finish(&samples)
    return samples
  }

  private func converted(_ first: Int, _ count: Int, _ conversion: Conversion) -> [Float] {
    let source = conversion.source(of: first..<first + count).clamped(to: 0..<fileFrames)
    guard !source.isEmpty else { return [] }
    let samples = frames(source)
    let channels = isFolded ? 2 : fileChannels
    let result =
      (try? convert(samples, channels: channels, ratio: conversion.ratio, path: path)) ?? []
    let skip = (first - conversion.start(of: source)) * channels
    return Array(result.dropFirst(skip).prefix(count * channels))
  }

  private func spread<Sample: Numeric>(
    _ samples: [Sample], _ count: Int, _ channels: Int, into memory: UnsafeMutableRawPointer, stride: Int
  ) {
    let frames = samples.count / channels
    samples.withUnsafeBufferPointer { samples in
      for channel in 0..<channels {
        let plane = (memory + channel * stride).assumingMemoryBound(to: Sample.self)
        for frame in 0..<min(frames, count) { plane[frame] = samples[frame * channels + channel] }
        for frame in min(frames, count)..<max(frames, count) where frame < count { plane[frame] = 0 }
      }
    }
  }
}
