import Testing

@testable import Engine

/// Helpers are called to a period where that saves time.
@Suite struct TeamworkTests {
  /// Renders periods that take so many nanoseconds a frame alone and with helpers. Returns the part of them that helpers
  /// were called to.
  private func render(
    _ periods: Int, _ work: inout Teamwork, alone: (Int) -> Int64, together: (Int) -> Int64, load: Float = 0
  ) -> Double {
    let plan = UnsafeMutablePointer<Plan>.allocate(capacity: 1)
    defer { plan.deallocate() }
    var shared = 0
    for period in 0..<periods {
      let isShared = work.begin(plan, at: 0)
      if isShared { shared += 1 }
      work.end(frames: 64, at: 64 * (isShared ? together(period) : alone(period)), load: load)
    }
    return Double(shared) / Double(periods)
  }

  @Test func workThatIsDoneSoonerTogetherIsShared() {
    var work = Teamwork(threads: 2)
    defer { work.deallocate() }
    #expect(render(20_000, &work, alone: { _ in 1000 }, together: { _ in 550 }) > 0.97)
  }

  @Test func workThatTakesAsLongTogetherIsDoneAlone() {
    var work = Teamwork(threads: 2)
    defer { work.deallocate() }
    #expect(render(20_000, &work, alone: { _ in 1000 }, together: { _ in 950 }) < 0.02)
  }

  @Test func helpersThatAreOftenPausedAreNotCalled() {
    var work = Teamwork(threads: 2)
    defer { work.deallocate() }
    // Mostly half the time; now and then the helper's processor does something else for a while.
    #expect(
      render(20_000, &work, alone: { _ in 1000 }, together: { $0 % 64 == 9 ? 40_000 : 500 }) < 0.2)
  }

  @Test func aPauseOfTheWholeThreadDecidesNothing() {
    var work = Teamwork(threads: 2)
    defer { work.deallocate() }
    #expect(
      render(
        20_000, &work, alone: { $0 % 8 == 3 ? 40_000 : 1000 }, together: { _ in 950 }) < 0.02)
  }

  @Test func helpersAreCalledOnceTheirProcessorsAreFree() {
    var work = Teamwork(threads: 2)
    defer { work.deallocate() }
    _ = render(5000, &work, alone: { _ in 1000 }, together: { _ in 3000 })
    _ = render(20_000, &work, alone: { _ in 1000 }, together: { _ in 550 })
    #expect(render(1000, &work, alone: { _ in 1000 }, together: { _ in 550 }) > 0.9)
  }

  @Test func nobodyTriesAloneWhatOneThreadMayNotDoInTime() {
    var work = Teamwork(threads: 2)
    defer { work.deallocate() }
    #expect(render(5000, &work, alone: { _ in 1000 }, together: { _ in 900 }, load: 0.6) == 1)
  }
}
