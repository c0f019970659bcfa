import Engine
import Patch
import Testing

@testable import Drivers

@Suite struct AlsaDriverTests {
  @Test func aDeviceThatSwallowsEverythingIsFedAtThePaceOfItsRate() throws {
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

  @Test func aDeviceThatIsNotThereIsRefusedWithItsNameAndTheReason() {
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

  @Test func withNeitherServerNorSoundCardItIsTheClockAndTheWordsSayWhy() {
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

  @Test func aDriverThatWasAskedForByNameAndIsNotThereGivesWayToTheClockAndSaysSo() {
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

  @Test func aDeviceByNameIsUsedWhenItIsThere() {
    let engine = Engine(rate: 48000, period: 64)
    var options = options(.alsa)
    options.alsaDevice = "null"
    let choice = DriverChooser(options).open(renderer: engine.renderer)
    #expect(choice.driver.name == "alsa")
    #expect(choice.explanation == "playing through ALSA device null")
  }
}
