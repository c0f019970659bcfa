import Realtime

// Inputs from the driver besides sound, for the journals of takes. Worker, all of it.

extension Engine {
  /// Something that the driver gave, at an engine frame.
  public enum Input: Sendable {
    /// A MIDI event of a port.
    case midi(port: Int, Event)
    /// A MIDI port lost a connection.
    case closed(port: Int)
    /// The load is half of the period or more, or no longer.
    case load(isHigh: Bool)
    /// The transport of the driver's server has changed.
    case transport(TransportInput)
  }

  /// Writes down what the driver gives, from now on. Call it before the driver starts. Worker.
  public func startTaping() {
    isTaping = true
    renderer.startTaping()
  }

  /// MIDI and load from the driver since the last call, in order. Worker.
  public func takeInputs() -> [(time: Int64, input: Input)] {
    var found: [(time: Int64, input: Input)] = []
    renderer.readTape { record in
      let input: Input =
        record.transport.map { .transport($0) }
        ?? (record.port < 0
          ? .load(isHigh: record.isLoaded)
          : record.isClosed ? .closed(port: Int(record.port)) : .midi(port: Int(record.port), record.event))
      found.append((record.time, input))
    }
    return found
  }

  /// Records of what the driver gave that were lost because nobody read them. Worker.
  public var lostInputs: Int { renderer.lostInputs }
}
