import Patch
import Realtime

/// Channels at one end of a cable.
struct PortChannels: Hashable {
  /// As the rules see them: what the document implies.
  var count: Int
  /// As the kernel and its buffers have them: those, or as many as there have been. What is more than `count`
  /// repeats the others in their order, so that `count` may grow and shrink without a kernel losing anything.
  var width: Int

  static let one = PortChannels(count: 1, width: 1)
}

/// Sums of source channels by gains, one for each destination channel.
struct ChannelSpread {
  var gains: [ChannelGain]

  /// The gains between widths that a conversion between counts leads to.
  ///
  /// `isMixed`: what the source's further channels hold of their own counts, too; a kernel without memory holds
  /// nothing of that kind.
  init(_ conversion: ChannelConversion, from: PortChannels, to: PortChannels, isMixed: Bool) {
    gains = conversion.gains
    if from.width == from.count, to.width == to.count { return }
    if from == to, conversion.isStraight(channels: from.count) {
      gains = Self.identity(from.width).gains
      return
    }
    if isMixed, from.width > from.count {
      gains = gains.flatMap { gain in
        let other = gain.source + from.count
        guard other < from.width else { return [gain] }
        return [gain.source, other].map {
          ChannelGain(source: $0, destination: gain.destination, gain: gain.gain * 0.5)
        }
      }
    }
    guard to.width > to.count else { return }
    gains = (0..<to.width).flatMap { channel in
      gains.filter { $0.destination == channel % to.count }.map {
        ChannelGain(source: $0.source, destination: channel, gain: $0.gain)
      }
    }
  }

  private init(_ gains: [ChannelGain]) { self.gains = gains }

  private static func identity(_ channels: Int) -> ChannelSpread {
    ChannelSpread((0..<channels).map { ChannelGain(source: $0, destination: $0, gain: 1) })
  }

  /// Where the sound of a kernel goes as it widens. `byNumber`: a law that goes on for a while finds its channels
  /// where they were; a single one is on both sides.
  static func widening(from: Int, to: Int, byNumber: Bool = false) -> ChannelSpread {
    ChannelSpread(
      (0..<to).compactMap { channel in
        let source =
          byNumber
          ? (channel < from ? channel : from == 1 && channel == 1 ? 0 : -1)
          : Widening.source(of: channel, from: from, to: to)
        return source < 0 ? nil : ChannelGain(source: source, destination: channel, gain: 1)
      })
  }

  /// Where it is to be had again: of what went to several channels, the first.
  var reversed: ChannelSpread {
    var seen: Set<Int> = []
    return ChannelSpread(
      gains.filter { seen.insert($0.source).inserted }.map {
        ChannelGain(source: $0.destination, destination: $0.source, gain: 1)
      })
  }

  /// This one of what the other gives.
  func after(_ first: ChannelSpread) -> ChannelSpread {
    ChannelSpread(
      gains.flatMap { gain in
        first.gains.filter { $0.destination == gain.source }.map {
          ChannelGain(source: $0.source, destination: gain.destination, gain: $0.gain * gain.gain)
        }
      })
  }

  /// Both give the same sums.
  func isEqual(to other: ChannelSpread) -> Bool { sums == other.sums }

  private var sums: [SIMD2<Int>: Float] {
    var sums: [SIMD2<Int>: Float] = [:]
    for gain in gains { sums[SIMD2(gain.source, gain.destination), default: 0] += gain.gain }
    return sums.filter { $0.value != 0 }
  }
}

extension ChannelConversion {
  /// Each of so many channels goes to the one of its number.
  fileprivate func isStraight(channels: Int) -> Bool {
    gains == (0..<channels).map { ChannelGain(source: $0, destination: $0, gain: 1) }
  }
}
