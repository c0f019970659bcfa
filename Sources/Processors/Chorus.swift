import Patch
import Realtime

/// Copies of a sound whose pitch goes up and down a little: taps of a delay line that a slow sine moves (`SweptDelay`).
public struct Chorus: Kernel {
  public static let description = KindDescription(
    name: "chorus", summary: "Adds copies whose pitch goes up and down, as of several players.",
    category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      SweptDelay.rate,
      .number(
        "depth", "By how much a copy's delay grows and shrinks.", default: 0.004, range: 0...0.02,
        unit: .seconds),
      .percent("mix", "How much of it is copies.", default: 50),
      SweptDelay.feedback,
      .number("delay", "Least delay of the copies.", default: 0.012, range: 0.001...0.03, unit: .seconds),
      SweptDelay.spread,
      .count("voices", "How many copies.", default: 2, range: 1...4),
    ], cost: .init(20, perChannel: 700))

  /// Position in `description.parameters`, behind those of `SweptDelay`.
  static var voices: Int { @_noLocks get { 6 } }

  private var swept: SweptDelay
  private let copies: Int

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    SweptDelay.memorySize(configuration.inputs[0], rate: configuration.rate)
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    swept = SweptDelay(configuration.inputs[0], rate: configuration.rate, memory)
    copies = Int(min(max(configuration.value(Self.voices), 1), 4))
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    swept.widen(widening, memory: memory)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    swept.retune(from: old, to: new, memory: memory)
  }

  @_noLocks public mutating func isFinished() -> Bool { swept.isFinished() }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    swept.process(block, SweptDelay.Motion(block.parameters, voices: copies))
  }
}
