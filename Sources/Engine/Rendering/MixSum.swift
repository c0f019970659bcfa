import CVector
import Patch
import Realtime

/// A sum of cables. Those at rest wait until there are four: each channel is then read and written once for all of them.
/// The order is that in which they were added, whatever waits. Audio thread.
struct MixSum {
  /// A cable at rest: its channel d, times `gain`, goes to destination d.
  struct Summand: BitwiseCopyable {
    var base: UnsafePointer<Float>
    var stride: Int
    var gain: Float
  }

  static var most: Int { @_noLocks get { 4 } }

  private let output: OutputPort
  private let frames: Int
  private let waiting: UnsafeMutablePointer<Summand>
  private var count = 0
  /// Channels written so far: the first writer stores, the others add.
  private var written: UInt64 = 0

  /// `room`: for `most` summands.
  @inline(__always) @_noLocks init(
    _ output: OutputPort, frames: Int, room: UnsafeMutablePointer<Summand>
  ) {
    self.output = output
    self.frames = frames
    waiting = room
  }

  /// Adds a cable times its gain, which is at rest. `offset`: of the block in its channels.
  @inline(__always) @_noLocks mutating func add(_ source: UnsafeMutablePointer<MixSource>, offset: Int) {
    if let taps = source.pointee.taps {
      add(taps, Int(source.pointee.count), offset: offset, source.pointee.gain)
    } else {
      append(
        Summand(
          base: source.pointee.base + offset, stride: Int(source.pointee.stride), gain: source.pointee.gain))
    }
  }

  @inline(__always) @_noLocks private mutating func append(_ summand: Summand) {
    waiting[count] = summand
    count &+= 1
    if count == Self.most { flush() }
  }

  @_noLocks private mutating func add(
    _ taps: UnsafeMutablePointer<MixTap>, _ count: Int, offset: Int, _ gain: Float
  ) {
    if output.count > 1 { flush() }
    var index = 0
    while index < count {
      let tap = taps[index]
      if output.count == 1 {
        append(Summand(base: tap.source + offset, stride: 0, gain: tap.coefficient * gain))
      } else {
        let isFirst = markWritten(tap.destination)
        waiting.pointee = Summand(base: tap.source + offset, stride: 0, gain: tap.coefficient * gain)
        sum(1, tap.destination, isFirst: isFirst)
      }
      index &+= 1
    }
  }

  /// Adds a cable times the frames of a gain.
  @_noLocks mutating func add(
    _ source: UnsafeMutablePointer<MixSource>, offset: Int, times gains: UnsafePointer<Float>
  ) {
    flush()
    let (base, stride) = (source.pointee.base + offset, Int(source.pointee.stride))
    var index = 0
    while index < Int(source.pointee.count) {
      if let tap = source.pointee.taps?[index] {
        addProduct(tap.source + offset, gains, tap.coefficient, to: tap.destination)
      } else {
        addProduct(base + index &* stride, gains, source.pointee.coefficient, to: index)
      }
      index &+= 1
    }
  }

  @_noLocks private mutating func addProduct(
    _ source: UnsafePointer<Float>, _ gains: UnsafePointer<Float>, _ coefficient: Float, to channel: Int
  ) {
    let to = output[channel]
    let isFirst = markWritten(channel)
    var frame = 0
    while frame < frames {
      var y = source.vector(frame) * (gains.vector(frame) * coefficient)
      if !isFirst { y += to.vector(frame) }
      to.store(y, frame)
      frame &+= 16
    }
  }

  /// Adds a modulation that goes through a curve, and its offset to every channel, times the frames of a gain; nil: times the
  /// cable's, which is at rest. `isSilent`: its signal is, and only the offset counts.
  @inline(never) @_noLocks mutating func add(
    shaped source: UnsafeMutablePointer<MixSource>, offset: Int, isSilent: Bool,
    times gains: UnsafePointer<Float>?
  ) {
    flush()
    let steady = source.pointee.cable.pointee.gain.target
    let curve = source.pointee.curve
    var index = 0
    while !isSilent, index < Int(source.pointee.count) {
      if let tap = source.pointee.taps?[index] {
        addShaped(tap.source + offset, curve, tap.coefficient, gains, steady, to: tap.destination)
      } else {
        let channel = source.pointee.channel(index) + offset
        addShaped(channel, curve, source.pointee.coefficient, gains, steady, to: index)
      }
      index &+= 1
    }
    var channel = 0
    while source.pointee.offset != 0, channel < output.count {
      addShaped(nil, .linear, source.pointee.offset, gains, steady, to: channel)
      channel &+= 1
    }
  }

  /// Adds a signal on a curve times two factors. nil: a signal of 1.
  @_noLocks private mutating func addShaped(
    _ source: UnsafePointer<Float>?, _ curve: Modulation.Curve, _ coefficient: Float,
    _ gains: UnsafePointer<Float>?, _ steady: Float, to channel: Int
  ) {
    let to = output[channel]
    let isFirst = markWritten(channel)
    var frame = 0
    while frame < frames {
      let gain = if let gains { gains.vector(frame) } else { SIMD16<Float>(repeating: steady) }
      var y = gain * coefficient
      if let source { y *= curve.shaped(source.vector(frame)) }
      if !isFirst { y += to.vector(frame) }
      to.store(y, frame)
      frame &+= 16
    }
  }

  /// Returns true for the first writer.
  @inline(__always) @_noLocks private mutating func markWritten(_ channel: Int) -> Bool {
    let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: channel)
    defer { written |= bit }
    return written & bit == 0
  }

  /// Adds those that wait.
  @inline(__always) @_noLocks private mutating func flush() { if count > 0 { addWaiting() } }

  @inline(never) @_noLocks private mutating func addWaiting() {
    var channel = 0
    while channel < output.count {
      let isFirst = markWritten(channel)
      sum(count, channel, isFirst: isFirst)
      channel &+= 1
    }
    count = 0
  }

  /// Sums a channel of the first `count` that wait.
  @inline(__always) @_noLocks private func sum(_ count: Int, _ channel: Int, isFirst: Bool) {
    sum(
      count, channel, isFirst: isFirst, source(0, channel), waiting[0].gain,
      source(1, channel), waiting[1].gain, source(2, channel), waiting[2].gain, source(3, channel),
      waiting[3].gain)
  }

  @inline(__always) @_noLocks private func source(_ index: Int, _ channel: Int) -> UnsafePointer<Float> {
    waiting[index].base + channel &* waiting[index].stride
  }

  /// Adds cables without taps or delays, at rest, at most `most` of them.
  @inline(__always) @_noLocks mutating func add(_ sources: UnsafeMutablePointer<MixSource>, _ count: Int) {
    flush()
    // Those that there are not stand for others, and are not read.
    let b = sources + (count > 1 ? 1 : 0)
    let c = sources + (count > 2 ? 2 : 0)
    let d = sources + (count > 3 ? 3 : 0)
    var channel = 0
    while channel < output.count {
      let isFirst = markWritten(channel)
      sum(
        count, channel, isFirst: isFirst, sources.pointee.channel(channel), sources.pointee.gain,
        b.pointee.channel(channel), b.pointee.gain, c.pointee.channel(channel), c.pointee.gain,
        d.pointee.channel(channel), d.pointee.gain)
      channel &+= 1
    }
  }

  /// Sums the first `count` of four signals, each times its gain, to a channel of the output.
  @inline(__always) @_noLocks private func sum(
    _ count: Int, _ channel: Int, isFirst: Bool, _ a: UnsafePointer<Float>, _ first: Float,
    _ b: UnsafePointer<Float>, _ second: Float, _ c: UnsafePointer<Float>, _ third: Float,
    _ d: UnsafePointer<Float>, _ fourth: Float
  ) {
    let to = output[channel]
    var frame = 0
    if count == 4 {
      while frame < frames {
        var y = a.vector(frame) * first
        if !isFirst { y = to.vector(frame) + y }
        y += b.vector(frame) * second
        y += c.vector(frame) * third
        y += d.vector(frame) * fourth
        to.store(y, frame)
        frame &+= 16
      }
      return
    }
    while frame < frames {
      var y = a.vector(frame) * first
      if !isFirst { y = to.vector(frame) + y }
      if count > 1 { y += b.vector(frame) * second }
      if count > 2 { y += c.vector(frame) * third }
      to.store(y, frame)
      frame &+= 16
    }
  }

  /// Completes the sum; false when nothing was added, and nothing written.
  @inline(__always) @_noLocks mutating func finish() -> Bool {
    flush()
    guard written != 0 else { return false }
    if output.count > 1 { fillRest() }
    return true
  }

  @_noLocks private func fillRest() {
    var channel = 0
    while channel < output.count {
      if written & (UInt64(1) &<< UInt64(truncatingIfNeeded: channel)) == 0 {
        setMemory(output[channel], 0, frames &* 4)
      }
      channel &+= 1
    }
  }
}

extension Modulation.Curve {
  /// Frames of a signal on the curve. Audio thread.
  @inline(__always) @_noLocks fileprivate func shaped(_ signal: SIMD16<Float>) -> SIMD16<Float> {
    let bits = unsafeBitCast(signal, to: SIMD16<UInt32>.self)
    let size = unsafeBitCast(bits & 0x7fff_ffff, to: SIMD16<Float>.self)
    let within = sostenuto_at_most(size, 1)
    let way: SIMD16<Float>
    switch self {
    case .linear: return signal
    // 81^a, less 1, of 80: 0.1 at a half.
    case .log: way = (sostenuto_powers_of_two(within * 6.33985) - 1) * 0.0125
    case .square: way = size * size
    case .root: way = sostenuto_square_roots(size)
    case .s: way = within * within * (3 - 2 * within)
    }
    return unsafeBitCast(
      unsafeBitCast(way, to: SIMD16<UInt32>.self) | (bits & 0x8000_0000), to: SIMD16<Float>.self)
  }
}

extension MixSource {
  /// Of a cable without taps or delay: what goes to this destination.
  @inline(__always) @_noLocks func channel(_ destination: Int) -> UnsafePointer<Float> {
    base + destination &* Int(stride)
  }

  /// Not zero if its sound is silent in this block.
  var silenceByte: UInt8 {
    @inline(__always) @_noLocks get { UnsafeRawPointer(silence).load(as: UInt8.self) }
  }
}

extension UnsafePointer where Pointee == Float {
  /// The sixteen frames from `frame`.
  @inline(__always) @_noLocks func vector(_ frame: Int) -> SIMD16<Float> {
    UnsafeRawPointer(self + frame).loadUnaligned(as: SIMD16<Float>.self)
  }
}

extension UnsafeMutablePointer where Pointee == Float {
  @inline(__always) @_noLocks func vector(_ frame: Int) -> SIMD16<Float> {
    UnsafePointer(self).vector(frame)
  }

  @inline(__always) @_noLocks func store(_ vector: SIMD16<Float>, _ frame: Int) {
    UnsafeMutableRawPointer(self + frame).storeBytes(of: vector, as: SIMD16<Float>.self)
  }
}
