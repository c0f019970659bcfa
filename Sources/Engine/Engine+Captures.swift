import Patch
import Realtime

// Captures: ports whose sound is handed to a worker. Worker, all of it.

extension Engine {
  /// A place that can be captured.
  public struct CapturePoint: Hashable, Sendable {
    /// The node.
    public var node: NodeID
    /// One of its audio outputs; nil: what goes into an input.
    public var port: String?
    /// The input, an audio input or a parameter, of which this hears what goes in; nil: it hears an output.
    public var input: String?
    /// Channels at present.
    public var channels: Int
  }

  /// The audio output of a node, the first where none is named, or what goes into a node without outputs. nil:
  /// there is no such port.
  public func capturePoint(of id: NodeID, port: String?) -> CapturePoint? {
    if let found = output(port, of: id) {
      return CapturePoint(node: id, port: found.name, channels: found.channels)
    }
    guard let node = graph.current[id], node.outputs.isEmpty, let input = node.inputs.first,
      port == nil || port == input.name
    else { return nil }
    return capturePoint(of: id, input: input.name)
  }

  /// Sound that goes into an audio input of a node, or into a parameter by cables. nil: there is no such input, or no cable
  /// leads to the parameter.
  public func capturePoint(of id: NodeID, input: String) -> CapturePoint? {
    guard let node = graph.current[id] else { return nil }
    if let index = node.inputs.firstIndex(where: { $0.name == input }) {
      guard !node.inputs[index].isEvents else { return nil }
      return CapturePoint(node: id, input: input, channels: node.inputPort(index).count)
    }
    let channels = wanted.cables(at: id).filter { $0.destination == PortReference(id, input) }
      .compactMap { output($0.source.port, of: $0.source.node)?.channels }
    return channels.max().map { CapturePoint(node: id, input: input, channels: $0) }
  }

  /// Hands the sound at this point to `feed` from `time` on (nil: the next block), as long as the node is in the
  /// patch, at unity from the first frame. Returns what ends it.
  public func beginCapture(_ point: CapturePoint, feed: Resource, at time: Int64? = nil) -> NodeID {
    let id = makeTapID()
    taps.append(
      Tap(
        id: id, subject: .node(point.node), port: point.port, heardInput: point.input,
        channels: feed.channels(or: point.channels), isCapture: true))
    use(feed, for: id)
    adopt(wanted, at: time)
    return id
  }

  /// Makes a capture hear another node from the next adopted edit on, crossfaded as cables are. `port`: its output; nil: what
  /// goes into its first input.
  public func moveCapture(_ id: NodeID, to node: NodeID, port: String?) {
    guard let index = taps.firstIndex(where: { $0.id == id && $0.isCapture }) else { return }
    (taps[index].subject, taps[index].port, taps[index].heardInput) = (.node(node), port, nil)
  }

  /// Ends a capture, from the next block on.
  public func endCapture(_ id: NodeID, at time: Int64? = nil) {
    guard let index = taps.firstIndex(where: { $0.id == id && $0.isCapture }) else { return }
    if let node = graph.current[id], node.slot != nil { send([.use(node.slot, nil)], at: time) }
    endedTaps.append(taps.remove(at: index))
    adopt(wanted, at: time)
    releaseResource(of: id)
  }

  /// Something that has happened at an engine frame.
  public struct Stamp: Sendable {
    /// Kind of happening.
    public enum Meaning: Hashable, Sendable {
      /// The transactions with this `Engine.stamp` were executed.
      case transactions(Int)
      /// The next transactions were decided when all that happened before this frame was known.
      case known(Int64)
      /// Fades had ended, and what follows from that began.
      case settled
      /// The driver has another rate, Hz.
      case rate(Double)
    }

    /// Engine frame.
    public var time: Int64
    /// The event.
    public var meaning: Meaning
  }

  /// The stamped transactions that were executed since the last call, and changes of the rate, in their order.
  public func takeStamps() -> [Stamp] {
    defer { stamps = [] }
    return stamps
  }
}

extension Resource {
  fileprivate func channels(or count: Int) -> Int {
    guard header.pointee.type == AudioFeed.type else { return count }
    return UnsafeMutableRawPointer(header).assumingMemoryBound(to: AudioFeed.self).pointee.channels
  }
}
