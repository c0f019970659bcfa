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
    // For the frames before the first frame of a loop.
    file.stream?.pin(file.frames - 1)
    let image = UnsafeMutablePointer<AudioImage>.allocate(capacity: 1)
    image.initialize(
      to: AudioImage(
        plane: file.plane(0), stride: file.channels > 1 ? file.plane(1).base - file.plane(0).base : 0,
        channels: file.channels, frames: file.frames, rate: file.rate, identity: path.hashValue,
        stream: file.stream?.table))
    let owner = ImageOwner(image: image, file: file)
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
    let file: AudioFile
    init(image: UnsafeMutablePointer<AudioImage>, file: AudioFile) {
      self.image = image
      self.file = file
    }
    func free() { image.deallocate() }
  }
}

extension AudioFile {
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
