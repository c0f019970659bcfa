import CJack
import Engine
import Glibc
import Patch
import Realtime

/// One of our MIDI ports. There is one input per named sender, so that all nodes with the same sender share one
/// connection, and one output per node.
struct RegisteredMidi {
  var wanted: MidiPort
  var port: OpaquePointer
  var name: String
  /// Connections as last seen.
  var connections: Set<String> = []

  /// Identifies a port as long as it exists.
  struct Key: Hashable {
    var number: Int
    var isInput: Bool
    /// Sender of an input; an output keeps its port when its name or its receivers change.
    var sender: String?
    var node: NodeID?

    init(_ port: MidiPort) {
      (number, isInput, sender, node) = (port.number, port.outlet == nil, port.sender, port.outlet?.node)
    }
  }
}

extension JackPorts {
  /// Registers and unregisters MIDI ports to match the engine's wanted ports.
  func update(midi wanted: [MidiPort]) {
    wantedMidi = wanted
    let keys = Set(wanted.map(RegisteredMidi.Key.init))
    let leaving = midiPorts.filter { !keys.contains($0.key) }
    for key in leaving.keys where !key.isInput { host.midi.endOutput(key.number) }
    // The receivers' notes end first, while the port is still there.
    if leaving.keys.contains(where: { !$0.isInput }) { waitForPeriods() }
    for (key, known) in leaving {
      state.setMidiPort(nil, number: key.number, isInput: key.isInput)
      if key.isInput { host.midi.close(key.number) }
      midiPorts[key] = nil
      options.wishes.loseOwn(known.name)
    }
    unregister(leaving.values.map(\.port))
    for port in wanted {
      let key = RegisteredMidi.Key(port)
      guard let known = midiPorts[key] else { continue }
      midiPorts[key]?.wanted = port
      guard known.wanted.outlet?.name != port.outlet?.name else { continue }
      jack_port_rename(client, known.port, freeName(for: port))
      let name = shortName(known.port)
      options.wishes.rename(known.name, to: name)
      midiPorts[key]?.name = name
    }
    if isActive { updateMidiConnections() } else { registerMidi() }
  }

  /// Names of the ports that JACK has no room for.
  var missingMidi: [String] {
    guard isActive, state.failure == nil else { return [] }
    return wantedMidi.filter { midiPorts[RegisteredMidi.Key($0)] == nil }.map(Self.portName)
  }

  /// True if there is a MIDI output.
  var hasMidiOutput: Bool { midiPorts.keys.contains { !$0.isInput } }

  /// Registers missing ports: all at first, later those that JACK had no room for.
  private func registerMidi() {
    for port in wantedMidi where midiPorts[RegisteredMidi.Key(port)] == nil {
      let direction = port.outlet == nil ? JackPortIsInput : JackPortIsOutput
      guard
        let made = jack_port_register(
          client, freeName(for: port), JACK_DEFAULT_MIDI_TYPE, UInt(direction.rawValue), 0)
      else { continue }
      midiPorts[RegisteredMidi.Key(port)] = RegisteredMidi(wanted: port, port: made, name: shortName(made))
      state.setMidiPort(made, number: port.number, isInput: port.outlet == nil)
    }
  }

  private func freeName(for port: MidiPort) -> String {
    let others = midiPorts.filter { $0.key != RegisteredMidi.Key(port) }.values.map(\.name)
    return freeName(Self.portName(of: port), besides: others)
  }

  /// Name of a MIDI port, if no other port has it.
  static func portName(of port: MidiPort) -> String {
    fitting(port.outlet?.name ?? port.sender.map { "midi \($0)" } ?? "midi")
  }

  /// Ends notes held through lost connections, and makes due connections.
  ///
  /// JACK merges the senders of a port, so the owner of a note is unknown. When one connection is lost, all
  /// notes of the port end.
  func updateMidiConnections() {
    registerMidi()
    for (key, known) in midiPorts {
      let connections = Set(strings(jack_port_get_all_connections(client, known.port)))
      if key.isInput, !known.connections.isSubset(of: connections) { host.midi.close(key.number) }
      midiPorts[key]?.connections = connections
      let words = known.wanted.outlet.map(\.receivers) ?? known.wanted.sender
      let changes = options.wishes.look(
        at: known.name, connections: connections,
        asked: options.connectsMidi ? midiPorts(words, isInput: !key.isInput) : [], words: words ?? ""
      ) { jack_port_by_name(client, $0) != nil }
      guard let ours = jack_port_name(known.port) else { continue }
      for other in changes.end {
        _ = other.withCString {
          key.isInput ? jack_disconnect(client, $0, ours) : jack_disconnect(client, ours, $0)
        }
      }
      for other in changes.make {
        guard other.withCString({ key.isInput ? connect($0, to: ours) : connect(ours, to: $0) }) else {
          continue
        }
        options.wishes.recordConnection(known.name, other)
        midiPorts[key]?.connections.insert(other)
      }
    }
  }

  /// Other clients' MIDI inputs, or outputs: those that one of the words stands for, each a part of a name or a
  /// pattern; or, for nil, all hardware except ALSA's "Midi Through".
  private func midiPorts(_ words: String?, isInput: Bool) -> [String] {
    let direction = (isInput ? JackPortIsInput : JackPortIsOutput).rawValue
    let flags = direction | (words == nil ? JackPortIsPhysical.rawValue : 0)
    let patterns = words.map { Self.patterns($0.lowercased()) }
    return strings(jack_get_ports(client, nil, JACK_DEFAULT_MIDI_TYPE, UInt(flags))).filter { name in
      guard let port = jack_port_by_name(client, name), jack_port_is_mine(client, port) == 0 else {
        return false
      }
      let names = ([name] + Self.aliases(of: port)).map { $0.lowercased() }
      guard let patterns else { return !names.contains { $0.includes("through") } }
      return patterns.contains { names.contains(where: $0.occurs) }
    }
  }

  static func aliases(of port: OpaquePointer) -> [String] {
    let size = Int(jack_port_name_size())
    let memory = UnsafeMutablePointer<CChar>.allocate(capacity: 2 * size)
    memory.initialize(repeating: 0, count: 2 * size)
    defer { memory.deallocate() }
    var places: (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) = (memory, memory + size)
    let count = withUnsafePointer(to: &places) {
      $0.withMemoryRebound(to: UnsafeMutablePointer<CChar>?.self, capacity: 2) {
        jack_port_get_aliases(port, $0)
      }
    }
    return (0..<max(0, min(Int(count), 2))).map { String(cString: memory + $0 * size) }
  }
}
