import Testing

/// A step of the wall clock (the machine gets its time from the network) prolongs no wait and ends none: deadlines are by the
/// monotonic clock, which no test can set.
@Suite struct ClockTests {
  /// Waits by the wall clock. `pthread_cond_timedwait` goes by the clock that the condition was made with.
  private static let wrong: Set<Substring> = [
    "CLOCK_REALTIME", "sem_timedwait", "DispatchSemaphore", "DispatchWallTime", "gettimeofday",
  ]

  @Test func noDeadlineIsByTheWallClock() {
    let sources = Repository.sources.filter { $0.path.hasPrefix("Sources/") }
    #expect(sources.count > 100)
    for file in sources {
      let found = Self.wrong.intersection(file.tokens)
      #expect(found.isEmpty, "\(file.path): \(found.sorted())")
      guard file.tokens.contains("pthread_cond_timedwait") else { continue }
      #expect(file.tokens.contains("pthread_condattr_setclock"), "\(file.path)")
    }
  }

  @Test func norInC() throws {
    for path in Repository.files(below: "Sources", ending: ".c") {
      let text = try Repository.text(path)
      for word in ["CLOCK_REALTIME", "sem_timedwait"] { #expect(!text.contains(word), "\(path): \(word)") }
    }
  }
}
