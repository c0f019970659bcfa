/// Content of a journal. As a file:
///
/// ```
/// sostenuto-journal 2
/// of /home/me/song.patch   path of the patch file; left out if the patch was never saved
/// > sostenuto 1            text of that file, each line after "> "; left out if it equals the base
/// | sostenuto 1            text of the patch that the records start from, each line after "| "
/// edit replace dist equalizer
/// amend set main[0,1] -6dB replaces the newest edit: another step of its gesture
/// undo
/// apply set main[0,1] 0dB  an undo or redo across a save: not part of the recovered history
/// ```
/// Version 1 had neither `of` nor `>`.
struct JournalContent: Hashable {
  enum Record: Hashable {
    case edit(String)
    case amend(String)
    case apply(String)
    case undo, redo
  }

  /// First lines of all versions that can be read; the first one is written.
  static let heads = ["sostenuto-journal 2", "sostenuto-journal 1"]

  /// The path of the patch.
  var owner: String?
  /// Text of the file that the edits belong to.
  var file: [UInt8] = []
  /// Text of the patch that the records start from.
  var base: [UInt8] = []
  var records: [Record] = []
  /// Lines that could not be parsed.
  var broken: [String] = []

  init(owner: String?, file: [UInt8], base: [UInt8], records: [Record] = []) {
    (self.owner, self.file, self.base, self.records) = (owner, file, base, records)
  }

  /// Parses the text of a journal. An incomplete last line was never acknowledged, and is ignored.
  init(reading text: [UInt8]) {
    let newline = UInt8(ascii: "\n")
    var hasFile = false
    var start = (text.firstIndex(of: newline) ?? text.count) + 1
    while start < text.count, let end = text[start...].firstIndex(of: newline) {
      let line = text[start..<end]
      start = end + 1
      if line.starts(with: Self.baseMark) {
        base += line.dropFirst(Self.baseMark.count)
        base.append(newline)
      } else if line.starts(with: Self.fileMark) {
        hasFile = true
        file += line.dropFirst(Self.fileMark.count)
        file.append(newline)
      } else if line.elementsEqual(Self.noFile) {
        hasFile = true
      } else {
        parse(String(decoding: line, as: UTF8.self))
      }
    }
    if !hasFile { file = base }
  }

  private mutating func parse(_ line: String) {
    func rest(_ word: String) -> String? { line.hasPrefix(word) ? String(line.dropFirst(word.count)) : nil }
    if line.utf8.contains(0) {
      // Blocks that never reached the disk.
      broken.append(line.filter { $0 != "\0" })
    } else if let text = rest("edit ") {
      records.append(.edit(text))
    } else if let text = rest("amend ") {
      records.append(.amend(text))
    } else if let text = rest("apply ") {
      records.append(.apply(text))
    } else if line == "undo" {
      records.append(.undo)
    } else if line == "redo" {
      records.append(.redo)
    } else if let path = rest("of "), records.isEmpty {
      owner = path
    } else {
      broken.append(line)
    }
  }

  /// The text of the file.
  var text: [UInt8] {
    var text = Array((Self.heads[0] + "\n").utf8)
    // A path with a line break cannot be written.
    if let owner, !owner.utf8.contains(UInt8(ascii: "\n")) { text += "of \(owner)\n".utf8 }
    if file != base {
      text += file.isEmpty ? Self.noFile + [UInt8(ascii: "\n")] : []
      Self.append(file, Self.fileMark, to: &text)
    }
    Self.append(base, Self.baseMark, to: &text)
    for record in records { text += record.line.utf8 }
    return text
  }

  /// A text as it is read back: its last line ends too.
  static func whole(_ text: [UInt8]) -> [UInt8] {
    let newline = UInt8(ascii: "\n")
    return text.isEmpty || text.last == newline ? text : text + [newline]
  }

  private static let baseMark = Array("| ".utf8)
  private static let fileMark = Array("> ".utf8)
  /// Marks a missing or empty file.
  private static let noFile = Array(">".utf8)

  /// Appends lines, each after the mark.
  private static func append(_ lines: [UInt8], _ mark: [UInt8], to text: inout [UInt8]) {
    text.reserveCapacity(text.count + lines.count * 5 / 4)
    var rest = lines[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      text += mark
      text += rest[..<end]
      text.append(UInt8(ascii: "\n"))
      rest = rest[min(end + 1, rest.endIndex)...]
    }
  }
}

extension JournalContent.Record {
  var line: String {
    switch self {
    case .edit(let line): "edit \(line)\n"
    case .amend(let line): "amend \(line)\n"
    case .apply(let line): "apply \(line)\n"
    case .undo: "undo\n"
    case .redo: "redo\n"
    }
  }

  /// The edit for display.
  var words: String {
    switch self {
    case .edit(let line), .amend(let line), .apply(let line): line
    case .undo: "undo"
    case .redo: "redo"
    }
  }
}
