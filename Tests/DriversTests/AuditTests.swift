import Glibc
import Realtime
import Testing

@testable import Drivers
@testable import Engine

/// Tests the counters that other tests rely on.
@Suite(.enabled(if: Audit.isBuiltIn)) struct AuditTests {
  /// An allocation, a lock, a wait and a first use of memory on an audio thread are counted, elsewhere
  /// not.
  @Test func anAllocationALockAWaitAndAFirstUseOfMemoryOnAnAudioThreadAreCounted() throws {
    var mutex = pthread_mutex_t()
    pthread_mutex_init(&mutex, nil)
    let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    let audit = Audit(period: 64)
    audit.begin()
    // `realpath` allocates inside the C library, through the same symbol as other code; the compiler cannot
    // optimise this call away.
    free(realpath("/", nil))
    pthread_mutex_lock(&mutex)
    pthread_mutex_unlock(&mutex)
    poll(nil, 0, 3)
    page.storeBytes(of: 1, as: UInt8.self)
    audit.end()
    free(realpath("/", nil))
    munmap(page, 4096)
    let found = audit.found
    #expect(found.callbacks == 1)
    #expect(found.allocations == 1)
    #expect(found.releases == 1)
    #expect(found.locks == 1)
    #expect(found.waits >= 1)
    #expect(found.page_faults >= 1)
    #expect(found.overruns == 1)
  }

  /// A driver's renders are counted, and a driver that leaves denormals as they are is found out.
  @Test func aDriversRendersAreCounted() throws {
    let engine = Engine(rate: 48000, period: 64)
    let clock = ClockDriver(renderer: engine.renderer, rate: 48000, period: 64)
    let audit = Audit(period: 64)
    try audit.watchRenders {
      try clock.start()
      #expect(wait { audit.found.callbacks > 10 })
      clock.stop()
    }
    #expect(audit.found.with_denormals == 0)
    // As a driver would that bypasses `RenderHost`.
    let other = Audit(period: 64)
    other.watchRenders {
      enterRealtimeContext()
      leaveRealtimeContext()
    }
    #expect(other.found.with_denormals == 1)
  }
}
