import Realtime

/// Writes a Standard MIDI File of format 0. A tick is a frame of the first tempo, if the file's head has room for so many in
/// a quarter note; else several frames. Worker.
public enum MidiFileWriter {
  /// Tempo and meter from a frame on.
  public struct Pulse: Equatable, Sendable {
    /// The frame.
    public var frame: Int64
    /// Tempo and meter.
    public var pulse: Transport.Pulse

    /// Tempo and meter from a frame on.
    public init(frame: Int64, pulse: Transport.Pulse) { (self.frame, self.pulse) = (frame, pulse) }
  }

  /// A system exclusive message at a frame.
  public struct Exclusive: Equatable, Sendable {
    /// The frame.
    public var frame: Int64
    /// The message, first and last byte included.
    public var bytes: [UInt8]

    /// A message at a frame.
    public init(frame: Int64, bytes: [UInt8]) { (self.frame, self.bytes) = (frame, bytes) }
  }

  /// A stretch of one tempo. A file has whole microseconds for a quarter note, so its ticks go by these.
  private struct Stretch {
    let frame: Int64
    let tick: Int64
    let microseconds: Int
    let pulse: Transport.Pulse

    init(_ frame: Int64, tick: Int64, _ pulse: Transport.Pulse) {
      (self.frame, self.tick, self.pulse) = (frame, tick, pulse)
      microseconds = min(max(Int((pulse.wholeNote / 4 * 1e6).rounded()), 1), 0xFF_FFFF)
    }

    func tick(_ frame: Int64, _ division: Int, _ rate: Double) -> Int64 {
      let quarters = Double(frame - self.frame) / rate / (Double(microseconds) * 1e-6)
      return tick + Int64((quarters * Double(division)).rounded())
    }

    /// Tempo and meter, as events of the file.
    var events: [[UInt8]] {
      var tempo: [UInt8] = [0xFF, 0x51, 3]
      for shift in [16, 8, 0] { tempo.append(UInt8(truncatingIfNeeded: microseconds >> shift)) }
      let power = UInt8(Int(max(pulse.unit, 1)).trailingZeroBitCount)
      return [tempo, [0xFF, 0x58, 4, UInt8(clamping: pulse.beats), power, 24, 8]]
    }
  }

  /// The file of events and system exclusive messages at frames, each in order of time, and of tempo and meter from frames on
  /// (120 and 4/4 unless told). Events that MIDI has no message for are left out. Notes that are held at the end end there.
  public static func bytes(
    _ events: [(frame: Int64, event: Event)], exclusives: [Exclusive] = [], frames: Int64, rate: Double,
    pulses: [Pulse] = []
  ) -> [UInt8] {
    let pulses = pulses.isEmpty ? [Pulse(frame: 0, pulse: Transport.Pulse())] : pulses
    let quarter = Double(Stretch(0, tick: 0, pulses[0].pulse).microseconds) * 1e-6
    var division = rate * quarter
    while division > 32767 { division /= 2 }
    let ticks = max(1, Int(division.rounded()))
    var stretches: [Stretch] = []
    for next in pulses {
      let tick = stretches.last?.tick(next.frame, ticks, rate) ?? 0
      stretches.append(Stretch(next.frame, tick: tick, next.pulse))
    }
    // Frames come in order, so the search goes on from the last one's stretch.
    var stretch = 0
    func tick(_ frame: Int64) -> Int64 {
      while stretch > 0, stretches[stretch].frame > frame { stretch -= 1 }
      while stretch + 1 < stretches.count, stretches[stretch + 1].frame <= frame { stretch += 1 }
      return stretches[stretch].tick(frame, ticks, rate)
    }
    var track: [UInt8] = []
    var last: Int64 = 0
    func wait(until tick: Int64) {
      var left = max(0, tick - last)
      last = max(last, tick)
      // A delta has 28 bits; an empty text stands in between.
      while left > 0xFFF_FFFF {
        track += delta(0xFFF_FFFF) + [0xFF, 0x01, 0]
        left -= 0xFFF_FFFF
      }
      track += delta(left)
    }
    var next = 0
    func tell(before frame: Int64) {
      while next < stretches.count, stretches[next].frame <= frame {
        for event in stretches[next].events {
          wait(until: stretches[next].tick)
          track += event
        }
        next += 1
      }
    }
    tell(before: 0)
    // Those of a frame come before its notes, which they may be about.
    var nextExclusive = 0
    func send(before frame: Int64) {
      while nextExclusive < exclusives.count, exclusives[nextExclusive].frame <= frame {
        let (place, bytes) = (exclusives[nextExclusive].frame, exclusives[nextExclusive].bytes)
        nextExclusive += 1
        guard bytes.first == 0xF0, bytes.last == 0xF7 else { continue }
        tell(before: place)
        wait(until: tick(place))
        track += [0xF0] + delta(Int64(bytes.count - 1)) + bytes.dropFirst()
      }
    }
    var held: [(channel: UInt8, key: UInt8)] = []
    for (frame, event) in events {
      guard let message = message(of: event) else { continue }
      switch event.kind {
      case .noteOn: held.append((event.channel & 15, event.key))
      case .noteOff: held.removeAll { $0.channel == event.channel & 15 && $0.key == event.key }
      case .allNotesOff, .allSoundOff: held.removeAll { $0.channel == event.channel & 15 }
      default: break
      }
      send(before: frame)
      tell(before: frame)
      wait(until: tick(frame))
      track += message
    }
    send(before: frames - 1)
    tell(before: frames - 1)
    for (channel, key) in held {
      wait(until: tick(frames))
      track += [0x80 | channel, key, 64]
    }
    wait(until: tick(frames))
    track += [0xFF, 0x2F, 0]
    var file = Array("MThd".utf8) + [0, 0, 0, 6, 0, 0, 0, 1]
    file += [UInt8(truncatingIfNeeded: ticks >> 8), UInt8(truncatingIfNeeded: ticks)]
    file += Array("MTrk".utf8)
    for shift in [24, 16, 8, 0] { file.append(UInt8(truncatingIfNeeded: track.count >> shift)) }
    return file + track
  }

  /// A variable-length quantity.
  private static func delta(_ ticks: Int64) -> [UInt8] {
    var bytes = [UInt8(ticks & 0x7F)]
    var rest = ticks >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }

  /// nil: no channel message says this.
  private static func message(of event: Event) -> [UInt8]? {
    switch event.kind {
    case .system: return nil
    case .allNotesOff: return [0xB0 | event.channel & 15, 123, 0]
    case .allSoundOff: return [0xB0 | event.channel & 15, 120, 0]
    default:
      let bytes = [UInt8](unsafeUninitializedCapacity: 3) { $1 = event.write(to: $0.baseAddress!) }
      return bytes.isEmpty ? nil : bytes
    }
  }
}
