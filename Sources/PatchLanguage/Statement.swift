import Patch

/// Meaning of one line of the language.
public enum Statement: Hashable, Sendable {
  /// A change of the document.
  case edit(Edit)
  /// A note or the like, which changes nothing in the document.
  case perform(Performance)
  /// The beginning or the end of a recording.
  case record(TakeOrder)
  /// The transport: it rolls, halts, or goes elsewhere.
  case transport(TransportOrder)
  /// A step in the history.
  case undo, redo
  /// A fade of every voice.
  case panic
  /// Several statements joined by `;`, not all of them edits: executed in order at the same time.
  case sequence([Statement])
  /// A blank line or a comment.
  case nothing
}

/// An action that plays a node. It changes nothing in the document, so it is not undone.
public struct Performance: Hashable, Sendable {
  /// The three pedals of a piano.
  public enum Pedal: String, Hashable, Sendable, CaseIterable {
    /// MIDI controller 64, 66 or 67.
    case sustain, sostenuto, soft
  }

  /// Type of the action.
  public enum Event: Hashable, Sendable {
    /// MIDI key 0...127, velocity 1...127.
    case noteOn(key: Int, velocity: Int)
    /// MIDI key 0...127.
    case noteOff(key: Int)
    /// True: down.
    case pedal(Pedal, Bool)
    /// Controller 0...127, value 0...127.
    case control(Int, Int)
    /// -1...1 of the bend range.
    case bend(Double)
    /// Starts at a position in seconds; nil: at the present one.
    case play(at: Double?)
    /// Stops a player.
    case stop
    /// Moves to a position in seconds.
    case cue(Double)
  }

  /// Name of the node.
  public var node: String
  /// The action.
  public var event: Event

  /// An action on the node `node`.
  public init(_ node: String, _ event: Event) {
    self.node = node
    self.event = event
  }

  /// The line in the patch language.
  public var line: String {
    func seconds(_ value: Double) -> String { Value.number(value, .seconds).line }
    return switch event {
    case .noteOn(let key, let velocity): "note \(node) on \(Value.noteName(key)) \(velocity)"
    case .noteOff(let key): "note \(node) off \(Value.noteName(key))"
    case .pedal(let pedal, let isDown): "pedal \(node) \(pedal.rawValue) \(isDown ? "on" : "off")"
    case .control(let number, let value): "control \(node) \(number) \(value)"
    case .bend(let value): "bend \(node) \(Value.number(value, .none).line)"
    case .play(let position): "play \(node)" + (position.map { " at " + seconds($0) } ?? "")
    case .stop: "stop \(node)"
    case .cue(let position): "cue \(node) \(seconds(position))"
    }
  }
}

/// An order to the transport. It changes nothing in the document, so it is not undone.
public enum TransportOrder: Hashable, Sendable {
  /// It begins to move, or stands.
  case roll, halt
  /// To a bar, or to a beat of one.
  case locate(BarPlace)
  /// To a position in seconds from the start.
  case seek(Double)

  /// The line in the patch language.
  public var line: String {
    switch self {
    case .roll: "roll"
    case .halt: "halt"
    case .locate(let place): "locate bar \(place)"
    case .seek(let seconds): "locate \(Value.number(seconds, .seconds).line)"
    }
  }
}

/// The beginning or end of a recording. It changes nothing in the document, so undo ends no take.
public enum TakeOrder: Hashable, Sendable {
  /// A take of a port, or of what goes into a node without outputs; no file: that of the node's settings.
  case begin(PortName, file: String?)
  /// The end of the takes of a port; no port: of all of its node.
  case end(PortName)
  /// A file of the sound heard in the last seconds.
  case keep(seconds: Double, file: String)

  /// The line in the patch language.
  public var line: String {
    switch self {
    case .begin(let port, let file): "record \(port)" + (file.map { " " + Value.text($0).line } ?? "")
    case .end(let port): "record \(port) off"
    case .keep(let seconds, let file):
      "keep \(Value.number(seconds, .seconds).line) \(Value.text(file).line)"
    }
  }
}

extension Statement {
  /// The line in the patch language; empty for nothing.
  public var line: String {
    switch self {
    case .edit(let edit): edit.line
    case .perform(let performance): performance.line
    case .record(let order): order.line
    case .transport(let order): order.line
    case .undo: "undo"
    case .redo: "redo"
    case .panic: "panic"
    case .sequence(let statements): statements.map(\.line).joined(separator: " ; ")
    case .nothing: ""
    }
  }
}
