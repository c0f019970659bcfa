import Synchronization

/// Remembers the wanted connections of our ports. It outlives servers and other programs, so that their
/// connections are restored when they come back. Any thread.
///
/// A connection that the user removes while both ports exist is forgotten. One that vanishes with its port is
/// not.
public final class ConnectionMemory: Sendable {
  /// Wanted connections: by our port's short name, then by the other port's full name. The value tells
  /// whether the other port existed at the last look.
  private let wanted = Mutex<[String: [String: Bool]]>([:])

  /// Pairs of our ports and senders that have been offered already.
  private let offered = Mutex<Set<[String]>>([])

  /// An empty memory.
  public init() {}

  /// Wants a connection if this pair is new: a connection that the user removes stays removed.
  func offer(_ port: String, _ other: String) {
    if isFirstOffer(port, other) { want(port, [other]) }
  }

  /// True when this pair is new.
  func isFirstOffer(_ port: String, _ other: String) -> Bool {
    offered.withLock { $0.insert([port, other]).inserted }
  }

  /// Forgets offers to vanished ports, so that they count as new when they come back.
  func forgetOffers(where isGone: (String) -> Bool) {
    offered.withLock { $0 = $0.filter { !isGone($0[1]) } }
  }

  /// True when this port has been seen before. A new port gets the connections of a first start.
  func knows(_ port: String) -> Bool { wanted.withLock { $0[port] != nil } }

  /// Records the present connections of `port`. Returns the remembered connections that are due because the
  /// other port has come back.
  func dueConnections(of port: String, connections: Set<String>, exists: (String) -> Bool) -> [String] {
    wanted.withLock { wanted in
      var memory: [String: Bool] = [:]
      var due: [String] = []
      for other in connections { memory[other] = true }
      for (other, wasThere) in wanted[port] ?? [:] where !connections.contains(other) {
        if !exists(other) {
          memory[other] = false
        } else if !wasThere {
          memory[other] = false
          due.append(other)
        }
      }
      wanted[port] = memory
      return due.sorted()
    }
  }

  /// Wants connections as soon as the other ports exist.
  func want(_ port: String, _ others: [String]) {
    wanted.withLock {
      for other in others { $0[port, default: [:]][other] = false }
      if $0[port] == nil { $0[port] = [:] }
    }
  }

  /// Marks a port as gone: it was unregistered, or registered anew. A port that goes and comes back between two looks
  /// takes its connections with it; without this, the second look would take them for removed by the user. JACK tells of
  /// a new port only when its client becomes active, so that a look may see the port before.
  func lose(_ other: String) {
    wanted.withLock { wanted in
      for port in wanted.keys where wanted[port]?[other] != nil { wanted[port]?[other] = false }
    }
  }

  /// Records that a due connection has been made; if it vanishes from now on, the user removed it.
  func recordConnection(_ port: String, _ other: String) { wanted.withLock { $0[port]?[other] = true } }

  /// True if the other port of a wanted connection existed at the last look; nil when not wanted.
  func remembers(_ port: String, _ other: String) -> Bool? { wanted.withLock { $0[port]?[other] } }

  /// Marks all ports as gone with the server; connections are due again as soon as a port of that name
  /// exists.
  func markAllLost() {
    wanted.withLock { wanted in
      for port in wanted.keys { wanted[port] = wanted[port]?.mapValues { _ in false } }
    }
  }

  /// Follows a renaming of our own port.
  func rename(_ old: String, to new: String) {
    wanted.withLock {
      if let others = $0.removeValue(forKey: old) { $0[new] = others }
    }
  }

  /// Follows a renaming of another program's port.
  func renameOther(_ old: String, to new: String) {
    wanted.withLock { wanted in
      for port in wanted.keys {
        if let wasThere = wanted[port]?.removeValue(forKey: old) { wanted[port]?[new] = wasThere }
      }
    }
  }
}
