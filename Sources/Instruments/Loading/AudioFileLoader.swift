import Realtime
import Sampler

/// Loads audio files for players. Worker.
public enum AudioFileLoader {
  /// Decodes `path` and converts it to `rate` Hz. Of a large file only the beginning is read; the rest
  /// streams during playback.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func load(
    path: String, rate: Double, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, report: AudioFileReport) {
    guard rate.isFinite, rate > 0 else { throw LoadError(path: path, .invalidRate(rate)) }
    let file = try AudioFile.read(path, rate: rate, in: SamplePool(options), showing: options.progress)
    file.stream?.pin(0)
    // For the seam of a loop, and one that is played backwards.
    file.stream?.pin(file.frames - 3 * SamplePlane.margin)
    let (seam, memory) = file.seam()
    let image = UnsafeMutablePointer<AudioImage>.allocate(capacity: 1)
    image.initialize(
      to: AudioImage(
        plane: file.plane(0), stride: file.channels > 1 ? file.plane(1).base - file.plane(0).base : 0,
        channels: file.channels, frames: file.frames, rate: file.rate, identity: path.hashValue,
        stream: file.stream?.table, seam: seam))
    let owner = ImageOwner(image: image, memory: memory, file: file)
    let resource = Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self),
      name: lastComponent(path), bytes: { file.bytes }, release: { owner.free() })
    let report = AudioFileReport(
      path: path, format: file.facts.format, channels: file.channels, frames: file.facts.originalFrames,
      rate: file.facts.originalRate, playedAt: rate, bytes: file.bytes, findings: file.findings())
    return (resource, report)
  }

  /// Properties of a sound file. A file too small to stream is read to its end.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func inspect(path: String) throws(LoadError) -> AudioFileReport {
    let file = try AudioFile.read(path)
    let loop = file.loop.map {
      AudioFileReport.Loop(
        start: $0.start, end: $0.end - 1,
        type: $0.type == .forward ? "forward" : ($0.type == .backward ? "backward" : "alternate"))
    }
    return AudioFileReport(
      path: path, format: file.facts.format, channels: file.channels, frames: file.facts.originalFrames,
      rate: file.facts.originalRate, playedAt: file.rate, bytes: file.bytes, findings: file.findings(),
      loop: loop,
      key: file.key)
  }

  private final class ImageOwner: @unchecked Sendable {
    let image: UnsafeMutablePointer<AudioImage>
    /// Of the seam.
    let memory: UnsafeMutablePointer<Float>
    let file: AudioFile
    init(image: UnsafeMutablePointer<AudioImage>, memory: UnsafeMutablePointer<Float>, file: AudioFile) {
      self.image = image
      self.memory = memory
      self.file = file
    }
    func free() {
      image.deallocate()
      memory.deallocate()
    }
  }
}

extension AudioFile {
  /// The seam of all frames, and its memory. Worker.
  fileprivate func seam() -> (FileSeam, UnsafeMutablePointer<Float>) {
    let ends = facts.ends
    let margin = SamplePlane.margin
    let reach = ends?.reach ?? margin
    let count = FileSeam.count(reach: reach)
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: 2 * count * channels)
    for channel in 0..<channels {
      let plane = self.plane(channel)
      let scale: Float = isShort ? 1 / SamplePlane.scale : 1
      let (start, end) = (memory + 2 * channel * count, memory + (2 * channel + 1) * count)
      for index in 0..<count {
        if let ends {
          start[index] = ends.start[index * channels + channel]
          end[index] = ends.end[index * channels + channel]
        } else {
          // A multiple of the frames keeps the numbers positive.
          let first = index - margin + (margin / frames + 1) * frames
          let last = index - count + margin + (count / frames + 1) * frames
          start[index] = plane[first % frames] * scale
          end[index] = plane[last % frames] * scale
        }
      }
    }
    let seam = FileSeam(
      memory: memory, reach: reach, frames: frames, length: ends?.length ?? Double(frames))
    return (seam, memory)
  }

  /// Repairs made while reading. Worker.
  func findings(file: String? = nil, line: Int = 0) -> [Finding] {
    var all: [Finding] = []
    let subject = file == nil ? "" : "`\(TextFile.shown(lastComponent(path)))`: "
    if facts.badSamples > 0 {
      all.append(
        Finding(
          .corrected, file: file ?? path, line: line,
          "\(subject)\(facts.badSamples) samples are not numbers or louder than 120 dB; they play as silence")
      )
    }
    if facts.missingBytes > 0 || facts.isCut {
      var words = "\(subject)the file is cut short: "
      if facts.missingBytes > 0 { words += "\(facts.missingBytes) bytes are missing; " }
      if stream != nil {
        words += "its end cannot be read, and is silent"
      } else {
        words += "\(facts.originalFrames) frames"
        if let promised = facts.promisedFrames { words += " of \(promised)" }
        words += " were read"
      }
      all.append(Finding(.corrected, file: file ?? path, line: line, words))
    }
    return all
  }
}
