import Patch
import Screen

/// View state of the front end. The views are functions of it, the scene and the theme.
public struct ViewState: Sendable {
  public enum Mode: Sendable { case patch, play }

  public var view = ViewName.graph
  public var mode = Mode.patch
  public var focus: NodeID?
  /// Nodes that are marked for what follows.
  public var marked: Set<NodeID> = []
  /// First visible row and column of each scrolling view; the view clamps it.
  public var scroll: [ViewName: (row: Int, column: Int)] = [:]
  /// Overlay above the view; it gets the keys first.
  var overlay: (any OverlayPicture)?
  /// The line above the key hints: the last action, or an error.
  public var message: Message?
  /// Text that is marked in views of lines.
  public var search = ""
  public var matrix = MatrixCursor()
  public var graph = GraphState()
  public var trace = TraceFilter()
  public var history = HistoryCursor()
  public var play = PlayState()
  public var sound = SoundState()
  public var meters = MeterBridge()
  /// nil: no tour.
  public var tour: TourState?
  /// The stage lock: nothing that silences a source, and no end of the program.
  public var isLocked = false
  /// That edits are not safe from a crash has been said for a while.
  public var isFaultKnown = false
  /// The keys shown in the last row, the most useful first.
  public var keyHints: [KeyHelp] = []
  /// A word of which the help is asked for.
  var wantedHelp: String?
  /// All keys, for the help view.
  public var help: [HelpSection] = []

  /// Size of the screen at the last rendering, which defines a page.
  var screen = Size(columns: 80, rows: 24)

  public init() {}

  /// How the graph is shown on this screen; nil: as fits.
  var layout: KeptLayout? { graph.layouts[layoutKey] }
  var layoutKey: KeptLayout.Key { KeptLayout.Key(screen: screen, isPlaying: mode == .play) }

  public struct TraceFilter: Sendable {
    /// nil: all nodes.
    public var node: NodeID?
    public var isFollowing = true
    public init() {}
  }

  public struct HistoryCursor: Sendable {
    /// Number of edits before the cursor; nil: it stays where the patch is.
    public var point: Int?
    public init() {}
  }

  public struct PlayState: Sendable {
    public var octave = 4
    public var velocity = 100
    public var pedal = false
    /// Notes end by themselves in a terminal that reports no key releases; otherwise when their key is pressed again.
    public var isGated = false
    /// MIDI keys that sound through the keyboard, by the node that plays them.
    public var heldBy: [NodeID: Set<UInt8>] = [:]
    /// All of them.
    public var held: Set<UInt8> { heldBy.values.reduce(into: []) { $0.formUnion($1) } }
    /// Number of the control that the arrows turn.
    public var control: Int?
    /// Seconds of a recall by a key; nil: as every edit.
    public var recallTime: Double?
    /// The node that receives the notes.
    public var target: NodeID?
    /// There is such a node.
    public var hasPlayer = true
    /// Notes on the keys.
    public var layout = KeyboardLayout.standard
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
