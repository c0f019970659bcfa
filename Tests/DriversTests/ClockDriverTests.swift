import Engine
import Testing

@testable import Drivers

@Suite struct ClockDriverTests {
  /// Without sound hardware the engine's time goes on, by whole periods, until the driver stops.
  @Test func withoutSoundHardwareTheEnginesTimeGoesOnByWholePeriods() throws {
    let engine = Engine(rate: 48000, period: 48)
    let clock = ClockDriver(renderer: engine.renderer, rate: 48000, period: 48)
    #expect(engine.renderer.time == 0)
    try clock.start()
    #expect(wait { engine.renderer.time > 480 })
    clock.stop()
    let end = engine.renderer.time
    #expect(end % 48 == 0)
    #expect(clock.status.failure == nil)
    #expect(clock.status.peakLoad > 0)
    // Stopped for good: the next driver owns the renderer.
    let next = ClockDriver(renderer: engine.renderer, rate: 48000, period: 64)
    try next.start()
    #expect(wait { engine.renderer.time > end })
    next.stop()
    #expect((engine.renderer.time - end) % 64 == 0)
  }

  @Test func theClockNeitherRacesNorStandsStillASecondOfSoundTakesAboutASecond() throws {
    let engine = Engine(rate: 48000, period: 64)
    let clock = ClockDriver(renderer: engine.renderer, rate: 48000, period: 64)
    let start = monotonicTime()
    try clock.start()
    #expect(wait { engine.renderer.time >= 9600 })
    let elapsed = monotonicTime() - start
    clock.stop()
    // Never early: 9600 frames are 200 ms. Lateness depends on the machine and is not tested.
    #expect(elapsed >= 200_000_000 - 2_000_000)
  }

  @Test func aRendererThatWasTakenFromADriverIsNotEnteredAgain() {
    let engine = Engine(rate: 48000, period: 64)
    let host = RenderHost(engine.renderer)
    #expect(host.render(frames: 64, budget: 1000))
    #expect(host.close())
    #expect(!host.render(frames: 64, budget: 1000))
    #expect(engine.renderer.time == 64)
    #expect(host.close())
  }

  @Test func periodsAndRatesOutOfRangeAreBroughtIntoIt() {
    let engine = Engine(rate: 48000, period: 64)
    #expect(ClockDriver(renderer: engine.renderer, rate: 0, period: 0).period == 1)
    #expect(ClockDriver(renderer: engine.renderer, rate: 1e9, period: 100_000).period == 8192)
  }
}
