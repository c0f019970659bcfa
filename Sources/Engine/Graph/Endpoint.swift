import Patch

/// A wanted MIDI port of the driver: an input, shared by all `midi` nodes that listen to the same senders, or the output
/// of a `midiout`.
public struct MidiPort: Sendable, Hashable {
  /// Index among the `MidiInput`s of a render, or among its `MidiOutput`s.
  public var number: Int
  /// Senders to connect an input to: names, parts of names, or patterns, with commas between; nil: all hardware.
  public var sender: String?
  /// The output; nil for an input.
  public var outlet: Outlet?

  /// A MIDI output.
  public struct Outlet: Sendable, Hashable {
    /// Its node.
    public var node: NodeID
    /// Name of the port at the driver.
    public var name: String
    /// Receivers: names, parts of names, or patterns, with commas between; nil: all hardware. `none` is none.
    public var receivers: String?

    /// An output of a node.
    public init(node: NodeID, name: String, receivers: String?) {
      self.node = node
      self.name = name
      self.receivers = receivers
    }
  }

  /// An input for `sender`; nil: all hardware.
  public init(number: Int, sender: String?) {
    self.number = number
    self.sender = sender
  }

  /// An output.
  public init(number: Int, outlet: Outlet) {
    self.number = number
    self.outlet = outlet
  }
}

/// Channels that a driver can route for one `input` or `output`. Unlimited where the driver creates ports on
/// demand, as JACK does.
public struct DeviceChannels: Sendable, Hashable {
  /// Channels of an `input`.
  public var inputs: Int
  /// Channels of an `output`.
  public var outputs: Int
  /// Channels of a node, counted from the last, that the driver had no room for.
  public var lacking: [NodeID: Int] = [:]
  /// Outputs of which no channel is connected to anything. Empty where the driver connects them all.
  public var unheard: Set<NodeID> = []
  /// Nodes with a sound card of their own, beside the driver.
  public var cards: [NodeID: CardState] = [:]

  /// Unlimited by default.
  public init(inputs: Int = .max, outputs: Int = .max) {
    self.inputs = inputs
    self.outputs = outputs
  }
}

/// State of a sound card that an `input` or `output` has for itself, beside the driver.
public struct CardState: Sendable, Hashable {
  /// Stage on the way to sound.
  public enum Stage: Sendable, Hashable {
    /// Being opened, or learning what its clock does: silent.
    case starting
    /// Sounding.
    case running
    /// Not there; the reason. It is tried again all the time.
    case absent(String)
  }

  /// The ALSA device.
  public var device: String
  /// Stage on the way to sound.
  public var stage = Stage.starting
  /// Seconds between the engine and the card's connectors; 0 until it is running.
  public var latency = 0.0
  /// Millionths by which its clock is faster than the engine's.
  public var drift = 0.0
  /// Times that it ran dry or over.
  public var xruns = 0

  /// A device that is being opened.
  public init(device: String) { self.device = device }
}

/// Driver channels of a node.
public struct Endpoint: Sendable, Hashable {
  /// The node, or the tap's own identity.
  public var node: NodeID
  /// The name of its ports at the driver.
  public var name: String
  /// Patterns of other programs' ports to connect them to, with commas between; empty: the driver's choice.
  public var connections = ""
  /// The ALSA device of its own; empty: the driver.
  public var device = ""
  /// True for an `input`, false for an `output` or a tap.
  public var isInput: Bool
  /// The first of its driver channels.
  public var firstChannel: Int
  /// The number of its driver channels.
  public var channels: Int
  /// A tap: a monitored port, not a node of the patch.
  public var isTap: Bool
}

/// A port monitored from outside the patch.
struct Tap {
  /// The monitored node.
  enum Subject {
    /// Whichever node has the name at a time.
    case name(String)
    /// The node, as long as it is in the patch.
    case node(NodeID)
  }

  var id: NodeID
  var subject: Subject
  /// An output of the node; nil: what goes into an input.
  var port: String?
  /// That input; nil: the first.
  var heardInput: String?
  var channels: Int
  /// It hands the sound to a feed, and has no channels of the driver.
  var isCapture = false
  /// The cables that feed it at present.
  var ends: Set<Cable.Ends> = []

  var input: PortReference { PortReference(id, "in") }

  /// Name of its node in plans and reports.
  var name: String {
    switch subject {
    case .name(let name): "tap of \(name).\(port ?? "in")"
    case .node: "capture \(id.raw)"
    }
  }
}

extension NodeID {
  /// Identities above it are those of taps, which no patch has.
  static let lastOfPatches = NodeID(raw: .max - 1 << 32)

  /// A tap's identity.
  var isTap: Bool { raw > Self.lastOfPatches.raw }
}
