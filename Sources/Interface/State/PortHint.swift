import Patch

/// A two-letter hint on a port or a cable of the graph.
struct PortHint: Sendable {
  enum Target: Sendable, Hashable {
    case output(PortReference)
    case input(PortReference)
    case cable(Cable.Ends)

    /// The port; nil for a cable.
    var port: PortReference? {
      switch self {
      case .output(let port), .input(let port): port
      case .cable: nil
      }
    }
  }

  var letters: String
  var target: Target
}
