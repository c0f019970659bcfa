import CJack
import Dispatch
import Patch
import Realtime
import Synchronization

/// The transport of a JACK server. JACK takes tempo and meter from one client, the timebase master; `lead` asks for that
/// place again and again, since nobody is told that it has become free or that another client has taken it.
final class JackTransport: @unchecked Sendable {
  /// As `number(of:)` says.
  private let mode = Atomic<Int>(follow)
  private let isLeading = Atomic<Bool>(false)
  /// Another client has the lead that was asked for.
  private let isRefused = Atomic<Bool>(false)
  /// On `queue` alone.
  private var isAsking = false
  private let client: JackPointer
  private let host: RenderHost
  /// Assigned once, before the first use.
  var isOpen: () -> Bool = { false }
  /// Seconds between two requests.
  private static let pause = 0.25
  /// Ticks of a beat for other programs.
  private static let ticks = 1920.0

  init(client: JackPointer, host: RenderHost) { (self.client, self.host) = (client, host) }

  /// Any thread.
  var role: TransportRole {
    if mode.load(ordering: .relaxed) == off { return .own }
    if isLeading.load(ordering: .relaxed) { return .leads }
    return isRefused.load(ordering: .relaxed) ? .waits : .follows
  }

  private static func number(of mode: TransportMode) -> Int {
    switch mode {
    case .follow: follow
    case .lead: lead
    case .off, .midi: off
    }
  }

  /// `queue`: the one on which the server may be called.
  func update(_ mode: TransportMode, on queue: DispatchQueue) {
    let number = Self.number(of: mode)
    guard self.mode.exchange(number, ordering: .relaxed) != number else { return }
    queue.async { [self] in ask(on: queue) }
  }

  /// Takes the lead if it is free, or gives it back.
  private func ask(on queue: DispatchQueue) {
    guard isOpen() else { return }
    guard mode.load(ordering: .relaxed) == lead else {
      isRefused.store(false, ordering: .relaxed)
      if isLeading.exchange(false, ordering: .relaxed) { jack_release_timebase(client.raw) }
      return
    }
    let argument = Unmanaged.passUnretained(self).toOpaque()
    let isFree = jack_set_timebase_callback(client.raw, 1, jackTimebase, argument) == 0
    isRefused.store(!isFree, ordering: .relaxed)
    isLeading.store(isFree, ordering: .relaxed)
    guard !isAsking else { return }
    isAsking = true
    queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
      self?.isAsking = false
      self?.ask(on: queue)
    }
  }

  /// False: the server's transport does not count, or has no such thing.
  func perform(_ change: TransportChange, on queue: DispatchQueue) -> Bool {
    guard mode.load(ordering: .relaxed) != off, isOpen() else { return false }
    let transport = host.transport.state
    let action: (@Sendable (OpaquePointer) -> Void)?
    switch change {
    case .roll: action = { jack_transport_start($0) }
    case .halt: action = { jack_transport_stop($0) }
    case .locate(let bar, let beat):
      let frame = transport.position(ofBar: Int64(bar), beat: beat)
      action = { jack_transport_locate($0, UInt32(clamping: frame)) }
    case .seek(let seconds):
      let frame = UInt32(limited: seconds * transport.rate)
      action = { jack_transport_locate($0, frame) }
    case .tempo, .meter, .free: action = nil
    }
    guard let action else { return false }
    queue.async { [self] in if isOpen() { action(client.raw) } }
    return true
  }

  /// The server's transport at the first frame of the cycle; nil: it does not count. Audio thread.
  @_noLocks func query() -> TransportInput? {
    guard mode.load(ordering: .relaxed) != off else { return nil }
    var position = jack_position_t()
    let client = client.raw
    let state = queryTransport(client, &position)
    var input = TransportInput(
      isRolling: state == JackTransportRolling.rawValue, frame: Int64(position.frame))
    if !isLeading.load(ordering: .relaxed) { readPlace(position, into: &input) }
    return input
  }

  /// Tells other programs the bar of the next cycle. JACK's process thread.
  /// `isJump`: it is another place than time has led to.
  func write(_ position: UnsafeMutablePointer<jack_position_t>, isJump: Bool) {
    let (now, time) = host.transport
    let frame = Int64(position.pointee.frame)
    let transport = now.position(at: time) == frame ? now : now.moved(to: frame, at: time, isJump: isJump)
    let place = transport.place(at: time)
    let whole = Transport.floor(place.beat)
    position.pointee.valid = JackPositionBBT
    position.pointee.bar = Int32(clamping: place.bar)
    position.pointee.beat = Int32(whole) + 1
    position.pointee.tick = Int32((place.beat - whole) * Self.ticks)
    position.pointee.bar_start_tick =
      (transport.quarters(at: time) / transport.pulse.quarters - place.beat) * Self.ticks
    position.pointee.beats_per_bar = Float(transport.pulse.beats)
    position.pointee.beat_type = Float(transport.pulse.unit)
    position.pointee.ticks_per_beat = Self.ticks
    position.pointee.beats_per_minute = transport.pulse.tempo
  }
}

/// Tempo, meter and place from the program that leads. Audio thread.
@_noLocks private func readPlace(_ position: jack_position_t, into input: inout TransportInput) {
  let tempo = position.beats_per_minute
  let (ticks, beats, unit) = (position.ticks_per_beat, position.beats_per_bar, position.beat_type)
  // Other programs may write positions that are none.
  guard position.valid.rawValue & JackPositionBBT.rawValue != 0, tempo > 0.5, tempo < 10_000, ticks >= 1,
    ticks < 1e9, beats >= 1, beats < 1000, unit >= 1, unit < 1000, position.bar >= 1, position.beat >= 1,
    position.tick >= 0
  else { return }
  input.pulse.tempo = tempo
  input.pulse.beats = Int32(beats)
  input.pulse.unit = Int32(unit)
  input.bar = Int64(position.bar)
  input.beat = Double(position.beat &- 1) + Double(position.tick) / ticks
  if position.valid.rawValue & JackBBTFrameOffset.rawValue != 0, position.frame_rate > 0 {
    input.beat += Double(position.bbt_offset) * tempo / (60 * Double(position.frame_rate))
  }
  input.tolerance = 2 / ticks + 1e-6
}

// Modes as numbers, which the audio thread may read.
private var follow: Int { @_noLocks get { 0 } }
private var lead: Int { @_noLocks get { 1 } }
private var off: Int { @_noLocks get { 2 } }

/// JACK's process thread, behind the process callback.
private func jackTimebase(
  _ state: jack_transport_state_t, _ frames: UInt32, _ position: UnsafeMutablePointer<jack_position_t>?,
  _ isNew: Int32, _ argument: UnsafeMutableRawPointer?
) {
  guard let argument, let position else { return }
  Unmanaged<JackTransport>.fromOpaque(argument).takeUnretainedValue().write(position, isJump: isNew != 0)
}
