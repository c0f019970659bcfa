import Patch
import Realtime

/// Channel counts at one end of a cable.
struct PortChannels: Hashable {
  /// Channels by the document; the mixing rules use this count.
  var count: Int
  /// Channels of the kernel and its buffers: the largest count since the kernel was prepared. Channels beyond
  /// `count` repeat the others in order, so `count` may shrink and grow again without loss of kernel state.
  var width: Int

  static let one = PortChannels(count: 1, width: 1)
}

/// Sparse mixing matrix: each destination channel is a weighted sum of source channels.
struct ChannelSpread {
  var gains: [ChannelGain]

  /// Gains between widths, derived from a conversion between counts.
  ///
  /// `isMixed`: the source's channels hold state of their own, and a channel that the kernel's widening brought to several is
  /// the mean of these. False for a kernel without memory. `isDiscrete`: the source's channels are notes. `most`: channels of
  /// the destination that may sound.
  init(
    _ conversion: ChannelConversion, from: PortChannels, to: PortChannels, isMixed: Bool, isDiscrete: Bool,
    most: Int
  ) {
    gains = conversion.gains
    if from.width == from.count, to.width == to.count { return }
    if from == to, conversion.isStraight(channels: from.count) {
      gains = Self.identity(min(from.width, most)).gains
      return
    }
    if isMixed, from.width > from.count {
      gains = gains.flatMap { gain in
        // Of those that repeat it, where the widening brought its sound.
        var places = stride(from: gain.source, to: from.width, by: from.count).filter {
          gain.source
            == Widening.source(of: $0, from: from.count, to: from.width, isDiscrete: isDiscrete)
        }
        if places.isEmpty { places = [gain.source] }
        return places.map {
          ChannelGain(
            source: $0, destination: gain.destination, gain: gain.gain / Float(places.count))
        }
      }
    }
    guard to.width > to.count else { return }
    gains = (0..<min(to.width, most)).flatMap { channel in
      gains.filter { $0.destination == channel % to.count }.map {
        ChannelGain(source: $0.source, destination: channel, gain: $0.gain)
      }
    }
  }

  private init(_ gains: [ChannelGain]) { self.gains = gains }

  private static func identity(_ channels: Int) -> ChannelSpread {
    ChannelSpread((0..<channels).map { ChannelGain(source: $0, destination: $0, gain: 1) })
  }

  /// Mapping of a kernel's channels as it widens. `byNumber`: channels keep their numbers, and a mono source
  /// is copied to both sides; for cables whose conversion stays in use. `isDiscrete`: the channels are notes. `repeats`: a
  /// kernel of so many channels reads these again from the first where it has more.
  static func widening(
    from: Int, to: Int, byNumber: Bool = false, isDiscrete: Bool, repeats: Int = 0
  ) -> ChannelSpread {
    ChannelSpread(
      (0..<to).compactMap { channel in
        let source =
          channel < repeats
          ? channel % from
          : byNumber && !isDiscrete
            ? (channel < from ? channel : from == 1 && channel == 1 ? 0 : -1)
            : Widening.source(of: channel, from: from, to: to, isDiscrete: isDiscrete)
        return source < 0 ? nil : ChannelGain(source: source, destination: channel, gain: 1)
      })
  }

  /// The inverse mapping. A source that went to several channels is read from the first.
  var reversed: ChannelSpread {
    var seen: Set<Int> = []
    return ChannelSpread(
      gains.filter { seen.insert($0.source).inserted }.map {
        ChannelGain(source: $0.destination, destination: $0.source, gain: 1)
      })
  }

  /// The composition: `first`, then this one.
  func after(_ first: ChannelSpread) -> ChannelSpread {
    ChannelSpread(
      gains.flatMap { gain in
        first.gains.filter { $0.destination == gain.source }.map {
          ChannelGain(source: $0.source, destination: gain.destination, gain: $0.gain * gain.gain)
        }
      })
  }

  /// True when both give the same sums.
  func isEqual(to other: ChannelSpread) -> Bool { sums == other.sums }

  private var sums: [SIMD2<Int>: Float] {
    var sums: [SIMD2<Int>: Float] = [:]
    for gain in gains { sums[SIMD2(gain.source, gain.destination), default: 0] += gain.gain }
    return sums.filter { $0.value != 0 }
  }
}

extension ChannelConversion {
  /// True when each channel maps to the channel of the same number.
  fileprivate func isStraight(channels: Int) -> Bool {
    gains == (0..<channels).map { ChannelGain(source: $0, destination: $0, gain: 1) }
  }
}
