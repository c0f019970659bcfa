import CThread
import Glibc
import Realtime

/// A JACK server that this program started, and that ends with it in any case. Worker, on the main thread:
/// the system ends the server when the thread that started it ends.
public final class JackServer {
  /// Its process number.
  public let process: Int32
  private var hasEnded = false
  /// True if it was ended by a signal, or crashed: it keeps its place in JACK's registry, which has eight, until another
  /// of its name ends by itself.
  public private(set) var wasKilled = false

  /// Starts `jackd` with these arguments; throws when the program is missing. A running process does not
  /// imply a working server: open a client to find out.
  public init(arguments: [String]) throws(DriverError) {
    var pointers: [UnsafePointer<CChar>?] = (["jackd"] + arguments).map { UnsafePointer(strdup($0)) }
    pointers.append(nil)
    process = sostenuto_spawn_dependent(pointers)
    let error = errno
    for pointer in pointers { free(UnsafeMutableRawPointer(mutating: pointer)) }
    guard process > 0 else { throw .serverNotStarted(code: error) }
  }

  /// Starts a server for a sound card, by number; real-time where permitted.
  public static func onCard(
    _ card: Int, rate: Double, period: Int, isRealtime: Bool = true
  ) throws(DriverError) -> JackServer {
    let schedule = isRealtime ? ["-R", "-P", "70"] : ["--no-realtime"]
    return try JackServer(
      arguments: schedule + [
        "-d", "alsa", "-d", "hw:\(card)", "-r", "\(Int(rate))", "-p", "\(period)", "-n", "2",
      ])
  }

  /// True while the process runs.
  public var isRunning: Bool {
    var status: Int32 = 0
    if !hasEnded, waitpid(process, &status, WNOHANG) == process {
      (hasEnded, wasKilled) = (true, status & 0x7F != 0)
    }
    return !hasEnded
  }

  /// Ends the server, by force if it takes longer than this many seconds. False if it did.
  @discardableResult public func stop(within seconds: Double = 2) -> Bool {
    guard isRunning else { return true }
    var endsItself = true
    JackDatabase.exclusively {
      kill(process, SIGTERM)
      // A stopped process receives the signal only after it continues.
      kill(process, SIGCONT)
      let deadline = nanoseconds() + Int64(seconds * 1e9)
      while isRunning {
        if nanoseconds() > deadline {
          endsItself = false
          kill(process, SIGKILL)
        }
        sleep(until: nanoseconds() + 5_000_000)
      }
    }
    return endsItself
  }

  deinit { stop() }
}
