import CVector
import Patch
import Realtime

/// A steady gate: in the transport's notes, at their exact frames, or at a rate of its own.
public struct Clock: Kernel {
  public static let description = KindDescription(
    name: "clock", summary: "A steady gate, in notes of the transport or at a rate of its own.",
    category: .modulation,
    outputs: [
      PortDescription("out", .channels(1), "1 while a tick's gate is open, else 0.", swing: .unipolar),
      PortDescription(
        "start", .channels(1), "1 in the frame in which the transport begins or jumps.", swing: .unipolar),
    ],
    parameters: [Beat.note, Beat.rate, Beat.swing, Beat.width], face: .level, amplification: .never,
    cost: .init(60), goesByTransport: true)

  /// Positions in `description.parameters`.
  public static var note: Int { @_noLocks get { 0 } }
  public static var rate: Int { @_noLocks get { 1 } }
  public static var swing: Int { @_noLocks get { 2 } }
  public static var width: Int { @_noLocks get { 3 } }

  private var beat: Beat

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    beat = Beat(configuration.value(Self.note))
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if parameter == Self.note { beat.note = value }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let pulse = beat.run(
      block,
      Beat.Settings(
        rate: block.parameters[Self.rate], swing: block.parameters[Self.swing],
        width: block.parameters[Self.width]))
    if pulse.open | pulse.starts == 0 { return .silent }
    Gates.write(pulse.open, block.outputs[0][0])
    Gates.write(pulse.starts, block.outputs[1][0])
    return .sounding
  }
}
