/// Channels of up to eight audio ports.
public struct PortCounts: BitwiseCopyable, Sendable, Equatable {
  private let counts: UInt64

  /// At most 255 a port; what lies beyond the eighth is left out. Worker.
  public init(_ list: [Int]) {
    counts = list.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64(UInt8(clamping: $1)) }
  }

  /// 0 where there is no such port.
  public subscript(port: Int) -> Int {
    @_noLocks get { port < 8 ? Int((counts &>> UInt64(port &* 8)) & 0xff) : 0 }
  }
}

/// More channels for a kernel's audio ports, in the description's order.
public struct Widening: BitwiseCopyable, Sendable {
  public let oldInputs: PortCounts
  public let oldOutputs: PortCounts
  public let inputs: PortCounts
  public let outputs: PortCounts

  /// From as many to as many. Worker.
  public init(
    inputs oldInputs: [Int], outputs oldOutputs: [Int], toInputs inputs: [Int], outputs: [Int]
  ) {
    self.oldInputs = PortCounts(oldInputs)
    self.oldOutputs = PortCounts(oldOutputs)
    self.inputs = PortCounts(inputs)
    self.outputs = PortCounts(outputs)
  }

  /// The channel of `from` that goes on as `channel` of `to`, as cables spread so many channels: by the
  /// "speakers" rules of the Web Audio API where these up-mix, else by its number. -1: a channel that was not
  /// there. Never above `channel`.
  @_noLocks public static func source(of channel: Int, from: Int, to: Int) -> Int {
    if from == 1, to == 2 || to == 4 { return channel < 2 ? 0 : -1 }
    // The centre; and the sides of a quadraphony.
    if from == 1, to == 6 { return channel == 2 ? 0 : -1 }
    if from == 4, to == 6 { return channel < 2 ? channel : channel < 4 ? -1 : channel &- 2 }
    return channel < from ? channel : -1
  }
}
