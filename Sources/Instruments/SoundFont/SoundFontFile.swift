import Glibc

/// The tables and samples of a SoundFont 2 bank as stored in the file ("SoundFont Technical Specification",
/// version 2.04, E-mu 1998; chapters 5 to 7 name everything that is read here). Worker.
final class SoundFontFile {
  /// A preset or an instrument: its name and its range in the table of zones.
  struct Head {
    var name: String
    var program = 0
    var bank = 0
    var zones: Range<Int>
  }

  struct Sample {
    var name: String
    /// Position in frames of the whole sample memory; ends are exclusive.
    var start: Int
    var end: Int
    var loopStart: Int
    var loopEnd: Int
    var rate: Int
    var key: Int
    /// Cents.
    var correction: Int
    /// Offset of its record in the file.
    var byte: Int
    /// The specification's sample type: 1 mono, 2 right, 4 left, 8 linked; with 0x8000 in a ROM.
    var type: Int
    /// Compressed with Vorbis (SoundFont 3): `start` and `end` are bytes of the sample memory; the loop's
    /// frames count from the sample's first.
    var isCompressed: Bool { type & 0x10 != 0 }
    var isInRom: Bool { type & 0x8000 != 0 }
  }

  /// One record of a table of modulators.
  struct Modulator: Hashable, Sendable {
    var source: Int
    var destination: Int
    var amount: Int
    var amountSource: Int
    var transform: Int
    /// Modulators that feed its source.
    var links: [Modulator] = []

    /// Banks name the pitch, to which the default modulator of the pitch wheel leads, by the fine tuning, as FluidSynth has it:
    /// theirs takes that one's place.
    fileprivate mutating func nameDefaultBend() {
      let bend = SoundFontZone.defaultBend
      guard source == bend.source, amountSource == bend.amountSource, transform == bend.transform,
        destination == SoundFontZone.Generator.fineTune
      else { return }
      destination = bend.destination
    }

    /// True for modulators that differ in their amount only: these replace each other, or add up.
    func isIdentical(_ other: Self) -> Bool {
      source == other.source && destination == other.destination && amountSource == other.amountSource
        && transform == other.transform && links == other.links
    }
  }

  /// Contents of one zone.
  struct Zone {
    var generators: [Generator]
    var modulators: [Modulator]
  }

  /// A generator's number and its 16 bits.
  struct Generator {
    var number: Int
    var bits: UInt16
    var value: Int { Int(Int16(bitPattern: bits)) }
    /// Ends of a range: low byte and high byte.
    var low: Int { Int(bits & 0xFF) }
    var high: Int { Int(bits >> 8) }
  }

  let path: String
  private(set) var presets: [Head] = []
  private(set) var instruments: [Head] = []
  private(set) var presetZones: [Zone] = []
  private(set) var instrumentZones: [Zone] = []
  private(set) var samples: [Sample] = []
  private let file: Int32
  private let size: Int
  /// The bank's tables, from byte `tablesStart` of the file on.
  private var tables: [UInt8] = []
  private var tablesStart = 0
  private var sampleData = 0..<0
  private var lowBytes = 0..<0
  /// Size limit in bytes, beyond any real tables.
  private static let largestTables = 256 << 20

  /// Reads the tables; throws if the file is no bank. Samples are read on demand. Nothing is memory-mapped,
  /// since another program might truncate the file. Worker.
  init(path: String) throws(LoadError) {
    self.path = path
    (file, size) = try PlainFile.open(path)
    // From here on errors end in `deinit`, which closes the file.
    guard size >= 12 else {
      throw LoadError(path: path, .noBank(.tooShort))
    }
    let head = try read(0..<12)
    guard head.starts(with: "RIFF".utf8), head[8...].elementsEqual("sfbk".utf8) else {
      throw LoadError(path: path, .noBank(.header))
    }
    try readChunks()
  }

  deinit { close(file) }

  // MARK: Samples

  /// Frames of sample memory.
  var frames: Int { sampleData.count / 2 }

  /// Bytes of sample memory.
  var sampleBytes: Int { sampleData.count }

  /// True when the frames from `start` on have 24 bits.
  func hasLowBytes(_ start: Int, _ count: Int) -> Bool { start + count <= lowBytes.count }

  /// Writes the 16-bit integers from `start` on.
  func read(_ start: Int, _ count: Int, into frames: UnsafeMutablePointer<Int16>) throws(LoadError) {
    let first = sampleData.lowerBound + 2 * start
    try read(first..<first + 2 * count, into: UnsafeMutableRawPointer(frames))
  }

  /// Frames with 24 bits, -1...1.
  func readLong(_ start: Int, _ count: Int) throws(LoadError) -> [Float] {
    var words = [Int16](repeating: 0, count: count)
    let first = sampleData.lowerBound + 2 * start
    try words.withUnsafeMutableBufferPointer { words throws(LoadError) in
      try read(first..<first + 2 * count, into: words.baseAddress!)
    }
    let low = try read(lowBytes.lowerBound + start..<lowBytes.lowerBound + start + count)
    return (0..<count).map { Float(Int32(words[$0]) << 8 | Int32(low[$0])) / 8_388_608 }
  }

  func compressed(_ sample: Sample) throws(LoadError) -> [UInt8] {
    try read(sampleData.lowerBound + sample.start..<sampleData.lowerBound + sample.end)
  }

  private func read(_ range: Range<Int>) throws(LoadError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    try bytes.withUnsafeMutableBufferPointer { bytes throws(LoadError) in
      guard let first = bytes.baseAddress else { return }
      try read(range, into: first)
    }
    return bytes
  }

  private func read(_ range: Range<Int>, into memory: UnsafeMutableRawPointer) throws(LoadError) {
    var done = 0
    while done < range.count {
      let got = pread(file, memory + done, min(longestRead, range.count - done), range.lowerBound + done)
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw LoadError(path: path, .system(errno)) }
      guard got > 0 else {
        throw LoadError(path: path, .endsEarly(byte: range.lowerBound + done))
      }
      done += got
    }
  }

  // MARK: Chunks

  private func word(_ at: Int) -> UInt16 {
    UInt16(tables[at - tablesStart]) | UInt16(tables[at + 1 - tablesStart]) << 8
  }

  private func double(_ at: Int) -> Int { Int(word(at)) | Int(word(at + 2)) << 16 }

  /// The chunks within a range of the file; a size beyond its end is cut.
  private func chunks(in range: Range<Int>) throws(LoadError) -> [(tag: String, body: Range<Int>)] {
    var found: [(String, Range<Int>)] = []
    var at = range.lowerBound
    while at + 8 <= range.upperBound {
      let head = try read(at..<at + 8)
      let count = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
      let end = min(at + 8 + count, range.upperBound)
      found.append((String(decoding: head[..<4], as: UTF8.self), at + 8..<end))
      // A file with nothing but chunk headers is damaged.
      guard found.count < 4096 else { throw LoadError(path: path, .tooManyChunks(byte: at)) }
      at = end + (end - at) % 2
    }
    return found
  }

  private func readChunks() throws(LoadError) {
    var places: [String: Range<Int>] = [:]
    for list in try chunks(in: 12..<size) where list.tag == "LIST" && list.body.count >= 4 {
      let inner = list.body.lowerBound + 4..<list.body.upperBound
      let type = String(decoding: try read(list.body.lowerBound..<inner.lowerBound), as: UTF8.self)
      guard type == "sdta" || type == "pdta" else { continue }
      if type == "pdta" {
        guard inner.count <= Self.largestTables else {
          throw LoadError(path: path, .largeTables(byte: inner.lowerBound))
        }
        tables = try read(inner)
        tablesStart = inner.lowerBound
      }
      for chunk in try chunks(in: inner) { places[type + chunk.tag] = chunk.body }
    }
    // Of several tables of one name the last is used, if it lies in the part that was read.
    let known = tablesStart..<tablesStart + tables.count
    places = places.filter { $0.key.hasPrefix("sdta") || known.contains($0.value) }
    func table(_ name: String, _ size: Int, atLeast count: Int) throws(LoadError) -> Range<Int> {
      guard let body = places["pdta" + name] else {
        throw LoadError(path: path, .noTable(name, size: self.size))
      }
      guard body.count % size == 0, body.count / size >= count else {
        throw LoadError(path: path, .tableSize(name, byte: body.lowerBound))
      }
      return body
    }
    sampleData = places["sdtasmpl"] ?? 0..<0
    lowBytes = places["sdtasm24"] ?? 0..<0
    // Old banks have no modulators at all.
    let none = 0..<0
    presetZones = try zones(
      table("pbag", 4, atLeast: 1), table("pgen", 4, atLeast: 1), places["pdtapmod"] ?? none, "pbag")
    instrumentZones = try zones(
      table("ibag", 4, atLeast: 1), table("igen", 4, atLeast: 1), places["pdtaimod"] ?? none, "ibag")
    presets = try heads(table("phdr", 38, atLeast: 2), 38, zonesAt: 24, presetZones.count, "phdr")
    instruments = try heads(table("inst", 22, atLeast: 2), 22, zonesAt: 20, instrumentZones.count, "inst")
    let headers = try table("shdr", 46, atLeast: 1)
    for at in stride(from: headers.lowerBound, to: headers.upperBound - 46, by: 46) {
      samples.append(
        Sample(
          name: name(at), start: double(at + 20), end: double(at + 24), loopStart: double(at + 28),
          loopEnd: double(at + 32), rate: double(at + 36), key: Int(tables[at + 40 - tablesStart]),
          correction: Int(Int8(bitPattern: tables[at + 41 - tablesStart])), byte: at, type: Int(word(at + 44))
        ))
    }
  }

  private func name(_ at: Int) -> String {
    String(decoding: tables[at - tablesStart..<at - tablesStart + 20].prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Zone n has the generators and modulators from its record's offsets to the next record's.
  private func zones(
    _ bags: Range<Int>, _ generators: Range<Int>, _ modulators: Range<Int>, _ table: String
  ) throws(LoadError) -> [Zone] {
    var result: [Zone] = []
    for at in stride(from: bags.lowerBound, to: bags.upperBound - 4, by: 4) {
      let places = (Int(word(at)), Int(word(at + 4)))
      let modulatorPlaces = (Int(word(at + 2)), Int(word(at + 6)))
      guard places.0 <= places.1, places.1 <= generators.count / 4 else {
        throw LoadError(path: path, .damagedTable(table, byte: at))
      }
      guard
        modulatorPlaces.0 <= modulatorPlaces.1, modulatorPlaces.1 <= max(modulators.count / 10, 1)
      else { throw LoadError(path: path, .damagedTable(table, byte: at + 2)) }
      result.append(
        Zone(
          generators: (places.0..<places.1).map {
            let place = generators.lowerBound + 4 * $0
            return Generator(number: Int(word(place)), bits: word(place + 2))
          },
          modulators: (modulatorPlaces.0..<min(modulatorPlaces.1, modulators.count / 10)).map {
            let place = modulators.lowerBound + 10 * $0
            var modulator = Modulator(
              source: Int(word(place)), destination: Int(word(place + 2)),
              amount: Int(Int16(bitPattern: word(place + 4))), amountSource: Int(word(place + 6)),
              transform: Int(word(place + 8)))
            modulator.nameDefaultBend()
            return modulator
          }))
    }
    return result
  }

  private func heads(
    _ body: Range<Int>, _ size: Int, zonesAt: Int, _ zones: Int, _ table: String
  ) throws(LoadError) -> [Head] {
    var result: [Head] = []
    for at in stride(from: body.lowerBound, to: body.upperBound - size, by: size) {
      let first = Int(word(at + zonesAt))
      let end = Int(word(at + size + zonesAt))
      guard first <= end, end <= zones else {
        throw LoadError(path: path, .damagedTable(table, byte: at))
      }
      var head = Head(name: name(at), zones: first..<end)
      if table == "phdr" {
        head.program = Int(word(at + 20))
        head.bank = Int(word(at + 22))
      }
      result.append(head)
    }
    return result
  }
}
