import Realtime
import Synchronization
import Testing

/// Waits of workers, which go by the monotonic clock.
@Suite(.timeLimit(.minutes(2))) struct SemaphoreTests {
  @Test func aWaitWithoutASignalEndsAfterItsTimeAndNotBefore() {
    let semaphore = Semaphore()
    for seconds in [-1, 0, 0.001, 0.03, 0.2] {
      let start = ContinuousClock.now
      #expect(!semaphore.wait(seconds: seconds))
      #expect(ContinuousClock.now - start >= .seconds(max(0, seconds)))
    }
  }

  @Test(arguments: [0, 1, 3] as [UInt32]) func signalsGivenBeforeAreThere(count: UInt32) {
    let semaphore = Semaphore(value: count)
    semaphore.signal()
    #expect(postSemaphore(semaphore.bell) == 0)
    for _ in 0..<count + 2 { #expect(semaphore.wait(seconds: 0)) }
    #expect(!semaphore.wait(seconds: 0))
  }

  private final class Count: Sendable { let ended = Atomic(0) }

  /// Each signal ends one wait, whoever waits.
  @Test func everySignalEndsOneWait() async {
    let semaphore = Semaphore()
    let count = Count()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for turn in 0..<50 {
            if (number + turn) & 1 == 0 { semaphore.signal() }
            if semaphore.wait(seconds: 0.001) { count.ended.wrappingAdd(1, ordering: .relaxed) }
          }
        }
      }
    }
    while semaphore.wait(seconds: 0) { count.ended.wrappingAdd(1, ordering: .relaxed) }
    #expect(count.ended.load(ordering: .relaxed) == 200)
  }
}
