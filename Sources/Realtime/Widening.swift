/// Channel counts of audio ports, in the description's order.
public struct PortCounts: BitwiseCopyable {
  fileprivate let counts: UnsafePointer<UInt8>
  /// Number of ports.
  public let count: Int

  /// 0 where there is no such port.
  public subscript(port: Int) -> Int { @_noLocks get { port < count ? Int(counts[port]) : 0 } }
}

/// A change of a kernel's audio ports to more channels, or of its memory to more bytes. Every port has its counts.
public struct Widening: BitwiseCopyable {
  /// The counts before, inputs first, and those afterwards.
  private let counts: UnsafePointer<UInt8>
  private let inputCount: Int32
  private let outputCount: Int32
  /// Bytes of the memory into which the kernel moves.
  public var bytes: Int
  /// The channels are notes and not speakers: one that is added begins anew.
  private let isDiscrete: Bool

  /// Channels of each input before.
  public var oldInputs: PortCounts { @_noLocks get { PortCounts(counts: counts, count: Int(inputCount)) } }
  /// Channels of each output before.
  public var oldOutputs: PortCounts {
    @_noLocks get { PortCounts(counts: counts + Int(inputCount), count: Int(outputCount)) }
  }
  /// Channels of each input afterwards.
  public var inputs: PortCounts {
    @_noLocks get {
      PortCounts(counts: counts + Int(inputCount) + Int(outputCount), count: Int(inputCount))
    }
  }
  /// Channels of each output afterwards.
  public var outputs: PortCounts {
    @_noLocks get {
      PortCounts(counts: counts + 2 * Int(inputCount) + Int(outputCount), count: Int(outputCount))
    }
  }

  /// Bytes that the counts of a kernel's ports take.
  public static func size(inputs: Int, outputs: Int) -> Int { 2 * (inputs + outputs) }

  /// A change between two lists of counts, at most 255 channels each, into memory of `bytes`. `place`: memory for the
  /// counts, of `size` bytes, in use as long as the widening. `isDiscrete`: channels are notes. Worker.
  public init(
    inputs oldInputs: [Int], outputs oldOutputs: [Int], toInputs inputs: [Int], outputs: [Int],
    bytes: Int, isDiscrete: Bool = false, at place: UnsafeMutableRawPointer
  ) {
    let all = place.assumingMemoryBound(to: UInt8.self)
    for (index, count) in (oldInputs + oldOutputs + inputs + outputs).enumerated() {
      all[index] = UInt8(clamping: count)
    }
    counts = UnsafePointer(place.assumingMemoryBound(to: UInt8.self))
    self.bytes = bytes
    self.isDiscrete = isDiscrete
    inputCount = Int32(inputs.count)
    outputCount = Int32(outputs.count)
  }

  /// The channel of `from` that channel `channel` of `to` continues. -1: a new channel. Never above `channel`.
  @_noLocks public func source(of channel: Int, from: Int, to: Int) -> Int {
    Self.source(of: channel, from: from, to: to, isDiscrete: isDiscrete)
  }

  /// The same by the "speakers" rules of the Web Audio API where these up-mix, otherwise by number. `isDiscrete`: always
  /// by number.
  @_noLocks public static func source(of channel: Int, from: Int, to: Int, isDiscrete: Bool) -> Int {
    if isDiscrete { return channel < from ? channel : -1 }
    if from == 1, to == 2 || to == 4 { return channel < 2 ? 0 : -1 }
    // The centre; and the surround channels of quadraphony.
    if from == 1, to == 6 { return channel == 2 ? 0 : -1 }
    if from == 4, to == 6 { return channel < 2 ? channel : channel < 4 ? -1 : channel &- 2 }
    return channel < from ? channel : -1
  }
}
