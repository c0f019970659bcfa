import CAudit
import CJack
import Foundation

/// Counts operations forbidden on an audio thread (allocations, releases, locks, waits) in callbacks.
final class Audit: @unchecked Sendable {
  /// Never freed: a render of another test that began while this audit watched still writes to it at its end.
  private let counts: UnsafeMutablePointer<sostenuto_audit>

  /// `period`: frames at 48 kHz.
  init(period: Int) {
    counts = .allocate(capacity: 1)
    counts.initialize(to: sostenuto_audit())
    counts.pointee.period_nanoseconds = Int64(period) * 1_000_000_000 / 48000
  }

  /// False in sanitizer builds: the sanitizer intercepts the same functions, so nothing is counted.
  static var isBuiltIn: Bool { sostenuto_audit_is_built_in() }

  /// One audit at a time: it watches the whole process.
  private static let watching = NSLock()

  /// Counts in every render of every driver of this process while `body` runs.
  func watchRenders<Result>(during body: () throws -> Result) rethrows -> Result {
    Self.watching.lock()
    defer { Self.watching.unlock() }
    sostenuto_audit_renders(counts)
    defer { sostenuto_audit_renders(nil) }
    return try body()
  }

  /// Counts so far. They change while callbacks run.
  var found: sostenuto_audit { counts.pointee }

  var words: String {
    let found = found
    return """
      \(found.callbacks) callbacks: \(found.allocations) allocations, \(found.releases) releases, \
      \(found.locks) locks, \(found.waits) waits, \(found.page_faults) page faults, \(found.late) late, \
      \(found.overruns) too long, \(found.preemptions) preempted; the longest \
      \(found.longest_nanoseconds / 1000) µs
      """
  }

  func begin() { sostenuto_audit_begin(counts) }
  func end() { sostenuto_audit_end() }
}

extension sostenuto_audit {
  /// Breaches of law 3, independent of the machine's load.
  var breaches: Int64 { allocations + releases + locks + with_denormals }
}

/// A JACK client with an empty, audited callback: the baseline of server and machine.
final class IdleClient {
  let audit: Audit
  private let client: TestClient

  init?(server: String, period: Int) {
    guard let client = TestClient(server: server, name: "idle") else { return nil }
    self.client = client
    audit = Audit(period: period)
    jack_set_process_callback(client.client, idlePeriod, Unmanaged.passUnretained(audit).toOpaque())
    guard jack_activate(client.client) == 0 else { return nil }
  }

  deinit { jack_deactivate(client.client) }
}

// Outside of any actor: a closure formed on the main actor would trap on JACK's thread.
private func idlePeriod(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  Unmanaged<Audit>.fromOpaque(argument!)._withUnsafeGuaranteedRef { audit in
    audit.begin()
    audit.end()
  }
  return 0
}
