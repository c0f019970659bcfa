import Engine
import Realtime

/// What goes into one file of an offline render: the sum of the endpoints that `includes` picks.
/// They are asked again for each period, so nodes that come and go during the render are heard.
public struct Track {
  public var path: String
  /// nil: as many as the widest endpoint has when the render starts, and at least 1.
  public var channels: Int?
  public var includes: (Endpoint) -> Bool

  public init(path: String, channels: Int? = nil, includes: @escaping (Endpoint) -> Bool) {
    self.path = path
    self.channels = channels
    self.includes = includes
  }

  /// Everything that the patch sends to its outputs.
  public static func outputs(to path: String, channels: Int? = nil) -> Track {
    Track(path: path, channels: channels) { !$0.isInput && !$0.isTap }
  }

  /// What one tap hears.
  public static func tap(_ tap: Endpoint, to path: String) -> Track {
    Track(path: path, channels: tap.channels) { $0.isTap && $0.node == tap.node && $0.name == tap.name }
  }
}

/// Something to do before the frame `frame` of a render is made: an edit of a script.
public struct Cue {
  public var frame: Int64
  public var action: () throws -> Void

  public init(frame: Int64, action: @escaping () throws -> Void) {
    self.frame = frame
    self.action = action
  }
}

/// The file driver: renders into files as fast as the machine can. The files are the same, bit for
/// bit, whatever the period. Worker; the calling thread plays the part of the audio thread meanwhile.
public final class OfflineRenderer {
  /// Frames a second, and the most frames that one render makes.
  public let rate: Double
  public let period: Int

  private let engine: Engine
  private let host: RenderHost
  private let tracks: [Track]
  private let format: SampleFormat
  private var writers: [(file: SoundFileWriter, channels: Int)] = []
  /// Channel c of the engine at `channels + c * period`.
  private let channels: UnsafeMutablePointer<Float>
  private let mix: UnsafeMutablePointer<Float>
  private static let mostChannels = 64

  /// `period` 1...8192.
  public init(
    engine: Engine, rate: Double, period: Int = 1024, tracks: [Track], format: SampleFormat = .float32
  ) {
    self.engine = engine
    self.rate = rate
    self.period = min(max(period, 1), 8192)
    self.tracks = tracks
    self.format = format
    host = RenderHost(engine.renderer)
    channels = .allocate(capacity: self.period * DriverChannels.capacity)
    mix = .allocate(capacity: self.period * Self.mostChannels)
  }

  deinit {
    channels.deallocate()
    mix.deallocate()
  }

  /// Makes `frames` frames and completes the files.
  ///
  /// `cues` are done in order of their frames (those of one frame in the order given), each when all
  /// frames before its own have been made. `progress` gets the frames made, after each period.
  /// An error from a cue or a file ends the render and leaves no file.
  public func render(
    frames: Int64, cues: [Cue] = [], progress: (Int64) -> Void = { _ in }
  ) throws {
    let cues = cues.enumerated()
      .sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
      .map(\.element)
    var next = 0
    var position: Int64 = 0
    defer { writers = [] }
    while position < frames {
      while next < cues.count, cues[next].frame <= position {
        try cues[next].action()
        next += 1
      }
      if writers.count < tracks.count { try openFiles(frames: frames) }
      // What ends a period early leaves the others where they were: blocks stay whole.
      var end = min(position - position % Int64(period) + Int64(period), frames)
      if next < cues.count { end = min(end, cues[next].frame) }
      // Engine time is not the render's own where a session renders twice.
      if let fadeEnd = engine.nextFadeEnd.map({ position + $0 - engine.renderer.time }), fadeEnd > position {
        end = min(end, fadeEnd)
      }
      try renderPeriod(Int(end - position))
      position = end
      engine.collect(expectingNothingBefore: engine.renderer.time)
      progress(position)
    }
    while next < cues.count, cues[next].frame <= frames {
      try cues[next].action()
      next += 1
    }
    for writer in writers { try writer.file.finish() }
  }

  private func openFiles(frames: Int64) throws(DriverError) {
    for track in tracks {
      let widest = engine.endpoints.filter(track.includes).map(\.channels).max() ?? 1
      let count = min(max(track.channels ?? widest, 1), Self.mostChannels)
      let file = try SoundFileWriter(
        path: track.path, rate: rate, channels: count, format: format, frames: frames)
      writers.append((file, count))
    }
  }

  private func renderPeriod(_ frames: Int) throws(DriverError) {
    let endpoints = engine.endpoints.filter { !$0.isInput }
    for channel in 0..<DriverChannels.capacity { host.outputs[channel] = nil }
    for endpoint in endpoints {
      for channel in endpoint.firstChannel..<(endpoint.firstChannel + endpoint.channels)
      where channel < DriverChannels.capacity {
        host.outputs[channel] = channels + channel * period
      }
    }
    guard host.render(frames: frames, budget: 0) else { return }
    for (track, writer) in zip(tracks, writers) {
      sum(endpoints.filter(track.includes), into: writer.channels, frames: frames)
      try writer.file.write(mix, frames: frames)
    }
  }

  /// Interleaves the endpoints' channels into `mix`. A mono endpoint goes to both sides of a wider
  /// file, as a mono cable does; other channels go to their like.
  private func sum(_ endpoints: [Endpoint], into count: Int, frames: Int) {
    mix.update(repeating: 0, count: frames * count)
    for endpoint in endpoints {
      for target in 0..<count {
        let isMono = endpoint.channels == 1 && target < 2
        let source = endpoint.firstChannel + (isMono ? 0 : target)
        guard isMono || target < endpoint.channels, source < DriverChannels.capacity else { continue }
        let samples = channels + source * period
        // Adding to +0 also turns -0 into +0, so that the sign of a silence cannot tell two renders
        // apart.
        for frame in 0..<frames { mix[frame * count + target] += samples[frame] }
      }
    }
  }
}
