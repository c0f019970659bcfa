import Sampler

/// Both ends of a converted sound, for a player that goes round in it: the converter is fed with the file's start behind
/// its end, and with the end before the start. The converted sound itself has silence beyond. Worker.
struct RoundEnds {
  /// Length of a round, in frames.
  let length: Double
  /// Frames from each end on which the other one has an effect.
  let reach: Int
  /// Interleaved frames from `-SamplePlane.margin` on, and as many up to a margin behind the last frame.
  let start: [Float]
  let end: [Float]

  /// Longest period after which frames of the file and converted ones coincide again, in frames of the file.
  private static let longest = 1 << 18

  /// `frames`: of the file, whose frames `read` gives, interleaved. nil: nothing is converted, or between rates for which
  /// that would take too long.
  init?(
    _ conversion: SoundFileSource.Conversion?, frames: Int, channels: Int, path: String,
    read: (Range<Int>) -> [Float]
  ) throws(LoadError) {
    guard let conversion, frames > 0, conversion.input <= Self.longest else { return nil }
    length = Double(frames) * conversion.ratio
    reach = Int(Double(conversion.guardFrames) * conversion.ratio) + 1
    let margin = SamplePlane.margin
    let count = FileSeam.count(reach: reach)
    let last = conversion.frames(of: frames) + margin
    start = try Self.converted(-margin..<count - margin, conversion, frames, channels, path, read)
    end = try Self.converted(last - count..<last, conversion, frames, channels, path, read)
  }

  private static func converted(
    _ wanted: Range<Int>, _ conversion: SoundFileSource.Conversion, _ frames: Int, _ channels: Int,
    _ path: String, _ read: (Range<Int>) -> [Float]
  ) throws(LoadError) -> [Float] {
    let source = conversion.source(of: wanted)
    var samples: [Float] = []
    samples.reserveCapacity(source.count * channels)
    var at = source.lowerBound
    while at < source.upperBound {
      let first = (at % frames + frames) % frames
      let count = min(frames - first, source.upperBound - at)
      let piece = read(first..<first + count)
      samples += piece
      // A file may have been cut short.
      samples.append(contentsOf: repeatElement(0, count: count * channels - piece.count))
      at += count
    }
    samples = try convert(samples, channels: channels, ratio: conversion.ratio, path: path)
    let skip = wanted.lowerBound - conversion.start(of: source)
    return Array(samples[skip * channels..<(skip + wanted.count) * channels])
  }
}
