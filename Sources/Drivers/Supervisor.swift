import Engine
import Patch
import Realtime

/// Keeps an engine playing, whatever happens to servers and sound cards. It chooses a driver, moves to the
/// clock driver when that one fails or stalls, and returns when it works again. The renderer's state outlives
/// every move, so held notes go on sounding. All methods: Worker, on the main thread; `poll` never waits for
/// a server.
public final class Supervisor {
  /// The supervised engine.
  public let engine: Engine
  /// The present driver; nil before `start` and after `stop`.
  public private(set) var driver: (any Driver)?
  /// The present driver with the reason for it, or the latest trouble and the plan for it, in one line.
  public private(set) var message = "no driver"
  /// True while trouble lasts.
  public private(set) var isDisturbed = false

  /// Cards that nodes have for themselves, beside the driver.
  private let cards = Cards()
  private let options: DriverOptions
  private let chooser: DriverChooser
  private var server: JackServer?
  private var endpoints: [Endpoint] = []
  private var midiPorts: [MidiPort] = []
  private var reportedMidiFault: String?
  /// While the present driver stands still, silent and with nobody in its place: when the clock takes over.
  private var silentUntil: Int64?
  /// The driver's periods when `isStill` was asked last.
  var askedBeats = -1
  /// A stalled driver, with the clock in its place. It is kept, since its server may go on with all ports and connections.
  private var paused: (any Driver)?
  /// Time at which to look for another driver in its place.
  private var pausedUntil: Int64 = 0
  private var watch = Watch()
  private var reportedPlan: Int?
  private var nextLatencies: Int64 = 0
  private var latencies: [PathLatency]?
  private var transportMode = TransportMode.follow
  private var xrunsBefore = 0
  private var lostMidiBefore = 0
  private var attempt: DriverAttempt?
  private var nextAttempt: Int64?
  /// When the latest attempt found a driver.
  private var lastFound: Int64 = .min / 2
  /// Nanoseconds between two attempts to find a better driver, and after one that has found it: rapid reconnecting has
  /// frozen JACK servers, but to ask where there is none costs little.
  static let pause: Int64 = 500_000_000
  static let pauseAfterSuccess: Int64 = 2_000_000_000

  /// A supervisor without a driver yet.
  public init(engine: Engine, options: DriverOptions = DriverOptions()) {
    self.engine = engine
    self.options = options
    chooser = DriverChooser(options)
  }

  /// Opens and starts a driver, and sets the engine to its rate and period. Always succeeds: with the clock
  /// at worst.
  public func start() {
    _ = ProcessMemory.isLocked
    let choice = chooser.open(renderer: engine.renderer, channels: channels)
    server = choice.server
    message = choice.explanation
    if run(choice.driver) {
      nextAttempt = choice.isPreferred ? nil : nanoseconds() + Self.pause
    } else {
      moveToClock()
      nextAttempt = nanoseconds() + Self.pause
    }
  }

  /// Stops the driver, and the JACK server if we started it.
  public func stop() {
    attempt?.abandon()
    attempt = nil
    nextAttempt = nil
    // First, so that they fade out what the engine plays.
    cards.stop()
    driver?.stop()
    (driver, silentUntil) = (nil, nil)
    paused?.stop()
    paused = nil
    server?.stop()
    server = nil
  }

  /// Fades out and leaves the server's cycle, since the process is about to be stopped. Waits a second at most.
  public func withdraw() {
    cards.withdraw()
    driver?.withdraw()
  }

  /// Takes part again when the process goes on.
  public func rejoin() {
    watch = Watch()
    cards.rejoin()
    driver?.rejoin()
  }

  /// Sets whose transport counts, for this driver and later ones.
  public func update(transport mode: TransportMode) {
    guard mode != transportMode else { return }
    transportMode = mode
    driver?.update(transport: mode)
  }

  /// Asks the driver's server for a change of its transport. False: the engine's own is to change.
  public func perform(_ change: TransportChange) -> Bool {
    // A server that stands still does nothing.
    if silentUntil != nil, let driver { handOverToClock(driver) }
    return driver?.perform(change) ?? false
  }

  /// Source of the transport that counts now.
  public var transportRole: TransportRole { driver?.transportRole ?? .own }

  /// Reason why no MIDI arrives although a node listens; each reason is returned once.
  public func takeMidiFault() -> String? {
    guard let fault = driver?.midiFault, fault != reportedMidiFault else { return nil }
    reportedMidiFault = fault
    return fault
  }

  /// Bytes of a system exclusive message that came in a moment ago; nil: they are not there any more.
  public func bytes(of exclusive: Event) -> [UInt8]? {
    driver?.bytes(of: exclusive) ?? paused?.bytes(of: exclusive)
  }

  /// Status of the driver, with xruns and lost MIDI of all drivers since the start.
  public var status: DriverStatus {
    guard var status = driver?.status else { return DriverStatus() }
    let other = paused?.status ?? DriverStatus()
    status.xruns += xrunsBefore + other.xruns
    status.lostMidi += lostMidiBefore + other.lostMidi
    return status
  }

  /// Checks on the driver. Call it 10 to 60 times a second, and after edits.
  public func poll(now: Int64 = monotonicTime()) {
    guard let driver else { return }
    if let failure = driver.status.failure {
      leave(driver)
      moveToClock()
      isDisturbed = true
      message = "\(failure): playing on through the clock driver; trying again"
      nextAttempt = nextTime(now)
    } else if let silentUntil {
      checkSilent(driver, until: silentUntil, now: now)
    } else if watch.hasStalled(driver, now: now) {
      fallSilent(driver, now: now)
    } else if driver.rate != engine.rate {
      follow(driver, "the rate is now \(Int(driver.rate)) Hz", now: now)
    } else {
      sendEndpoints()
      sendLatencies(now: now)
      let device = self.device(of: driver)
      if engine.device != device { engine.device = device }
      if driver.isOutgrown { follow(driver, "opened again for \(channels) channels", now: now) }
    }
    if let paused { checkPaused(paused, now: now) }
    if let attempt {
      finish(attempt, now: now)
    } else if let due = nextAttempt, now >= due {
      nextAttempt = nil
      begin(now: now)
    }
  }

  /// Channels of the widest output.
  private var channels: Int {
    engine.endpoints.filter { !$0.isInput && !$0.isTap && $0.device.isEmpty }.map(\.channels).max() ?? 2
  }

  private func sendEndpoints() {
    let ports = wantedMidi
    if ports != midiPorts {
      midiPorts = ports
      driver?.update(midi: ports)
    }
    let wanted = engine.endpoints
    guard wanted != endpoints else { return }
    endpoints = wanted
    driver?.update(wanted.filter(\.device.isEmpty))
    cards.update(wanted, rate: engine.rate, period: engine.period)
  }

  /// The engine's MIDI ports; with `transport midi` one for a clock, too, if the patch has no input that it may come to.
  private var wantedMidi: [MidiPort] {
    let ports = engine.midiPorts
    guard transportMode == .midi, !ports.contains(where: { $0.outlet == nil }) else { return ports }
    return [MidiPort(number: MidiInput.ports - 1, sender: nil)] + ports
  }

  /// Endpoints of the driver and of the cards beside it.
  private func device(of driver: any Driver) -> DeviceChannels {
    var device = driver.device
    cards.describe(endpoints, &device)
    return device
  }

  /// News of a card beside the driver, with the nodes that have it; each is returned once.
  public func takeCardNotice() -> (nodes: [NodeID], words: String)? { cards.takeNotice(endpoints) }

  /// Sends the running plan's path latencies, ten times a second at most, since the search costs time.
  private func sendLatencies(now: Int64) {
    guard let driver, driver.reportsLatencies, now >= nextLatencies, engine.planNumber != reportedPlan else {
      return
    }
    reportedPlan = engine.planNumber
    nextLatencies = now + 100_000_000
    let found = engine.pathLatencies
    guard found != latencies else { return }
    latencies = found
    driver.update(latencies: found)
  }

  /// Prepares engine and driver for each other. No other driver may be running.
  private func prepare(_ new: any Driver) {
    engine.retune(rate: new.rate, period: new.period)
    endpoints = engine.endpoints
    new.use(cards)
    new.update(endpoints.filter(\.device.isEmpty))
    cards.update(endpoints, rate: engine.rate, period: engine.period)
    midiPorts = wantedMidi
    new.update(midi: midiPorts)
    new.update(transport: transportMode)
    // Until a server's says something else.
    if engine.transport.isLed, transportMode != .midi { engine.perform(.free) }
    reportedPlan = nil
    latencies = nil
    watch = Watch()
  }

  /// Sets the engine to the driver's rate, and starts the driver. No other driver may be running.
  private func run(_ new: any Driver) -> Bool {
    prepare(new)
    do {
      try new.start()
    } catch {
      new.stop()
      message = error.message
      return false
    }
    driver = new
    engine.device = device(of: new)
    return true
  }

  private func leave(_ old: any Driver) {
    silentUntil = nil
    xrunsBefore += old.status.xruns
    lostMidiBefore += old.status.lostMidi
    old.stop()
    driver = nil
  }

  private func moveToClock() {
    let clock = ClockDriver(
      renderer: engine.renderer, rate: engine.rate, period: engine.period, wishes: options.jack.wishes)
    if !run(clock) { message = "no sound: \(message)" }
  }

  // MARK: Stalled drivers

  /// Periods after which a paused driver counts as running again.
  private static let secureBeats = 3
  private var pausedAt = 0

  /// The engine stands still with the driver for some seconds: whoever else follows the server does so too, and a short
  /// standstill costs no more than a silence.
  private func fallSilent(_ driver: any Driver, now: Int64) {
    driver.pause()
    pausedAt = driver.beats
    // Finds a new server that was started in place of the old one without notice.
    pausedUntil = now + 5_000_000_000
    isDisturbed = true
    message = "\(driver.place) stands still: silent until it goes on"
    let due = now + Int64(max(0, options.standstill - driver.patience) * 1e9)
    silentUntil = due
    checkSilent(driver, until: due, now: now)
  }

  /// The clock takes over early for what would have to wait or pile up, and for cards, which are heard without the server.
  private func checkSilent(_ driver: any Driver, until due: Int64, now: Int64) {
    if hasGoneOn(driver) {
      (silentUntil, watch, isDisturbed) = (nil, Watch(), false)
      driver.resume()
      message = "sound is back: \(driver.place) goes on"
    } else if now >= due || engine.isKeptWaiting || driver.isSucceeded
      || endpoints.contains(where: { !$0.device.isEmpty })
    {
      handOverToClock(driver)
    }
  }

  private func hasGoneOn(_ driver: any Driver) -> Bool { driver.beats >= pausedAt + Self.secureBeats }

  private func handOverToClock(_ driver: any Driver) {
    (silentUntil, paused, self.driver, nextAttempt) = (nil, driver, nil, nil)
    moveToClock()
    message = "\(driver.place) stands still: playing on through the clock driver until it goes on"
  }

  private func checkPaused(_ old: any Driver, now: Int64) {
    if let failure = old.status.failure {
      dropPaused()
      message = "\(failure): playing on through the clock driver; trying again"
      if attempt == nil { nextAttempt = nextTime(now) }
    } else if hasGoneOn(old) {
      attempt?.abandon()
      (attempt, nextAttempt, paused) = (nil, nil, nil)
      if let driver { leave(driver) }
      prepare(old)
      old.resume()
      driver = old
      engine.device = device(of: old)
      isDisturbed = false
      message = "sound is back: \(old.place) goes on"
    } else if old.isSucceeded {
      dropPaused()
      message = "\(old.place) has another server: playing on through the clock driver; trying again"
      if attempt == nil { nextAttempt = nextTime(now) }
    } else if attempt == nil, nextAttempt == nil, now >= pausedUntil {
      nextAttempt = now
    }
  }

  private func dropPaused() {
    guard let old = paused else { return }
    xrunsBefore += old.status.xruns
    lostMidiBefore += old.status.lostMidi
    old.stop()
    paused = nil
  }

  /// Follows a running driver whose rate or size changed. The engine can change only while no driver runs.
  private func follow(_ driver: any Driver, _ reason: String, now: Int64) {
    let rate = driver.rate
    leave(driver)
    engine.retune(rate: rate, period: driver.period)
    let choice = chooser.open(
      renderer: engine.renderer, rate: rate, period: driver.period, channels: channels)
    if run(choice.driver) {
      message = "\(reason): \(choice.explanation)"
      nextAttempt = choice.isPreferred ? nil : now + Self.pause
    } else {
      moveToClock()
      nextAttempt = now + Self.pause
    }
  }

  // MARK: Return to the preferred driver

  private func begin(now: Int64) {
    guard options.preference != .clock else { return }
    if server.map({ !$0.isRunning }) == true, let card = AlsaDevice.firstCard {
      // Our server is dead. The next attempt will find its successor.
      server = try? JackServer.onCard(card, rate: options.rate, period: options.period)
    }
    attempt = DriverAttempt(renderer: engine.renderer, options: options, channels: channels)
  }

  private func finish(_ attempt: DriverAttempt, now: Int64) {
    switch attempt.outcome {
    case .pending: return
    case .failed:
      self.attempt = nil
      nextAttempt = now + Self.pause
    case .opened(let new):
      // The old client is better than a new one. If its server goes on, both would have periods.
      if paused != nil, now < attempt.openedAt(now) + Self.pauseAfterSuccess / 2 { return }
      self.attempt = nil
      lastFound = now
      dropPaused()
      if let driver { leave(driver) }
      if run(new) {
        message = isDisturbed ? "sound is back: playing through \(new.place)" : "playing through \(new.place)"
        isDisturbed = false
      } else {
        let reason = message
        moveToClock()
        message = "\(reason): playing on through the clock driver; trying again"
        nextAttempt = nextTime(now)
      }
    }
  }

  /// Time of the next attempt after a driver was lost.
  private func nextTime(_ now: Int64) -> Int64 { max(now + Self.pause, lastFound + Self.pauseAfterSuccess) }
}

/// Nanoseconds of the system's monotonic clock. Any thread.
public func monotonicTime() -> Int64 { nanoseconds() }
