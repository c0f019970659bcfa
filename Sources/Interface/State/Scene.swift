import Engine
import Patch
import Session

/// Snapshot of the session for the views: a plain value, so that a test can construct one and a view cannot
/// disturb anything.
public struct Scene: Sendable {
  /// With the other programs of the server while they are shown, without any otherwise.
  public var patch = Patch()
  /// The programs, by node.
  public var programs: [NodeID: Surroundings.Client] = [:]
  /// The cables at them.
  public var outsideCables: [Cable.Ends: Surroundings.CableState] = [:]
  /// Differs after each change of the programs and of their cables.
  public var surroundings = 0
  public var showsPrograms = false
  public var catalogue = KindRegistry.builtIn.catalogue
  /// The running graph, leaving nodes included.
  public var report = GraphReport()
  /// Places of the report's nodes by name, for as long as its form is this one.
  var reportPlaces: [String: Int] = [:]
  var placesForm: ReportForm?
  /// Facts about the instruments that nodes play.
  public var instruments: [NodeID: InstrumentFacts] = [:]
  public var trace: [TraceEntry] = []
  public var status = SessionStatus()
  /// Last part of the file's path, or "untitled".
  public var fileName = "untitled"
  public var isModified = false
  /// The newest undoable and redoable edits, as lines of the language.
  public var undo: String?
  public var redo: String?
  /// Edits that can be undone, then those that can be redone, the oldest first.
  public var history: [HistoryStep] = []
  /// Measurements of the edits in the history.
  public var effects: [HistoryStep.Key: String] = [:]
  /// Last positions of the controllers of maps, as far as they have moved.
  public var mapPlaces: [MapName: Int] = [:]
  /// The scene that the patch shows, or showed last.
  public var presentScene: PresentScene?
  /// Nodes that others have just changed in the file.
  public var changedByOthers: Set<NodeID> = []
  /// True when the version of the file that others wrote conflicts with edits made here.
  public var versionConflict: VersionConflict?
  /// Facts about the file that is heard beside the patch; empty: none is.
  public var preview = ""
  /// The terminal reports key releases.
  public var hasKeyRelease = false

  public init() {}
}

extension ViewFrame {
  /// The rows of a screen that shows this scene.
  init(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) {
    self.init(
      columns: columns, rows: rows, isPlaying: state.mode == .play, hasPlayer: state.play.hasPlayer,
      hasControls: !scene.patch.settings.controls.isEmpty, hasScenes: !scene.patch.scenes.isEmpty,
      hasInspector: state.overlay?.isBeside ?? false, hasTour: state.tour != nil)
  }
}

extension HistoryStep {
  /// An edit whether it is done or undone.
  public struct Key: Hashable, Sendable {
    var line: String
    var time: TimeOfDay?
  }

  var key: Key { Key(line: line, time: time) }
}

extension Scene {
  /// A setting as a map or a control names it: of a published parameter that of the node inside.
  func target(_ node: String, _ path: ParameterPath) -> ControlTarget {
    let inner = patch.published(node, path) ?? (node, path)
    return .setting(inner.node, inner.path)
  }

  /// Beats a minute, of whoever leads the transport.
  public var tempo: Double { status.transport.tempo }

  /// Seconds of a whole note.
  var wholeNote: Double {
    PatchSettings.wholeNote(tempo: tempo, unit: status.transport.meter.unit)
  }
}
