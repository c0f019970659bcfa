import Patch
import Realtime

// The transport. Worker, all of it.

extension Engine {
  /// Performs a change of the transport. `time`: engine frame; nil: the next block.
  public func perform(_ change: TransportChange, at time: Int64? = nil) {
    send([.transport(change)], at: time)
  }

  /// The engine frame, now or later, at which the transport reaches a place or is beyond it, as far as is known now; nil:
  /// it stands before it.
  public func frame(of place: BarPlace) -> Int64? {
    var (transport, now, changes) = presentTransport
    while true {
      let found = transport.frame(of: place, from: now)
      guard let next = changes.first, found.map({ next.time < $0 }) ?? true else { return found }
      changes.removeFirst()
      now = max(now, next.time)
      transport.apply(next.change, at: now)
    }
  }

  /// The transport at the next frame to be rendered, and the changes on their way to it.
  private var presentTransport: (Transport, Int64, [(time: Int64, change: TransportChange)]) {
    while true {
      let done = renderer.executed.load(ordering: .acquiring)
      let (transport, now) = (renderer.transport, renderer.time)
      guard renderer.executed.load(ordering: .acquiring) == done else { continue }
      // Transactions are executed in order, none before the one in front of it.
      var (changes, time): ([(Int64, TransportChange)], Int64) = ([], now)
      for transaction in pending.dropFirst(done - executedCount) {
        time = max(time, transaction.time)
        for case .transport(let change) in transaction.commands { changes.append((time, change)) }
      }
      return (transport, now, changes)
    }
  }

  /// The transport with the changes that are due.
  public var transport: Transport {
    var (transport, now, changes) = presentTransport
    while let next = changes.first, next.time <= now {
      transport.apply(next.change, at: now)
      changes.removeFirst()
    }
    return transport
  }
}

extension Transport {
  /// The first frame, from `frame` on, at which a place or one behind it is reached; nil: the transport stands before it.
  public func frame(of place: BarPlace, from frame: Int64) -> Int64? {
    self.frame(ofBar: Int64(place.bar), beat: Double(place.beat - 1), from: frame)
  }
}

extension TransportChange {
  /// The changes from one patch's settings to another's.
  public static func changes(from old: PatchSettings, to new: PatchSettings) -> [TransportChange] {
    var changes: [TransportChange] = []
    if old.tempo != new.tempo { changes.append(.tempo(new.tempo)) }
    if old.meter != new.meter { changes.append(.meter(new.meter)) }
    // Nobody else's tempo counts any more, or somebody else's.
    if old.mode != new.mode, new.mode == .off || new.mode == .midi || old.mode == .midi {
      changes.append(.free)
    }
    return changes
  }

  /// A change to this meter.
  public static func meter(_ meter: Meter) -> Self {
    .meter(beats: Int32(meter.beats), unit: Int32(meter.unit))
  }

  /// A move to this place.
  public static func locate(_ place: BarPlace) -> Self {
    .locate(bar: Int32(place.bar), beat: Double(place.beat - 1))
  }
}
