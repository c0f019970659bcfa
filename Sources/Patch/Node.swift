/// The identity of a node: it survives renaming and rewiring, and undo brings it back. The engine's
/// state follows it. Never written to a file.
public struct NodeID: Hashable, Sendable, Comparable {
  public let raw: UInt64
  public init(raw: UInt64) { self.raw = raw }
  public static func < (a: Self, b: Self) -> Bool { a.raw < b.raw }
}

/// One node of a patch, as a value.
public struct Node: Hashable, Sendable, Identifiable {
  public let id: NodeID
  public var name: String
  /// A kind's name; one that no catalogue knows makes the node a placeholder.
  public var kind: String
  /// What differs from the kind's defaults.
  public var settings: [ParameterPath: Value]
  /// Where its box stands on the screen (column, row of the layout), when the user moved it.
  public var place: Place?
  public var comments: Comments
  /// Comments of the node's other lines: a setting with one stands on a line of its own.
  public var lineComments: [Line: Comments] = [:]

  /// A line of a node's paragraph in a file, besides the one that begins it.
  public enum Line: Hashable, Sendable {
    case setting(ParameterPath)
    case layout
  }

  public init(
    id: NodeID, name: String, kind: String, settings: [ParameterPath: Value] = [:],
    place: Place? = nil, comments: Comments = Comments()
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.settings = settings
    self.place = place
    self.comments = comments
  }
}

public struct Place: Hashable, Sendable {
  public var column: Int
  public var row: Int
  public init(column: Int, row: Int) {
    self.column = column
    self.row = row
  }
}

/// Comments that belong to a line of a patch file, kept through edits and saving.
public struct Comments: Hashable, Sendable {
  /// Whole lines before it, without `# `.
  public var before: [String]
  /// At its end.
  public var after: String?

  public init(before: [String] = [], after: String? = nil) {
    self.before = before
    self.after = after
  }

  public var isEmpty: Bool { before.isEmpty && after == nil }
}

/// A port of a node in a patch.
public struct PortReference: Hashable, Sendable {
  public var node: NodeID
  /// The port's name; always resolved ("in", "out", "sidechain", "freq").
  public var port: String
  public init(_ node: NodeID, _ port: String) {
    self.node = node
    self.port = port
  }
}

/// Indexed by destination channel: which source channel it gets, or -1 for none.
public struct ChannelMap: Hashable, Sendable {
  public var sources: [Int]
  public init(_ sources: [Int]) { self.sources = sources }
}

/// How a cable spreads its channels where no map says so.
public enum ChannelMixing: String, Hashable, Sendable {
  /// Web Audio's up- and down-mixing between 1, 2, 4 and 6 channels, else 1:1.
  case speakers
  /// Always 1:1.
  case discrete
}

/// A cable: at most one between the same two ports.
public struct Cable: Hashable, Sendable {
  public struct Ends: Hashable, Sendable {
    public var source: PortReference
    public var destination: PortReference
    public init(_ source: PortReference, _ destination: PortReference) {
      self.source = source
      self.destination = destination
    }
  }

  public var ends: Ends
  /// Decibels; nothing for a cable of events.
  public var gain: Double
  public var map: ChannelMap?
  public var mixing: ChannelMixing
  public var comments: Comments

  public init(
    _ ends: Ends, gain: Double = 0, map: ChannelMap? = nil, mixing: ChannelMixing = .speakers,
    comments: Comments = Comments()
  ) {
    self.ends = ends
    self.gain = gain
    self.map = map
    self.mixing = mixing
    self.comments = comments
  }
}
