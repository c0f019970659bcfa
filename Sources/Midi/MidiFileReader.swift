import Realtime

/// Reads the chunks of a MIDI file; every violation of the format is an error at its byte.
struct MidiFileReader {
  private let bytes: [UInt8]
  private var position = 0
  /// Limit of event times: some 200 years at 480 ticks per quarter note.
  private static let mostTicks = 1 << 40

  private(set) var division = TempoMap.Division.ticksPerQuarter(480)
  private(set) var tempi: [(tick: Int, microseconds: Int)] = []
  /// Track after track.
  private(set) var events: [(tick: Int, event: Event)] = []
  private(set) var lastTick = 0
  private(set) var skipped = 0
  /// An incomplete system exclusive message.
  private var exclusive: [UInt8] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func readFile() throws(MidiFileError) {
    try enterRiff()
    guard bytes.count < 4 || bytes[position...].starts(with: Array("MThd".utf8)) else {
      throw MidiFileError("no MIDI file: it begins without MThd", at: position)
    }
    let header = try readChunkHeader()
    guard header.length >= 6 else {
      throw MidiFileError("a header of \(header.length) bytes, which has 6 at least", at: position - 4)
    }
    let start = position
    let format = try readNumber(bytes: 2)
    guard format <= 1 else {
      throw MidiFileError(
        format == 2
          ? "format 2, patterns without a common time: save it as format 0 or 1, or each pattern by itself"
          : "unknown format \(format)", at: start)
    }
    let tracks = try readNumber(bytes: 2)
    try readDivision()
    skip(to: start + header.length)

    var found = 0
    while found < tracks {
      guard position < bytes.count else {
        throw MidiFileError("ends after \(found) of \(tracks) tracks", at: position)
      }
      let chunk = try readChunkHeader()
      let end = position + chunk.length
      if chunk.name == "MTrk" {
        try readTrack(to: end)
        found += 1
      } else {
        skipped += chunk.length
      }
      skip(to: end)
    }
  }

  /// A RIFF file of the form RMID wraps a MIDI file.
  private mutating func enterRiff() throws(MidiFileError) {
    guard bytes.starts(with: Array("RIFF".utf8)), bytes.count >= 20,
      Array(bytes[8..<16]) == Array("RMIDdata".utf8)
    else { return }
    position = 20
  }

  private mutating func readDivision() throws(MidiFileError) {
    let start = position
    let word = try readNumber(bytes: 2)
    if word & 0x8000 == 0 {
      guard word > 0 else { throw MidiFileError("no ticks in a quarter note", at: start) }
      division = .ticksPerQuarter(word)
      return
    }
    let frames = 256 - word >> 8
    let ticks = word & 0xFF
    guard [24, 25, 29, 30].contains(frames), ticks > 0 else {
      throw MidiFileError("\(frames) frames a second of \(ticks) ticks is no time code", at: start)
    }
    // 29 stands for the 30 frames of drop-frame code, whose rate is 30/1.001.
    division = .ticksPerSecond((frames == 29 ? 30_000.0 / 1001 : Double(frames)) * Double(ticks))
  }

  private mutating func readTrack(to end: Int) throws(MidiFileError) {
    var tick = 0
    // The standard ends running status at meta events and system exclusive messages, but there are files that
    // continue it.
    var running: UInt8?
    exclusive = []
    while position < end {
      let start = position
      tick += try readVariable(end)
      guard tick < Self.mostTicks else { throw MidiFileError("a time beyond all measure", at: start) }
      lastTick = max(lastTick, tick)
      let status = try peek(end)
      switch status {
      case 0xFF:
        position += 1
        if try readMeta(at: tick, end) { return }
      case 0xF0, 0xF7:
        position += 1
        try readExclusive(isFirst: status == 0xF0, tick, end)
      case 0xF1...0xFE:
        throw MidiFileError("system message \(hex(status)), which no file may hold", at: position)
      case 0x80...0xEF:
        position += 1
        running = status
        try readMessage(status, tick, end)
      default:
        guard let running else {
          throw MidiFileError("\(hex(status)) where a status byte has to be", at: position)
        }
        try readMessage(running, tick, end)
      }
    }
  }

  /// A system exclusive message, or a piece of one that was split.
  private mutating func readExclusive(isFirst: Bool, _ tick: Int, _ end: Int) throws(MidiFileError) {
    let length = try readVariable(end)
    let start = position
    try skip(length, within: end, "a system exclusive message")
    skipped += length
    // A piece without a beginning is something else.
    guard isFirst || !exclusive.isEmpty else { return }
    exclusive = (isFirst ? [0xF0] : exclusive) + bytes[start..<position]
    guard exclusive.count > MidiMessage.longest || exclusive.last == 0xF7 else { return }
    defer { exclusive = [] }
    guard exclusive.count <= MidiMessage.longest else { return }
    let found = exclusive.withUnsafeBufferPointer { bytes in
      var message = MidiMessage(bytes.baseAddress!, count: bytes.count)
      if !message.isUnderstood { return nil as [Event]? }
      var found: [Event] = []
      while let event = message.next() { found.append(event) }
      return found
    }
    guard let found else { return }
    skipped -= exclusive.count - 1
    events += found.map { (tick, $0) }
  }

  private mutating func readMessage(_ status: UInt8, _ tick: Int, _ end: Int) throws(MidiFileError) {
    var message: [UInt8] = [status]
    for _ in 0..<(status & 0xE0 == 0xC0 ? 1 : 2) {
      let byte = try peek(end)
      guard byte < 0x80 else {
        throw MidiFileError("status byte \(hex(byte)) within message \(hex(status))", at: position)
      }
      message.append(byte)
      position += 1
    }
    if let event = Event(midi: message, count: message.count) { events.append((tick, event)) }
  }

  /// Returns true at the end of the track.
  private mutating func readMeta(at tick: Int, _ end: Int) throws(MidiFileError) -> Bool {
    let kind = try peek(end)
    position += 1
    let start = position
    let length = try readVariable(end)
    let data = position
    try skip(length, within: end, "a meta event")
    if kind == 0x51 {
      guard length == 3 else { throw MidiFileError("a tempo of \(length) bytes, which has 3", at: start) }
      let tempo = Int(bytes[data]) << 16 | Int(bytes[data + 1]) << 8 | Int(bytes[data + 2])
      guard tempo > 0 else { throw MidiFileError("a tempo of no time at all", at: data) }
      tempi.append((tick, tempo))
    }
    return kind == 0x2F
  }

  // MARK: Bytes

  private mutating func readChunkHeader() throws(MidiFileError) -> (name: String, length: Int) {
    let start = position
    guard bytes.count - position >= 8 else { throw MidiFileError("ends within a chunk's header", at: start) }
    let name = String(decoding: bytes[position..<position + 4], as: UTF8.self)
    position += 4
    let length = try readNumber(bytes: 4)
    guard length <= bytes.count - position else {
      throw MidiFileError(
        "a chunk of \(length) bytes, of which the file has \(bytes.count - position)", at: start)
    }
    return (name, length)
  }

  private mutating func readNumber(bytes count: Int) throws(MidiFileError) -> Int {
    guard bytes.count - position >= count else { throw MidiFileError("ends early", at: position) }
    var number = 0
    for _ in 0..<count {
      number = number << 8 | Int(bytes[position])
      position += 1
    }
    return number
  }

  /// Variable-length quantity: seven bits per byte, four bytes at most.
  private mutating func readVariable(_ end: Int) throws(MidiFileError) -> Int {
    let start = position
    var number = 0
    for _ in 0..<4 {
      let byte = try peek(end)
      position += 1
      number = number << 7 | Int(byte & 0x7F)
      if byte < 0x80 { return number }
    }
    throw MidiFileError("a number of more than four bytes", at: start)
  }

  private func peek(_ end: Int) throws(MidiFileError) -> UInt8 {
    guard position < end else { throw MidiFileError("the track ends within an event", at: position) }
    return bytes[position]
  }

  private mutating func skip(_ length: Int, within end: Int, _ what: String) throws(MidiFileError) {
    guard length <= end - position else {
      throw MidiFileError(
        "\(what) of \(length) bytes, of which the track has \(end - position)", at: position)
    }
    position += length
  }

  private mutating func skip(to place: Int) { position = place }

  private func hex(_ byte: UInt8) -> String { "0x" + String(byte, radix: 16, uppercase: true) }
}
