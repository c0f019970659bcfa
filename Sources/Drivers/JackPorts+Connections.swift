import CJack
import Engine
import Glibc
import Patch

// Connections of the audio ports: those that the patch asks for, the sound card by default, and what was connected
// elsewhere.

extension JackPorts {
  /// Call this after a change: registers ports that JACK had no room for, and makes due connections.
  func checkConnections() {
    isRefused = false
    if isActive, lacksPorts { update(endpoints) } else { connect() }
  }

  private var lacksPorts: Bool {
    endpoints.contains { endpoint in
      !endpoint.isTap && (0..<endpoint.channels).contains { ports[Key(endpoint, $0)] == nil }
    }
  }

  /// Connects an output to an input; true if they are connected now. JACK refuses a port whose client is not active
  /// yet, and tells nobody when that client becomes active.
  func connect(_ output: UnsafePointer<CChar>, to input: UnsafePointer<CChar>) -> Bool {
    let error = jack_connect(client, output, input)
    let isMade = error == 0 || error == EEXIST
    if !isMade { isRefused = true }
    return isMade
  }

  /// Compares the connections with the wishes, and makes and ends those that are due.
  func connect() {
    guard isActive, state.failure == nil else { return }
    updateMidiConnections()
    let asked = askedFor()
    for (base, group) in Dictionary(grouping: ports, by: { $0.value.base }) {
      var connections: Set<String> = []
      for (_, known) in group {
        connections.formUnion(strings(jack_port_get_all_connections(client, known.port)))
      }
      let (others, words) = group.lazy.compactMap { asked[$0.key] }.first ?? ([], "")
      let changes = options.wishes.look(at: base, connections: connections, asked: others, words: words) {
        jack_port_by_name(client, $0) != nil
      }
      for (key, known) in group {
        guard let ours = jack_port_name(known.port) else { continue }
        for other in changes.end {
          _ = other.withCString {
            key.isInput ? jack_disconnect(client, $0, ours) : jack_disconnect(client, ours, $0)
          }
        }
        // A second port of the same name exists for a crossfade, and needs the same connections.
        let due =
          group.count > 1
          ? Array(Set(changes.make).union(connections).subtracting(changes.end)) : changes.make
        for other in due {
          let isMade = other.withCString { key.isInput ? connect($0, to: ours) : connect(ours, to: $0) }
          if isMade { options.wishes.recordConnection(base, other) }
        }
      }
    }
  }

  /// Ports that the patch or the default rule connects to each of ours, with the patch's words for them.
  private func askedFor() -> [Key: (others: [String], words: String)] {
    var asked: [Key: (others: [String], words: String)] = [:]
    let playback = physicalPorts(JackPortIsInput)
    let byDefault = endpoints.filter { !$0.isTap && $0.connections.isEmpty }
    options.wishes.keepGrants(of: Set(byDefault.filter { !$0.isInput }.map(\.name)))
    for endpoint in endpoints where !endpoint.isTap {
      let groups: [[String]]
      if !endpoint.connections.isEmpty {
        groups = destinations(endpoint.connections, isInput: endpoint.isInput)
      } else if endpoint.isInput {
        groups = options.connectsInputs ? [physicalPorts(JackPortIsOutput)] : []
      } else {
        groups =
          options.connectsOutputs
          ? [options.wishes.grant(endpoint.name, channels: endpoint.channels, of: playback)] : []
      }
      // As many names as channels: one for each, in their order.
      let names = Self.patterns(endpoint.connections)
      let isOrdered =
        names.count == endpoint.channels && names.count > 1 && !names.contains(where: \.isPattern)
      for channel in 0..<endpoint.channels {
        let others =
          isOrdered && groups.count == names.count
          ? groups[channel] : groups.flatMap { Self.share(of: $0, channel, endpoint) }
        asked[Key(endpoint, channel)] = (others, endpoint.connections)
      }
    }
    return asked
  }

  /// The ports of a group that belong to a channel: each channel has its own; a single channel is sent to two, as to
  /// both speakers, and a single port takes all channels.
  private static func share(of group: [String], _ channel: Int, _ endpoint: Endpoint) -> ArraySlice<String> {
    if group.count == 1 { return group[...] }
    return endpoint.channels == 1 && !endpoint.isInput ? group.prefix(2) : group.dropFirst(channel).prefix(1)
  }

  /// Other clients' ports that each of the patterns stands for, in the order of their numbers. `none` stands for none.
  private func destinations(_ words: String, isInput: Bool) -> [[String]] {
    let direction = isInput ? JackPortIsOutput : JackPortIsInput
    let all = strings(jack_get_ports(client, nil, JACK_DEFAULT_AUDIO_TYPE, UInt(direction.rawValue))).filter {
      jack_port_by_name(client, $0).map { jack_port_is_mine(client, $0) == 0 } ?? false
    }
    return Self.patterns(words).map { pattern in
      all.filter { name in
        ([name] + (jack_port_by_name(client, name).map(Self.aliases) ?? [])).contains(where: pattern.fits)
      }.sorted(by: Self.isBefore)
    }
  }

  /// The patterns of a list with commas.
  static func patterns(_ words: String) -> [NamePattern] {
    guard words != "none" else { return [] }
    return words.split(separator: ",").map {
      String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
    .filter { !$0.isEmpty }.map(NamePattern.init)
  }

  /// `playback_2` is before `playback_10`.
  static func isBefore(_ one: String, _ other: String) -> Bool { order(one) < order(other) }

  private static func order(_ name: String) -> (String, Int, String) {
    let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
    return (String(name.dropLast(digits)), Int(name.suffix(digits)) ?? 0, name)
  }

  func physicalPorts(_ direction: JackPortFlags) -> [String] {
    strings(
      jack_get_ports(
        client, nil, JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsPhysical.rawValue | direction.rawValue)))
  }

  /// Channels that JACK had no room for, and outputs that nobody hears.
  var device: DeviceChannels {
    var device = DeviceChannels()
    guard isActive, state.failure == nil else { return device }
    for endpoint in endpoints where !endpoint.isTap {
      let known = (0..<endpoint.channels).compactMap { ports[Key(endpoint, $0)]?.port }
      if known.count < endpoint.channels { device.lacking[endpoint.node] = endpoint.channels - known.count }
      if !endpoint.isInput, known.allSatisfy({ jack_port_connected($0) == 0 }) {
        device.unheard.insert(endpoint.node)
      }
    }
    for known in midiPorts.values {
      if let outlet = known.wanted.outlet, jack_port_connected(known.port) == 0 {
        device.unheard.insert(outlet.node)
      }
    }
    return device
  }
}
