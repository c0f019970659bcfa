import CAlsa
import Glibc

/// The words of drivers' errors.
extension DriverError: CustomStringConvertible {
  /// One line for people: "JACK server `studio` is not running".
  public var message: String {
    switch self {
    case .noThread(let driver, let code): "no thread for the \(driver) driver: \(Self.words(code))"
    case .serverNotStarted(let code): "jackd cannot be started: \(Self.words(code))"
    case .longServerName:
      "the JACK server's name has more than \(JackClientOptions.longestServer) bytes"
    case .silentServer: "the JACK server does not answer"
    case .noRate(let server): "\(Self.server(server)) has no sample rate yet"
    case .refused(let refusal, let server): refusal.words(Self.server(server), isNamed: server != nil)
    case .clientNotStarted: "JACK refused to start the client"
    case .device(let name, .open, let code):
      "ALSA device \(name) cannot be opened: \(AlsaDevice.describe(code))\(Self.others(code))"
    case .device(let name, .settings, let code):
      "ALSA device \(name) does not take our settings: \(AlsaDevice.describe(code))"
    case .smallBuffer(let name, let frames): "ALSA device \(name) holds no more than \(frames) frames"
    case .noMemory(let name): "no memory for the ALSA device \(name)"
    case .noFormat(let name): "ALSA device \(name) has no sample format that we know"
    case .noSequencer(let code):
      """
      no ALSA sequencer (\(code == -ENOENT ? "/dev/snd/seq is missing" : AlsaDevice.describe(code))): \
      MIDI keyboards are heard through JACK only
      """
    case .noSequencerPipe(let code): "no ALSA sequencer: \(Self.words(code))"
    case .soundFile(let path, let words): "\(path): \(words)"
    case .incomplete(let path): "\(path): could not be completed"
    case .notRenamed(let path, let code): "\(path): \(Self.words(code))"
    }
  }

  /// The message.
  public var description: String { message }

  /// The devices that there are, where the name is wrong.
  private static func others(_ code: Int32) -> String {
    guard [-ENOENT, -ENODEV, -ENXIO, -EINVAL].contains(code) else { return "" }
    let names = AlsaDevice.names
    return names.isEmpty ? "" : "; there are \(names.prefix(8).joined(separator: ", "))"
  }

  private static func server(_ name: String?) -> String {
    name.map { "JACK server `\($0)`" } ?? "JACK server"
  }

  private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension DriverError.JackRefusal {
  fileprivate func words(_ named: String, isNamed: Bool) -> String {
    switch self {
    case .version: "\(named) speaks another version of the protocol"
    case .sharedMemory: "\(named): no access to its shared memory"
    case .nameTaken: "\(named): the client's name is taken"
    case .communication: "\(named): communication failed"
    case .notRunning: isNamed ? "\(named) is not running" : "no JACK server is running"
    case .other(let words): words.map { "\(named): \($0)" } ?? "\(named) refused the client"
    }
  }
}
