import Patch
import Realtime

/// Events to a MIDI output port of the driver.
///
/// The engine passes the number of its driver port as one more initial value than the kind has parameters,
/// and as the value of `port` when it changes.
public struct MidiOut: Kernel {
  public static let description = KindDescription(
    name: "midiout", summary: "Notes and controllers to other programs and devices, as MIDI.",
    category: .endpoint,
    inputs: [PortDescription("in", .events, "What is sent.")],
    outputs: [PortDescription("out", .events, "The same, passed through.")],
    parameters: [
      ParameterDescription(
        "port", "Name of its port; the node's name when empty.", form: .text, default: .text(""),
        smoothing: .none),
      ParameterDescription(
        "connect",
        "Receivers: names or patterns such as *fluid*, with commas between; auto is all hardware.",
        form: .text, default: .text("none"), smoothing: .none),
      ParameterDescription(
        "channel", "Channel that everything is sent on; a change ends what sounds.",
        form: .choice(["played"] + (1...16).map(String.init)), range: 0...16, default: .text("played"),
        smoothing: .kernel),
    ], endpoint: .midiOutput, cost: .init(3))

  /// Positions in `description.parameters`.
  public static var port: Int { @_noLocks get { 0 } }
  public static var channel: Int { @_noLocks get { 2 } }

  /// Notes that sound at the receivers, on the channels on which it was sent.
  private let held: HeldNotes
  /// Number of the driver's port; -1: none.
  private var port: Int
  /// 0: as played.
  private var channel: Int
  /// The port that the held notes went to. The port or the channel has changed since.
  private var oldPort = -1
  private var hasMoved = false

  public static func memorySize(_ configuration: KernelConfiguration) -> Int { HeldNotes.size }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    held = HeldNotes(memory: memory)
    port = Int(configuration.value(Self.description.parameters.count))
    channel = Int(configuration.value(Self.channel))
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    let number = value >= 0 && value < 256 ? Int(value) : -1
    if !hasMoved { (hasMoved, oldPort) = (true, port) }
    if parameter == Self.port { port = number } else { channel = number }
  }

  // Never inlined: the registers of the loops would be saved before every kind's call.
  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    let driver = block.driver.pointee
    let offset = Int32(truncatingIfNeeded: driver.offset)
    if hasMoved, let old = driver.midiOutput(oldPort) { held.end(into: old, offset: offset) }
    hasMoved = false
    let output = driver.midiOutput(port)
    let events = block.events
    var index = 0
    while index < events.pointee.count {
      var event = events.pointee[index]
      index &+= 1
      if let through = block.eventOutput { through.pointee.append(event) }
      event.offset &+= offset
      if let output { send(event, to: output) }
    }
    return .silent
  }

  @_noLocks private func send(_ event: Event, to output: UnsafeMutablePointer<EventQueue>) {
    var event = event
    switch event.kind {
    case .noteOn, .noteOff, .control, .bend, .pressure, .keyPressure, .program:
      if channel > 0 { event.channel = UInt8(truncatingIfNeeded: channel &- 1) }
      held.track(event)
      output.pointee.append(event)
    case .allNotesOff: held.end(into: output, offset: event.offset)
    case .allSoundOff:
      held.end(into: output, offset: event.offset)
      var number: UInt8 = 0
      while number < 16 {
        output.pointee.append(Event(.control, channel: number, key: 120, offset: event.offset))
        number &+= 1
      }
    case .system, .exclusive: output.pointee.append(event)
    // They were made from system exclusive messages, which pass whole; or they are for players.
    case .reset, .rhythm, .masterTuning, .masterVolume, .keyTuning, .octaveTuning, .play, .stop, .cue: break
    }
  }
}
