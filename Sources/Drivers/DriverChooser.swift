import Engine

/// Which drivers are wanted, and how.
public struct DriverOptions: Sendable {
  public enum Preference: String, Sendable, CaseIterable {
    /// JACK, a JACK server of our own on a sound card, ALSA, the clock: the first that works.
    case automatic
    case jack, alsa, clock
  }

  public var preference = Preference.automatic
  public var jack = JackClientOptions()
  public var alsaDevice = "default"
  /// Whether a JACK server may be started on a sound card when none runs.
  public var startsServer = true
  /// Wishes for drivers that are free to choose.
  public var rate = 48000.0
  public var period = 256

  public init() {}
}

/// A driver, opened but not started, and why it is this one.
public struct DriverChoice {
  public var driver: any Driver
  /// For the status line: "no JACK server and no sound card: playing through the clock driver".
  public var explanation: String
  /// Whether it is what was wished for; else something better may come along.
  public var isWished: Bool
  /// A JACK server that was started for it.
  public var server: JackServer?
}

/// Finds a driver: always one, since the clock works everywhere. Worker, on the main thread.
public struct DriverChooser {
  private let options: DriverOptions
  /// Replaced by tests, which cannot pull out sound cards.
  var firstCard: () -> Int? = { AlsaDevice.firstCard }

  public init(_ options: DriverOptions) { self.options = options }

  /// `rate` and `period`: what a driver without a hardware's own should take; `channels`: how many the
  /// widest output of the patch has.
  public func open(
    renderer: Renderer, rate: Double? = nil, period: Int? = nil, channels: Int = 2
  ) -> DriverChoice {
    let rate = rate ?? options.rate
    let period = period ?? options.period
    switch options.preference {
    case .automatic: return best(renderer, rate, period, channels)
    case .clock:
      return clock(renderer, rate, period, because: "as asked for", isWished: true)
    case .jack:
      do {
        return try jack(renderer)
      } catch {
        return clock(renderer, rate, period, because: error.message, isWished: false)
      }
    case .alsa:
      do {
        return try alsa(renderer, rate, period, channels)
      } catch {
        return clock(renderer, rate, period, because: error.message, isWished: false)
      }
    }
  }

  private func best(
    _ renderer: Renderer, _ rate: Double, _ period: Int, _ channels: Int
  ) -> DriverChoice {
    let noJack: DriverError
    do {
      return try jack(renderer)
    } catch {
      noJack = error
    }
    guard let card = firstCard() else {
      return clock(
        renderer, rate, period, because: "\(noJack.message), and there is no sound card", isWished: false)
    }
    if options.startsServer, let choice = startServer(on: card, renderer, rate, period) { return choice }
    do {
      var choice = try alsa(renderer, rate, period, channels)
      choice.explanation = "\(noJack.message): \(choice.explanation)"
      return choice
    } catch {
      return clock(
        renderer, rate, period, because: "\(noJack.message), and \(error.message)", isWished: false)
    }
  }

  private func jack(_ renderer: Renderer) throws(DriverError) -> DriverChoice {
    let driver = try JackDriver(renderer: renderer, options: options.jack)
    return DriverChoice(driver: driver, explanation: "playing as \(driver.place)", isWished: true)
  }

  private func alsa(
    _ renderer: Renderer, _ rate: Double, _ period: Int, _ channels: Int
  ) throws(DriverError) -> DriverChoice {
    let driver = try AlsaDriver(
      renderer: renderer, device: options.alsaDevice, rate: rate, period: period, channels: channels,
      memory: options.jack.memory)
    return DriverChoice(driver: driver, explanation: "playing through \(driver.place)", isWished: true)
  }

  private func clock(
    _ renderer: Renderer, _ rate: Double, _ period: Int, because reason: String, isWished: Bool
  ) -> DriverChoice {
    DriverChoice(
      driver: ClockDriver(
        renderer: renderer, rate: rate, period: period, memory: options.jack.memory),
      explanation: "\(reason): playing through the clock driver, without sound", isWished: isWished)
  }

  /// Starts a JACK server on the card and waits until it serves, gives up, or five seconds have
  /// passed; once more without real-time scheduling if it ended by itself.
  private func startServer(
    on card: Int, _ renderer: Renderer, _ rate: Double, _ period: Int
  ) -> DriverChoice? {
    for isRealtime in [true, false] {
      guard
        let server = try? JackServer.onCard(card, rate: rate, period: period, isRealtime: isRealtime)
      else { return nil }
      let deadline = nanoseconds() + 5_000_000_000
      while server.isRunning, nanoseconds() < deadline {
        if var choice = try? jack(renderer) {
          choice.server = server
          choice.explanation = "started a JACK server on sound card \(card): \(choice.explanation)"
          return choice
        }
        sleep(until: nanoseconds() + 50_000_000)
      }
      server.stop()
    }
    return nil
  }
}
