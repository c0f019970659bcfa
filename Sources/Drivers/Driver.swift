import Engine
import Patch
import Realtime

/// The caller of the renderer: a JACK client, a sound card, or a clock where there is neither.
///
/// A driver is made for one renderer and one run. Once stopped or failed it is discarded, and the next one
/// continues where it left the renderer, with every voice. All methods: Worker.
public protocol Driver: AnyObject, Sendable {
  /// "jack", "alsa" or "clock".
  var name: String { get }
  /// Its client's name on a JACK server; nil elsewhere.
  var clientName: String? { get }
  /// The client or device, for people: "JACK client sostenuto", "ALSA device hw:0".
  var place: String { get }
  /// Sample rate, Hz. It may change while the driver runs; the sound is then out of tune until the supervisor
  /// has moved the engine to the new rate.
  var rate: Double { get }
  /// Frames of a period, or of the longest one where it varies; may change while it runs.
  var period: Int { get }
  /// Opens the device or client, and begins to render.
  func start() throws(DriverError)
  /// Returns when the renderer is no longer in use, within a bounded time. The rest of the cleanup continues
  /// in the background.
  func stop()
  /// Sets the cards that play and record beside it. Call this before `start`.
  func use(_ cards: Cards)
  /// Sets the engine's present endpoints: ports come and go while it runs. Returns at once.
  func update(_ endpoints: [Endpoint])
  /// Sets the wanted MIDI ports. Returns at once.
  func update(midi ports: [MidiPort])
  /// Reason why no MIDI arrives although a node listens; nil while all is well.
  var midiFault: String? { get }
  /// Bytes of a system exclusive message that came in a moment ago; nil: they are not there any more.
  func bytes(of exclusive: Event) -> [UInt8]?
  /// Counts and times since the start.
  var status: DriverStatus { get }
  /// Channels that it has for each `input` and `output`, as far as known.
  var device: DeviceChannels { get }
  /// True when the patch wants more channels than were opened, and the device has them: a new driver of this
  /// type would open them.
  var isOutgrown: Bool { get }
  /// True when it reports path latencies to other programs.
  var reportsLatencies: Bool { get }
  /// Sets the path latencies to report. Returns at once.
  func update(latencies: [PathLatency])
  /// Sets whose transport counts. Returns at once.
  func update(transport mode: TransportMode)
  /// Asks the server for a change of its transport. False: the engine's own is to change. Returns at once.
  func perform(_ change: TransportChange) -> Bool
  /// Source of the transport that counts now.
  var transportRole: TransportRole { get }
  /// Number of periods requested by the server.
  var beats: Int { get }
  /// Seconds without a period after which the server counts as stalled.
  var patience: Double { get }
  /// True when a new server has replaced the driver's own: its client will not be called again.
  var isSucceeded: Bool { get }
  /// Gives the renderer up for another driver, but keeps its client and ports, since its server may go on.
  /// Waits only for a render under way.
  func pause()
  /// Takes the renderer back; no other driver may use it any more.
  func resume()
  /// Leaves the server's cycle after a fade, since the process is about to be stopped: a server would wait for it.
  /// Waits a second at most.
  func withdraw()
  /// Takes part again after `withdraw`. Returns at once.
  func rejoin()
}

extension Driver {
  /// No client.
  public var clientName: String? { nil }
  /// Does nothing: no cards.
  public func use(_ cards: Cards) {}
  /// Does nothing: no MIDI.
  public func update(midi ports: [MidiPort]) {}
  /// No fault.
  public var midiFault: String? { nil }
  /// None.
  public func bytes(of exclusive: Event) -> [UInt8]? { nil }
  /// Unlimited.
  public var device: DeviceChannels { DeviceChannels() }
  /// False: its server tells of its end itself.
  public var isSucceeded: Bool { false }
  /// Never outgrown.
  public var isOutgrown: Bool { false }
  /// False.
  public var reportsLatencies: Bool { false }
  /// Does nothing.
  public func update(latencies: [PathLatency]) {}
  /// Does nothing: there is only the engine's.
  public func update(transport mode: TransportMode) {}
  /// False.
  public func perform(_ change: TransportChange) -> Bool { false }
  /// The engine's own.
  public var transportRole: TransportRole { .own }
  /// Always 0: it paces itself, and reports failures through `status`.
  public var beats: Int { 0 }
  /// Unlimited.
  public var patience: Double { .infinity }
  /// Does nothing.
  public func pause() {}
  /// Does nothing.
  public func resume() {}
  /// Does nothing.
  public func withdraw() {}
  /// Does nothing.
  public func rejoin() {}
}

/// Source of the transport that counts, in the status line's words.
public enum TransportRole: String, Sendable {
  /// The engine's own.
  case own
  /// The server's, with another program's tempo where one leads.
  case follows
  /// The server's, which has tempo and meter from here.
  case leads
  /// The server's, with the tempo of another program that leads it, until that leaves.
  case waits = "waits to lead"
  /// A MIDI clock's.
  case clock
  /// The engine's own, with the tempo of a MIDI clock that has not said where it is.
  case clockTempo = "clock's tempo"
  /// The engine's own, as no clock has come yet.
  case noClock = "no clock"
  /// The engine's own, as the ticks of the clock have stayed away.
  case clockLost = "clock lost"

  /// It is led from outside, which takes orders at once.
  public var isOutside: Bool {
    switch self {
    case .follows, .leads, .waits, .clock: true
    case .own, .clockTempo, .noClock, .clockLost: false
    }
  }
}

/// State of a running driver.
public struct DriverStatus: Sendable, Equatable {
  /// DSP load: the share of the period used for rendering, smoothed over about half a second; 1 is all of it.
  public var load = 0.0
  /// Highest load of any period since the driver started.
  public var peakLoad = 0.0
  /// Xruns: periods that came late or not at all since the driver started.
  public var xruns = 0
  /// MIDI messages lost because they came too fast, since the driver started.
  public var lostMidi = 0
  /// Round-trip latency from input to output, in seconds; 0 without hardware.
  public var roundTrip = 0.0
  /// Load of all the JACK server's clients together; nil elsewhere.
  public var serverLoad: Double?
  /// The JACK server freewheels: it goes as fast as its clients, and nothing is heard.
  public var isFreewheeling = false
  /// Reason why it stopped by itself; nil while all is well.
  public var failure: String?

  /// Status of a driver that has not run.
  public init() {}
}
