import Engine
import Midi
import Patch
import PatchLanguage
import Realtime

/// A MIDI file that plays live: the nodes behind `midi` nodes hear it, each its channel.
struct Song {
  let name: String
  let events: [MidiFile.TimedEvent]
  let duration: Double
  /// Index of the next event.
  var next = 0
  /// Engine frame of its start; nil: files are still loading.
  var start: Int64?
  /// Seconds of it that have been sent.
  var sent = 0.0
  /// It waits for the transport: all that was sent has ended.
  var isHalted = false
  /// Seconds from its start to which the transport has been moved.
  var wanted: Double?

  /// Goes on from another place, and returns what is in force there: the last program, bend and position of each controller.
  mutating func move(to seconds: Double) -> [Event] {
    next = events.firstIndex { $0.seconds >= seconds } ?? events.count
    sent = seconds
    var latest: [[Int]: Int] = [:]
    for index in 0..<next where events[index].event.isState {
      let event = events[index].event
      latest[[Int(event.kind.rawValue), Int(event.channel), Int(event.key)]] = index
    }
    return latest.values.sorted().map { events[$0].event }
  }

  /// Reads a MIDI file; an error names it.
  static func read(_ path: String) throws -> MidiFile {
    let bytes = try PatchFile.read(path)
    do throws(MidiFileError) {
      return try MidiFile(bytes: bytes)
    } catch {
      throw SongError(path: path, error: error)
    }
  }
}

extension Event {
  /// It lasts until another of its kind.
  fileprivate var isState: Bool {
    switch kind {
    case .control, .bend, .pressure, .program, .rhythm, .masterTuning, .masterVolume: true
    default: false
    }
  }
}

/// A MIDI file that is none.
struct SongError: Error, CustomStringConvertible {
  let path: String
  let error: MidiFileError

  var description: String { "\(path): \(error)" }
}

/// A MIDI file that plays, as views show it.
public struct SongStatus: Sendable, Equatable {
  /// Name of the file.
  public var name: String
  /// Seconds played, and all.
  public var seconds: Double
  /// Seconds of the whole.
  public var duration: Double
  /// It waits for the transport to roll.
  public var isHalted: Bool
}

extension Session {
  /// Seconds that events are sent ahead, so that a busy main thread does not delay them: they sound at their own frames.
  private static let songLead = 0.5
  /// Events sent in one call: a queue of the engine takes twice as many in a block.
  private static let mostSongEvents = EventQueue.capacity / 2

  /// Name of the MIDI file that plays; nil: none does.
  public var songName: String? { song?.name }

  /// The MIDI file that plays, and how far it is.
  var songStatus: SongStatus? {
    guard let song else { return nil }
    let played = song.start.map { Double(engine.renderer.time - $0) / engine.rate } ?? 0
    return SongStatus(
      name: song.name, seconds: min(max(0, song.isHalted ? song.sent : played), song.duration),
      duration: song.duration, isHalted: song.isHalted)
  }

  /// Plays a MIDI file from its start, when all files are loaded, while the transport rolls. An error names the file. Main
  /// thread.
  public func playSong(_ path: String) throws {
    let file = try Song.read(path)
    endSong()
    song = Song(name: PatchFile.split(path).name, events: file.events, duration: file.duration)
  }

  /// Moves it to where an order has put the transport: its start is that of the transport.
  func moveSong(_ order: TransportOrder) {
    switch order {
    case .locate(let place):
      let frame = engine.transport.position(ofBar: Int64(place.bar), beat: Double(place.beat - 1))
      song?.wanted = Double(frame) / engine.rate
    case .seek(let seconds): song?.wanted = seconds
    case .roll, .halt: break
    }
  }

  /// Ends it, with all its notes. Main thread.
  public func endSong() {
    guard song != nil else { return }
    song = nil
    for listener in songListeners { play(Event(.allNotesOff), on: listener.node) }
  }

  /// Sends the events that are due soon, at their frames.
  func followSong() {
    guard var playing = song, isLoaded || playing.start != nil else { return }
    let rate = engine.rate
    let now = engine.renderer.time
    let listeners = songListeners
    if let seconds = playing.wanted {
      playing.wanted = nil
      // Behind what was sent ahead, as with a halt.
      let end =
        playing.isHalted ? now : max(now, (playing.start ?? now) + Int64(limited: playing.sent * rate))
      let state = playing.move(to: seconds)
      if playing.start != nil { playing.start = end - Int64(limited: seconds * rate) }
      for listener in listeners { play(Event(.allNotesOff), on: listener.node, at: end) }
      for event in state { send(event, to: listeners, at: end) }
      song = playing
    }
    guard engine.transport.isRolling else {
      guard !playing.isHalted, let start = playing.start else { return }
      playing.isHalted = true
      song = playing
      // Behind what was sent ahead, which sounds still.
      let end = max(now, start + Int64(limited: playing.sent * rate))
      for listener in listeners { play(Event(.allNotesOff), on: listener.node, at: end) }
      return
    }
    // The first events are ahead of the block that is being rendered. After a halt the rest comes as if it had gone on.
    let first = now + Int64(rate / 10) - Int64(limited: playing.sent * rate)
    let start = playing.isHalted ? first : playing.start ?? first
    (playing.start, playing.isHalted) = (start, false)
    let horizon = max(playing.sent, Double(now - start) / rate + Self.songLead)
    playing.sent = horizon
    var count = 0
    while playing.next < playing.events.count, playing.events[playing.next].seconds <= horizon,
      count < Self.mostSongEvents
    {
      let item = playing.events[playing.next]
      playing.next += 1
      count += 1
      let frame = start + Int64(limited: item.seconds * rate)
      send(item.event, to: listeners, at: max(frame, now))
    }
    song = playing
    guard playing.next == playing.events.count, Double(now - start) / rate > playing.duration else { return }
    let name = playing.name
    endSong()
    notice(.news("\(name) has ended"))
  }

  private func send(_ event: Event, to listeners: [(node: NodeID, channel: UInt8?)], at frame: Int64) {
    for listener in listeners
    where listener.channel == nil || event.isForAllChannels || listener.channel == event.channel {
      play(event, on: listener.node, at: frame)
    }
  }

  /// Nodes behind `midi` nodes, with the channel that each hears, from 0; nil: all.
  private var songListeners: [(node: NodeID, channel: UInt8?)] {
    patch.cables.keys.compactMap { ends in
      guard let source = patch[ends.source.node], catalogue[source.kind]?.endpoint == .midi else {
        return nil
      }
      let channel: UInt8?
      if case .text(let word)? = source.settings[ParameterPath("channel")], let number = UInt8(word) {
        channel = number - 1
      } else {
        channel = nil
      }
      return (ends.destination.node, channel)
    }
  }
}
