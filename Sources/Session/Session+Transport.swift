import Drivers
import Engine
import Patch
import PatchLanguage
import Realtime

/// The transport as views show it.
public struct TransportStatus: Sendable, Equatable {
  /// It moves.
  public var isRolling = true
  /// Bar, and beat in it, both from 1.
  public var bar = 1
  /// Beat in the bar, from 1.
  public var beat = 1
  /// Seconds from the start of the piece.
  public var seconds = 0.0
  /// Beats a minute.
  public var tempo = 120.0
  /// Meter in force.
  public var meter = Meter(beats: 4, unit: 4)
  /// Source of the transport.
  public var role = TransportRole.own
  /// The patch or a server uses it.
  public var isUsed = false

  /// At bar 1.
  public init() {}

  /// `bar 5.3`, without the beat's fraction.
  public var place: String { "\(bar).\(beat)" }
}

extension TransportChange {
  /// The change that an order of the language asks for.
  init(_ order: TransportOrder) {
    self =
      switch order {
      case .roll: .roll
      case .halt: .halt
      case .locate(let place): .locate(place)
      case .seek(let seconds): .seek(seconds: seconds)
      }
  }
}

extension Session {
  /// Performs an order to the transport: the server's, or the patch's own at an engine frame. A server takes orders at once,
  /// so they wait for their frames here.
  func direct(_ order: TransportOrder, at frame: Int64?) -> String {
    if let frame, frame > engine.renderer.time, supervisor.transportRole.isOutside {
      waitingOrders.append((order, frame))
      return order.line
    }
    let change = TransportChange(order)
    if frame == nil { moveSong(order) }
    guard !supervisor.perform(change) else {
      return supervisor.transportRole == .clock ? "\(order.line): only the MIDI clock can" : order.line
    }
    taping(.transport(order.line)) {
      engine.perform(change, at: frame ?? (options.isOffline ? engine.renderer.time : nil))
    }
    return order.line
  }

  /// Hands on the orders to a server's transport whose frames have come: a period late, and as late as this is called.
  public func followOrders() {
    while let (order, frame) = waitingOrders.first, engine.renderer.time >= frame {
      waitingOrders.removeFirst()
      _ = direct(order, at: nil)
    }
  }

  /// Hands the patch's wish to the driver, and tells the user when the lead comes or goes.
  func followTransport() {
    followOrders()
    supervisor.update(transport: patch.settings.mode)
    let role = supervisor.transportRole
    guard role != knownRole, hasStarted else { return }
    switch role {
    case .leads: notice("the server's transport goes by this patch's tempo and meter now")
    case .waits:
      notice("another program leads the transport; its tempo counts until it leaves, then this patch's")
    case .clock: notice("the transport goes by the MIDI clock now")
    case .clockLost: notice("no MIDI clock comes any more: the transport goes on by itself")
    case .follows, .own, .clockTempo, .noClock: break
    }
    knownRole = role
  }

  /// Words for a line at a place that the transport, when it is due, has left a beat or more behind; nil: it has not.
  public func lateness(of place: BarPlace) -> String? {
    // The next beat is reached at the same frame then.
    guard let due = engine.frame(of: place),
      engine.frame(of: BarPlace(bar: place.bar, beat: place.beat + 1)) == due
    else { return nil }
    return "bar \(place) is past: it is performed at once"
  }

  var transportStatus: TransportStatus {
    let (transport, time) = (engine.transport, engine.renderer.time)
    let place = transport.place(at: time)
    var status = TransportStatus()
    status.isRolling = transport.isRolling
    status.bar = Int(place.bar)
    // Rounded up where it is less than a frame away, as the frame that comes next is.
    status.beat = Int(Transport.floor(place.beat + 1e-9)) + 1
    status.seconds = Double(transport.position(at: time)) / engine.rate
    status.tempo = transport.pulse.tempo
    status.meter = Meter(beats: Int(transport.pulse.beats), unit: Int(transport.pulse.unit))
    status.role = supervisor.transportRole
    status.isUsed =
      transport.isLed || status.role != .own && transport.isRolling || patchUsesTransport
    return status
  }

  /// The patch has settings of musical time, or nodes that go by it. Looked up once for each state of the patch.
  private var patchUsesTransport: Bool {
    if let knownUse, knownUse.revision === patch.revision { return knownUse.isUsed }
    let kinds = Set(catalogue.kinds.filter(\.goesByTransport).map(\.name))
    let isUsed =
      patch.settings.hasTime || patch.nodes.values.contains { kinds.contains($0.kind) }
    knownUse = (patch.revision, isUsed)
    return isUsed
  }
}

extension Agenda<ScriptLine> {
  /// The lines of a script, with its times as frames at `rate`, Hz. Of lines that are due at one frame, the order in the
  /// file counts.
  public init(_ lines: [ScriptLine], rate: Double) {
    self.init(
      lines.sorted { $0.line < $1.line }.map { line in
        let frame = Int64(limited: min(line.time, Script.longest) * rate)
        return (line.place.map { .place($0) } ?? .frame(frame), line)
      })
  }
}
