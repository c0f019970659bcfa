import Dispatch
import Engine
import Synchronization

/// One attempt to open a better driver, on a thread of its own, since a server may not answer. No other
/// attempt starts before it ends.
final class DriverAttempt: Sendable {
  enum Outcome {
    case pending, failed
    case opened(any Driver)
  }

  private let seen = Mutex<Int64?>(nil)
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
      let driver = try? JackDriver(renderer: renderer, options: options.jack, within: 1e6)
    {
      return driver
    }
    guard options.preference != .jack else { return nil }
    return try? AlsaDriver(
      renderer: renderer, device: options.alsaDevice, rate: options.rate, period: options.period,
      channels: channels, wishes: options.jack.wishes)
  }

  var outcome: Outcome { state.withLock { $0.outcome } }

  /// Time of the first successful look: `now`, if that is now.
  func openedAt(_ now: Int64) -> Int64 {
    seen.withLock {
      if $0 == nil { $0 = now }
      return $0 ?? now
    }
  }

  func abandon() {
    let late: (any Driver)? = state.withLock {
      $0.isAbandoned = true
      if case .opened(let driver) = $0.outcome { return driver }
      return nil
    }
    // The server may no longer answer.
    if let late { DispatchQueue(label: "sostenuto.abandoned").async { late.stop() } }
  }
}
