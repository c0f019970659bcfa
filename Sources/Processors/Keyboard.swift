import Patch
import Realtime

/// The typing keyboard: passes on the notes that the front end plays, and events from its input.
public struct Keyboard: Kernel {
  public static let description = KindDescription(
    name: "keyboard", summary: "The typing keyboard (play mode); also passes on events that come in.",
    category: .source, inputs: [PortDescription("in", .events, "Events to pass on.")],
    outputs: [PortDescription("out", .events, "The notes that are played.")],
    parameters: [
      .count(
        "octave", "Octave of the lower row's first key.", default: 4, range: -1...9, smoothing: .none),
      .count("velocity", "Velocity of its notes.", default: 100, range: 1...127, smoothing: .none),
    ], face: .keys, isKeyboard: true, cost: .init(3))

  /// Positions in `description.parameters`.
  public static var octave: Int { @_noLocks get { 0 } }
  public static var velocity: Int { @_noLocks get { 1 } }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  // Never inlined: the registers of the loop would be saved before every kind's call.
  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let output = block.eventOutput else { return .silent }
    let events = block.events
    let count = events.pointee.count
    var index = 0
    while index < count {
      output.pointee.append(events.pointee[index])
      index &+= 1
    }
    return .silent
  }

  @_noLocks public mutating func isFinished() -> Bool { true }
}
