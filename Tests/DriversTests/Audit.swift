import CAudit
import CJack
import Foundation

/// Counts what callbacks do that an audio thread must not do.
final class Audit: @unchecked Sendable {
  /// Stays for good: a render of another test that began while this one watched still counts at its end.
  private let counts: UnsafeMutablePointer<sostenuto_audit>

  /// `period`: frames at 48 kHz.
  init(period: Int) {
    counts = .allocate(capacity: 1)
    counts.initialize(to: sostenuto_audit())
    counts.pointee.period_nanoseconds = Int64(period) * 1_000_000_000 / 48000
  }

  /// False under a sanitizer, which watches by itself: nothing is counted then.
  static var isBuiltIn: Bool { sostenuto_audit_is_built_in() }

  /// One at a time: who watches, watches the whole process.
  private static let watching = NSLock()

  /// Counts in every render of every driver of this process while `body` runs.
  func watchRenders<Result>(during body: () throws -> Result) rethrows -> Result {
    Self.watching.lock()
    defer { Self.watching.unlock() }
    sostenuto_audit_renders(counts)
    defer { sostenuto_audit_renders(nil) }
    return try body()
  }

  /// As they are now; they move while callbacks run.
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
  /// What law 3 forbids, whatever the machine does.
  var breaches: Int64 { allocations + releases + locks + with_denormals }
}

/// A client that does nothing but be counted: what the server and the machine do by themselves.
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
