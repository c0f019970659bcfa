import Patch

/// The engine's view of a patch cable: its ports and its settings.
final class CableIntent {
  struct Route {
    var source: EngineNode
    /// Position among the source's audio outputs; nil for events.
    var output: Int?
    var destination: EngineNode
    var input: EngineCable.Destination
  }

  struct Settings: Equatable {
    var map: ChannelMap?
    var mixing = ChannelMixing.discrete
    var depth: ModulationDepth?
    /// Linear gain of its own.
    var gain: Float = 1
    /// Factor by which the switches of a gain that it adds to are heard: 1, 0 or -1.
    var factor: Float = 1
    /// Linear gain as it is heard.
    var target: Float { gain * factor }
  }

  let ends: Cable.Ends
  let route: Route
  var settings: Settings
  /// True when it closes a cycle.
  var isFeedback = false
  /// Latency compensation, in frames.
  var compensation: Int32 = 0
  /// Number of renewals.
  var generation: Int32 = 0
  /// The cable that realises it.
  var cable: EngineCable?
  /// Index in the graph.
  var index: Int32 = 0

  init(ends: Cable.Ends, route: Route, _ settings: Settings) {
    self.ends = ends
    self.route = route
    self.settings = settings
  }

  /// Linear gain as it is heard.
  var target: Float { settings.target }

  var key: EngineCable.Key {
    EngineCable.Key(
      source: route.source.number, sourcePort: ends.source.port, destination: route.destination.number,
      destinationPort: ends.destination.port, map: settings.map, mixing: settings.mixing,
      depth: settings.depth,
      isFeedback: isFeedback, generation: generation,
      delay: isFeedback ? Int32(CableSlot.feedbackDelay) : compensation)
  }
}
