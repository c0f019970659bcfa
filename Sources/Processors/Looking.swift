import Patch
import Realtime

// Places whose sound is looked at. They pass it as it is, in the memory of their input.

/// A place whose wave is looked at.
public struct Scope: Kernel {
  public static let description = KindDescription(
    name: "scope", summary: "Passes a sound as it is: a place whose wave is looked at, by `v` or `:scope`.",
    category: .mixing, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)], face: .level, amplification: .never,
    cost: .init(2, perChannel: 2))

  public static var worksInPlace: Bool { true }
  public static var passesOn: Bool { true }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity { passOn(block) }
  @_noLocks public mutating func isFinished() -> Bool { true }
}

/// A place whose spectrum is looked at.
public struct Spectrum: Kernel {
  public static let description = KindDescription(
    name: "spectrum",
    summary: "Passes a sound as it is: a place whose spectrum is looked at, by `v` or `:spectrum`.",
    category: .mixing, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)], face: .level, amplification: .never,
    cost: .init(2, perChannel: 2))

  public static var worksInPlace: Bool { true }
  public static var passesOn: Bool { true }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity { passOn(block) }
  @_noLocks public mutating func isFinished() -> Bool { true }
}
