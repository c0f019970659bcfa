/// A controller, a note or the like of a node that hands out events: `in.cc74`, `in.cc1+33`, `keys.noteC4@2`.
public struct MapSource: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Type of the events that move a map.
  public enum Sender: Hashable, Sendable {
    /// A controller of seven bits, 0...127.
    case controller(Int)
    /// A controller of fourteen bits: the numbers of its coarse and its fine half.
    case fine(Int, Int)
    /// A parameter of the device (NRPN), 0...16383.
    case nrpn(Int)
    /// A parameter that MIDI defines (RPN), 0...16383.
    case rpn(Int)
    /// A key as a switch, 0...127.
    case note(Int)
    /// The pitch wheel.
    case bend
    /// Pressure on the channel as a whole.
    case pressure
    /// Pressure on one key, 0...127.
    case keyPressure(Int)
  }

  /// Name of the node that hands out the events.
  public var node: String
  /// Type of the events.
  public var sender: Sender
  /// MIDI channel, 1...16; nil: every channel.
  public var channel: Int?

  /// A sender of the node `node`.
  public init(_ node: String, _ sender: Sender, channel: Int? = nil) {
    self.node = node
    self.sender = sender
    self.channel = channel
  }

  /// The sender that `word` names, behind the node's name and its point; nil if it names none.
  public init?(_ node: String, word: some StringProtocol) {
    let parts = word.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let sender = Sender(word: String(first)) else {
      return nil
    }
    self.init(node, sender)
    guard parts.count == 2 else { return }
    guard let number = Int(parts[1]), (1...16).contains(number) else { return nil }
    channel = number
  }

  /// The source in the language.
  public var description: String { "\(node).\(word)" }

  /// The word behind the node's name.
  public var word: String { sender.word + (channel.map { "@\($0)" } ?? "") }

  /// Order of the lines in a file.
  public static func < (a: Self, b: Self) -> Bool {
    (a.node, a.sender.rank, a.channel ?? 0) < (b.node, b.sender.rank, b.channel ?? 0)
  }
}

extension MapSource.Sender {
  /// Spellings of all senders, for help and refusals.
  public static let examples = [
    "cc74", "cc1+33", "nrpn1234", "rpn0", "noteC4", "bend", "pressure", "pressureC4",
  ]

  init?(word: String) {
    func number(behind prefix: String, to most: Int) -> Int? {
      guard word.hasPrefix(prefix), let number = Int(word.dropFirst(prefix.count)), word.last != "+",
        (0...most).contains(number)
      else { return nil }
      return number
    }
    func key(behind prefix: String) -> Int? {
      guard word.hasPrefix(prefix) else { return nil }
      return number(behind: prefix, to: 127) ?? Value.key(named: String(word.dropFirst(prefix.count)))
    }
    if word == "bend" {
      self = .bend
    } else if word == "pressure" {
      self = .pressure
    } else if let number = number(behind: "cc", to: 127) {
      self = .controller(number)
    } else if let number = number(behind: "nrpn", to: 16383) {
      self = .nrpn(number)
    } else if let number = number(behind: "rpn", to: 16383) {
      self = .rpn(number)
    } else if let key = key(behind: "note") {
      self = .note(key)
    } else if let key = key(behind: "pressure") {
      self = .keyPressure(key)
    } else if word.hasPrefix("cc"), let plus = word.firstIndex(of: "+"),
      let coarse = Int(word[..<plus].dropFirst(2)), let fine = Int(word[word.index(after: plus)...]),
      (0...127).contains(coarse), (0...127).contains(fine), coarse != fine
    {
      self = .fine(coarse, fine)
    } else {
      return nil
    }
  }

  /// The canonical spelling.
  public var word: String {
    switch self {
    case .controller(let number): "cc\(number)"
    case .fine(let coarse, let fine): "cc\(coarse)+\(fine)"
    case .nrpn(let number): "nrpn\(number)"
    case .rpn(let number): "rpn\(number)"
    case .note(let key): "note\(Value.noteName(key))"
    case .bend: "bend"
    case .pressure: "pressure"
    case .keyPressure(let key): "pressure\(Value.noteName(key))"
    }
  }

  /// Bits of its positions.
  public var bits: Int {
    switch self {
    case .controller, .note, .pressure, .keyPressure: 7
    case .fine, .nrpn, .rpn, .bend: 14
    }
  }

  /// True for what returns by itself when it is let go, so that waiting for the right place makes no sense.
  var springsBack: Bool {
    switch self {
    case .note, .bend, .pressure, .keyPressure: true
    case .controller, .fine, .nrpn, .rpn: false
    }
  }

  fileprivate var rank: Int {
    switch self {
    // By their coarse halves.
    case .controller(let number): number << 8
    case .fine(let coarse, let fine): coarse << 8 | fine + 1
    case .nrpn(let number): 2 << 16 | number
    case .rpn(let number): 3 << 16 | number
    case .note(let key): 4 << 16 | key
    case .bend: 5 << 16
    case .pressure: 6 << 16
    case .keyPressure(let key): 7 << 16 | key
    }
  }
}

/// Both ends of a map: a source and the value that it moves. There is one map of a name.
public struct MapName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The controller.
  public var source: MapSource
  /// The value that follows it.
  public var target: ControlTarget

  /// The map from `source` to `target`.
  public init(_ source: MapSource, _ target: ControlTarget) {
    self.source = source
    self.target = target
  }

  /// The name in the language: `in.cc74 -> filter.freq`.
  public var description: String { "\(source) -> \(target)" }

  /// Order of the lines in a file.
  public static func < (a: Self, b: Self) -> Bool {
    a.source != b.source ? a.source < b.source : a.target.description < b.target.description
  }

  /// True when it names that node.
  func names(_ node: String) -> Bool { source.node == node || target.names(node) }

  /// The same map with other names of nodes.
  func renaming(_ newName: (String) -> String) -> Self {
    var name = self
    name.source.node = newName(source.node)
    name.target = target.renaming(newName)
    return name
  }
}
