import ArgumentParser
import Drivers
import PatchLanguage

/// Options for the choice of a driver.
struct DriverArguments: ParsableArguments {
  @Option(help: "Play through jack, alsa or clock (default: the best that works).")
  var driver: Name?
  @Option(help: ArgumentHelp("The JACK server of this name.", valueName: "name"))
  var jackServer: String?
  @Option(help: ArgumentHelp("The JACK client's name; the status line has the real one.", valueName: "name"))
  var jackName: String?
  @Option(
    help: ArgumentHelp("The ALSA device of this name, as `aplay -L` lists them.", valueName: "name"))
  var alsaDevice: String?
  @Option(help: ArgumentHelp("Frames a second, where the driver lets us choose.", valueName: "rate"))
  var rate: Double = 48000
  @Option(help: ArgumentHelp("Frames a period, where the driver lets us choose.", valueName: "frames"))
  var period: Int = 256
  @OptionGroup var rendering: ThreadArguments

  enum Name: String, ExpressibleByArgument, CaseIterable { case jack, alsa, clock }

  func validate() throws {
    try Limits.check(rate: rate)
    try Limits.check(period: period)
    if let jackName { try Limits.check(jackName: jackName) }
  }

  var options: DriverOptions {
    var options = DriverOptions()
    options.preference =
      switch driver {
      case .jack: .jack
      case .alsa: .alsa
      case .clock: .clock
      case nil: .automatic
      }
    options.jack.server = jackServer
    if let jackName { options.jack.clientName = jackName }
    if let alsaDevice { options.alsaDevice = alsaDevice }
    options.rate = rate
    options.period = period
    return options
  }
}

/// Option for the number of rendering threads.
struct ThreadArguments: ParsableArguments {
  @Option(
    name: .customLong("threads"),
    help: ArgumentHelp(
      "Threads that render together, 1 to 16; changes nothing but the speed.", valueName: "n"))
  var count: Int = 1

  func validate() throws {
    guard (1...16).contains(count) else { throw ValidationError("--threads is 1 to 16") }
  }
}

/// Limits of the engine.
enum Limits {
  /// Upper limit of a duration: one week.
  static let mostSeconds = Script.longest

  static func check(rate: Double) throws {
    guard (8000...768_000).contains(rate) else {
      throw ValidationError("--rate is 8000 to 768000 frames a second")
    }
  }
  static func check(period: Int) throws {
    guard (1...8192).contains(period) else { throw ValidationError("--period is 1 to 8192 frames") }
  }
  static func check(jackName: String) throws {
    // JACK separates a client's name from a port's by a colon.
    let longest = JackClientOptions.longestName
    guard (1...longest).contains(jackName.utf8.count), !jackName.contains(":") else {
      throw ValidationError("--jack-name is 1 to \(longest) bytes without a colon")
    }
  }
  static func check(seconds: Double) throws {
    guard seconds > 0, seconds <= mostSeconds else {
      throw ValidationError("--seconds is more than 0, and at most a week")
    }
  }
}
