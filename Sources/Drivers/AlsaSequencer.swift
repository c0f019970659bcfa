import CAlsa
import Engine
import Glibc
import Loop
import Patch
import Realtime
import Synchronization

/// ALSA sequencer client, for drivers without MIDI of their own. It has a port for each sender that nodes
/// name. Each port connects itself to matching senders, and can be connected with `aconnect`. A thread of its
/// own puts incoming events into the host's ring with their arrival time.
///
/// Worker, all methods.
final class AlsaSequencer: @unchecked Sendable {
  private let sequencer: OpaquePointer
  private let host: RenderHost
  private let wishes: ConnectionWishes
  /// Ports last requested; the thread picks them up.
  private let requested = Mutex<[MidiPort]?>(nil)
  private let isStopping = Atomic<Bool>(false)
  private var thread: AudioThread?
  /// Written to in order to wake the thread.
  private let pipe: (read: Int32, write: Int32)

  // Thread's own state: the sequencer port of each wanted MIDI port, and the notes held by each sender there.
  private var ports: [(wanted: MidiPort, port: Int32)] = []
  private var wantedPorts: [MidiPort] = []
  private var senders: [Sender: HeldNotes] = [:]
  /// Incomplete system exclusive messages.
  private var exclusives: [Sender: [UInt8]] = [:]
  private let ends: UnsafeMutablePointer<EventQueue>
  private var sender: AlsaSender?
  private var sending: EventLoop.Timer?

  private struct Sender: Hashable {
    var port: Int32
    var client: Int32
    var clientPort: Int32
  }

  /// Opens a client without ports, or returns the reason why there is no sequencer.
  static func open(host: RenderHost, wishes: ConnectionWishes) -> Result<AlsaSequencer, DriverError> {
    sostenuto_alsa_be_quiet()
    var opened: OpaquePointer?
    let error = snd_seq_open(&opened, "default", Int32(SND_SEQ_OPEN_DUPLEX), Int32(SND_SEQ_NONBLOCK))
    guard error >= 0, let sequencer = opened else { return .failure(.noSequencer(code: error)) }
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else {
      let code = errno
      snd_seq_close(sequencer)
      return .failure(.noSequencerPipe(code: code))
    }
    return .success(AlsaSequencer(sequencer, host, wishes, (ends[0], ends[1])))
  }

  private init(
    _ sequencer: OpaquePointer, _ host: RenderHost, _ wishes: ConnectionWishes,
    _ pipe: (read: Int32, write: Int32)
  ) {
    self.sequencer = sequencer
    self.host = host
    self.wishes = wishes
    self.pipe = pipe
    ends = .allocate(capacity: 1)
    ends.initialize(to: EventQueue())
    snd_seq_set_client_name(sequencer, "sostenuto")
  }

  deinit {
    snd_seq_close(sequencer)
    close(pipe.read)
    close(pipe.write)
    for held in senders.values { held.deallocate() }
    ends.pointee.deallocate()
    ends.deallocate()
  }

  func start() throws(DriverError) { thread = try startThread() }

  // Formed in a nonisolated function, as `AudioThread` requires.
  private nonisolated func startThread() throws(DriverError) -> AudioThread {
    try AudioThread(name: "alsa midi", priority: 50) { [self] in run() }
  }

  /// Sets the wanted ports. Returns at once.
  func update(_ ports: [MidiPort]) {
    requested.withLock { $0 = ports }
    wake()
  }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wake()
    thread?.join()
  }

  private func wake() {
    var byte: UInt8 = 0
    _ = write(pipe.write, &byte, 1)
  }

  // MARK: The thread

  private func run() {
    // Receives announcements of programs and devices that come and go.
    let announcements = snd_seq_create_simple_port(
      sequencer, "announcements", UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_NO_EXPORT),
      UInt32(SND_SEQ_PORT_TYPE_APPLICATION))
    if announcements >= 0 {
      snd_seq_connect_from(
        sequencer, announcements, Int32(SND_SEQ_CLIENT_SYSTEM), Int32(SND_SEQ_PORT_SYSTEM_ANNOUNCE))
    }
    let loop = EventLoop()
    let sender = AlsaSender(sequencer, host)
    self.sender = sender
    sending = loop.timer { sender.sendDue($0) }
    defer { (self.sender, sending) = (nil, nil) }
    loop.watch(pipe.read) { [self] in
      var bytes: (UInt64, UInt64) = (0, 0)
      _ = read(pipe.read, &bytes, 16)
      if isStopping.load(ordering: .relaxed) {
        for (wanted, _) in ports where wanted.outlet != nil { sender.remove(wanted.number) }
        return loop.end()
      }
      if let ports = requested.withLock({ $0.take() }) {
        wantedPorts = ports
        makePorts()
      }
    }
    for descriptor in descriptors { loop.watch(descriptor) { [self] in readEvents() } }
    // None of the calls fails.
    try? loop.run()
  }

  /// Descriptors that are readable when events have come.
  private var descriptors: [Int32] {
    let count = snd_seq_poll_descriptors_count(sequencer, Int16(POLLIN))
    var entries = [pollfd](repeating: pollfd(), count: Int(max(count, 0)))
    snd_seq_poll_descriptors(sequencer, &entries, UInt32(entries.count), Int16(POLLIN))
    return entries.map(\.fd)
  }

  private func readEvents() {
    var next: UnsafeMutablePointer<snd_seq_event_t>?
    while true {
      let error = snd_seq_event_input(sequencer, &next)
      // A lost event may have been a note-off.
      if error == -ENOSPC {
        for sender in Array(senders.keys) { end(sender) }
        // Or a piece in the middle.
        exclusives.removeAll()
        continue
      }
      guard error >= 0, let event = next?.pointee else { return }
      handle(event)
    }
  }

  private func handle(_ event: snd_seq_event_t) {
    switch snd_seq_event_type(rawValue: UInt32(event.type)) {
    case SND_SEQ_EVENT_PORT_START, SND_SEQ_EVENT_CLIENT_START: connectAll()
    case SND_SEQ_EVENT_PORT_EXIT, SND_SEQ_EVENT_CLIENT_EXIT:
      let isClient = snd_seq_event_type(rawValue: UInt32(event.type)) == SND_SEQ_EVENT_CLIENT_EXIT
      let gone = event.data.addr
      for sender in Array(senders.keys)
      where sender.client == Int32(gone.client) && (isClient || sender.clientPort == Int32(gone.port)) {
        end(sender)
      }
      exclusives = exclusives.filter { sender, _ in
        sender.client != Int32(gone.client) || !isClient && sender.clientPort != Int32(gone.port)
      }
      wishes.forgetOffers { $0.hasPrefix("\(gone.client):") }
      // A place may be free for a missing port now.
      if ports.count < wantedPorts.count { makePorts() }
    case SND_SEQ_EVENT_PORT_UNSUBSCRIBED:
      let ends = event.data.connect
      guard Int32(ends.dest.client) == snd_seq_client_id(sequencer) else { return }
      end(
        Sender(
          port: Int32(ends.dest.port), client: Int32(ends.sender.client), clientPort: Int32(ends.sender.port))
      )
    default:
      let sender = Sender(
        port: Int32(event.dest.port), client: Int32(event.source.client),
        clientPort: Int32(event.source.port))
      if snd_seq_event_type(rawValue: UInt32(event.type)) == SND_SEQ_EVENT_SYSEX {
        handleExclusive(event, from: sender)
        return
      }
      guard let message = Event(sequencer: event) else { return }
      // MIDI lets nothing but messages of real time come in between: what was begun is broken off.
      if message.kind != .system || message.key < 8 { breakOff(sender) }
      let held = senders[sender] ?? HeldNotes.allocate()
      senders[sender] = held
      held.track(message)
      pass(message, from: sender)
    }
  }

  /// Collects a system exclusive message, which arrives in pieces.
  private func handleExclusive(_ event: snd_seq_event_t, from sender: Sender) {
    let piece = UnsafeRawBufferPointer(start: event.data.ext.ptr, count: Int(event.data.ext.len))
    if piece.first == 0xF0 { breakOff(sender) }
    let bytes = (exclusives[sender] ?? []) + piece
    guard bytes.first == 0xF0, bytes.count <= ExclusiveStore.longest else { return breakOff(sender) }
    guard bytes.last == 0xF7 else {
      exclusives[sender] = bytes
      return
    }
    exclusives[sender] = nil
    guard let number = number(of: sender) else { return }
    host.midi.arrive(exclusive: bytes, port: number, at: nanoseconds())
  }

  /// Forgets a message that will not become whole.
  private func breakOff(_ sender: Sender) {
    if exclusives.removeValue(forKey: sender) != nil { host.midi.lose() }
  }

  private func number(of sender: Sender) -> Int? {
    ports.first { $0.port == sender.port && $0.wanted.outlet == nil }?.wanted.number
  }

  private func pass(_ event: Event, from sender: Sender) {
    guard let number = number(of: sender) else { return }
    host.midi.arrive(event, port: number, at: nanoseconds())
  }

  /// Ends the notes held by one sender, and no others.
  private func end(_ sender: Sender) {
    breakOff(sender)
    guard let held = senders.removeValue(forKey: sender) else { return }
    held.end(into: ends)
    for index in 0..<ends.pointee.count { pass(ends.pointee[index], from: sender) }
    ends.pointee.removeAll()
    held.deallocate()
  }

  // MARK: Ports

  private func makePorts() {
    let keys = Set(wantedPorts.map(RegisteredMidi.Key.init))
    for (wanted, port) in ports where !keys.contains(RegisteredMidi.Key(wanted)) {
      for sender in Array(senders.keys) where sender.port == port { end(sender) }
      if wanted.outlet != nil { sender?.remove(wanted.number) }
      snd_seq_delete_simple_port(sequencer, port)
    }
    ports.removeAll { !keys.contains(RegisteredMidi.Key($0.wanted)) }
    for wanted in wantedPorts {
      if let known = ports.firstIndex(where: { RegisteredMidi.Key($0.wanted) == RegisteredMidi.Key(wanted) })
      {
        ports[known].wanted = wanted
        continue
      }
      let isInput = wanted.outlet == nil
      let port = snd_seq_create_simple_port(
        sequencer, wanted.outlet?.name ?? wanted.sender.map { "midi \($0)" } ?? "midi",
        UInt32(
          isInput
            ? SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE
            : SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ),
        UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
      guard port >= 0 else { continue }
      ports.append((wanted, port))
      if !isInput { sender?.add(wanted.number, port: port) }
    }
    sending?.due = EventLoop.now()
    connectAll()
  }

  /// Connects each port to its matching senders, once per pair: a connection that the user removes stays
  /// removed.
  private func connectAll() {
    var client: OpaquePointer?
    var port: OpaquePointer?
    guard snd_seq_client_info_malloc(&client) >= 0, let client else { return }
    defer { snd_seq_client_info_free(client) }
    guard snd_seq_port_info_malloc(&port) >= 0, let port else { return }
    defer { snd_seq_port_info_free(port) }
    snd_seq_client_info_set_client(client, -1)
    while snd_seq_query_next_client(sequencer, client) >= 0 {
      let number = snd_seq_client_info_get_client(client)
      if number == Int32(SND_SEQ_CLIENT_SYSTEM) || number == snd_seq_client_id(sequencer) { continue }
      let name = String(cString: snd_seq_client_info_get_name(client))
      snd_seq_port_info_set_client(port, number)
      snd_seq_port_info_set_port(port, -1)
      while snd_seq_query_next_port(sequencer, port) >= 0 { connect(port, of: number, name) }
    }
  }

  private func connect(_ port: OpaquePointer, of client: Int32, _ name: String) {
    let abilities = snd_seq_port_info_get_capability(port)
    let isHardware = snd_seq_port_info_get_type(port) & UInt32(SND_SEQ_PORT_TYPE_HARDWARE) != 0
    let names = "\(name) \(String(cString: snd_seq_port_info_get_name(port)))".lowercased()
    let number = snd_seq_port_info_get_port(port)
    for (wanted, ours) in ports {
      let needed = UInt32(
        wanted.outlet == nil
          ? SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ
          : SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE)
      let words = wanted.outlet.map(\.receivers) ?? wanted.sender
      let patterns = words.map { JackPorts.patterns($0.lowercased()) }
      guard abilities & needed == needed,
        patterns?.contains(where: { $0.occurs(in: names) }) ?? isHardware,
        wishes.isFirstOffer("alsa \(wanted.outlet?.name ?? "") \(words ?? "")", "\(client):\(number)")
      else { continue }
      if wanted.outlet == nil {
        snd_seq_connect_from(sequencer, ours, client, number)
      } else {
        snd_seq_connect_to(sequencer, ours, client, number)
      }
    }
  }
}

extension HeldNotes {
  static func allocate() -> HeldNotes {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    return HeldNotes(memory: memory)
  }
}

extension Event {
  /// The event for a sequencer event; nil for types that no node uses.
  init?(sequencer event: snd_seq_event_t) {
    let (note, control) = (event.data.note, event.data.control)
    let noteChannel = note.channel & 15
    let channel = control.channel & 15
    func value(_ number: Int32) -> Float { Float(min(max(number, 0), 127)) }
    switch snd_seq_event_type(rawValue: UInt32(event.type)) {
    case SND_SEQ_EVENT_NOTEON where note.velocity > 0:
      self.init(.noteOn, channel: noteChannel, key: note.note & 127, value: value(Int32(note.velocity)))
    case SND_SEQ_EVENT_NOTEON:
      self.init(.noteOff, channel: noteChannel, key: note.note & 127, value: 64)
    case SND_SEQ_EVENT_NOTEOFF:
      self.init(.noteOff, channel: noteChannel, key: note.note & 127, value: value(Int32(note.velocity)))
    case SND_SEQ_EVENT_KEYPRESS:
      self.init(.keyPressure, channel: noteChannel, key: note.note & 127, value: value(Int32(note.velocity)))
    case SND_SEQ_EVENT_CONTROLLER:
      self.init(
        .control, channel: channel, key: UInt8(truncatingIfNeeded: control.param & 127),
        value: value(control.value))
    case SND_SEQ_EVENT_PGMCHANGE: self.init(.program, channel: channel, value: value(control.value))
    case SND_SEQ_EVENT_CHANPRESS: self.init(.pressure, channel: channel, value: value(control.value))
    case SND_SEQ_EVENT_PITCHBEND:
      self.init(.bend, channel: channel, value: PitchWheel.value(steps: Float(max(control.value, -8192))))
    case SND_SEQ_EVENT_QFRAME: self.init(.system, key: 0x1, detail: control.value & 0x7F)
    case SND_SEQ_EVENT_SONGPOS: self.init(.system, key: 0x2, detail: control.value & 0x3FFF)
    case SND_SEQ_EVENT_SONGSEL: self.init(.system, key: 0x3, detail: control.value & 0x7F)
    case SND_SEQ_EVENT_TUNE_REQUEST: self.init(.system, key: 0x6)
    case SND_SEQ_EVENT_CLOCK: self.init(.system, key: 0x8)
    case SND_SEQ_EVENT_START: self.init(.system, key: 0xA)
    case SND_SEQ_EVENT_CONTINUE: self.init(.system, key: 0xB)
    case SND_SEQ_EVENT_STOP: self.init(.system, key: 0xC)
    case SND_SEQ_EVENT_SENSING: self.init(.system, key: 0xE)
    case SND_SEQ_EVENT_RESET: self.init(.system, key: 0xF)
    default: return nil
    }
  }
}
