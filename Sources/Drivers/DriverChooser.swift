import Engine
import Realtime

/// Choice of a driver, and its settings.
public struct DriverOptions: Sendable {
  /// Kind of driver.
  public enum Preference: String, Sendable, CaseIterable {
    /// The first that works of: JACK, a JACK server of our own on a sound card, ALSA, the clock.
    case automatic
    /// This one only.
    case jack, alsa, clock
  }

  /// Kind of driver.
  public var preference = Preference.automatic
  /// Settings of a JACK client.
  public var jack = JackClientOptions()
  /// Name of the ALSA device.
  public var alsaDevice = "default"
  /// Permits starting a JACK server on a sound card when none runs.
  public var startsServer = true
  /// Wanted sample rate (Hz), for drivers that can choose.
  public var rate = 48000.0
  /// Wanted period (frames), for drivers that can choose.
  public var period = 256

  /// Seconds for which a server may stand still before the clock takes over.
  public var standstill = 5.0

  /// Automatic choice at 48 kHz and 256 frames.
  public init() {}
}

/// A driver, opened but not started, with the reason for its choice.
public struct DriverChoice {
  /// The driver.
  public var driver: any Driver
  /// Reason for the status line: "no JACK server and no sound card: playing through the clock driver".
  public var explanation: String
  /// True for the preferred driver; otherwise a better one may appear later.
  public var isPreferred: Bool
  /// A JACK server that was started for it.
  public var server: JackServer?
}

/// Chooses a driver. There is always one, since the clock works everywhere. Worker, on the main thread.
public struct DriverChooser {
  private let options: DriverOptions
  /// Replaced by tests, which cannot unplug sound cards.
  var firstCard: () -> Int? = { AlsaDevice.firstCard }

  /// A chooser with these options.
  public init(_ options: DriverOptions) { self.options = options }

  /// `rate` and `period`: settings for a driver that can choose. `channels`: channels of the patch's widest
  /// output.
  public func open(
    renderer: Renderer, rate: Double? = nil, period: Int? = nil, channels: Int = 2
  ) -> DriverChoice {
    let rate = rate ?? options.rate
    let period = period ?? options.period
    switch options.preference {
    case .automatic: return best(renderer, rate, period, channels)
    case .clock:
      return clock(renderer, rate, period, because: "as asked for", isPreferred: true)
    case .jack:
      do {
        return try jack(renderer)
      } catch {
        return clock(renderer, rate, period, because: error.message, isPreferred: false)
      }
    case .alsa:
      do {
        return try alsa(renderer, rate, period, channels)
      } catch {
        return clock(renderer, rate, period, because: error.message, isPreferred: false)
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
      // A sound server may be behind ALSA's default device.
      if var choice = try? alsa(renderer, rate, period, channels) {
        choice.explanation = "\(noJack.message): \(choice.explanation)"
        return choice
      }
      return clock(
        renderer, rate, period, because: "\(noJack.message), and there is no sound card", isPreferred: false)
    }
    if options.startsServer, let choice = startServer(on: card, renderer, rate, period) { return choice }
    do {
      var choice = try alsa(renderer, rate, period, channels)
      choice.explanation = "\(noJack.message): \(choice.explanation)"
      return choice
    } catch {
      return clock(
        renderer, rate, period, because: "\(noJack.message), and \(error.message)", isPreferred: false)
    }
  }

  private func jack(_ renderer: Renderer) throws(DriverError) -> DriverChoice {
    let driver = try JackDriver(renderer: renderer, options: options.jack)
    return DriverChoice(driver: driver, explanation: "playing as \(driver.place)", isPreferred: true)
  }

  private func alsa(
    _ renderer: Renderer, _ rate: Double, _ period: Int, _ channels: Int
  ) throws(DriverError) -> DriverChoice {
    let driver = try AlsaDriver(
      renderer: renderer, device: options.alsaDevice, rate: rate, period: period, channels: channels,
      wishes: options.jack.wishes)
    return DriverChoice(driver: driver, explanation: "playing through \(driver.place)", isPreferred: true)
  }

  private func clock(
    _ renderer: Renderer, _ rate: Double, _ period: Int, because reason: String, isPreferred: Bool
  ) -> DriverChoice {
    DriverChoice(
      driver: ClockDriver(
        renderer: renderer, rate: rate, period: period, wishes: options.jack.wishes),
      explanation: "\(reason): playing through the clock driver, without sound", isPreferred: isPreferred)
  }

  /// Starts a JACK server on the card and waits until it serves, gives up, or five seconds have passed. Tries
  /// again without real-time scheduling if it ended by itself.
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
