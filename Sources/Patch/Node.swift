/// Identity of a node: it survives renaming and rewiring, and undo restores it. The engine's state follows
/// it. Never written to a file.
public struct NodeID: Hashable, Sendable, Comparable {
  /// Unique within a patch; 0: not assigned yet.
  public let raw: UInt64
  /// The identity with this number.
  public init(raw: UInt64) { self.raw = raw }
  /// Order by number.
  public static func < (a: Self, b: Self) -> Bool { a.raw < b.raw }

  /// A hash without `Hasher`.
  public func _rawHashValue(seed: Int) -> Int { QuickHash.value(raw, seed: seed) }
}

/// A hash by one full multiplication (as in Wang Yi's wyhash), instead of `Hasher`. SipHash protects against keys that
/// an attacker chooses; these numbers are the patch's own, and opening a large patch looks each up many times.
package enum QuickHash {
  package static func value(_ number: UInt64, seed: Int) -> Int {
    let mixed = number ^ UInt64(truncatingIfNeeded: seed) ^ 0x9E37_79B9_7F4A_7C15
    let product = mixed.multipliedFullWidth(by: 0xD1B5_4A32_D192_ED03)
    return Int(truncatingIfNeeded: product.high ^ product.low)
  }

  /// Of a cable between two nodes. Of the ports' names only the digits count, by which elements differ: most pairs of nodes
  /// have one cable, and names that are equal in other spellings of their letters have the same digits.
  package static func value(
    from source: UInt64, _ sourcePort: String, to destination: UInt64, _ destinationPort: String, seed: Int
  ) -> Int {
    var number = source &* 0xA076_1D64_78BD_642F &+ destination &* 0xE703_7ED1_A0B4_28DB
    add(sourcePort, to: &number)
    add(destinationPort, to: &number)
    return value(number, seed: seed)
  }

  private static func add(_ port: String, to number: inout UInt64) {
    number &*= 0x8EBC_6AF0_9C88_C6E3
    for byte in port.utf8 where byte &- UInt8(ascii: "0") < 10 { number = number &* 31 &+ UInt64(byte) }
  }
}

/// One node of a patch, as a value.
public struct Node: Hashable, Sendable, Identifiable {
  /// Identity within the patch.
  public let id: NodeID
  /// Unique name within the patch.
  public var name: String
  /// Name of its kind; an unknown one makes the node a placeholder.
  public var kind: String
  /// Settings that differ from the kind's defaults, or have a comment.
  public var settings: [ParameterPath: Value]
  /// Position of its box on the screen (column, row of the layout), if the user moved it.
  public var place: Place?
  /// Comments of the node's first line.
  public var comments: Comments
  /// Comments of the node's other lines. A setting with a comment gets a line of its own.
  public var lineComments: [Line: Comments] = [:]

  /// A line of a node's paragraph in a file, other than the first.
  public enum Line: Hashable, Sendable {
    /// A setting on a line of its own.
    case setting(ParameterPath)
    /// The place on the screen.
    case layout
  }

  /// A node; the kind is not checked.
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

/// Position in the layout of the graph view.
public struct Place: Hashable, Sendable {
  /// Column, from the left.
  public var column: Int
  /// Row, from the top.
  public var row: Int
  /// A position.
  public init(column: Int, row: Int) {
    self.column = column
    self.row = row
  }
}

/// Comments of one line of a patch file, kept through edits and saving.
public struct Comments: Hashable, Sendable {
  /// Whole lines before it, without `# `.
  public var before: [String]
  /// The comment at the end of the line.
  public var after: String?

  /// Comments before a line and at its end.
  public init(before: [String] = [], after: String? = nil) {
    self.before = before
    self.after = after
  }

  /// True when there are none.
  public var isEmpty: Bool { before.isEmpty && after == nil }
}

/// A port of a node in a patch.
public struct PortReference: Hashable, Sendable {
  /// The node.
  public var node: NodeID
  /// Name of the port; always resolved ("in", "out", "sidechain", "freq").
  public var port: String
  /// Input of a node of an unknown kind, for a cable that names none.
  static let unknownInput = "in"

  /// A port of `node`.
  public init(_ node: NodeID, _ port: String) {
    self.node = node
    self.port = port
  }
}

/// Source channel for each destination channel, or -1 for none.
public struct ChannelMap: Hashable, Sendable {
  /// Indexed by destination channel.
  public var sources: [Int]
  /// A map, indexed by destination channel.
  public init(_ sources: [Int]) { self.sources = sources }
}

/// Channel mixing of a cable without a map.
public enum ChannelMixing: String, Hashable, Sendable, CaseIterable {
  /// Up- and down-mixing by the Web Audio rules between 1, 2, 4 and 6 channels, otherwise 1:1.
  case speakers
  /// Always 1:1.
  case discrete
}

/// A cable. There is at most one between the same two ports.
public struct Cable: Hashable, Sendable {
  /// The two ports of a cable.
  public struct Ends: Hashable, Sendable {
    /// The output.
    public var source: PortReference
    /// The input.
    public var destination: PortReference
    /// A cable's ends: an output and an input.
    public init(_ source: PortReference, _ destination: PortReference) {
      self.source = source
      self.destination = destination
    }

    /// A hash without `Hasher`.
    public func _rawHashValue(seed: Int) -> Int {
      QuickHash.value(
        from: source.node.raw, source.port, to: destination.node.raw, destination.port, seed: seed)
    }
  }

  /// The two ports; they identify the cable.
  public var ends: Ends
  /// Gain, map, mixing and depth.
  public var settings: CableSettings
  /// Comments of its line.
  public var comments: Comments

  /// Gain in decibels.
  public var gain: Double { settings.gain }
  /// Channel map; nil: the mixing applies.
  public var map: ChannelMap? { settings.map }

  /// A cable at unity unless its settings say otherwise.
  public init(_ ends: Ends, _ settings: CableSettings = CableSettings(), comments: Comments = Comments()) {
    self.ends = ends
    self.settings = settings
    self.comments = comments
  }
}
