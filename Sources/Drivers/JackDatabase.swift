import Realtime

/// The database of properties that all JACK clients and servers of a user share, in files of shared memory.
///
/// A server that ends removes the files, and a process opens them one after the other when it opens its first client. A
/// process that is amid them then maps what is not there, and ends with SIGBUS (jackd2 1.9.21; seen with any client, in
/// 1 of 400 openings beside servers that come and go). Against servers of others nothing helps. Those that this process
/// started end while it opens no client.
///
/// A thread that adds a property and one that reads another can wait for each other for ever, and so does each program that
/// opens a client from then on: Berkeley DB locks pages, and libjack never has it look for deadlocks. So this process reads
/// or writes one property at a time. Nothing helps against a program that reads without a pause. Beside one that reads all
/// names at each change, as patchbays do, 120 starts with 32 ports went well.
public enum JackDatabase {
  private static let turn = Semaphore(value: 1)

  /// False if libjack could not open it, with the first client of this process: a server has just removed it, or shared
  /// memory is full or another's. libjack goes on without, and ends the process at the next property that it is asked for.
  static var isOpen: Bool { !JackMessages.lacksDatabase.load(ordering: .acquiring) }

  /// Opens a client of this process, ends one of its servers, or reads or writes a property, while no other thread does
  /// any of these. What hangs holds up the others for two seconds. Any thread but the audio thread.
  public static func exclusively<Result>(_ body: () -> Result) -> Result {
    let isMine = turn.wait(seconds: 2)
    defer { if isMine { turn.signal() } }
    return body()
  }
}
