import Synchronization

/// The connections that our ports are to have: those that the patch or a default asks for, and those that were made
/// elsewhere. They outlive servers and other programs, so that connections come back with what they led to. Any thread.
///
/// A connection that the user removes while both ports exist is no longer wished for. One that vanishes with either
/// port is.
public final class ConnectionWishes: Sendable {
  private struct Wish {
    /// The other port existed at the last look, and so did ours.
    var isThere: Bool
    /// From the patch or the default rule, which may change; not made elsewhere.
    var isAsked: Bool
  }

  private struct Port {
    var wishes: [String: Wish] = [:]
    /// Asked for, and removed by the user.
    var declined: Set<String> = []
    /// The patch's words for what it asks for.
    var words: String?

    mutating func lose() {
      wishes = wishes.mapValues { Wish(isThere: false, isAsked: $0.isAsked) }
    }
  }

  private struct State {
    /// By our port's short name; what they lead to has its full name.
    var ports: [String: Port] = [:]
    /// Playback ports of the sound card that an output has by default: by the output's name.
    var granted: [String: [String]] = [:]
    /// Connections that it had before some of them vanished.
    var grantedFirst: [String: [String]] = [:]
    /// Playback ports of outputs that were removed, by the output's name.
    var former: [String: [String]] = [:]
    /// Outputs that did not get all that they want, with what they got later of others' ports.
    var standIns: [String: Set<String>] = [:]
    var offered: Set<[String]> = []
    /// When other programs' ports were registered, lately.
    var arrivals: [String: Int64] = [:]
    var latestClient: Int64 = .min
    /// Connections that another program made itself when it began: our port, its port.
    var passing: Set<[String]> = []
  }

  private let state = Mutex(State())

  /// A program that connects itself does so within this time of its port's arrival, in nanoseconds.
  private static let handshake: Int64 = 100_000_000

  /// Wishes for nothing.
  public init() {}

  /// Changes to make in a port's connections.
  struct Changes: Equatable {
    var make: [String] = []
    var end: [String] = []
  }

  /// Takes note of a port's present connections, and returns the changes that are due. `asked`: what the patch or
  /// the default rule asks for now, in these words.
  func look(
    at port: String, connections: Set<String>, asked: [String], words: String = "", exists: (String) -> Bool
  ) -> Changes {
    state.withLock { state in
      let known = state.ports[port] ?? Port()
      var new = Port(declined: known.words == words ? known.declined : [], words: words)
      var changes = Changes()
      for other in connections {
        let wish = known.wishes[other]
        if wish == nil, !asked.contains(other), state.passing.contains([port, other]) { continue }
        if wish?.isAsked == true, !asked.contains(other) {
          changes.end.append(other)
          continue
        }
        new.wishes[other] = Wish(isThere: true, isAsked: wish?.isAsked ?? asked.contains(other))
        new.declined.remove(other)
      }
      for (other, wish) in known.wishes where !connections.contains(other) {
        if wish.isAsked, !asked.contains(other) { continue }
        if !exists(other) {
          new.wishes[other] = Wish(isThere: false, isAsked: wish.isAsked)
          if let successor = Self.successor(of: other, exists), !connections.contains(successor),
            known.wishes[successor] == nil
          {
            changes.make.append(successor)
          }
        } else if wish.isThere {
          if wish.isAsked { new.declined.insert(other) }
        } else {
          new.wishes[other] = wish
          changes.make.append(other)
        }
      }
      for other in asked where new.wishes[other] == nil && !new.declined.contains(other) {
        new.wishes[other] = Wish(isThere: false, isAsked: true)
        if exists(other), !connections.contains(other) { changes.make.append(other) }
      }
      state.ports[port] = new
      changes.make.sort()
      changes.end.sort()
      return changes
    }
  }

  /// `recorder-01:in` for `recorder:in`: a program that comes back before its old client is gone has a number.
  private static func successor(of other: String, _ exists: (String) -> Bool) -> String? {
    guard let colon = other.firstIndex(of: ":") else { return nil }
    let (client, port) = (other[..<colon], other[colon...])
    for number in 1...9 where exists("\(client)-0\(number)\(port)") { return "\(client)-0\(number)\(port)" }
    return nil
  }

  /// Records that a due connection has been made; if it vanishes from now on, the user removed it.
  func recordConnection(_ port: String, _ other: String) {
    state.withLock {
      let isAsked = $0.ports[port]?.wishes[other]?.isAsked ?? false
      $0.ports[port, default: Port()].wishes[other] = Wish(isThere: true, isAsked: isAsked)
    }
  }

  /// True if the other port of a wished connection existed at the last look; nil when not wished for.
  func remembers(_ port: String, _ other: String) -> Bool? {
    state.withLock { $0.ports[port]?.wishes[other]?.isThere }
  }

  /// Ports that the patch or the default rule asks for at a port of ours, by its short name: those to which somebody has
  /// ended the connection, and those that are connected.
  public func asked(at port: String) -> (ended: Set<String>, there: Set<String>) {
    state.withLock { state in
      guard let known = state.ports[port] else { return ([], []) }
      return (known.declined, Set(known.wishes.filter { $0.value.isAsked && $0.value.isThere }.keys))
    }
  }

  // MARK: Ports that go and come

  /// Marks a port as gone: it was unregistered, or registered anew. A port that goes and comes back between two looks
  /// takes its connections with it; without this, the second look would take them for removed by the user. JACK tells of
  /// a new port only when its client becomes active, so that a look may see the port before.
  func lose(_ other: String) {
    state.withLock { state in
      for port in state.ports.keys where state.ports[port]?.wishes[other] != nil {
        state.ports[port]?.wishes[other]?.isThere = false
      }
    }
  }

  /// Marks one of our own ports as gone; its connections are due again when it comes back.
  func loseOwn(_ port: String) {
    state.withLock { $0.ports[port]?.lose() }
  }

  /// Marks all ports as gone, as with a server or with our client.
  func markAllLost() {
    state.withLock { state in
      for port in state.ports.keys { state.ports[port]?.lose() }
      (state.arrivals, state.passing) = ([:], [])
    }
  }

  /// Forgets connections, by our port and the other, that were made elsewhere.
  func forget(where isMeant: (String, String) -> Bool) {
    state.withLock { state in
      for port in state.ports.keys {
        guard let wishes = state.ports[port]?.wishes else { continue }
        state.ports[port]?.wishes = wishes.filter { $0.value.isAsked || !isMeant(port, $0.key) }
      }
    }
  }

  /// Follows a renaming of our own port.
  func rename(_ old: String, to new: String) {
    state.withLock {
      if let port = $0.ports.removeValue(forKey: old) { $0.ports[new] = port }
    }
  }

  /// Follows a renaming of another program's port.
  func renameOther(_ old: String, to new: String) {
    state.withLock { state in
      for port in state.ports.keys {
        if let wish = state.ports[port]?.wishes.removeValue(forKey: old) {
          state.ports[port]?.wishes[new] = wish
        }
      }
    }
  }

  // MARK: Connections that other programs make themselves

  // A recorder that is started on our output connects itself, and its next recording may be of something else. JACK
  // does not say who connects; but a patch bay or `jack_connect` is either a client that comes after the recorder's
  // port, or a person, who takes longer.

  /// Records that another program's port was registered, or unregistered.
  func note(port: String, isThere: Bool, at time: Int64) {
    state.withLock { state in
      state.arrivals = state.arrivals.filter { time - $0.value < Self.handshake }
      state.arrivals[port] = isThere ? time : nil
      state.passing = state.passing.filter { $0[1] != port }
    }
  }

  /// Records that a client was opened.
  func noteClient(at time: Int64) { state.withLock { $0.latestClient = time } }

  /// Records that `port` of ours was connected to another, as the server says. Its news of a port may come late, after we
  /// connected it and the user ended that; this news follows, and says that the port was there.
  func note(connection port: String, to other: String, at time: Int64) {
    state.withLock { state in
      state.ports[port]?.wishes[other]?.isThere = true
      guard let arrival = state.arrivals[other], time - arrival < Self.handshake, state.latestClient < arrival
      else {
        return
      }
      state.passing.insert([port, other])
    }
  }

  // MARK: Offers

  /// True when this pair is new: a connection that the user removes stays removed.
  func isFirstOffer(_ port: String, _ other: String) -> Bool {
    state.withLock { $0.offered.insert([port, other]).inserted }
  }

  /// Forgets offers to vanished ports, so that they count as new when they come back.
  func forgetOffers(where isGone: (String) -> Bool) {
    state.withLock { state in state.offered = state.offered.filter { !isGone($0[1]) } }
  }

  // MARK: The sound card

  /// Playback ports that an output of so many channels has by default: the first that no other output has, two at
  /// least where there are two. None when others have them all, until one of these is removed; when that comes back, it has
  /// its own again. They stay the same as long as one of them exists; when all that it had first are back, it has these
  /// again.
  func grant(_ output: String, channels: Int, of playback: [String]) -> [String] {
    state.withLock { state in
      let taken = Set(state.granted.filter { $0.key != output }.flatMap(\.value))
      let first = state.grantedFirst[output] ?? []
      if !first.isEmpty, first.allSatisfy({ playback.contains($0) && !taken.contains($0) }) {
        state.granted[output] = first
        state.grantedFirst[output] = nil
      }
      let own = state.granted[output] ?? []
      let known = own.filter(playback.contains)
      let wanted = max(channels, 2)
      guard known.count < wanted else { return known }
      let free = playback.filter { !taken.contains($0) && !known.contains($0) }
      let granted = known + free.prefix(wanted - known.count)
      if state.standIns[output] != nil || granted.count < wanted && !playback.isEmpty {
        let late = state.standIns[output] == nil ? [] : granted.filter { !known.contains($0) }
        state.standIns[output, default: []].formUnion(late)
      }
      if granted.isEmpty { return [] }
      if known.count < own.count, first.isEmpty { state.grantedFirst[output] = own }
      state.granted[output] = granted
      return granted
    }
  }

  /// Frees the playback ports of outputs that are no more, and gives those that are back what others have in their place.
  func keepGrants(of outputs: Set<String>) {
    state.withLock { state in
      for (output, ports) in state.granted where !outputs.contains(output) { state.former[output] = ports }
      for output in outputs.sorted() where state.granted[output] == nil {
        guard let ports = state.former.removeValue(forKey: output) else { continue }
        let holders = state.granted.filter {
          outputs.contains($0.key) && $0.value.contains(where: ports.contains)
        }
        let areStandIns = holders.allSatisfy { holder, held in
          held.allSatisfy { !ports.contains($0) || state.standIns[holder]?.contains($0) == true }
        }
        guard areStandIns else { continue }
        for (holder, held) in holders {
          let rest = held.filter { !ports.contains($0) }
          state.granted[holder] = rest.isEmpty ? nil : rest
          state.standIns[holder]?.subtract(ports)
        }
        state.granted[output] = ports
      }
      state.granted = state.granted.filter { outputs.contains($0.key) }
      state.grantedFirst = state.grantedFirst.filter { outputs.contains($0.key) }
      state.standIns = state.standIns.filter { outputs.contains($0.key) }
    }
  }
}
