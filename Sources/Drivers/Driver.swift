import Engine

/// What calls the renderer: a JACK server, a sound card, or a clock where there is neither.
///
/// A driver is made for one renderer and one run: once stopped or failed it is thrown away, and the
/// next one goes on where it left the renderer, with every voice. All methods: Worker.
public protocol Driver: AnyObject, Sendable {
  /// "jack", "alsa" or "clock".
  var name: String { get }
  /// What it plays through, for people: "JACK client sostenuto", "ALSA device hw:0".
  var place: String { get }
  /// Frames a second; may change while it runs, and then the sound is out of tune until the
  /// supervisor has moved the engine to the new rate.
  var rate: Double { get }
  /// Frames of a period, or of the longest one where it varies; may change while it runs.
  var period: Int { get }
  func start() throws(DriverError)
  /// Returns when the renderer is not in use any more, within a bounded time; what is left to tidy up
  /// goes on in the background.
  func stop()
  /// The channels that the engine has now: ports come and go while it runs. Returns at once.
  func update(_ endpoints: [Endpoint])
  /// The MIDI ports that the engine hears now. Returns at once.
  func update(midi ports: [MidiPort])
  /// Why no MIDI comes in although somebody would hear it, in words; nil while all is well.
  var midiFault: String? { get }
  var status: DriverStatus { get }
  /// The channels that it has for each of them, as far as it knows by now.
  var device: DeviceChannels { get }
  /// Whether the patch has come to ask for channels that are there but were not opened: another driver of
  /// the kind would have them.
  var isOutgrown: Bool { get }
  /// Others are told how late sound is on its way through the engine.
  var tellsLatencies: Bool { get }
  /// How late that is now. Returns at once.
  func update(latencies: [PathLatency])
  /// Periods that it has been asked for, by whoever drives it.
  var beats: Int { get }
  /// Seconds without one after which nobody drives it any more.
  var patience: Double { get }
  /// Lets another driver have the renderer, and keeps all else: who drives it may go on. Waits for nobody but a
  /// render under way.
  func pause()
  /// Takes the renderer back, which no other driver may have any more.
  func resume()
}

extension Driver {
  /// None, where there is nobody to hear.
  public func update(midi ports: [MidiPort]) {}
  public var midiFault: String? { nil }
  /// As many as there are.
  public var device: DeviceChannels { DeviceChannels() }
  public var isOutgrown: Bool { false }
  public var tellsLatencies: Bool { false }
  public func update(latencies: [PathLatency]) {}
  /// It drives itself, and says by itself when it cannot.
  public var beats: Int { 0 }
  public var patience: Double { .infinity }
  public func pause() {}
  public func resume() {}
}

/// How a driver fares.
public struct DriverStatus: Sendable, Equatable {
  /// The share of the period that rendering takes, smoothed over about half a second; 1 is all of it.
  public var load = 0.0
  /// The highest share that any one period took since the driver started.
  public var peakLoad = 0.0
  /// Periods that came late or not at all since the driver started.
  public var xruns = 0
  /// MIDI messages that came in faster than they could be taken since the driver started.
  public var lostMidi = 0
  /// Seconds from a sound at the input to the same sound at the output; 0 without hardware.
  public var roundTrip = 0.0
  /// The share that all of the JACK server's clients take together; nil elsewhere.
  public var serverLoad: Double?
  /// Why it has stopped by itself, in words; nil while all is well.
  public var failure: String?

  public init() {}
}

/// A driver that could not be opened or started.
public struct DriverError: Error, Sendable, CustomStringConvertible {
  /// For people, one line: "JACK server `studio` is not running".
  public var message: String
  public var description: String { message }

  public init(_ message: String) { self.message = message }
}
