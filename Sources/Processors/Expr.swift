import CVector
import Patch
import Realtime

/// A formula of its inputs and parameters, in each frame.
///
/// The text is compiled into steps of a machine with a stack of blocks, so that each step is a loop of vectors. What is not
/// a number, as 0/0, is 0.
public struct Expr: Kernel {
  public static let description = KindDescription(
    name: "expr", summary: "A formula of its inputs and parameters, in each frame.", category: .modulation,
    inputs: [
      PortDescription("a", .flexible, "`a` in the formula; its channels are those of the output."),
      PortDescription("b", .flexible, "`b`; channels of this one and the next repeat.", role: .sidechain),
      PortDescription("c", .flexible, "`c`.", role: .sidechain),
      PortDescription("d", .flexible, "`d`.", role: .sidechain),
    ],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      ParameterDescription(
        "formula",
        "Operators + - * / % ^ < <= > >= == != && || ! and c ? x : y; numbers, pi; inputs a b c d, parameters x y z, the sample rate; sin cos tan tanh exp log log2 log10 sqrt abs sign floor ceil round frac min max clip mix pow db oct (2^x). Angles are in radians; what is above 0 is true, and true is 1, false 0.",
        form: .text, default: .text("a"), smoothing: .structural, reader: TextReader(Formula.read)),
      .number(
        "x", "`x` in the formula; a list gives one a channel.", default: 0, range: -1e6...1e6,
        isPerChannel: true),
      .number("y", "`y`.", default: 0, range: -1e6...1e6, isPerChannel: true),
      .number("z", "`z`.", default: 0, range: -1e6...1e6, isPerChannel: true),
    ], face: .level, cost: .init(40, perChannel: 120))

  /// Positions in `description.parameters`.
  public static var formula: Int { @_noLocks get { 0 } }
  public static var x: Int { @_noLocks get { 1 } }

  /// Operations and their numbers, in turns.
  private var code: UnsafeMutablePointer<Float>
  private let count: Int
  private var isZero = false

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    configuration.values[formula].count * 4
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    let code = configuration.values[Self.formula]
    count = code.count / 2
    self.code = memory.bindMemory(to: Float.self, capacity: code.count)
    for index in code.indices { self.code[index] = code[index] }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    copyMemory(memory, code, count &* 8)
    code = memory.assumingMemoryBound(to: Float.self)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let output = block.outputs[0]
    var (channel, any) = (0, false)
    while channel < output.count {
      var machine = FormulaMachine(block, channel)
      var step = 0
      while step < count {
        machine.run(Int(code[2 &* step]), code[2 &* step &+ 1])
        step &+= 1
      }
      if machine.give(output[channel], count) { any = true }
      channel &+= 1
    }
    isZero = !any && isStill(block)
    return .sounding
  }

  /// Nothing comes in, and no parameter moves.
  @inline(__always) @_noLocks private func isStill(_ block: Block) -> Bool {
    var port = 0
    while port < 4 {
      if !block.inputs[port].isSilent { return false }
      port &+= 1
    }
    var parameter = Self.x
    while parameter < Self.x &+ 3 {
      if !block.parameters[parameter].isSteady { return false }
      parameter &+= 1
    }
    return true
  }

  @_noLocks public mutating func isFinished() -> Bool { isZero }
}
