import Patch
import Screen

/// View state of the front end. The views are functions of it, the scene and the theme.
public struct ViewState: Sendable {
  public enum View: String, Sendable, CaseIterable { case graph, printout, matrix, trace, help }
  public enum Mode: Sendable { case patch, play }

  public var view = View.graph
  public var mode = Mode.patch
  public var focus: NodeID?
  /// First visible row and column of each scrolling view; the view clamps it.
  public var scroll: [View: (row: Int, column: Int)] = [:]
  /// Overlay above the view; it gets the keys first.
  public var overlay = Overlay.none
  /// The line above the key hints: the last action, or an error.
  public var message: Message?
  public var matrix = MatrixCursor()
  public var trace = TraceFilter()
  public var play = PlayState()
  /// The keys shown in the last row, the most useful first.
  public var keyHints: [KeyHelp] = []
  /// All keys, for the help screen.
  public var help: [HelpSection] = []

  public init() {}

  public enum Overlay: Sendable {
    case none
    /// The `:` prompt, and `/` to find a node.
    case prompt(Prompt)
    /// Two-letter hints on ports or cables.
    case hints([Hint], typed: String, purpose: String)
    /// A list to choose from, filtered by typing: kinds, cables, files.
    case chooser(Chooser)
    /// The parameters of the focused node.
    case parameters(ParameterPanel)
    /// A question answered by one key.
    case question(String, keys: [(key: String, meaning: String)])
  }

  public struct Prompt: Sendable {
    /// ":" or "/".
    public var sign: String
    public var editor: LineEditor
    public var completions: [String] = []
    public var selectedCompletion: Int?
    /// The error in the line, with its column (from 0).
    public var error: (text: String, column: Int)?
    public init(sign: String, editor: LineEditor) {
      self.sign = sign
      self.editor = editor
    }
  }

  public struct Hint: Sendable {
    public enum Target: Sendable, Hashable {
      case output(PortReference)
      case input(PortReference)
      case cable(Cable.Ends)
    }
    /// Two letters.
    public var letters: String
    public var target: Target
    public init(letters: String, target: Target) {
      self.letters = letters
      self.target = target
    }
  }

  public struct Chooser: Sendable {
    public var title: String
    public var items: [(name: String, detail: String)]
    public var filter: String = ""
    /// Index among the items that match the filter.
    public var selected = 0
    public init(title: String, items: [(name: String, detail: String)]) {
      self.title = title
      self.items = items
    }
    public var matching: [(name: String, detail: String)] {
      filter.isEmpty ? items : items.filter { $0.name.contains(filter) }
    }
  }

  public struct ParameterPanel: Sendable {
    public var node: NodeID
    /// Index among the node's parameter lines.
    public var selected = 0
    /// Text being typed in place of the value.
    public var typed: String?
    public init(node: NodeID) { self.node = node }
  }

  /// Contents and cursor of the matrix screen; rows and columns as in `GridCell`.
  public struct MatrixCursor: Sendable {
    public var node: NodeID?
    /// The cable that is shown instead of a matrix.
    public var cable: Cable.Ends?
    /// The cable that became a matrix, for when that is undone.
    public var formerCable: Cable.Ends?
    public var row = 0
    public var column = 0
    public var typed: String?
    /// Corners of a range: without the second one it extends to the cursor.
    public var rangeStart: GridCell?
    public var rangeEnd: GridCell?
    /// Width of a cell in columns; nil: as wide as fits.
    public var cellWidth: Int?
    public var meters = GridMeters()
    public init() {}

    public var cell: GridCell {
      get { GridCell(row, column) }
      set { (row, column) = (newValue.row, newValue.column) }
    }

    /// The cells to edit: the range, or else the one under the cursor.
    public var range: GridRange {
      GridRange(rangeStart ?? cell, rangeStart == nil ? cell : rangeEnd ?? cell)
    }

    mutating func dropRange() { (rangeStart, rangeEnd) = (nil, nil) }
  }

  public struct TraceFilter: Sendable {
    /// nil: all nodes.
    public var node: NodeID?
    public var isFollowing = true
    public init() {}
  }

  public struct PlayState: Sendable {
    public var octave = 4
    public var velocity = 100
    public var pedal = false
    /// MIDI keys that sound through the keyboard.
    public var held: Set<UInt8> = []
    /// The node that receives the notes.
    public var target: NodeID?
    /// The letter of each MIDI key, for the drawn keyboard.
    public var labels: [UInt8: String] = [:]
    public init() {}
  }

  public struct Message: Sendable {
    public var text: String
    public var isError: Bool
    public init(_ text: String, isError: Bool = false) {
      self.text = text
      self.isError = isError
    }
  }
}
