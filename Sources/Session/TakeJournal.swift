import Patch
import Midi
import Realtime

/// The journal of a take: everything that decided about its sound since the engine began, each with its frame. As a
/// file:
///
/// ```
/// sostenuto-replay 1
/// rate 48000.0              frames a second when the patch was opened
/// quality auto              interpolation of nodes that do not set it
/// fades told                what follows the ends of fades is told by `settle`
/// folder /home/me           where the patch's paths begin
/// | sostenuto 1             the patch as it was opened, each line after "| "
/// at 0 file piano           the file of a node is loaded
/// at 4800 edit set dist.drive 6dB
/// at 4800 apply set verb/tank.time 6ms   the same, as it stands: nothing comes with it from files, or in others of one file
/// at 4864 known 4800        what follows at this frame was decided when all before 4800 was known
/// at 4864 settle            fades were over, and what follows from that begins
/// at 4900 moved 12          the patch has the first 12 movements of maps: the edits that follow were made with these
/// at 9600 event piano 0 0 60 100.0 0 nan   kind, channel, key, value, detail, time of a note or the like
/// at 9721 midi 0 0 0 60 100.0 0 nan        the same, from a port of the driver
/// at 9721 sysex 0 f07e7f0901f7  a system exclusive message of a port; what it means to players follows as `midi`
/// at 9800 closed 0          a MIDI port lost a connection
/// at 9900 load high         half of the period is used, so new notes are simpler
/// at 9950 rate 44100.0      the driver has another rate
/// at 9960 transport roll    the patch's own transport
/// at 9970 follow 1 96000 120.0 4 4 3 0.5 0.001  the server's: moves, frame, tempo, beats, unit, bar, beat, tolerance
/// at 20000 take float32 main.out
/// at 68000 end
/// at 0 hold out             of a file of `keep`: what this output plays is held from here on, or no longer
/// at 68000 keep float32 48000  so many frames of it are the file
/// input mic 20000 take.in.wav   what came in, from this frame on; beside the journal
/// unsure inputs             what cannot be replayed
/// ```
struct TakeJournal: Equatable {
  enum Happening: Equatable {
    case edit(String)
    case amend(String)
    case apply(String)
    case undo, redo, panic
    case moved(Int)
    case known(Int64)
    case settle
    case event(node: String, Event)
    case midi(port: Int, Event)
    case exclusive(port: Int, [UInt8])
    case closed(port: Int)
    case load(isHigh: Bool)
    case rate(Double)
    case transport(String)
    case follow(TransportInput)
    case file(node: String)
    case take(format: String, port: String)
    case hold(node: String)
    case keep(format: String, frames: Int64)
    case end
  }

  struct Entry: Equatable {
    var frame: Int64
    var happening: Happening
  }

  /// Input through a node while the take ran.
  struct Input: Equatable {
    var node: String
    /// Engine frame of the file's first.
    var start: Int64
    /// Name in the journal's folder.
    var file: String
  }

  /// A take that is under way while a session writes this down.
  struct Taking: Equatable {
    /// Engine frame of its first.
    var start: Int64
    var format: String
    var port: String
    var path: String
  }

  static let head = "sostenuto-replay 1"

  var rate = 48000.0
  /// A raw value of `SampleQuality`, or `auto`.
  var quality = "auto"
  /// It has each `settle`; journals of earlier versions have none.
  var tellsFades = false
  var folder = ""
  var patch = ""
  /// Name of the take's file.
  var sound = ""
  var entries: [Entry] = []
  /// Tempo and meter from engine frames on.
  var pulses: [MidiFileWriter.Pulse] = []
  var inputs: [Input] = []
  /// Reasons for which a replay may differ.
  var doubts: [String] = []
  /// Of a session that was killed.
  private(set) var takings: [Taking] = []
  /// Lines that could not be read.
  private(set) var broken: [String] = []
  /// Number of the first line, from 1, that keeps more frames than there were by then.
  private(set) var overlong: Int?

  init() {}

  /// nil: the text is no journal of a take. A line that is cut off is left out.
  init?(reading bytes: [UInt8]) {
    // Bytes, since a tape of hours is large: a text would be searched for the ends of its characters.
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.first?.elementsEqual(Self.head.utf8) == true else { return nil }
    lines.removeLast()
    for (index, bytes) in lines.enumerated().dropFirst() {
      let line = String(decoding: bytes, as: UTF8.self)
      if !read(line[...], number: index + 1) { broken.append(line) }
    }
  }

  private mutating func read(_ line: Substring, number: Int) -> Bool {
    func rest(_ word: String) -> String? { line.hasPrefix(word) ? String(line.dropFirst(word.count)) : nil }
    if let text = rest("| ") {
      patch += text + "\n"
    } else if let text = rest("at ") {
      let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
      guard parts.count == 2, let frame = Int64(parts[0]), frame >= 0, frame < 1 << 53,
        let happening = Happening(parts[1])
      else { return false }
      if case .keep(_, let frames) = happening, frames > frame {
        overlong = overlong ?? number
        return false
      }
      entries.append(Entry(frame: frame, happening: happening))
    } else if let text = rest("rate "), let number = Double(text), (1000...768_000).contains(number) {
      rate = number
    } else if let text = rest("quality ") {
      quality = text
    } else if line == "fades told" {
      tellsFades = true
    } else if let text = rest("folder ") {
      folder = text
    } else if let text = rest("input ") {
      let parts = text.split(separator: " ", maxSplits: 2).map(String.init)
      // A name, no path: nothing else is read than what lies beside the journal.
      guard parts.count == 3, let start = Int64(parts[1]), start >= 0, start < 1 << 53,
        !parts[2].contains("/")
      else { return false }
      inputs.append(Input(node: parts[0], start: start, file: parts[2]))
    } else if let text = rest("sound ") {
      sound = text
    } else if let text = rest("pulse ") {
      let parts = text.split(separator: " ").map(String.init)
      guard parts.count == 4, let frame = Int64(parts[0]), frame >= 0, frame < 1 << 53,
        let tempo = Double(parts[1]), (0.5...10_000).contains(tempo), let beats = Int32(parts[2]),
        (1...1000).contains(beats), let unit = Int32(parts[3]), (1...1000).contains(unit)
      else { return false }
      var pulse = Transport.Pulse()
      (pulse.tempo, pulse.beats, pulse.unit) = (tempo, beats, unit)
      pulses.append(MidiFileWriter.Pulse(frame: frame, pulse: pulse))
    } else if let text = rest("unsure ") {
      doubts.append(text)
    } else if let text = rest("taking ") {
      let parts = text.split(separator: " ", maxSplits: 3).map(String.init)
      guard parts.count == 4, let start = Int64(parts[0]), start >= 0, start < 1 << 53 else { return false }
      takings.append(Taking(start: start, format: parts[1], port: parts[2], path: parts[3]))
    } else if let path = rest("taken ") {
      takings.removeAll { $0.path == path }
    } else if line == Self.head {
      // Another patch was opened.
      patch = ""
    } else {
      return line == "|" || line.isEmpty
    }
    return true
  }

  /// The lines before the entries.
  var headText: String {
    var text = "\(Self.head)\nrate \(rate)\nquality \(quality)\n"
    if tellsFades { text += "fades told\n" }
    if !folder.utf8.contains(10), !folder.isEmpty { text += "folder \(folder)\n" }
    if !sound.utf8.contains(10), !sound.isEmpty { text += "sound \(sound)\n" }
    for line in patch.split(separator: "\n") { text += "| \(line)\n" }
    for input in inputs { text += input.line }
    return text
  }

  /// The whole file.
  var text: String {
    var text = headText
    for entry in entries { text += entry.line }
    for doubt in doubts { text += "unsure \(doubt)\n" }
    return text
  }
}

extension TakeJournal.Input {
  /// The line in the file.
  var line: String { "input \(node) \(start) \(file)\n" }
}

extension TakeJournal.Taking {
  /// The line in the file. A path that has several cannot be told.
  var line: String { path.utf8.contains(10) ? "" : "taking \(start) \(format) \(port) \(path)\n" }
}

extension TakeJournal.Entry {
  /// The line in the file.
  var line: String { "at \(frame) \(happening.text)\n" }
}

/// An entry of a journal that a replay cannot repeat.
struct RefusedEntry: Error, CustomStringConvertible {
  let entry: TakeJournal.Entry
  let reason: any Error

  /// The line's beginning, by which it is found in the journal, and the reason.
  var description: String {
    let line = entry.line.dropLast()
    return "`\(line.count > 60 ? line.prefix(60) + "…" : line)` in the journal cannot be repeated: \(reason)"
  }
}

extension TakeJournal.Happening {
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    func rest(_ count: Int) -> String { words.dropFirst(count).joined(separator: " ") }
    func number(_ index: Int) -> Int? { words.count > index ? Int(words[index]) : nil }
    switch words[0] {
    case "edit": self = .edit(rest(1))
    case "amend": self = .amend(rest(1))
    case "apply": self = .apply(rest(1))
    case "undo": self = .undo
    case "redo": self = .redo
    case "panic": self = .panic
    case "settle": self = .settle
    case "known":
      guard let frame = number(1), (0..<1 << 53).contains(frame) else { return nil }
      self = .known(Int64(frame))
    case "moved":
      guard let count = number(1), count >= 0 else { return nil }
      self = .moved(count)
    case "end": self = .end
    case "file" where words.count == 2: self = .file(node: String(words[1]))
    case "take" where words.count == 3: self = .take(format: String(words[1]), port: String(words[2]))
    case "hold" where words.count == 2: self = .hold(node: String(words[1]))
    case "keep" where words.count == 3:
      guard let frames = Int64(words[2]), (0..<1 << 53).contains(frames) else { return nil }
      self = .keep(format: String(words[1]), frames: frames)
    case "sysex" where words.count == 3:
      guard let port = number(1), let bytes = Self.bytes(words[2]) else { return nil }
      self = .exclusive(port: port, bytes)
    case "load" where words.count == 2: self = .load(isHigh: words[1] == "high")
    case "rate":
      guard let rate = Double(rest(1)), (1000...768_000).contains(rate) else { return nil }
      self = .rate(rate)
    case "closed":
      guard let port = number(1) else { return nil }
      self = .closed(port: port)
    case "transport": self = .transport(rest(1))
    case "follow":
      guard let input = TransportInput(words.dropFirst()) else { return nil }
      self = .follow(input)
    case "event":
      guard words.count == 8, let event = Event(words.dropFirst(2)) else { return nil }
      self = .event(node: String(words[1]), event)
    case "midi":
      guard words.count == 8, let port = number(1), let event = Event(words.dropFirst(2)) else { return nil }
      self = .midi(port: port, event)
    default: return nil
    }
  }

  /// Bytes that are written as two digits each.
  private static func bytes(_ digits: Substring) -> [UInt8]? {
    let digits = Array(digits.utf8)
    guard digits.count & 1 == 0 else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(byte)
    }
    return bytes
  }

  var text: String {
    switch self {
    case .edit(let line): "edit \(line)"
    case .amend(let line): "amend \(line)"
    case .apply(let line): "apply \(line)"
    case .undo: "undo"
    case .redo: "redo"
    case .panic: "panic"
    case .moved(let count): "moved \(count)"
    case .known(let frame): "known \(frame)"
    case .settle: "settle"
    case .event(let node, let event): "event \(node) \(event.words)"
    case .midi(let port, let event): "midi \(port) \(event.words)"
    case .exclusive(let port, let bytes):
      "sysex \(port) \(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
    case .closed(let port): "closed \(port)"
    case .load(let isHigh): "load \(isHigh ? "high" : "low")"
    case .rate(let rate): "rate \(rate)"
    case .transport(let line): "transport \(line)"
    case .follow(let input): "follow \(input.words)"
    case .file(let node): "file \(node)"
    case .take(let format, let port): "take \(format) \(port)"
    case .hold(let node): "hold \(node)"
    case .keep(let format, let frames): "keep \(format) \(frames)"
    case .end: "end"
    }
  }
}

extension Event {
  fileprivate var words: String { "\(kind.rawValue) \(channel) \(key) \(value) \(detail) \(time)" }

  fileprivate init?(_ words: some Collection<Substring>) {
    let words = Array(words)
    guard words.count == 6, let kind = UInt8(words[0]).flatMap(Kind.init(rawValue:)),
      let channel = UInt8(words[1]), channel < 16, let key = UInt8(words[2]), key < 128,
      let value = Float(words[3]), value.isFinite, let detail = Int32(words[4]), let time = Double(words[5])
    else { return nil }
    self.init(kind, channel: channel, key: key, value: value, detail: detail, time: time)
  }
}

extension TransportInput {
  fileprivate var words: String {
    "\(isRolling ? 1 : 0) \(frame) \(pulse.tempo) \(pulse.beats) \(pulse.unit) \(bar) \(beat) \(tolerance)"
      + (source == .server ? "" : " \(source.rawValue)")
  }

  fileprivate init?(_ words: some Collection<Substring>) {
    let words = Array(words)
    guard words.count == 8 || words.count == 9, let isRolling = Int(words[0]), let frame = Int64(words[1]),
      (0..<1 << 53).contains(frame),
      let tempo = Double(words[2]), tempo == 0 || (0.5...10_000).contains(tempo), let beats = Int32(words[3]),
      (1...1000).contains(beats), let unit = Int32(words[4]), (1...1000).contains(unit),
      let bar = Int64(words[5]),
      (1...1 << 31).contains(bar), let beat = Double(words[6]), (0...1e6).contains(beat),
      let tolerance = Double(words[7]), tolerance.isFinite,
      let source = words.count == 8 ? .server : UInt8(words[8]).flatMap(Source.init(rawValue:)),
      source == .server || tempo > 0
    else { return nil }
    self.init(isRolling: isRolling == 1, frame: frame)
    (pulse.tempo, pulse.beats, pulse.unit) = (tempo, beats, unit)
    (self.bar, self.beat, self.tolerance, self.source) = (bar, beat, tolerance, source)
  }
}
