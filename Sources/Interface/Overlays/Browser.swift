import Glibc
import Patch
import PatchLanguage
import Screen
import Session

/// A browser of files beside the view: to open one, or for a parameter that names one. An instrument under the cursor plays
/// a note, a sound file or a MIDI file its beginning, beside what sounds already.
struct Browser: Overlay {
  /// Uses of the chosen file.
  enum Purpose: Sendable {
    case open
    /// A parameter of the node of this name.
    case parameter(node: String, ParameterPath, ParameterDescription.FileType)
  }

  struct Item: Sendable {
    var name: String
    /// Absolute.
    var path: String
    var isFolder = false
    var detail = ""
  }

  private(set) var purpose: Purpose
  /// Absolute, without a slash at its end but for the root.
  private(set) var folder: String
  private(set) var items: [Item] = []
  private(set) var filter = ""
  private(set) var selected = 0
  /// Files are heard.
  private(set) var isHeard = true
  /// When the cursor came to the item, in seconds of the desk's clock; nil: it has been heard, or is not to be.
  private var arrivedAt: Double?

  /// Seconds that the cursor rests on a file before it is heard.
  private static let patience = 0.2

  let isBeside = true
  let closesOnClick = false

  var hints: [KeyHelp] {
    [
      KeyHelp(keys: "↑ ↓", name: "choose"), KeyHelp(keys: "Enter", name: "open"),
      KeyHelp(keys: "Esc", name: "leave"), KeyHelp(keys: "←", name: "folder above"),
      KeyHelp(keys: "Tab", name: isHeard ? "silent" : "hear"), KeyHelp(keys: "letters", name: "filter"),
    ]
  }

  private var endings: [String] {
    switch purpose {
    case .open: FileWords.openable
    case .parameter(_, _, let type): FileWords.endings(type)
    }
  }

  /// The folder's items that fit the filter.
  var shown: [Item] {
    if filter.isEmpty { return items }
    return FuzzyMatch.ranked(filter, names: items.map(\.name), details: items.map(\.detail)).map { items[$0] }
  }

  /// The item under the cursor.
  var item: Item? { shown.indices.contains(selected) ? shown[selected] : nil }

  func takes(_ key: Key) -> Bool {
    // Views and the rest of the function keys keep their meaning.
    if case .function = key.code { return false }
    return true
  }

  // MARK: Drawing

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    guard let rect = frame.inspector, !rect.isEmpty else { return }
    canvas.fill(rect)
    let isRight = rect.column > 0
    if isRight {
      for row in rect.row..<rect.bottom { canvas.set("│", at: Point(rect.column, row), Style(.rule)) }
    } else {
      canvas.fill(Rect(column: 0, row: rect.row, columns: rect.columns, rows: 1), "─", Style(.rule))
    }
    let title =
      switch purpose {
      case .open: "open"
      case .parameter(let node, let path, _): "\(node)\(path.suffix)"
      }
    let left = rect.column + (isRight ? 2 : 1)
    let columns = rect.columns - (isRight ? 3 : 2)
    canvas.put([Span(" \(title) ", .title)], at: Point(left - 1, rect.row), columns: columns)
    guard rect.rows > 1 else { return }
    let place = Point(left, rect.row + 1)
    canvas.put(
      [Span("/", .prompt), Span(filter, .promptText), Span("  "), Span(tail(folder, columns / 2), .dim)],
      at: place, columns: columns)
    canvas.placeCursor(at: place + Point(min(columns - 1, 1 + DisplayWidth.of(filter)), 0))
    let words = words(of: scene, rect)
    let rows = rows(rect, words)
    drawItems(Rect(column: left, row: rect.row + 2, columns: columns, rows: rows), on: &canvas)
    for (index, line) in words.enumerated() {
      canvas.put(line, at: Point(left, rect.row + 2 + rows + index), columns: columns)
    }
  }

  /// Words about the file under the cursor, at the lower edge.
  private func words(of scene: Scene, _ rect: Rect) -> [[Span]] {
    guard rect.rows >= 5 else { return [] }
    let columns = rect.columns - (rect.column > 0 ? 3 : 2)
    let lines = Wrapping.lines(
      [Wrapping.words(isHeard ? scene.preview : "files are silent", .dim)], columns: columns, gap: 1)
    return Wrapping.bounded(lines, to: max(1, rect.rows / 3), columns: columns)
  }

  /// Rows of the list.
  private func rows(_ rect: Rect, _ words: [[Span]]) -> Int { max(0, rect.rows - 2 - words.count) }

  private func drawItems(_ rect: Rect, on canvas: inout Canvas) {
    let items = shown
    if items.isEmpty, rect.rows > 0 {
      canvas.put([Span("nothing fits", .dim)], at: rect.origin, columns: rect.columns)
    }
    let first = Popup.first(selected, shown: rect.rows, of: items.count)
    for row in 0..<rect.rows where first + row < items.count {
      let item = items[first + row]
      let isSelected = first + row == selected
      let ground: ThemeKey = isSelected ? .selection : .background
      canvas.fill(
        Rect(column: rect.column, row: rect.row + row, columns: rect.columns, rows: 1), " ", Style(ground))
      canvas.put(
        [
          Span(isSelected ? "▸ " : "  ", .accent),
          Span(item.name + (item.isFolder ? "/" : ""), item.isFolder ? .kind : .value), Span("  "),
          Span(item.detail, .dim),
        ], at: Point(rect.column, rect.row + row), columns: rect.columns, on: ground)
    }
  }

  /// The end of a path that does not fit.
  private func tail(_ path: String, _ columns: Int) -> String {
    guard path.count > columns else { return path }
    return "…" + path.suffix(max(0, columns - 1))
  }

  func words(_ scene: Scene) -> [String] {
    guard let item else { return ["\(folder): nothing fits"] }
    let kind = item.isFolder ? "folder" : item.detail
    return [
      "\(item.name)\(kind.isEmpty ? "" : ", \(kind)"), \(selected + 1) of \(shown.count) in \(folder)"
    ]
  }
}

@MainActor extension Browser {
  /// Opens it in a folder; nil: that of the patch.
  static func open(_ folder: String? = nil, _ desk: Desk) {
    let start = folder ?? desk.workbench.file.map { PatchFile.split($0).folder } ?? "."
    show(.open, start, desk)
  }

  /// Opens it for the selected parameter of the inspector if this names a file; false: it does not.
  static func openForParameter(_ inspector: Inspector, _ desk: Desk) -> Bool {
    guard let (node, path, description) = inspector.parameter(desk), let type = description.fileType else {
      return false
    }
    var folder = PatchFile.split(desk.workbench.file ?? "./").folder
    if case .text(let file)? = node.settings[path], !file.isEmpty {
      folder = PatchFile.split(FilePath.resolved(file, from: desk.workbench.file ?? "")).folder
    }
    show(.parameter(node: node.name, path, type), folder, desk)
    return true
  }

  private static func show(_ purpose: Purpose, _ folder: String, _ desk: Desk) {
    var browser = Browser(purpose: purpose, folder: whole(folder))
    browser.enter(browser.folder)
    if case .open = purpose {
      // Those in this folder are in the list already.
      browser.items += RecentFiles.list().filter { PatchFile.split($0).folder != browser.folder }.prefix(10)
        .map { path in
          let parts = PatchFile.split(path)
          return Item(name: parts.name, path: path, detail: "recent, in \(parts.folder)")
        }
    }
    desk.state.overlay = browser
  }

  /// Absolute, without links; the path itself if there is no such folder.
  private static func whole(_ folder: String) -> String {
    guard let path = realpath(folder, nil) else { return folder }
    defer { free(path) }
    return String(cString: path)
  }

  private mutating func enter(_ folder: String, from child: String? = nil) {
    self.folder = folder
    items = FolderListing.entries(of: folder).filter { $0.isFolder || endings.contains($0.ending) }.map {
      Item(name: $0.name, path: (folder == "/" ? "" : folder) + "/" + $0.name, isFolder: $0.isFolder)
    }
    filter = ""
    selected = items.firstIndex { $0.name == child } ?? 0
  }

  // MARK: Keys

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    var browser = self
    let last = max(0, shown.count - 1)
    switch stroke.key {
    case "esc", "ctrl-c": return close(desk)
    case "enter": return choose(desk)
    case "right":
      guard let item, item.isFolder else { return }
      browser.enter(item.path)
    case "left", "backspace":
      if stroke.key == "backspace", !filter.isEmpty {
        browser.filter = String(filter.dropLast())
        browser.selected = 0
      } else if folder != "/" {
        browser.enter(PatchFile.split(folder).folder, from: PatchFile.split(folder).name)
      }
    case "up", "ctrl-p": browser.selected = max(0, selected - 1)
    case "down", "ctrl-n": browser.selected = min(last, selected + 1)
    case "pageup": browser.selected = max(0, selected - 8)
    case "pagedown": browser.selected = min(last, selected + 8)
    case "home": browser.selected = 0
    case "end": browser.selected = last
    case "tab": browser.isHeard.toggle()
    case "ctrl-u":
      browser.filter = ""
      browser.selected = 0
    default:
      guard let letter = stroke.key.text else { return }
      browser.filter += letter.lowercased()
      browser.selected = 0
    }
    browser.arrive(after: self, desk)
    desk.state.overlay = browser
  }

  func turnWheel(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    handle(KeyStroke(mouse.wheelRows < 0 ? "up" : "down"), desk)
    return true
  }

  /// A click on an item selects it; on the selected one, it is taken.
  func press(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    let frame = ViewFrame(desk.scene, desk.state, columns: desk.size.columns, rows: desk.size.rows)
    guard let rect = frame.inspector, rect.contains(mouse.point) else { return false }
    let rows = rows(rect, words(of: desk.scene, rect))
    let row = mouse.point.row - rect.row - 2
    let index = Popup.first(selected, shown: rows, of: shown.count) + row
    guard row >= 0, row < rows, shown.indices.contains(index) else { return true }
    if index == selected {
      choose(desk)
    } else {
      var browser = self
      browser.selected = index
      browser.arrive(after: self, desk)
      desk.state.overlay = browser
    }
    return true
  }

  /// Another item is silent at first.
  private mutating func arrive(after old: Browser, _ desk: Desk) {
    guard item?.path != old.item?.path || isHeard != old.isHeard else { return }
    desk.workbench.preview(nil)
    arrivedAt = isHeard ? desk.now() : nil
  }

  /// Plays the file on which the cursor rests.
  func settle(_ desk: Desk) {
    guard let arrivedAt, desk.now() - arrivedAt >= Self.patience else { return }
    var browser = self
    browser.arrivedAt = nil
    desk.state.overlay = browser
    guard let item, !item.isFolder, FolderListing.ending(of: item.path) != "patch" else { return }
    desk.workbench.preview(item.path)
  }

  private func close(_ desk: Desk) {
    desk.workbench.endPreview()
    desk.state.overlay = nil
  }

  private func choose(_ desk: Desk) {
    guard let item else { return }
    if item.isFolder {
      var browser = self
      browser.enter(item.path)
      browser.arrive(after: self, desk)
      desk.state.overlay = browser
      return
    }
    close(desk)
    switch purpose {
    case .open: Opening(desk).open(item.path)
    case .parameter(let node, let path, _):
      let folder = desk.workbench.file.map { Self.whole(PatchFile.split($0).folder) }
      let file = folder.map { FilePaths.relative(item.path, to: $0) } ?? item.path
      let line = "set \(node)\(path.suffix) \(Quoting.word(file))"
      if desk.isLocked(line: line) { return }
      desk.attempt { desk.say(try desk.workbench.perform(line: line)) }
    }
  }
}
