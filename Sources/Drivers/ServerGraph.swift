import Patch

/// The ports and connections of a JACK server, as last seen.
public struct ServerGraph: Sendable, Hashable {
  /// A port of a program.
  public struct Port: Sendable, Hashable {
    /// Name of its program.
    public var program: String
    /// Name without the program's.
    public var name: String
    /// True for a port that takes a signal.
    public var isInput: Bool
    /// True for MIDI, false for audio.
    public var isEvents: Bool

    /// A port of a program.
    public init(_ program: String, _ name: String, isInput: Bool, isEvents: Bool = false) {
      self.program = program
      self.name = name
      self.isInput = isInput
      self.isEvents = isEvents
    }

    /// `system:playback_1`
    public var fullName: String { program + ":" + name }
  }

  /// A connection, by the full names of its ports.
  public struct Link: Sendable, Hashable, Comparable {
    /// The port that sends.
    public var source: String
    /// The port that receives.
    public var destination: String

    /// A connection of two ports.
    public init(_ source: String, _ destination: String) {
      self.source = source
      self.destination = destination
    }

    /// Order by the source's name, then the destination's.
    public static func < (one: Self, other: Self) -> Bool {
      (one.source, one.destination) < (other.source, other.destination)
    }
  }

  /// The ports by program; those of a program in the order of their numbers.
  public private(set) var ports: [String: [Port]] = [:]
  /// The connections.
  public var links: Set<Link> = []
  /// True while a server answers.
  public var isRunning = false

  /// A server without ports.
  public init() {}

  /// A running server.
  public init(_ ports: [Port], links: Set<Link> = []) {
    self.ports = Dictionary(grouping: ports, by: \.program).mapValues { ports in
      ports.sorted { JackPorts.isBefore($0.name, $1.name) }
    }
    self.links = links
    isRunning = true
  }

  /// The same with the ports of programs that it does not have.
  public func adding(_ others: [String: [Port]]) -> ServerGraph {
    var graph = self
    graph.ports.merge(others) { mine, _ in mine }
    return graph
  }

  /// True for the full name of a port that it has.
  func has(_ full: String) -> Bool {
    guard let colon = full.firstIndex(of: ":") else { return false }
    let name = full[full.index(after: colon)...]
    return ports[String(full[..<colon])]?.contains { $0.name == name } ?? false
  }

  /// Names of the programs, sorted.
  public var programs: [String] { ports.keys.sorted() }

  /// The running programs that a name or pattern stands for. A program that comes back before its old client is gone
  /// has a number, as in `firefox-01`.
  public func programs(like name: String) -> [String] {
    let pattern = NamePattern(name)
    if pattern.isPattern { return programs.filter(pattern.fits) }
    if ports[name] != nil { return [name] }
    return (1...9).lazy.map { "\(name)-0\($0)" }.first { ports[$0] != nil }.map { [$0] } ?? []
  }

  /// The connections that a wish stands for, among the ports that exist. Programs are joined pairwise, audio with audio
  /// and MIDI with MIDI: port to port in their order. A single audio port is sent to two, as to both speakers, a single
  /// MIDI port to all, and a single port takes all.
  public func links(of wish: ConnectionWish) -> [Link] {
    var found: [Link] = []
    let sources = programs(like: wish.source.program)
    let destinations = programs(like: wish.destination.program)
    for source in sources {
      for destination in destinations {
        if source == destination, wish.source.program != wish.destination.program { continue }
        for isEvents in [false, true] {
          let from = ports(of: source, wish.source, isInput: false, isEvents: isEvents)
          let to = ports(of: destination, wish.destination, isInput: true, isEvents: isEvents)
          for (from, to) in wish.pairs(from, to, isEvents: isEvents) {
            found.append(Link(from.fullName, to.fullName))
          }
        }
      }
    }
    return found
  }

  /// The map with which a wish leaves out connections; nil where no map says that: between several programs, or several
  /// types of ports, or where several ports would stay at one.
  public func map(of wish: ConnectionWish, without ended: Set<Link>) -> [Int]? {
    let (sources, destinations) = (
      programs(like: wish.source.program), programs(like: wish.destination.program)
    )
    guard let source = sources.first, let destination = destinations.first, sources.count == 1,
      destinations.count == 1
    else { return nil }
    let maps = [false, true].compactMap { isEvents -> [Int: [Int]]? in
      let from = ports(of: source, wish.source, isInput: false, isEvents: isEvents)
      let to = ports(of: destination, wish.destination, isInput: true, isEvents: isEvents)
      let pairs = wish.pairs(Array(from.indices), Array(to.indices), isEvents: isEvents)
      guard !pairs.isEmpty else { return nil }
      var kept: [Int: [Int]] = [:]
      for (from_, to_) in pairs {
        kept[to_, default: []] += ended.contains(Link(from[from_].fullName, to[to_].fullName)) ? [] : [from_]
      }
      return kept
    }
    guard let map = maps.first, maps.count == 1, map.values.allSatisfy({ $0.count < 2 }),
      let last = map.keys.max(), last < 64
    else { return nil }
    return (0...last).map { map[$0]?.first ?? -1 }
  }

  /// The ports of one type on one side, in the order of the patterns, then of their numbers.
  private func ports(of program: String, _ end: ConnectionWish.End, isInput: Bool, isEvents: Bool) -> [Port] {
    let all = (ports[program] ?? []).filter { $0.isInput == isInput && $0.isEvents == isEvents }
    var seen: Set<String> = []
    return end.ports.map(NamePattern.init).flatMap { pattern in
      all.filter { pattern.fits($0.name) && seen.insert($0.name).inserted }
    }
  }
}

/// A cable to, from or between programs, by names: it holds for whatever fits them.
public struct ConnectionWish: Sendable, Hashable {
  /// One end of it.
  public struct End: Sendable, Hashable {
    /// Name or pattern of the program; empty: a program of no name, which has no ports.
    public var program: String
    /// Names or patterns of its ports, in order.
    public var ports: [String]

    /// These ports of a program.
    public init(_ program: String, _ ports: [String]) {
      self.program = program
      self.ports = ports
    }

    /// True for a port that one of the names or patterns fits.
    public func names(_ port: String) -> Bool {
      ports.contains { NamePattern($0).fits(port) }
    }

    func holds(full name: String) -> Bool {
      guard let colon = name.firstIndex(of: ":") else { return false }
      return holds(program: String(name[..<colon]), port: String(name[name.index(after: colon)...]))
    }

    func holds(program name: String, port: String) -> Bool {
      NamePattern(program).fits(name) && names(port)
    }
  }

  /// The end that sends.
  public var source: End
  /// The end that receives.
  public var destination: End
  /// Number of the source's port for each port of the destination, -1 for none; nil: in their order.
  public var map: [Int]?
  /// Port to port only: a single port is sent to one, and takes one.
  public var isDiscrete: Bool

  /// A wish for a cable.
  public init(_ source: End, _ destination: End, map: [Int]? = nil, isDiscrete: Bool = false) {
    self.source = source
    self.destination = destination
    self.map = map
    self.isDiscrete = isDiscrete
  }

  /// True for a connection between ports that its names and patterns fit.
  func holds(_ link: ServerGraph.Link) -> Bool {
    source.holds(full: link.source) && destination.holds(full: link.destination)
  }

  func pairs<Port>(_ from: [Port], _ to: [Port], isEvents: Bool) -> [(Port, Port)] {
    if let map {
      return zip(map, to).compactMap { number, to in from.indices.contains(number) ? (from[number], to) : nil
      }
    }
    if isDiscrete { return Array(zip(from, to)) }
    if from.count == 1 { return (isEvents ? to[...] : to.prefix(2)).map { (from[0], $0) } }
    if to.count == 1 { return from.map { ($0, to[0]) } }
    return Array(zip(from, to))
  }
}
