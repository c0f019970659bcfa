import Drivers
import PatchLanguage

/// Options for the choice of a driver.
struct DriverArguments: ParameterGroup {
  static let rows: [CommandRow<Self>] = [
    .option(
      "driver", \.driver, "driver", "Play through jack, alsa or clock (default: the best that works)."),
    .option("jack-server", \.jackServer, "name", limit: Limits.jackServer, "The JACK server of this name."),
    .option(
      "jack-name", \.jackName, "name", limit: Limits.jackName,
      "The JACK client's name; the status line has the real one."),
    .option("device", \.alsaDevice, "name", "The ALSA device of this name, as `aplay -L` lists them: hw:0."),
    .option(
      "rate", \.rate, "rate", limit: Limits.rate, "Frames a second, where the driver lets us choose."),
    .option(
      "period", \.period, "frames", limit: Limits.period,
      "Frames a period, where the driver lets us choose."),
    .option(
      "keep", \.keep, "minutes", limit: Limits.keep,
      "Minutes of what is heard that are held for `keep` (default: 10 in the front end, 230 MB in stereo; else 0)."
    ),
    .flag(
      "no-inputs", \.leavesOutInputs,
      "Takes are recorded without a file of what comes in through `input` nodes, which a replay then lacks."),
    .group(\.rendering),
  ]

  var driver: Name?
  var jackServer: String?
  var jackName: String?
  var alsaDevice: String?
  var rate = 48000.0
  var period = 256
  var keep: Double?
  var leavesOutInputs = false
  var rendering = ThreadArguments()

  enum Name: String, ParameterValue, CaseIterable { case jack, alsa, clock }

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
struct ThreadArguments: ParameterGroup {
  static let rows: [CommandRow<Self>] = [
    .option(
      "threads", \.count, "n", limit: Limit(1...16),
      "Threads that render together, 1 to 16; changes nothing but the speed.")
  ]

  var count = 1
}

/// Limits of the engine.
enum Limits {
  /// Upper limit of a duration: one week.
  static let mostSeconds = Script.longest

  static let rate = Limit(8000.0...768_000, "frames a second")
  static let keep = Limit(0.0...10, "minutes")
  static let period = Limit(1...8192, "frames")
  static let seconds = Limit<Double>("more than 0, and at most a week") { $0 > 0 && $0 <= mostSeconds }
  static let jackServer = Limit<String>("1 to \(JackClientOptions.longestServer) bytes") {
    (1...JackClientOptions.longestServer).contains($0.utf8.count)
  }
  /// JACK separates a client's name from a port's by a colon.
  static let jackName = Limit<String>("1 to \(JackClientOptions.longestName) bytes without a colon") {
    (1...JackClientOptions.longestName).contains($0.utf8.count) && !$0.includes(":")
  }
}
