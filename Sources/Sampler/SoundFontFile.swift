import Glibc

/// The tables and samples of a SoundFont 2 bank, as the file has them ("SoundFont Technical
/// Specification", version 2.04, E-mu 1998; its chapters 5 to 7 name all that is read here). Worker.
final class SoundFontFile {
  /// A preset or an instrument: its name and its zones in the table of zones.
  struct Head {
    var name: String
    var program = 0
    var bank = 0
    var zones: Range<Int>
  }

  struct Sample {
    var name: String
    /// In frames of the whole sample memory; ends are exclusive.
    var start: Int
    var end: Int
    var loopStart: Int
    var loopEnd: Int
    var rate: Int
    var key: Int
    /// Cents.
    var correction: Int
    /// Where its record stands in the file.
    var byte: Int
    /// The specification's sample type: 1 mono, 2 right, 4 left, 8 linked; with 0x8000 in a ROM.
    var type: Int
    /// Compressed with Vorbis (SoundFont 3): `start` and `end` are bytes of the sample memory, the loop's
    /// frames count from the sample's first.
    var isCompressed: Bool { type & 0x10 != 0 }
    var isInRom: Bool { type & 0x8000 != 0 }
  }

  /// One record of a table of modulators.
  struct Modulator: Hashable {
    var source: Int
    var destination: Int
    var amount: Int
    var amountSource: Int
    var transform: Int

    /// Modulators that differ in nothing but the amount replace each other, or add.
    func isIdentical(_ other: Self) -> Bool {
      source == other.source && destination == other.destination && amountSource == other.amountSource
        && transform == other.transform
    }
  }

  /// What one zone states.
  struct Zone {
    var generators: [Generator]
    var modulators: [Modulator]
  }

  /// A generator's number and its 16 bits.
  struct Generator {
    var number: Int
    var bits: UInt16
    var value: Int { Int(Int16(bitPattern: bits)) }
    /// As a range: low byte to high byte.
    var low: Int { Int(bits & 0xFF) }
    var high: Int { Int(bits >> 8) }
  }

  let path: String
  private(set) var presets: [Head] = []
  private(set) var instruments: [Head] = []
  private(set) var presetZones: [Zone] = []
  private(set) var instrumentZones: [Zone] = []
  private(set) var samples: [Sample] = []
  private let bytes: UnsafeRawBufferPointer
  private var sampleData = 0..<0
  private var lowBytes = 0..<0

  /// Reads the tables; throws when they are not those of a bank. Worker.
  init(path: String) throws(LoadError) {
    self.path = path
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LoadError(path: path, String(cString: strerror(errno))) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw LoadError(path: path, String(cString: strerror(errno))) }
    let size = Int(status.st_size)
    guard status.st_mode & S_IFMT == S_IFREG, size >= 12 else {
      throw LoadError(path: path, "not a SoundFont bank: it is too short")
    }
    guard let memory = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0), memory != MAP_FAILED else {
      throw LoadError(path: path, String(cString: strerror(errno)))
    }
    bytes = UnsafeRawBufferPointer(start: memory, count: size)
    guard tag(0) == "RIFF", tag(8) == "sfbk" else {
      throw LoadError(path: path, "not a SoundFont bank: it does not begin with RIFF and sfbk")
    }
    try readChunks()
  }

  deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress!), bytes.count) }

  /// Frames of sample memory.
  var frames: Int { sampleData.count / 2 }

  /// Writes frames, -1...1, from `start` on; with 24 bits where the bank has them.
  func read(_ start: Int, _ count: Int, into frames: UnsafeMutablePointer<Float>) {
    let words = bytes.baseAddress! + sampleData.lowerBound + 2 * start
    if start + count <= lowBytes.count {
      let low = bytes.baseAddress! + lowBytes.lowerBound + start
      for index in 0..<count {
        let high = Int32(words.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)) << 8
        let byte = Int32(low.load(fromByteOffset: index, as: UInt8.self))
        frames[index] = Float(high | byte) / 8_388_608
      }
    } else {
      for index in 0..<count {
        frames[index] = Float(words.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)) / 32768
      }
    }
  }

  /// Bytes of sample memory.
  var sampleBytes: Int { sampleData.count }

  func compressed(_ sample: Sample) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes[sampleData.lowerBound + sample.start..<sampleData.lowerBound + sample.end])
  }

  // MARK: Chunks

  private func tag(_ at: Int) -> String { String(decoding: bytes[at..<at + 4], as: UTF8.self) }

  private func word(_ at: Int) -> UInt16 { UInt16(bytes[at]) | UInt16(bytes[at + 1]) << 8 }

  private func double(_ at: Int) -> Int { Int(word(at)) | Int(word(at + 2)) << 16 }

  /// The chunks within a range; a size that reaches beyond it is cut.
  private func chunks(in range: Range<Int>) -> [(tag: String, body: Range<Int>)] {
    var found: [(String, Range<Int>)] = []
    var at = range.lowerBound
    while at + 8 <= range.upperBound {
      let end = min(at + 8 + double(at + 4), range.upperBound)
      found.append((tag(at), at + 8..<end))
      at = end + (end - at) % 2
    }
    return found
  }

  private func readChunks() throws(LoadError) {
    var tables: [String: Range<Int>] = [:]
    for list in chunks(in: 12..<bytes.count) where list.tag == "LIST" && list.body.count >= 4 {
      let inner = list.body.lowerBound + 4..<list.body.upperBound
      for chunk in chunks(in: inner) { tables[tag(list.body.lowerBound) + chunk.tag] = chunk.body }
    }
    func table(_ name: String, _ size: Int, atLeast count: Int) throws(LoadError) -> Range<Int> {
      guard let body = tables["pdta" + name] else {
        throw LoadError(path: path, "the bank has no \(name) table up to its end (byte \(bytes.count))")
      }
      guard body.count % size == 0, body.count / size >= count else {
        throw LoadError(path: path, "the bank's \(name) table has a wrong size (byte \(body.lowerBound))")
      }
      return body
    }
    sampleData = tables["sdtasmpl"] ?? 0..<0
    lowBytes = tables["sdtasm24"] ?? 0..<0
    // Old banks have no modulators at all.
    let none = 0..<0
    presetZones = try zones(
      table("pbag", 4, atLeast: 1), table("pgen", 4, atLeast: 1), tables["pdtapmod"] ?? none, "pbag")
    instrumentZones = try zones(
      table("ibag", 4, atLeast: 1), table("igen", 4, atLeast: 1), tables["pdtaimod"] ?? none, "ibag")
    presets = try heads(table("phdr", 38, atLeast: 2), 38, zonesAt: 24, presetZones.count, "phdr")
    instruments = try heads(table("inst", 22, atLeast: 2), 22, zonesAt: 20, instrumentZones.count, "inst")
    let headers = try table("shdr", 46, atLeast: 1)
    for at in stride(from: headers.lowerBound, to: headers.upperBound - 46, by: 46) {
      samples.append(
        Sample(
          name: name(at), start: double(at + 20), end: double(at + 24), loopStart: double(at + 28),
          loopEnd: double(at + 32), rate: double(at + 36), key: Int(bytes[at + 40]),
          correction: Int(Int8(bitPattern: bytes[at + 41])), byte: at, type: Int(word(at + 44))))
    }
  }

  private func name(_ at: Int) -> String {
    String(decoding: bytes[at..<at + 20].prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Zone n has the generators and modulators from its record's places to the next record's.
  private func zones(
    _ bags: Range<Int>, _ generators: Range<Int>, _ modulators: Range<Int>, _ table: String
  ) throws(LoadError) -> [Zone] {
    var result: [Zone] = []
    for at in stride(from: bags.lowerBound, to: bags.upperBound - 4, by: 4) {
      let places = (Int(word(at)), Int(word(at + 4)))
      let modulatorPlaces = (Int(word(at + 2)), Int(word(at + 6)))
      guard places.0 <= places.1, places.1 <= generators.count / 4 else {
        throw LoadError(path: path, "the bank's \(table) table is damaged (byte \(at))")
      }
      guard
        modulatorPlaces.0 <= modulatorPlaces.1, modulatorPlaces.1 <= max(modulators.count / 10, 1)
      else { throw LoadError(path: path, "the bank's \(table) table is damaged (byte \(at + 2))") }
      result.append(
        Zone(
          generators: (places.0..<places.1).map {
            let place = generators.lowerBound + 4 * $0
            return Generator(number: Int(word(place)), bits: word(place + 2))
          },
          modulators: (modulatorPlaces.0..<min(modulatorPlaces.1, modulators.count / 10)).map {
            let place = modulators.lowerBound + 10 * $0
            return Modulator(
              source: Int(word(place)), destination: Int(word(place + 2)),
              amount: Int(Int16(bitPattern: word(place + 4))), amountSource: Int(word(place + 6)),
              transform: Int(word(place + 8)))
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
        throw LoadError(path: path, "the bank's \(table) table is damaged (byte \(at))")
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
