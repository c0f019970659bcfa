import CJack
import Engine
import Patch
import Realtime

/// One of our MIDI ports. There is one per named sender, so that all nodes with the same sender share one
/// connection.
struct RegisteredMidi {
  var port: OpaquePointer
  var name: String
  /// Substring of the names to connect to; nil: all hardware.
  var sender: String?
  /// Connections as last seen.
  var connections: Set<String> = []
}

extension JackPorts {
  /// Registers and unregisters MIDI ports to match the engine's wanted ports.
  func update(midi wanted: [MidiPort]) {
    var leaving: [OpaquePointer] = []
    for (number, known) in midiPorts where !wanted.contains(MidiPort(number: number, sender: known.sender)) {
      state.setMidiPort(nil, number: number)
      host.closeMidi(number)
      midiPorts[number] = nil
      leaving.append(known.port)
    }
    unregister(leaving)
    wantedMidi = wanted
    if isActive { updateMidiConnections() } else { registerMidi() }
  }

  /// Registers missing ports: all at first, later those that JACK had no room for.
  private func registerMidi() {
    for port in wantedMidi where midiPorts[port.number] == nil {
      let name = Self.portName(of: port)
      guard
        let made = jack_port_register(
          client, name, JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsInput.rawValue), 0)
      else { continue }
      midiPorts[port.number] = RegisteredMidi(port: made, name: shortName(made), sender: port.sender)
      state.setMidiPort(made, number: port.number)
    }
  }

  /// Name of a MIDI port.
  static func portName(of port: MidiPort) -> String { fitting(port.sender.map { "midi \($0)" } ?? "midi") }

  /// Ends notes held through lost connections, and makes due connections.
  ///
  /// JACK merges the senders of a port, so the owner of a note is unknown. When one connection is lost, all
  /// notes of the port end.
  func updateMidiConnections() {
    registerMidi()
    for (number, known) in midiPorts {
      let connections = Set(strings(jack_port_get_all_connections(client, known.port)))
      if !known.connections.isSubset(of: connections) { host.closeMidi(number) }
      midiPorts[number]?.connections = connections
      let changes = options.wishes.look(
        at: known.name, connections: connections, asked: options.connectsMidi ? senders(known.sender) : [],
        words: known.sender ?? ""
      ) { jack_port_by_name(client, $0) != nil }
      guard let ours = jack_port_name(known.port) else { continue }
      for sender in changes.make where connect(sender, to: ours) {
        options.wishes.recordConnection(known.name, sender)
        midiPorts[number]?.connections.insert(sender)
      }
    }
  }

  /// MIDI sources with `part` in one of their names; or, for nil, all hardware except ALSA's "Midi Through".
  private func senders(_ part: String?) -> [String] {
    let flags = JackPortIsOutput.rawValue | (part == nil ? JackPortIsPhysical.rawValue : 0)
    return strings(jack_get_ports(client, nil, JACK_DEFAULT_MIDI_TYPE, UInt(flags))).filter { name in
      guard let port = jack_port_by_name(client, name), jack_port_is_mine(client, port) == 0 else {
        return false
      }
      let names = ([name] + aliases(of: port)).map { $0.lowercased() }
      guard let part else { return !names.contains { $0.includes("through") } }
      return names.contains { $0.includes(part.lowercased()) }
    }
  }

  func aliases(of port: OpaquePointer) -> [String] {
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
