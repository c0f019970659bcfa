import Synchronization

/// Which ports of other programs each of ours is to be connected to: outlives servers, and programs
/// that come and go, so that their cables come back with them. Any thread.
///
/// What a user disconnects while both ports are there is forgotten; what vanishes with its port is
/// not.
public final class ConnectionMemory: Sendable {
  /// By our port's name without the client, then by the other port's full name: whether that port was
  /// there when last looked at.
  private let wanted = Mutex<[String: [String: Bool]]>([:])

  /// Our ports and the senders that have been offered to them.
  private let offered = Mutex<Set<[String]>>([])

  public init() {}

  /// Wants a connection if these two meet for the first time: what a user takes away stays away.
  func offer(_ port: String, _ other: String) {
    if isFirstOffer(port, other) { want(port, [other]) }
  }

  /// Whether these two have not met before.
  func isFirstOffer(_ port: String, _ other: String) -> Bool {
    offered.withLock { $0.insert([port, other]).inserted }
  }

  /// Those that are gone may come back, and are met anew.
  func forgetOffers(where isGone: (String) -> Bool) {
    offered.withLock { $0 = $0.filter { !isGone($0[1]) } }
  }

  /// Whether this port has been seen before; a new one gets the connections of a first start.
  func knows(_ port: String) -> Bool { wanted.withLock { $0[port] != nil } }

  /// Takes note of the connections that `port` has, and returns those that are to be made now because
  /// a port has come (back) that it was connected to.
  func look(at port: String, connections: Set<String>, exists: (String) -> Bool) -> [String] {
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

  /// Wants a connection as soon as the other port is there.
  func want(_ port: String, _ others: [String]) {
    wanted.withLock {
      for other in others { $0[port, default: [:]][other] = false }
      if $0[port] == nil { $0[port] = [:] }
    }
  }

  /// A connection that was due has been made: from now on it may be the user who takes it away.
  func made(_ port: String, _ other: String) { wanted.withLock { $0[port]?[other] = true } }

  /// Whether a wanted connection's other port was there when last looked at; nil when not wanted.
  func remembers(_ port: String, _ other: String) -> Bool? { wanted.withLock { $0[port]?[other] } }

  /// Everything is gone with the server; wanted again as soon as a port of that name is there.
  func loseAll() {
    wanted.withLock { wanted in
      for port in wanted.keys { wanted[port] = wanted[port]?.mapValues { _ in false } }
    }
  }

  /// Our own port got another name.
  func rename(_ old: String, to new: String) {
    wanted.withLock {
      if let others = $0.removeValue(forKey: old) { $0[new] = others }
    }
  }

  /// A port of another program got another name.
  func renameOther(_ old: String, to new: String) {
    wanted.withLock { wanted in
      for port in wanted.keys {
        if let wasThere = wanted[port]?.removeValue(forKey: old) { wanted[port]?[new] = wasThere }
      }
    }
  }
}
