/// Channel counts of up to eight audio ports.
public struct PortCounts: BitwiseCopyable, Sendable, Equatable {
  private let counts: UInt64

  /// Channel counts, at most 255 per port; ports beyond the eighth are left out. Worker.
  public init(_ list: [Int]) {
    counts = list.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64(UInt8(clamping: $1)) }
  }

  /// 0 where there is no such port.
  public subscript(port: Int) -> Int {
    @_noLocks get { port < 8 ? Int((counts &>> UInt64(port &* 8)) & 0xff) : 0 }
  }
}

/// A change of a kernel's audio ports to more channels, in the description's order.
public struct Widening: BitwiseCopyable, Sendable {
  /// Channels of each input before.
  public let oldInputs: PortCounts
  /// Channels of each output before.
  public let oldOutputs: PortCounts
  /// Channels of each input afterwards.
  public let inputs: PortCounts
  /// Channels of each output afterwards.
  public let outputs: PortCounts

  /// A change between two lists of counts. Worker.
  public init(
    inputs oldInputs: [Int], outputs oldOutputs: [Int], toInputs inputs: [Int], outputs: [Int]
  ) {
    self.oldInputs = PortCounts(oldInputs)
    self.oldOutputs = PortCounts(oldOutputs)
    self.inputs = PortCounts(inputs)
    self.outputs = PortCounts(outputs)
  }

  /// The channel of `from` that channel `channel` of `to` continues: by the "speakers" rules of the Web Audio
  /// API where these up-mix, otherwise by number. -1: a new channel. Never above `channel`.
  @_noLocks public static func source(of channel: Int, from: Int, to: Int) -> Int {
    if from == 1, to == 2 || to == 4 { return channel < 2 ? 0 : -1 }
    // The centre; and the surround channels of quadraphony.
    if from == 1, to == 6 { return channel == 2 ? 0 : -1 }
    if from == 4, to == 6 { return channel < 2 ? channel : channel < 4 ? -1 : channel &- 2 }
    return channel < from ? channel : -1
  }
}
