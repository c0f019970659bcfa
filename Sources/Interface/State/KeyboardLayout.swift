import Screen

/// Notes on the keys of play mode: the rows of a keyboard as they are printed, and how notes lie on them.
///
/// A terminal that knows positions reports the character that a US keyboard has there; others report what is printed. Both
/// lead to the same place on the rows.
public struct KeyboardLayout: Sendable {
  /// Name in `--layout` and at the prompt.
  public let name: String
  /// Semitones of each key above the first one of the lowest row, by the printed character.
  let steps: [Character: Int]
  /// The same by the character that a US keyboard has in the key's place.
  private let stepsByPlace: [Character: Int]
  private let ranks: [Character: Int]
  /// Further keys of play mode, where the usual ones are notes or not printed: actions by name.
  let actions: [Key: String]
  /// The keys of each note row, the lower first, with those between them.
  let help: [(keys: String, help: String)]

  /// Arrangement of notes on rows.
  private enum Notes {
    /// White keys on the lowest and the third row, black keys on the rows above each.
    case piano
    /// The same interval along every row, and another one from a key to the one at its upper left.
    case isomorphic(across: Int, up: Int)
  }

  /// The rows of a US keyboard, from the lowest.
  private static let places = ["zxcvbnm,.", "asdfghjkl;", "qwertyuiop", "1234567890"]
  private static let rowNames = ["lower", "home", "upper", "digits"]

  /// Highest note, in semitones above the lowest.
  var highest: Int { steps.values.max() ?? 0 }

  /// Semitones of a key that is pressed; nil for one that is no note.
  func step(_ stroke: KeyStroke) -> Int? {
    guard let place = stroke.place else { return nil }
    // A position differs from what is printed; where they agree, so do the rows.
    if case .character(let character) = stroke.key.code, character.lowercased() != String(place) {
      return stepsByPlace[place]
    }
    return steps[place]
  }

  /// Row and place of a printed character, from the lowest row's left.
  func rank(_ key: Character) -> Int { ranks[key] ?? 0 }

  /// Semitones of a place without a stroke.
  func step(at place: Character) -> Int? { steps[place] ?? stepsByPlace[place] }

  /// `rows`: printed characters from the lowest row up.
  private init(_ name: String, _ notes: Notes, _ rows: [[Character]], _ actions: [Key: String]) {
    self.name = name
    self.actions = actions
    var steps: [Character: Int] = [:]
    var stepsByPlace: [Character: Int] = [:]
    var ranks: [Character: Int] = [:]
    for (row, keys) in rows.enumerated() {
      let places = Array(Self.places[row])
      for (index, key) in keys.enumerated() {
        guard let step = Self.step(notes, row, index, rows.map(\.count)) else { continue }
        steps[key] = step
        ranks[key] = row * 100 + index
        if places.indices.contains(index) { stepsByPlace[places[index]] = step }
      }
    }
    (self.steps, self.stepsByPlace, self.ranks) = (steps, stepsByPlace, ranks)
    func ends(_ row: [Character]) -> String { "\(row.first ?? " ")…\(row.last ?? " ")" }
    switch notes {
    case .piano:
      func blacks(_ row: Int) -> String {
        rows[row].indices.filter { Self.step(notes, row, $0, rows.map(\.count)) != nil }
          .map { String(rows[row][$0]) }.joined(separator: " ")
      }
      help = [
        (ends(rows[0]), "An octave of piano, and more where there are keys; \(blacks(1)) are its black keys"),
        (ends(rows[2]), "The octave above; \(blacks(3)) are its black keys"),
      ]
    case .isomorphic(let across, let up):
      help = [
        (
          "\(rows.first?.first ?? " ")…\(rows.last?.last ?? " ")",
          "Four rows of notes: \(across) semitones to the right, \(up) to the row above: chords keep their shape"
        )
      ]
    }
  }

  /// Semitones above C of the white keys of an octave.
  private static let whites = [0, 2, 4, 5, 7, 9, 11]

  private static func step(_ notes: Notes, _ row: Int, _ index: Int, _ counts: [Int]) -> Int? {
    switch notes {
    case .isomorphic(let across, let up): return row * up + index * across
    case .piano:
      func white(_ index: Int) -> Int { index / 7 * 12 + whites[index % 7] }
      let octave = row / 2 * 12
      if row % 2 == 0 { return octave + white(index) }
      // A black key lies between the white ones below it, the second of which may be missing at the end of the row.
      guard index > 0, index <= counts[row - 1], white(index) - white(index - 1) == 2 else { return nil }
      return octave + white(index) - 1
    }
  }
}

extension KeyboardLayout {
  /// The layouts that need no file, by name with their files' contents.
  static let files: [(name: String, text: String)] = [
    (
      "qwerty",
      """
      # The keys of play mode on a US keyboard. Rows are as printed, from their first letter key.
      notes = "piano"  # white keys on two rows, black keys on the rows above them
      digits = "1234567890"
      upper = "qwertyuiop"
      home = "asdfghjkl;"
      lower = "zxcvbnm,."

      """
    ),
    (
      "qwertz",
      """
      # The keys of play mode on a German, Austrian, Swiss or Czech keyboard.
      notes = "piano"
      digits = "1234567890"
      upper = "qwertzuiop"
      home = "asdfghjklö"
      lower = "yxcvbnm,."

      # The keys of the brackets are elsewhere.
      [play]
      "ü" = "octave-down"
      "+" = "octave-up"
      "#" = "louder"
      "ä" = "gate"

      """
    ),
    (
      "azerty",
      """
      # The keys of play mode on a French or Belgian keyboard.
      notes = "piano"
      digits = "&é\\"'(-è_çà"
      upper = "azertyuiop"
      home = "qsdfghjklm"
      lower = "wxcvbn,;:"

      # The keys of the brackets are elsewhere, and the minus is a note.
      [play]
      "ù" = "octave-down"
      "*" = "octave-up"
      ")" = "softer"
      "$" = "gate"

      """
    ),
    (
      "dvorak",
      """
      # The keys of play mode on a US Dvorak keyboard.
      notes = "piano"
      digits = "1234567890"
      upper = "',.pyfgcrl"
      home = "aoeuidhtns"
      lower = ";qjkxbmwv"

      """
    ),
    (
      "isomorphic",
      """
      # Play mode on four rows of a US keyboard, by Wicki and Hayden: every chord and scale has one shape in all keys.
      notes = "isomorphic"
      across = 2  # semitones to the key at the right
      up = 5      # semitones to the key above, at the left
      digits = "1234567890"
      upper = "qwertyuiop"
      home = "asdfghjkl;"
      lower = "zxcvbnm,."

      """
    ),
  ]

  /// The built-in layouts.
  public static let builtIn: [KeyboardLayout] = files.compactMap { name, text in
    read(text, name: name, file: "") { _ in true }.layout
  }

  /// The layout of a US keyboard.
  public static let standard = builtIn[0]

  /// The built-in layout of that name.
  public static func builtIn(named name: String) -> KeyboardLayout? { builtIn.first { $0.name == name } }

  /// Names of the built-in layouts, for messages.
  public static var names: String { builtIn.map(\.name).joined(separator: ", ") }

  /// Reads a layout. All errors are returned, as `FILE: error: …`; with any of them there is no layout.
  static func read(
    _ text: String, name: String, file: String, isAction: (String) -> Bool
  ) -> (layout: KeyboardLayout?, problems: [String]) {
    var problems: [String] = []
    let table: TomlTable
    do throws(TomlFault) {
      table = try TomlReader.table(text)
    } catch {
      return (nil, ["\(file):\(error.line): error: \(error)"])
    }
    func complain(_ key: String, _ words: String) {
      problems.append("\(file):\(table.line(of: [key])): error: \(words)")
    }
    let known = ["notes", "across", "up", "play"] + rowNames
    for key in table.keys where !known.contains(key) {
      complain(key, "unknown key `\(key)`; there are \(known.joined(separator: ", "))")
    }
    var rows: [[Character]] = []
    for row in rowNames {
      if table[row] == nil { problems.append("\(file): error: no row `\(row)`") }
      let keys = Array(table[row]?.string?.lowercased() ?? "")
      if table[row] != nil, keys.isEmpty {
        complain(row, "`\(row)` is a text: the keys of the row from the left")
      }
      for key in keys where keys.count(where: { $0 == key }) > 1 || rows.contains(where: { $0.contains(key) })
      {
        complain(row, "the key `\(key)` stands twice")
      }
      rows.append(keys)
    }
    var notes = Notes.piano
    switch table["notes"]?.string {
    case "piano", nil: break
    case "isomorphic":
      let intervals = ["across", "up"].map { key in
        let number = table[key]?.integer ?? 0
        if !(1...12).contains(number) { complain(key, "`\(key)` is 1 to 12 semitones") }
        return number
      }
      notes = .isomorphic(across: intervals[0], up: intervals[1])
    case let other?: complain("notes", "`notes` is piano or isomorphic, not `\(other)`")
    }
    var actions: [Key: String] = [:]
    let plays = table["play"]?.table
    for name in plays?.keys ?? [] {
      let action = plays?[name]?.string ?? ""
      guard let key = Key(name: name) else {
        problems.append("\(file): error: [play] `\(name)` is no key")
        continue
      }
      guard isAction(action) else {
        problems.append("\(file): error: [play] `\(name)`: unknown action `\(action)`")
        continue
      }
      actions[key] = action
    }
    guard problems.isEmpty else { return (nil, problems) }
    return (KeyboardLayout(name, notes, rows, actions), [])
  }
}

/// A name that no layout has.
public struct UnknownLayout: Error, CustomStringConvertible {
  private let name: String

  /// The refused name.
  public init(name: String) { self.name = name }

  /// The refusal with the names that there are.
  public var description: String {
    "no layout `\(name)`: there are \(KeyboardLayout.names), or name a TOML file"
  }
}
