import Dispatch
import Realtime
import Synchronization

/// A call that may hang for ever, such as to a JACK server or to a disk that does not answer. It runs on another thread,
/// and the caller waits until a deadline. Worker.
package enum Watched {
  /// The call's result, or nil when `seconds` have passed. A later result goes to `late` for cleanup, on the
  /// other thread.
  package static func call<Result: Sendable>(
    within seconds: Double, _ body: @escaping @Sendable () -> Result,
    late: @escaping @Sendable (Result) -> Void = { _ in }
  ) -> Result? {
    let outcome = Outcome<Result>()
    let done = Semaphore()
    // A queue of its own, so that nothing else waits behind a hung call.
    DispatchQueue(label: "sostenuto.watched").async {
      let result = body()
      if outcome.deliver(result) { done.signal() } else { late(result) }
    }
    _ = done.wait(seconds: seconds)
    return outcome.collect()
  }

  private final class Outcome<Result: Sendable>: Sendable {
    private let state = Mutex<(result: Result?, isAbandoned: Bool)>((nil, false))

    func deliver(_ result: Result) -> Bool {
      state.withLock {
        if $0.isAbandoned { return false }
        $0.result = result
        return true
      }
    }

    func collect() -> Result? {
      state.withLock {
        if $0.result == nil { $0.isAbandoned = true }
        return $0.result
      }
    }
  }
}
