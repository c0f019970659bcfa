import Patch
import Realtime

/// A comb of notches that goes up and down: a short delay that a slow sine moves (`SweptDelay`), and its feedback.
public struct Flanger: Kernel {
  public static let description = KindDescription(
    name: "flanger", summary: "A comb of notches that goes up and down.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      SweptDelay.rate,
      .number(
        "depth", "By how much the delay grows and shrinks.", default: 0.003, range: 0...0.02, unit: .seconds),
      .percent("mix", "How much of it is delayed.", default: 50),
      SweptDelay.feedback,
      .number(
        "delay", "Least delay, of 20 frames at least.", default: 0.0005, range: 0.0001...0.02, unit: .seconds),
      SweptDelay.spread,
    ], cost: .init(20, perChannel: 380))

  private var swept: SweptDelay

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    SweptDelay.memorySize(configuration.inputs[0], rate: configuration.rate)
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    swept = SweptDelay(configuration.inputs[0], rate: configuration.rate, memory)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    swept.widen(widening, memory: memory)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    swept.retune(from: old, to: new, memory: memory)
  }

  @_noLocks public mutating func isFinished() -> Bool { swept.isFinished() }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    swept.process(block, SweptDelay.Motion(block.parameters, voices: 1))
  }
}
