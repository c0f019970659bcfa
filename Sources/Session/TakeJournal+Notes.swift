import Midi
import Realtime

extension TakeJournal {
  /// The events from a frame on, which becomes frame 0, of all nodes and ports together. Before them stands what holds there:
  /// keys that are down, and the latest of each controller, bend, pressure and program. Empty if no note is held or follows.
  func played(from start: Int64) -> [(frame: Int64, event: Event)] {
    var held = HeldEvents()
    var played: [(frame: Int64, event: Event)] = []
    for entry in entries {
      switch entry.happening {
      case .event(_, let event) where entry.frame >= start, .midi(_, let event) where entry.frame >= start:
        played.append((entry.frame - start, event))
      case .event(let node, let event): held.follow(event, of: node)
      case .midi(let port, let event): held.follow(event, of: "\(port)")
      case .closed(let port) where entry.frame < start: held.end { source, _ in source == "\(port)" }
      case .panic where entry.frame < start: held.end { _, _ in true }
      default: break
      }
    }
    if played.isEmpty, !held.hasNotes { return [] }
    return held.events.map { (0, $0) } + played
  }
}

extension TakeJournal {
  /// System exclusive messages from a frame on, which becomes frame 0, of all ports together.
  func exclusives(from start: Int64) -> [MidiFileWriter.Exclusive] {
    entries.compactMap { entry in
      guard case .exclusive(_, let bytes) = entry.happening, entry.frame >= start else { return nil }
      return MidiFileWriter.Exclusive(frame: entry.frame - start, bytes: bytes)
    }
  }

  /// Tempo and meter from a frame on, which becomes frame 0.
  func pulses(from start: Int64) -> [MidiFileWriter.Pulse] {
    let first = pulses.last { $0.frame <= start } ?? pulses.first
    return [MidiFileWriter.Pulse(frame: 0, pulse: first?.pulse ?? Transport.Pulse())]
      + pulses.filter { $0.frame > start }.map {
        MidiFileWriter.Pulse(frame: $0.frame - start, pulse: $0.pulse)
      }
  }
}

/// Keys that are down and the latest values of controllers, in the order in which they came.
private struct HeldEvents {
  private struct Place: Hashable {
    var kind: Event.Kind
    var channel: UInt8
    var key: UInt8
  }

  /// `source`: name of the node, or number of the MIDI port.
  private var known: [Place: (number: Int, source: String, event: Event)] = [:]
  private var count = 0

  var events: [Event] { known.values.sorted { $0.number < $1.number }.map(\.event) }
  var hasNotes: Bool { known.keys.contains { $0.kind == .noteOn } }

  mutating func follow(_ event: Event, of source: String) {
    func place(_ kind: Event.Kind, key: UInt8 = 0) -> Place {
      Place(kind: kind, channel: event.channel, key: key)
    }
    func keep(_ place: Place) {
      count += 1
      known[place] = (count, source, event)
    }
    switch event.kind {
    case .noteOn, .control, .keyPressure: keep(place(event.kind, key: event.key))
    case .bend, .pressure, .program: keep(place(event.kind))
    case .noteOff: known[place(.noteOn, key: event.key)] = nil
    case .allNotesOff, .allSoundOff: end { $1 == event.channel }
    case .reset: known = known.filter { $0.value.source != source }
    default: break
    }
  }

  /// Ends the notes and lifts the pedals of sources and channels.
  mutating func end(_ isMeant: (_ source: String, _ channel: UInt8) -> Bool) {
    known = known.filter { place, value in
      let isHeld = place.kind == .noteOn || place.kind == .control && (64...69).contains(place.key)
      return !isHeld || !isMeant(value.source, place.channel)
    }
  }
}
