import Patch
import Screen

/// A movement of the hand that is one edit in the history, however many steps it has.
struct Gesture {
  /// Kind and target; a change of either starts a new gesture.
  enum Kind: Hashable {
    case step(String)
    case dragValue(String)
    case stepCells(String, GridRange)
    case dragCells(String, GridRange)
    case moveBox(String)
    case dragBox(String)
  }
  var kind: Kind
  /// Number of its edit in the history.
  var edit: Int?
  /// Time of its last step.
  var time: Double
  /// Gains of its cells before it.
  var base: [Double]
}

/// State between press and release of a mouse button.
enum Drag {
  case port(PortHint.Target)
  /// A box, with its place and the point of the screen where it was taken.
  case box(NodeID, from: Place, start: Point)
  /// Gains follow the movement from their start values.
  case gains([(cell: GridCell, gain: Double)], range: GridRange, start: Point)
  /// The right button spans a range of the grid; without movement it toggles.
  case range(from: GridCell, hasMoved: Bool)
  /// The left button is down on the drawn piano, and holds the note at this position.
  case key(Character?)
}

/// The last choices of rewiring, which a single key repeats.
struct RewiringMemory {
  /// The effect before it was swapped, by name.
  var otherKinds: [String: Node] = [:]
  /// The kind inserted last.
  var insertedKind = "delay"
}

/// State of typing a gain into the matrix.
struct TypingMemory {
  /// Range and time of the last `-` key.
  var minus: (range: GridRange, time: Double)?
  /// The edit that a typed gain replaces.
  var replacedEdit: Int?
}

/// The keys that are played through the keyboard.
struct PianoMemory {
  struct Key {
    var key: UInt8
    var node: NodeID
    var pressedAt: Double
    /// Begun where the terminal reports releases.
    var endsByRelease = false
    /// The nodes behind its own that play it.
    var listeners: Set<NodeID> = []
  }

  /// Sounding keys, by position, with the time of their last press.
  var playing: [Character: Key] = [:]
  /// The patch on which they sound for certain.
  var settledOn: Revision?
  /// Presses in a terminal that reports no releases.
  var repeats = KeyRepeats<Character>()
  /// The keyboard that plays with its octave and velocity, as of this state of the patch.
  var keyboard: (node: NodeID, octave: Int?, velocity: Int?)?
  var followed: Revision?
  /// A key whose note began with a press that may be a repeat.
  var startedInDoubt: Character?
  /// The node that gets the notes, and what that was found in: it is asked for many times a second.
  var knownTarget: (key: TargetKey, target: NodeID?)?

  struct TargetKey {
    private let revision: Revision
    private let focus: NodeID?
    private let target: NodeID?

    init(_ patch: Patch, _ focus: NodeID?, _ target: NodeID?) {
      (revision, self.focus, self.target) = (patch.revision, focus, target)
    }

    func isSame(as other: TargetKey) -> Bool {
      revision === other.revision && focus == other.focus && target == other.target
    }
  }
  /// Octave and velocity have been taken from the keyboard node.
  var hasPlayed = false
}
