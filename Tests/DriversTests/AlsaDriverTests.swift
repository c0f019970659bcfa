import Engine
import Patch
import Testing

@testable import Drivers

@Suite struct AlsaDriverTests {
  @Test("a device that swallows everything is fed at the pace of its rate")
  func nullDevice() throws {
    let engine = Engine(rate: 48000, period: 256)
    let driver = try AlsaDriver(renderer: engine.renderer, device: "null", rate: 48000, period: 256)
    #expect(driver.rate == 48000)
    let start = monotonicTime()
    try driver.start()
    #expect(wait { engine.renderer.time >= 48000 })
    let elapsed = Double(monotonicTime() - start) / 1e9
    driver.stop()
    // The driver does not wait for the frames that the device may buffer.
    let buffered = driver.status.roundTrip + Double(2 * driver.period) / driver.rate
    #expect(elapsed >= 1 - buffered - 0.01)
    #expect(driver.status.failure == nil)
  }

  @Test("a device that is not there is refused with its name and the reason")
  func missingDevice() {
    let engine = Engine(rate: 48000, period: 256)
    do {
      _ = try AlsaDriver(renderer: engine.renderer, device: "hw:31")
      Issue.record("a sound card number 31")
    } catch {
      #expect("\(error)".hasPrefix("ALSA device hw:31 cannot be opened: "))
    }
  }
}

@Suite @MainActor struct DriverChooserTests {
  private func options(_ preference: DriverOptions.Preference) -> DriverOptions {
    var options = DriverOptions()
    options.preference = preference
    options.jack.server = "sostenuto-test-nobody"
    options.alsaDevice = "hw:31"
    return options
  }

  @Test("with neither server nor sound card it is the clock, and the words say why")
  func nothingThere() {
    let engine = Engine(rate: 48000, period: 64)
    var chooser = DriverChooser(options(.automatic))
    chooser.firstCard = { nil }
    let choice = chooser.open(renderer: engine.renderer)
    #expect(choice.driver.name == "clock")
    #expect(!choice.isPreferred)
    #expect(
      choice.explanation
        == "JACK server `sostenuto-test-nobody` is not running, and there is no sound card: "
        + "playing through the clock driver, without sound")
  }

  @Test("a driver that was asked for by name and is not there gives way to the clock, and says so")
  func wishes() {
    let engine = Engine(rate: 48000, period: 64)
    let jack = DriverChooser(options(.jack)).open(renderer: engine.renderer)
    #expect(jack.driver.name == "clock")
    #expect(jack.explanation.hasPrefix("JACK server `sostenuto-test-nobody` is not running: playing"))
    let alsa = DriverChooser(options(.alsa)).open(renderer: engine.renderer)
    #expect(alsa.driver.name == "clock")
    #expect(alsa.explanation.hasPrefix("ALSA device hw:31 cannot be opened"))
    let clock = DriverChooser(options(.clock)).open(renderer: engine.renderer)
    #expect(clock.isPreferred)
  }

  @Test("a device by name is used when it is there")
  func namedDevice() {
    let engine = Engine(rate: 48000, period: 64)
    var options = options(.alsa)
    options.alsaDevice = "null"
    let choice = DriverChooser(options).open(renderer: engine.renderer)
    #expect(choice.driver.name == "alsa")
    #expect(choice.explanation == "playing through ALSA device null")
  }
}
