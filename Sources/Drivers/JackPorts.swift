import CJack
import Dispatch
import Engine
import Glibc
import Patch
import Realtime

/// A pointer from libjack, which allows its use on several threads.
struct JackPointer: @unchecked Sendable {
  let raw: OpaquePointer
}

/// The ports of one JACK client: registers and unregisters them as endpoints come and go, and keeps their
/// connections. Runs on the driver's queue only, since calls to the server may take long.
final class JackPorts {
  struct Key: Hashable {
    var node: NodeID
    var isInput: Bool
    var channel: Int

    init(_ endpoint: Endpoint, _ channel: Int) {
      (node, isInput, self.channel) = (endpoint.node, endpoint.isInput, channel)
    }
  }

  struct Registered {
    var port: OpaquePointer
    /// The wanted name; two nodes may want the same one during a crossfade.
    var base: String
    var name: String
    /// The engine's channel.
    var slot: Int
    /// Its other name on the server; empty: none.
    var alias = ""
  }

  let client: OpaquePointer
  let state: JackState
  let host: RenderHost
  let options: JackClientOptions
  private(set) var ports: [Key: Registered] = [:]
  var midiPorts: [RegisteredMidi.Key: RegisteredMidi] = [:]
  /// Wanted MIDI ports.
  var wantedMidi: [MidiPort] = []
  /// Wanted audio endpoints.
  private(set) var endpoints: [Endpoint] = []
  /// JACK refused a due connection at the last look.
  var isRefused = false
  private(set) var isActive = false

  init(client: OpaquePointer, state: JackState, host: RenderHost, options: JackClientOptions) {
    self.client = client
    self.state = state
    self.host = host
    self.options = options
  }

  /// Call this when ports can be connected.
  func activate() {
    isActive = true
    checkConnections()
  }

  /// Call this before the client is deactivated: JACK ends all connections then, and they are due again afterwards.
  func deactivate() {
    isActive = false
    options.wishes.markAllLost()
  }

  /// Registers and unregisters ports to match `endpoints`. Taps are written to files and get no ports.
  func update(_ endpoints: [Endpoint]) {
    self.endpoints = endpoints
    var wanted: [(key: Key, base: String, slot: Int)] = []
    for endpoint in endpoints where !endpoint.isTap {
      for channel in 0..<endpoint.channels where endpoint.firstChannel + channel < channelCapacity {
        wanted.append(
          (Key(endpoint, channel), portName(endpoint.name, channel), endpoint.firstChannel + channel))
      }
    }
    let keys = Set(wanted.map(\.key))
    let leaving = ports.filter { !keys.contains($0.key) }
    for (key, old) in leaving {
      ports[key] = nil
      if !wanted.contains(where: { $0.slot == old.slot && $0.key.isInput == key.isInput }) {
        state.setPort(nil, input: key.isInput, channel: old.slot)
      }
    }
    var unused = leaving
    for (key, base, slot) in wanted {
      if var known = ports[key] {
        if known.slot != slot {
          state.setPort(nil, input: key.isInput, channel: known.slot)
          known.slot = slot
        }
        if known.base != base {
          options.wishes.rename(known.base, to: base)
          known.base = base
        }
        ports[key] = known
      } else if let inherited = unused.first(where: { $0.key.isInput == key.isInput && $0.value.base == base }
      ) {
        // A node that replaces another takes over its port, with all connections.
        unused[inherited.key] = nil
        var taken = inherited.value
        taken.slot = slot
        ports[key] = taken
      } else if let port = register(freeName(base), isInput: key.isInput) {
        ports[key] = Registered(port: port, base: base, name: shortName(port), slot: slot)
      }
      if let port = ports[key]?.port { state.setPort(port, input: key.isInput, channel: slot) }
    }
    // A name that stays belongs to the node that has taken it.
    for base in Set(unused.values.map(\.base)).subtracting(ports.values.map(\.base)) {
      options.wishes.loseOwn(base)
    }
    state.forget(unused.values.map(\.port))
    unregister(unused.values.map(\.port))
    settleNames()
    setAliases()
    if isActive { connect() }
  }

  private func portName(_ name: String, _ channel: Int) -> String { Self.portName(name, channel) }

  /// Name of an endpoint's port for a channel.
  static func portName(_ name: String, _ channel: Int) -> String { fitting(name, "_\(channel + 1)") }

  /// A name that fits JACK's limits.
  static func fitting(_ name: String, _ suffix: String = "") -> String {
    // The size includes the client's name, a colon and the final zero.
    let room = Int(jack_port_name_size()) - Int(jack_client_name_size()) - 8
    return String(name.substituting(":", with: "-").prefix(max(room - suffix.count, 8))) + suffix
  }

  /// `base`, or with a number behind it that makes it differ from all of our audio ports and from the others given.
  func freeName(_ base: String, besides others: [String] = []) -> String {
    let taken = Set(ports.values.map(\.name) + others)
    var name = base
    var number = 2
    while taken.contains(name) {
      name = "\(base)~\(number)"
      number += 1
    }
    return name
  }

  private func register(_ name: String, isInput: Bool) -> OpaquePointer? {
    // The engine's output is an output port of JACK too.
    let flags = isInput ? JackPortIsInput : JackPortIsOutput
    return jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue), 0)
  }

  func shortName(_ port: OpaquePointer) -> String {
    jack_port_short_name(port).map { String(cString: $0) } ?? ""
  }

  /// Gives ports their wanted names as soon as these are free.
  private func settleNames() {
    for key in ports.keys {
      guard let known = ports[key], known.name != known.base, freeName(known.base) == known.base else {
        continue
      }
      jack_port_rename(client, known.port, known.base)
      ports[key]?.name = shortName(known.port)
    }
  }

  /// Unregisters ports after the audio thread has released them: when the period under way is over, or when
  /// it is clear that none will follow.
  func unregister(_ leaving: [OpaquePointer]) {
    guard !leaving.isEmpty else { return }
    waitForPeriods()
    for port in leaving { jack_port_unregister(client, port) }
  }

  /// Unregisters all ports, after the client has been deactivated. A server that closes a client tells it of each port
  /// that goes with it, and of the port's properties, and blocks for ever once some thirty of these messages fill the
  /// socket, since libjack reads no more by then (jackd2 1.9.21). It answers each of these requests, so nothing is under
  /// way afterwards.
  func unregisterAll() {
    for port in ports.values.map(\.port) + midiPorts.values.map(\.port) { jack_port_unregister(client, port) }
    (ports, midiPorts) = ([:], [:])
  }

  /// Waits until the audio thread has rendered a whole period, or will not.
  func waitForPeriods() {
    let seen = host.cycles.load(ordering: .acquiring)
    let deadline = nanoseconds() + 500_000_000
    while isActive, state.failure == nil, host.cycles.load(ordering: .acquiring) < seen + 2,
      nanoseconds() < deadline
    {
      sleep(until: nanoseconds() + 1_000_000)
    }
  }

  /// Round-trip latency from the sound card's input to its output through this client, in seconds; 0 when
  /// unknown.
  func roundTrip(rate: Int) -> Double {
    var capture: UInt32 = 0
    var playback: UInt32 = 0
    for (key, known) in ports {
      var range = jack_latency_range_t()
      jack_port_get_latency_range(known.port, key.isInput ? JackCaptureLatency : JackPlaybackLatency, &range)
      if key.isInput { capture = max(capture, range.max) } else { playback = max(playback, range.max) }
    }
    if capture == 0, let first = physicalPorts(JackPortIsOutput).first,
      let port = jack_port_by_name(client, first)
    {
      var range = jack_latency_range_t()
      jack_port_get_latency_range(port, JackCaptureLatency, &range)
      capture = range.max
    }
    return rate > 0 ? (Double(capture) + Double(playback)) / Double(rate) : 0
  }

  /// Converts and frees a list of strings from libjack.
  func strings(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
    guard let list else { return [] }
    defer { jack_free(list) }
    var result: [String] = []
    var index = 0
    while let text = list[index] {
      result.append(String(cString: text))
      index += 1
    }
    return result
  }

  /// `drums` for `drums_3`.
  private static func withoutNumber(_ name: String) -> String {
    let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
    let rest = name.dropLast(digits)
    return digits > 0 && rest.last == "_" ? String(rest.dropLast()) : name
  }

  /// Names for people: "out left", "drums 3".
  private var titles: [Key: String] {
    let families = Dictionary(grouping: ports.keys) { [$0.node.raw, $0.isInput ? 1 : 0] }
    var titles: [Key: String] = [:]
    for (key, known) in ports {
      let siblings = families[[key.node.raw, key.isInput ? 1 : 0]]?.count ?? 1
      let side = siblings == 2 ? ["left", "right"][key.channel % 2] : "\(key.channel + 1)"
      let title = Self.withoutNumber(known.base)
      titles[key] = siblings == 1 ? title : "\(title) \(side)"
    }
    return titles
  }

  /// Gives each port its title as an alias, for programs that list ports by name. Aliases are in the memory that client
  /// and server share.
  private func setAliases() {
    guard let name = jack_get_client_name(client) else { return }
    for (key, title) in titles {
      guard let known = ports[key] else { continue }
      let alias = String(cString: name) + ":" + Self.fitting(title)
      guard known.alias != alias else { continue }
      if !known.alias.isEmpty { jack_port_unset_alias(known.port, known.alias) }
      ports[key]?.alias = jack_port_set_alias(known.port, alias) == 0 ? alias : ""
    }
  }

  /// Names and order of the ports for programs that draw JACK's graph.
  var properties: [UInt64: [JackMetadata.Property]] {
    var places: [NodeID: Int] = [:]
    for endpoint in endpoints where !endpoint.isTap { places[endpoint.node] = places.count }
    let sorted = ports.sorted {
      let (one, other) = (places[$0.key.node] ?? .max, places[$1.key.node] ?? .max)
      return (one, $0.key.channel) < (other, $1.key.channel)
    }
    var found: [UInt64: [JackMetadata.Property]] = [:]
    let titles = titles
    for (order, (key, known)) in sorted.enumerated() {
      found[jack_port_uuid(known.port)] = JackMetadata.port(titles[key] ?? known.name, order: order)
    }
    for (key, known) in midiPorts {
      found[jack_port_uuid(known.port)] = JackMetadata.midiPort(
        known.name, order: ports.count + (key.isInput ? 0 : MidiInput.ports) + key.number)
    }
    return found
  }
}
