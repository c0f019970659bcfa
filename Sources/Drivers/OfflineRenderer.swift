import Engine
import Realtime
import Recording

/// One file of an offline render: the sum of the endpoints that `includes` selects. The selection is repeated
/// for each period, so nodes that come and go during the render are included.
public struct Track {
  /// Path of the file.
  public var path: String
  /// nil: as many as the widest endpoint has when the render starts, at least 1.
  public var channels: Int?
  /// Selects endpoints.
  public var includes: (Endpoint) -> Bool

  /// A track for the endpoints that `includes` selects.
  public init(path: String, channels: Int? = nil, includes: @escaping (Endpoint) -> Bool) {
    self.path = path
    self.channels = channels
    self.includes = includes
  }

  /// A track of everything that the patch sends to its outputs.
  public static func outputs(to path: String, channels: Int? = nil) -> Track {
    Track(path: path, channels: channels) { !$0.isInput && !$0.isTap }
  }

  /// A track of one tap.
  public static func tap(_ tap: Endpoint, to path: String) -> Track {
    Track(path: path, channels: tap.channels) { $0.isTap && $0.node == tap.node && $0.name == tap.name }
  }
}

/// An action at a frame of a render: an edit of a script.
public struct Cue {
  /// When it is due.
  public var due: Due
  /// The action; an error ends the render.
  public var action: () throws -> Void

  /// An action before a frame of the render.
  public init(frame: Int64, action: @escaping () throws -> Void) { self.init(.frame(frame), action: action) }

  /// An action before a frame of the render, or where the transport is at a place.
  public init(_ due: Due, action: @escaping () throws -> Void) {
    self.due = due
    self.action = action
  }
}

/// MIDI events for every MIDI port during a render.
public struct MidiPerformance: Sendable {
  /// Events in order of their frames, which count from the render's start.
  public var events: [(frame: Int64, event: Event)]
  /// Frame of its end, where every note still held ends too.
  public var end: Int64

  /// A performance of `end` frames.
  public init(events: [(frame: Int64, event: Event)] = [], end: Int64 = 0) {
    self.events = events
    self.end = end
  }

  /// Limits the events of any one frame to `most`; further events move to the next frame.
  fileprivate func spread(_ most: Int) -> MidiPerformance {
    var spread = self
    var (frame, count) = (Int64.min, 0)
    for index in events.indices {
      if events[index].frame > frame {
        (frame, count) = (events[index].frame, 0)
      } else if count == most {
        (frame, count) = (frame + 1, 0)
      }
      spread.events[index].frame = frame
      count += 1
    }
    return spread
  }
}

/// The file driver: renders into files as fast as the machine can. The files are the same, bit for bit,
/// whatever the period. Worker; the calling thread acts as the audio thread meanwhile.
public final class OfflineRenderer {
  /// Sample rate, Hz.
  public let rate: Double
  /// Maximum frames of one render.
  public let period: Int

  private let engine: Engine
  private let host: RenderHost
  private let tracks: [Track]
  private let format: SampleFormat
  private var writers: [(file: SoundFileWriter, channels: Int)] = []
  /// The endpoints of the latest period, and those outputs among them that each track hears; nil: none was rendered.
  private var endpoints: [Endpoint]?
  private var heard: [[Endpoint]] = []
  /// Channel c of the engine at `channels + c * period`.
  private let channels: UnsafeMutablePointer<Float>
  private let mix: UnsafeMutablePointer<Float>
  private let rightShares: RightShares
  private static let mostChannels = 64
  private static let mostEvents = EventQueue.capacity / 2
  private static let cell: Int64 = 64
  /// Frames between calls of `collect` while nothing is under way.
  private static let housekeeping: Int64 = 1024
  /// Frames up to the last audible one.
  private var lastSound: Int64 = 0
  /// -100 dB.
  private static let silence: Float = 1e-5

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
    rightShares = RightShares(rate: rate)
  }

  deinit {
    channels.deallocate()
    mix.deallocate()
    rightShares.deallocate()
    inputs?.deallocate()
  }

  /// Load that the renderer is told, as a driver would; 0: there is room for everything.
  public var load: Float = 0

  /// Fills channels of an `input` that begin at an engine frame: the endpoint, the frame, their number, and where each
  /// channel goes, which is silent before. nil: nothing comes in.
  public var input: ((Endpoint, Int64, Int, (Int) -> UnsafeMutablePointer<Float>) -> Void)? {
    didSet { if input != nil { inputs = inputs ?? .allocate(capacity: period * DriverChannels.capacity) } }
  }
  private var inputs: UnsafeMutablePointer<Float>?

  /// Gives a MIDI port an event for the next frame; for cues.
  public func receive(_ event: Event, port: Int) {
    guard (0..<MidiInput.ports).contains(port) else { return }
    var event = event
    event.offset = 0
    host.midi.inputs[port].append(event)
  }

  /// Ends the notes that a MIDI port holds, from the next frame on; for cues.
  public func closeMidi(_ port: Int) {
    if (0..<MidiInput.ports).contains(port) { host.midi.close(port) }
  }

  /// Moves the transport as a server does, from the next frame on; for cues.
  public func follow(_ transport: TransportInput) { followed = transport }

  private var followed: TransportInput?

  /// Called at the end of a cell of 64 frames in which maps have moved values: the patch follows at the same frame for every
  /// period.
  public var moved: (() -> Void)?

  /// Renders `frames` frames and completes the files. With `silence`, it ends earlier if all has been silent
  /// (below -100 dB) for `hold` frames, from frame `from` on. Returns the number of frames rendered.
  ///
  /// `cues` run in order of their frames (those of one frame in the order given), each when all frames before
  /// its own are rendered. `progress` gets the number of frames so far, after each period or after some of them. An error from a cue, a
  /// file or `progress` ends the render and leaves no file.
  @discardableResult public func render(
    frames: Int64, cues: [Cue] = [], midi: MidiPerformance = MidiPerformance(),
    silence: (from: Int64, hold: Int64)? = nil, progress: (Int64) throws -> Void = { _ in }
  ) throws -> Int64 {
    var agenda = Agenda(cues.map { (due: $0.due, item: $0.action) })
    let midi = midi.spread(Self.mostEvents)
    var position: Int64 = 0
    var isCued = !cues.isEmpty
    func next() -> Int64? {
      guard isCued else { return nil }
      // Engine time and render time differ if a session renders twice.
      let shift = position - engine.renderer.time
      return agenda.next { [engine] in engine.frame(of: $0).map { $0 + shift } }?.frame
    }
    func runDue() throws {
      while let due = next(), due <= position {
        let action = agenda.removeNext()
        isCued = agenda.count > 0
        try action()
      }
    }
    var nextEvent = 0
    lastSound = 0
    defer { writers = [] }
    while true {
      // The last audible frame determines the end, so the end does not depend on the period.
      let last = silence.map { min(frames, max($0.from, lastSound + $0.hold)) } ?? frames
      guard position < last else { break }
      try runDue()
      if writers.count < tracks.count { try openFiles(frames: frames) }
      // A period that ends early does not move the later ones, so blocks stay whole.
      var end = min(position - position % Int64(period) + Int64(period), last)
      if let due = next() { end = min(end, due) }
      if let fadeEnd = engine.nextFadeEnd.map({ position + $0 - engine.renderer.time }), fadeEnd > position {
        end = min(end, fadeEnd)
      }
      if position < midi.end { end = min(end, midi.end) }
      if position == midi.end, position > 0 { for port in 0..<MidiInput.ports { host.midi.close(port) } }
      let cell = engine.hasMaps ? position + Self.cell - engine.renderer.time % Self.cell : .max
      end = play(midi, from: position, to: min(end, cell), &nextEvent)
      try renderPeriod(Int(end - position), at: position)
      // With nothing under way, short periods are followed up as rarely as long ones.
      let isCut = end != cell && end % Int64(period) != 0
      let isDue = end == last || isCut || position / Self.housekeeping != end / Self.housekeeping
      position = end
      // First: what follows a fade's end tells the audio thread all gains that maps move, as far as they are known.
      if engine.hasMoved { moved?() }
      guard isDue || !engine.isSettled else { continue }
      engine.collect(expectingNothingBefore: engine.renderer.time)
      try progress(position)
    }
    try runDue()
    for writer in writers { try writer.file.finish() }
    return position
  }

  /// Sends all ports the events due before `end`. If a queue cannot take that many, sends those due before an
  /// earlier frame, and returns that frame.
  private func play(
    _ midi: MidiPerformance, from start: Int64, to end: Int64, _ next: inout Int
  ) -> Int64 {
    var last = next
    while last < midi.events.count, midi.events[last].frame < end, last - next < Self.mostEvents { last += 1 }
    var end = end
    if last < midi.events.count, midi.events[last].frame < end {
      // All events of a frame, or none. All events of the first frame fit.
      end = max(midi.events[last].frame, start + 1)
      while last > next, midi.events[last - 1].frame >= end { last -= 1 }
    }
    for (frame, var event) in midi.events[next..<last] {
      event.offset = Int32(max(frame, start) - start)
      for port in 0..<MidiInput.ports { host.midi.inputs[port].append(event) }
    }
    next = last
    return end
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

  private func renderPeriod(_ frames: Int, at position: Int64) throws(DriverError) {
    // Most periods have the endpoints of the one before, and equal arrays of one memory are not compared.
    if endpoints != engine.endpoints { route() }
    takeInputs(frames)
    defer { followed = nil }
    guard host.render(frames: frames, budget: 0, load: load, transport: followed) else { return }
    for track in writers.indices {
      let count = writers[track].channels
      sum(heard[track], into: count, frames: frames)
      var last = frames * count
      while last > 0, mix[last - 1].magnitude < Self.silence { last -= 1 }
      if last > 0 { lastSound = max(lastSound, position + Int64((last - 1) / count + 1)) }
      try writers[track].file.write(mix, frames: frames)
    }
    for channel in 0..<DriverChannels.capacity { rightShares.skip(channel, frames) }
  }

  /// Gives the channels of the outputs memory, and notes which of them each track hears.
  private func route() {
    endpoints = engine.endpoints
    let outputs = engine.endpoints.filter { !$0.isInput }
    heard = tracks.map { outputs.filter($0.includes) }
    for channel in 0..<DriverChannels.capacity { host.outputs[channel] = nil }
    var singles: Set<Int> = []
    for endpoint in outputs {
      for channel in endpoint.firstChannel..<(endpoint.firstChannel + endpoint.channels)
      where channel < DriverChannels.capacity {
        host.outputs[channel] = channels + channel * period
      }
      if endpoint.channels == 1 { singles.insert(endpoint.firstChannel) }
    }
    for channel in 0..<DriverChannels.capacity {
      rightShares.set(
        channel, isRouted: host.outputs[channel] != nil, isSingle: singles.contains(channel))
    }
  }

  private func takeInputs(_ frames: Int) {
    guard let input, let inputs else { return }
    for channel in 0..<DriverChannels.capacity { host.inputs[channel] = nil }
    for endpoint in engine.endpoints
    where endpoint.isInput && endpoint.firstChannel + endpoint.channels <= DriverChannels.capacity {
      for channel in endpoint.firstChannel..<(endpoint.firstChannel + endpoint.channels) {
        (inputs + channel * period).update(repeating: 0, count: frames)
        host.inputs[channel] = UnsafePointer(inputs + channel * period)
      }
      input(endpoint, engine.renderer.time, frames) { inputs + (endpoint.firstChannel + $0) * self.period }
    }
  }

  /// Interleaves the endpoints' channels into `mix`. A mono endpoint goes to both sides of a wider file, as
  /// with a mono cable (`RightShares`); other channels keep their numbers.
  private func sum(_ endpoints: [Endpoint], into count: Int, frames: Int) {
    mix.update(repeating: 0, count: frames * count)
    for endpoint in endpoints {
      for target in 0..<min(count, endpoint.channels) {
        let source = endpoint.firstChannel + target
        guard source < DriverChannels.capacity else { continue }
        let samples = channels + source * period
        // Adding to +0 also turns -0 into +0, so that renders do not differ in the sign of silence.
        for frame in 0..<frames { mix[frame * count + target] += samples[frame] }
        rightShares.add(samples, of: source, to: mix, width: count, frames: frames)
      }
    }
  }
}
