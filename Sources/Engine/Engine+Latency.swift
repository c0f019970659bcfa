// How late sound is on its way from one end of the patch to another. Worker, all of it.

/// How late sound leaves channels of the driver after it has come in elsewhere.
public struct PathLatency: Sendable, Hashable {
  public enum Origin: Sendable, Hashable {
    /// The driver's channels of an `input`.
    case input(Range<Int>)
    /// A MIDI port of the driver, by its number.
    case midi(port: Int)
    /// What the patch makes by itself.
    case patch

    public func isInput(_ channel: Int) -> Bool {
      if case .input(let channels) = self { channels.contains(channel) } else { false }
    }
  }

  public var origin: Origin
  /// The driver's channels of an `output`.
  public var channels: Range<Int>
  /// Frames by the shortest and by the longest way: what nodes add, and what makes parallel paths alike.
  public var frames: ClosedRange<Int>

  public init(origin: Origin, channels: Range<Int>, frames: ClosedRange<Int>) {
    self.origin = origin
    self.channels = channels
    self.frames = frames
  }
}

extension Engine {
  /// The plan that runs; what depends on it alone need not be asked for again while this is the same.
  public var planNumber: Int { running?.serial ?? 0 }

  /// How late each output is after each input that leads to it, in the plan that runs. As in the report, neither
  /// the 64 frames of a cycle count nor cables that leave, nor those into parameters.
  public var pathLatencies: [PathLatency] { running?.pathLatencies ?? [] }
}

extension CompiledPlan {
  fileprivate var pathLatencies: [PathLatency] {
    let nodes = nodes
    guard nodes.contains(where: { $0.latency > 0 || Self.origin(of: $0) != nil }) else { return [] }
    for (place, node) in nodes.enumerated() { node.place = place }
    /// At the outputs of each node, by origin.
    var ways = [[Way]](repeating: [], count: nodes.count)
    var result: Set<PathLatency> = []
    var rest = cables[...]
    for (place, node) in nodes.enumerated() {
      var arriving: [Way] = []
      var isFed = false
      while let cable = rest.first, cable.destination === node {
        rest.removeFirst()
        if case .parameter = cable.input { continue }
        guard !cable.key.isFeedback, !cable.isLeaving else { continue }
        isFed = isFed || !cable.carriesEvents
        for way in ways[cable.source.place] { Self.add(way.later(by: Int(cable.key.delay)), to: &arriving) }
      }
      if let origin = Self.origin(of: node) {
        Self.add(Way(origin: origin, frames: 0...0), to: &arriving)
      } else if !isFed, arriving.isEmpty {
        Self.add(Way(origin: .patch, frames: 0...0), to: &arriving)
      }
      ways[place] = arriving.map { $0.later(by: Int(node.latency)) }
      guard node.kind == "output", let first = node.firstChannel, !node.isLeaving else { continue }
      let channels = first..<first + node.inputChannels[0]
      for way in ways[place] {
        result.insert(PathLatency(origin: way.origin, channels: channels, frames: way.frames))
      }
    }
    return result.sorted {
      ($0.channels.lowerBound, $0.origin.order, $0.frames.lowerBound)
        < ($1.channels.lowerBound, $1.origin.order, $1.frames.lowerBound)
    }
  }

  /// Sound on its way from somewhere.
  private struct Way {
    var origin: PathLatency.Origin
    var frames: ClosedRange<Int>

    func later(by delay: Int) -> Way {
      Way(origin: origin, frames: frames.lowerBound + delay...frames.upperBound + delay)
    }
  }

  private static func add(_ way: Way, to ways: inout [Way]) {
    guard let known = ways.firstIndex(where: { $0.origin == way.origin }) else { return ways.append(way) }
    let (one, other) = (ways[known].frames, way.frames)
    ways[known].frames = min(one.lowerBound, other.lowerBound)...max(one.upperBound, other.upperBound)
  }

  private static func origin(of node: EngineNode) -> PathLatency.Origin? {
    if node.kind == "input", let first = node.firstChannel {
      return .input(first..<first + node.outputChannels[0])
    }
    if let port = node.midiPort, port >= 0 { return .midi(port: port) }
    return nil
  }
}

extension PathLatency.Origin {
  fileprivate var order: Int {
    switch self {
    case .input(let channels): channels.lowerBound
    case .midi(let port): 1000 + port
    case .patch: 10000
    }
  }
}
