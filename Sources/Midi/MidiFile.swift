import Realtime

/// A Standard MIDI File of format 0 or 1 ("Standard MIDI-File Format Spec. 1.1", MIDI Manufacturers
/// Association, 1996), as events in seconds. Worker.
public struct MidiFile: Sendable {
  public struct TimedEvent: Sendable {
    /// Seconds from the start of the file.
    public var seconds: Double
    public var event: Event

    public init(seconds: Double, event: Event) {
      self.seconds = seconds
      self.event = event
    }
  }

  /// Events in order of time; simultaneous events in the order of their tracks.
  public let events: [TimedEvent]
  /// Seconds to the end of the longest track.
  public let duration: Double
  /// Bytes skipped: system exclusive messages and unknown chunks.
  public let skipped: Int

  /// Events in order of their times, with the file's length in seconds.
  public init(events: [TimedEvent], duration: Double) {
    self.events = events
    self.duration = duration
    skipped = 0
  }

  public init(bytes: [UInt8]) throws(MidiFileError) {
    var reader = MidiFileReader(bytes)
    try reader.readFile()
    let clock = TempoMap(reader.division, reader.tempi)
    // A stable sort.
    events = reader.events.enumerated()
      .sorted { ($0.element.tick, $0.offset) < ($1.element.tick, $1.offset) }
      .map { TimedEvent(seconds: clock.seconds(at: $0.element.tick), event: $0.element.event) }
    duration = clock.seconds(at: reader.lastTick)
    skipped = reader.skipped
  }
}

/// An error in a MIDI file and its place.
public struct MidiFileError: Error, Equatable, CustomStringConvertible {
  /// Bytes from the start of the file.
  public var offset: Int
  public var reason: String

  init(_ reason: String, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  public var description: String { "byte \(offset): \(reason)" }
}

/// Conversion of ticks to seconds.
struct TempoMap {
  enum Division: Equatable {
    case ticksPerQuarter(Int)
    case ticksPerSecond(Double)
  }

  /// A section of constant tempo.
  private struct Stretch {
    var tick: Int
    var seconds: Double
    var secondsPerTick: Double
  }

  private var stretches: [Stretch]

  /// `tempi`: microseconds per quarter note from a tick on, in any order; 500 000 before the first. Of
  /// several at one tick the last counts.
  init(_ division: Division, _ tempi: [(tick: Int, microseconds: Int)]) {
    switch division {
    case .ticksPerSecond(let rate): stretches = [Stretch(tick: 0, seconds: 0, secondsPerTick: 1 / rate)]
    case .ticksPerQuarter(let ticks):
      let scale = 1e-6 / Double(ticks)
      stretches = [Stretch(tick: 0, seconds: 0, secondsPerTick: 500_000 * scale)]
      let ordered = tempi.enumerated().sorted {
        ($0.element.tick, $0.offset) < ($1.element.tick, $1.offset)
      }
      for (_, tempo) in ordered {
        stretches.append(
          Stretch(
            tick: tempo.tick, seconds: seconds(at: tempo.tick),
            secondsPerTick: Double(tempo.microseconds) * scale))
      }
    }
  }

  func seconds(at tick: Int) -> Double {
    // The last one that begins by then.
    var (low, high) = (0, stretches.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if stretches[middle].tick <= tick { low = middle } else { high = middle }
    }
    let stretch = stretches[low]
    return stretch.seconds + Double(tick - stretch.tick) * stretch.secondsPerTick
  }
}
