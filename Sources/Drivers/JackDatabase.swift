import CJack
import Dispatch

/// The database of properties that all JACK clients and servers of a user share, in files of shared memory.
///
/// A server that ends removes the files, and a process opens them one after the other when it opens its first client. A
/// process that is amid them then maps what is not there, and ends with SIGBUS (jackd2 1.9.21; seen with any client, in
/// 1 of 400 openings beside servers that come and go). Against servers of others nothing helps. Those that this process
/// started end while it opens no client.
public enum JackDatabase {
  private static let turn = DispatchSemaphore(value: 1)

  /// Opens clients of this process, or ends one of its servers, while it does neither on another thread. A server that
  /// hangs holds up the others for two seconds. Any thread but the audio thread.
  public static func exclusively<Result>(_ body: () -> Result) -> Result {
    let isMine = turn.wait(timeout: .now() + 2) == .success
    defer { if isMine { turn.signal() } }
    return body()
  }

  /// Opens a client of a running server; nil is the usual one.
  static func openClient(
    _ name: String, of server: String?, _ status: inout JackStatus
  ) -> OpaquePointer? {
    // Without this option, a library that finds no server starts one.
    exclusively { sostenuto_jack_client_open(name, JackNoStartServer, &status, server) }
  }
}
