import Patch
import Realtime

/// A sub-patch. What is inside stands in the patch beside it, so its own node has nothing to do.
public struct SubPatch: Kernel {
  public static let description = KindDescription(
    name: "patch",
    summary: "A sub-patch: a patch within the patch, from a file of its own or a block of this one.",
    category: .mixing,
    parameters: [
      ParameterDescription(
        "file", "Its file; what is inside belongs to this patch when empty.", form: .file(.patch),
        default: .text(""), smoothing: .none)
    ], amplification: .never, cost: .init(1), isContainer: true)

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity { .silent }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

private enum Edge {
  static let parameters: [ParameterDescription] = [
    .count("channels", "How many; 0 is as many as come.", default: 0, range: 0...64)
  ]
}

/// Sound that comes into a sub-patch.
public struct SoundIn: Kernel {
  public static let description = KindDescription(
    name: "inlet", summary: "Sound into a sub-patch: one of its inputs, by this node's name.",
    category: .mixing,
    inputs: [PortDescription("in", .parameter("channels"), "What comes from outside.")],
    outputs: [PortDescription("out", .parameter("channels"), "The same, for the inside.")],
    parameters: Edge.parameters, face: .level, amplification: .never, cost: .init(4, perChannel: 2),
    boundary: .init(.inlet, alone: "input"))

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  public static var worksInPlace: Bool { true }
  public static var passesOn: Bool { true }

  @_noLocks public mutating func process(_ block: Block) -> Activity { passOn(block) }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

/// Sound that leaves a sub-patch.
public struct SoundOut: Kernel {
  public static let description = KindDescription(
    name: "outlet", summary: "Sound out of a sub-patch: one of its outputs, by this node's name.",
    category: .mixing,
    inputs: [PortDescription("in", .parameter("channels"), "What comes from the inside.")],
    outputs: [PortDescription("out", .parameter("channels"), "The same, for what is outside.")],
    parameters: Edge.parameters, face: .level, amplification: .never, cost: .init(4, perChannel: 2),
    boundary: .init(.outlet, alone: "output"))

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  public static var worksInPlace: Bool { true }
  public static var passesOn: Bool { true }

  @_noLocks public mutating func process(_ block: Block) -> Activity { passOn(block) }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

/// Events that come into a sub-patch.
public struct EventIn: Kernel {
  public static let description = KindDescription(
    name: "eventin",
    summary: "Notes and controllers into a sub-patch: one of its inputs, by this node's name.",
    category: .control, inputs: [PortDescription("in", .events, "What comes from outside.")],
    outputs: [PortDescription("out", .events, "The same, for the inside.")], cost: .init(3),
    boundary: .init(.inlet, alone: "midi"))

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity { passEvents(block) }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

/// Events that leave a sub-patch.
public struct EventOut: Kernel {
  public static let description = KindDescription(
    name: "eventout",
    summary: "Notes and controllers out of a sub-patch: one of its outputs, by this node's name.",
    category: .control, inputs: [PortDescription("in", .events, "What comes from the inside.")],
    outputs: [PortDescription("out", .events, "The same, for what is outside.")], cost: .init(3),
    boundary: .init(.outlet, alone: "midiout"))

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity { passEvents(block) }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

/// Hands on all events. Never inlined: the registers of the loop would be saved before every kind's call. Audio thread.
@inline(never) @_noLocks private func passEvents(_ block: Block) -> Activity {
  guard let output = block.eventOutput else { return .silent }
  let count = block.events.pointee.count
  var index = 0
  while index < count {
    output.pointee.append(block.events.pointee[index])
    index &+= 1
  }
  return .silent
}
