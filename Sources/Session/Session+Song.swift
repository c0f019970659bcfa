import Engine
import Midi
import Patch
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
}

extension Session {
  /// Seconds that events are sent ahead, so that a busy main thread does not delay them: they sound at their own frames.
  private static let songLead = 0.5
  /// Events sent in one call: a queue of the engine takes twice as many in a block.
  private static let mostSongEvents = EventQueue.capacity / 2

  /// Name of the MIDI file that plays; nil: none does.
  public var songName: String? { song?.name }

  /// Plays a MIDI file from its start, when all files are loaded. Throws a `FileError` or a `MidiFileError`. Main thread.
  public func playSong(_ path: String) throws {
    let file = try MidiFile(bytes: try PatchFile.read(path))
    endSong()
    song = Song(name: PatchFile.split(path).name, events: file.events, duration: file.duration)
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
    // The first events are ahead of the block that is being rendered.
    let start = playing.start ?? now + Int64(rate / 10)
    playing.start = start
    let horizon = Double(now - start) / rate + Self.songLead
    let listeners = songListeners
    var count = 0
    while playing.next < playing.events.count, playing.events[playing.next].seconds <= horizon,
      count < Self.mostSongEvents
    {
      let item = playing.events[playing.next]
      playing.next += 1
      count += 1
      let frame = start + Int64(limited: item.seconds * rate)
      for listener in listeners
      where listener.channel == nil || item.event.isForAllChannels || listener.channel == item.event.channel {
        play(item.event, on: listener.node, at: max(frame, now))
      }
    }
    song = playing
    guard playing.next == playing.events.count, Double(now - start) / rate > playing.duration else { return }
    let name = playing.name
    endSong()
    notice(.news("\(name) has ended"))
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
