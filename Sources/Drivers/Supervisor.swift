import Dispatch
import Engine
import Synchronization

/// Keeps an engine playing, whatever happens to servers and sound cards: chooses a driver, moves to
/// the clock driver when it fails, and back when what it had is there again. The renderer's state
/// outlives every move, so held notes go on sounding. All methods: Worker, on the main thread; `poll`
/// never waits for a server.
public final class Supervisor {
  public let engine: Engine
  public private(set) var driver: (any Driver)?
  /// What plays and why, or what happened and what will be done about it, in one line.
  public private(set) var message = "no driver"
  /// Something went wrong and is not yet as it was.
  public private(set) var isDisturbed = false

  private let options: DriverOptions
  private let chooser: DriverChooser
  private var server: JackServer?
  private var endpoints: [Endpoint] = []
  private var midiPorts: [MidiPort] = []
  private var toldMidiFault: String?
  private var xrunsBefore = 0
  private var lostMidiBefore = 0
  private var attempt: Attempt?
  private var nextAttempt: Int64?
  /// Nanoseconds between two looks for something better: quick churn has frozen JACK servers.
  static let pause: Int64 = 2_000_000_000

  public init(engine: Engine, options: DriverOptions = DriverOptions()) {
    self.engine = engine
    self.options = options
    chooser = DriverChooser(options)
  }

  /// Opens and starts a driver, and tunes the engine to it. Always succeeds: with the clock at worst.
  public func start() {
    _ = ProcessMemory.isLocked
    let choice = chooser.open(renderer: engine.renderer, channels: channels)
    server = choice.server
    message = choice.explanation
    if run(choice.driver) {
      nextAttempt = choice.isWished ? nil : nanoseconds() + Self.pause
    } else {
      moveToClock()
      nextAttempt = nanoseconds() + Self.pause
    }
  }

  /// Ends the sound, and the JACK server if it is ours.
  public func stop() {
    attempt?.abandon()
    attempt = nil
    nextAttempt = nil
    driver?.stop()
    driver = nil
    server?.stop()
    server = nil
  }

  /// Why no MIDI comes in although a node would hear it, told once for each reason.
  public func takeMidiFault() -> String? {
    guard let fault = driver?.midiFault, fault != toldMidiFault else { return nil }
    toldMidiFault = fault
    return fault
  }

  /// Load, and xruns and lost MIDI of all drivers since the start, and so on.
  public var status: DriverStatus {
    guard var status = driver?.status else { return DriverStatus() }
    status.xruns += xrunsBefore
    status.lostMidi += lostMidiBefore
    return status
  }

  /// Looks after the driver. To be called 10 to 60 times a second, and after edits.
  public func poll(now: Int64 = monotonicTime()) {
    guard let driver else { return }
    if let failure = driver.status.failure {
      leave(driver)
      moveToClock()
      isDisturbed = true
      message = "\(failure): playing on through the clock driver; trying again in 2 s"
      nextAttempt = now + Self.pause
    } else if driver.rate != engine.rate {
      follow(driver, "the rate is now \(Int(driver.rate)) Hz", now: now)
    } else {
      sendEndpoints()
      if driver.isOutgrown { follow(driver, "opened again for \(channels) channels", now: now) }
    }
    if let attempt {
      finish(attempt, now: now)
    } else if let due = nextAttempt, now >= due {
      nextAttempt = nil
      begin(now: now)
    }
  }

  /// Of the widest output.
  private var channels: Int {
    engine.endpoints.filter { !$0.isInput && !$0.isTap }.map(\.channels).max() ?? 2
  }

  private func sendEndpoints() {
    let ports = engine.midiPorts
    if ports != midiPorts {
      midiPorts = ports
      driver?.update(midi: ports)
    }
    let wanted = engine.endpoints
    guard wanted != endpoints else { return }
    endpoints = wanted
    driver?.update(wanted)
    if let driver { engine.device = driver.device }
  }

  /// Tunes the engine to the driver and starts it. No other driver may be running.
  private func run(_ new: any Driver) -> Bool {
    engine.retune(rate: new.rate, period: new.period)
    endpoints = engine.endpoints
    new.update(endpoints)
    midiPorts = engine.midiPorts
    new.update(midi: midiPorts)
    do {
      try new.start()
    } catch {
      new.stop()
      message = error.message
      return false
    }
    driver = new
    engine.device = new.device
    return true
  }

  private func leave(_ old: any Driver) {
    xrunsBefore += old.status.xruns
    lostMidiBefore += old.status.lostMidi
    old.stop()
    driver = nil
  }

  private func moveToClock() {
    let clock = ClockDriver(
      renderer: engine.renderer, rate: engine.rate, period: engine.period, memory: options.jack.memory)
    if !run(clock) { message = "no sound: \(message)" }
  }

  /// A running driver is not any more what it was opened as: the engine may only follow while none runs.
  private func follow(_ driver: any Driver, _ reason: String, now: Int64) {
    let rate = driver.rate
    leave(driver)
    engine.retune(rate: rate, period: driver.period)
    let choice = chooser.open(
      renderer: engine.renderer, rate: rate, period: driver.period, channels: channels)
    if run(choice.driver) {
      message = "\(reason): \(choice.explanation)"
      nextAttempt = choice.isWished ? nil : now + Self.pause
    } else {
      moveToClock()
      nextAttempt = now + Self.pause
    }
  }

  // MARK: Back to what was wished for

  private func begin(now: Int64) {
    guard options.preference != .clock else { return }
    if server.map({ !$0.isRunning }) == true, let card = AlsaDevice.firstCard {
      // Ours, and dead: the attempt after this one will find its successor.
      server = try? JackServer.onCard(card, rate: options.rate, period: options.period)
    }
    attempt = Attempt(renderer: engine.renderer, options: options, channels: channels)
  }

  private func finish(_ attempt: Attempt, now: Int64) {
    switch attempt.outcome {
    case .pending: return
    case .failed:
      self.attempt = nil
      nextAttempt = now + Self.pause
    case .opened(let new):
      self.attempt = nil
      if let driver { leave(driver) }
      if run(new) {
        message = isDisturbed ? "sound is back: playing through \(new.place)" : "playing through \(new.place)"
        isDisturbed = false
      } else {
        let reason = message
        moveToClock()
        message = "\(reason): playing on through the clock driver; trying again in 2 s"
        nextAttempt = now + Self.pause
      }
    }
  }

  /// One try to open a better driver, on a thread of its own, since a server may not answer.
  private final class Attempt: Sendable {
    enum Outcome {
      case pending, failed
      case opened(any Driver)
    }

    private let state = Mutex<(outcome: Outcome, isAbandoned: Bool)>((.pending, false))

    init(renderer: Renderer, options: DriverOptions, channels: Int) {
      DispatchQueue(label: "sostenuto.attempt").async { [self] in
        let opened = Self.open(renderer, options, channels)
        let isWanted = state.withLock {
          $0.outcome = opened.map(Outcome.opened) ?? .failed
          return !$0.isAbandoned
        }
        if !isWanted { opened?.stop() }
      }
    }

    private static func open(
      _ renderer: Renderer, _ options: DriverOptions, _ channels: Int
    ) -> (any Driver)? {
      if options.preference != .alsa,
        let driver = try? JackDriver(renderer: renderer, options: options.jack)
      {
        return driver
      }
      guard options.preference == .alsa || options.preference == .automatic && AlsaDevice.firstCard != nil
      else { return nil }
      return try? AlsaDriver(
        renderer: renderer, device: options.alsaDevice, rate: options.rate, period: options.period,
        channels: channels, memory: options.jack.memory)
    }

    var outcome: Outcome { state.withLock { $0.outcome } }

    func abandon() {
      let late: (any Driver)? = state.withLock {
        $0.isAbandoned = true
        if case .opened(let driver) = $0.outcome { return driver }
        return nil
      }
      late?.stop()
    }
  }
}

/// Nanoseconds of the system's monotonic clock. Any thread.
public func monotonicTime() -> Int64 { nanoseconds() }
