/// Writes MIDI files for tests.
public enum MidiWriter {
  /// `tracks`: delta times and events; `ends` appends the end-of-track event. `claims`: track count in the
  /// header, if not the true one.
  public static func file(
    format: Int, division: Int, tracks: [[UInt8]], claims: Int? = nil, ends: Bool = true
  ) -> [UInt8] {
    var bytes = Array("MThd".utf8) + number(6, 4) + number(format, 2)
    bytes += number(claims ?? tracks.count, 2) + number(division, 2)
    for track in tracks {
      let body = track + (ends ? [0, 0xFF, 0x2F, 0] : [])
      bytes += Array("MTrk".utf8) + number(body.count, 4) + body
    }
    return bytes
  }

  /// A tempo in microseconds per quarter note, as three bytes.
  public static func tempo(_ microseconds: Int) -> [UInt8] { number(microseconds, 3) }

  /// A delta time, as a variable-length quantity.
  public static func delta(_ ticks: Int) -> [UInt8] {
    var bytes = [UInt8(ticks & 0x7F)]
    var rest = ticks >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(value >> (8 * $0) & 0xFF) }
  }
}
