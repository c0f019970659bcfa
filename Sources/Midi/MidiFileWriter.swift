import Realtime

/// Writes a Standard MIDI File of format 0. A tick is a frame, up to 65,534 frames a second; else the smallest part of
/// a frame's number that such a file can count in. Worker.
public enum MidiFileWriter {
  /// The file of events at frames, in order of time. Events that MIDI has no message for are left out.
  public static func bytes(_ events: [(frame: Int64, event: Event)], frames: Int64, rate: Double) -> [UInt8] {
    // A quarter note of so many seconds has as many ticks as the file's head has room for.
    var quarter = 0.5
    while rate * quarter > 32767 { quarter /= 2 }
    let division = max(1, Int((rate * quarter).rounded()))
    let perFrame = Double(division) / quarter / rate
    func tick(_ frame: Int64) -> Int64 { Int64((Double(frame) * perFrame).rounded()) }
    let microseconds = Int((quarter * 1e6).rounded())
    var track: [UInt8] = [0, 0xFF, 0x51, 3]
    for shift in [16, 8, 0] { track.append(UInt8(truncatingIfNeeded: microseconds >> shift)) }
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
    for (frame, event) in events {
      guard let message = message(of: event) else { continue }
      wait(until: tick(frame))
      track += message
    }
    wait(until: tick(frames))
    track += [0xFF, 0x2F, 0]
    var file = Array("MThd".utf8) + [0, 0, 0, 6, 0, 0, 0, 1]
    file += [UInt8(truncatingIfNeeded: division >> 8), UInt8(truncatingIfNeeded: division)]
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
