import Patch
import Realtime

/// Events from a MIDI port of the driver, or from a MIDI file during a render.
///
/// The engine passes the number of its driver port as one more initial value than the kind has parameters,
/// and as the value of `port` when it changes.
public struct MidiIn: Kernel {
  public static let description = KindDescription(
    name: "midi", summary: "A MIDI keyboard, sequencer or file.", category: .source,
    outputs: [PortDescription("out", .events, "What is played, with its channels.")],
    parameters: [
      ParameterDescription(
        "port",
        "Senders: names, parts of them or patterns such as *keys*, with commas between; any is all hardware.",
        form: .text, default: .text(any), smoothing: .none),
      ParameterDescription(
        "channel", "Which channel; a change ends what it holds.",
        form: .choice(["all"] + (1...16).map(String.init)), range: 0...16, default: .text("all"),
        smoothing: .kernel),
    ], endpoint: .midi, cost: .init(3))

  /// Setting that stands for every sender.
  public static let any = "any"
  /// Positions in `description.parameters`.
  public static var port: Int { @_noLocks get { 0 } }
  public static var channel: Int { @_noLocks get { 1 } }

  private let held: HeldNotes
  /// Number of the driver's port; -1: none.
  private var port: Int
  /// 0: all.
  private var channel: Int
  /// Connection generation of the port when last seen; 0: no port.
  private var generation = 0
  /// The port or channel has changed since its held notes began.
  private var hasMoved = false

  public static func memorySize(_ configuration: KernelConfiguration) -> Int { HeldNotes.size }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    held = HeldNotes(memory: memory)
    port = Int(configuration.value(Self.description.parameters.count))
    channel = Int(configuration.value(Self.channel))
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    let number = value >= 0 && value < 256 ? Int(value) : -1
    if parameter == Self.port { port = number } else { channel = number }
    hasMoved = true
  }

  // Never inlined: the registers of the loops would be saved before every kind's call.
  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let output = block.eventOutput else { return .silent }
    let driver = block.driver.pointee
    let isPort = port >= 0 && port < MidiInput.ports
    let generation = isPort && driver.midi != nil ? driver.midi![port].generation : 0
    if hasMoved || generation != self.generation {
      held.end(into: output)
      self.generation = generation
      hasMoved = false
    }
    guard isPort, let input = driver.midi else { return passPlayed(block, output) }
    let (first, end) = (Int32(driver.offset), Int32(driver.offset &+ block.frames))
    var index = 0
    while index < input[port].count, input[port].events[index].offset < end {
      var event = input[port].events[index]
      index &+= 1
      guard event.offset >= first,
        channel == 0 || channel == Int(event.channel) &+ 1 || event.isForAllChannels
      else { continue }
      event.offset &-= first
      held.track(event)
      output.pointee.append(event)
    }
    return passPlayed(block, output)
  }

  /// Passes on events from a script or the prompt.
  @_noLocks private func passPlayed(_ block: Block, _ output: UnsafeMutablePointer<EventQueue>) -> Activity {
    let events = block.events
    var index = 0
    while index < events.pointee.count {
      held.track(events.pointee[index])
      output.pointee.append(events.pointee[index])
      index &+= 1
    }
    return .silent
  }
}
