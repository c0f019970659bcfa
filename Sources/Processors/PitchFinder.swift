import CVector
import Realtime

/// Finds the pitch of one channel, as P. McLeod and G. Wyvill have it ("A smarter way to find pitch", 2005): the first high
/// peak of the normalised square difference function. A coarse search runs on means of some frames; its peak is then
/// found among whole frames, and between them by a parabola.
struct PitchFinder: BitwiseCopyable {
  /// The lowest pitch that is found, Hz.
  private static var lowest: Float { @_noLocks get { 40 } }
  /// Frames between two looks: a multiple of 64, since a look is at the end of a cell.
  @_noLocks static func interval(_ rate: Float) -> Int64 {
    rate > 400_000 ? 8192 : rate > 200_000 ? 4096 : rate > 100_000 ? 2048 : rate > 20_000 ? 512 : 128
  }

  /// Frames that are compared, the longest period, and how many make a mean.
  private let window: Int
  private let longest: Int
  private let mean: Int
  /// Memory of the last frames, which move to its beginning when it is full; the means of them; what the coarse search finds.
  private let past: UnsafeMutablePointer<Float>
  private let means: UnsafeMutablePointer<Float>
  private let likeness: UnsafeMutablePointer<Float>
  /// Likeness by whole frames, of the lags about one mean or about a multiple of the period.
  private let fine: UnsafeMutablePointer<Float>
  /// The memory that it was made in.
  var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(past) }
  private var total: Int { @_noLocks get { window &+ longest } }
  /// Frames in that memory.
  private var end: Int
  /// The last frames.
  private var heard: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { past + (end &- total) } }
  /// Mean that has been subtracted from all frames in that memory.
  private var offset: Float = 0
  /// Frames that come before the others have to move.
  private static var room: Int { @inline(__always) @_noLocks get { 1024 } }

  /// Frequency in Hz, 0 without a pitch, and how clear it is, 0...1.
  private(set) var frequency: Float = 0
  private(set) var clarity: Float = 0
  let rate: Float

  /// Bytes of its memory, for a rate in Hz.
  @_noLocks static func size(_ rate: Float) -> Int {
    var arena = Arena(measuring: ())
    _ = PitchFinder(rate, &arena)
    return arena.bytes
  }

  /// One that has heard nothing. Audio thread.
  @_noLocks init(_ rate: Float, _ arena: inout Arena) {
    self.rate = rate
    let whole = Int(rate / 11_000)
    mean = whole > 1 ? whole : 1
    longest = Int(rate / Self.lowest) &+ 2 &* mean &+ 2
    // Two of the longest periods, in whole vectors of means.
    window = (Int(rate * 0.043) / (16 &* mean) &+ 1) &* 16 &* mean
    end = window &+ longest
    past = arena.take(Float.self, window &+ longest &+ Self.room &+ 16)
    // As far as lags are compared, which are 64 at a time.
    means = arena.take(Float.self, (window &+ longest) / mean &+ 96)
    likeness = arena.take(Float.self, longest / mean &+ 80)
    fine = arena.take(Float.self, 2 &* mean &+ 8)
  }

  /// Forgets what it has heard. Audio thread.
  @_noLocks mutating func clear() {
    end = total
    offset = 0
    setMemory(past, 0, total &* 4)
  }

  /// Takes over what another one of the same rate has heard. Audio thread.
  @_noLocks mutating func take(_ other: Self) {
    end = total
    copyMemory(past, other.heard, total &* 4)
    (offset, frequency, clarity) = (other.offset, other.frequency, other.clarity)
  }

  /// Hears frames of a block. Audio thread.
  @inline(__always) @_noLocks mutating func hear(_ from: UnsafePointer<Float>?, _ frames: Int) {
    if end &+ frames > total &+ Self.room { moveBack() }
    var frame = 0
    while frame < frames {
      // Behind the last one there may be anything, until it is heard.
      let x = from.map { limited($0.vector(frame), -1e6, 1e6) } ?? Frames(repeating: 0)
      (past + end).store(x - offset, frame)
      frame &+= 16
    }
    end &+= frames
  }

  @inline(never) @_noLocks private mutating func moveBack() {
    let heard = heard
    var frame = 0
    while frame < total {
      past.store(heard.vector(frame), frame)
      frame &+= 16
    }
    end = total
  }

  /// Takes the constant part out of what was heard: with a large one nothing is ever unlike, and there is no valley.
  @inline(__always) @_noLocks private mutating func center() {
    let heard = heard
    var (sum, frame) = (Frames(repeating: 0), 0)
    while frame < window {
      sum += heard.vector(frame)
      frame &+= 16
    }
    let mean = totalOf(sum) / Float(window)
    offset += mean
    frame = 0
    while frame < total {
      heard.store(heard.vector(frame) - mean, frame)
      frame &+= 16
    }
  }

  /// Looks for the pitch of what was heard. Audio thread.
  @inline(never) @_noLocks mutating func find() {
    frequency = 0
    clarity = 0
    center()
    let (heard, count) = (heard, total / mean)
    var power: Float = 0
    var index = 0
    while index < count {
      var (sum, frame) = (Float(0), 0)
      while frame < mean {
        sum += heard[index &* mean &+ frame]
        frame &+= 1
      }
      means[index] = sum / Float(mean)
      power += means[index] * means[index]
      index &+= 1
    }
    guard power > Float(count) * 1e-10 else { return }
    let width = window / mean
    let most = longest / mean &- 1
    compareMeans(width, most)
    guard let first = firstPeak(most) else { return }
    clarity = limited(first.height, 0, 1)
    // Over several periods the parabola's error is as many times smaller.
    var (period, periods) = (first.place, 1)
    while true {
      let most = Int(Float(longest &- 2) / period)
      let next = 4 &* periods < most ? 4 &* periods : most
      guard next > periods else { break }
      let middle = Int(period * Float(next) + 0.5)
      let peak = top(middle &- 3, middle &+ 3)
      guard peak.height > 0.9 * first.height else { break }
      (period, periods) = (peak.place / Float(next), next)
    }
    frequency = rate / period
  }

  /// Place and height of the highest likeness of whole frames within some lags, by a parabola; the height is 0 where it is at
  /// an end.
  @_noLocks private func top(_ from: Int, _ to: Int) -> (place: Float, height: Float) {
    let first = from > 1 ? from : 1
    let last = to < longest ? to : longest
    guard last &- first >= 2 else { return (0, 0) }
    compare(heard, window, first, last, to: fine)
    var (best, index) = (1, 1)
    while index < last &- first {
      if fine[index] > fine[best] { best = index }
      index &+= 1
    }
    let (a, b, c) = (fine[best &- 1], fine[best], fine[best &+ 1])
    let bend = a - 2 * b + c
    guard bend < -1e-12, b >= a, b >= c else { return (0, 0) }
    return (Float(first &+ best) + limited(0.5 * (a - c) / bend, -1, 1), b)
  }

  /// Writes how alike the means are to themselves, by lags from 0 to `most`. A frame times those of 64 lags at a time: so no
  /// vector has to be added up.
  @inline(__always) @_noLocks private func compareMeans(_ width: Int, _ most: Int) {
    var first = 0
    while first <= most {
      let zero = Frames(repeating: 0)
      var (a, b, c, d) = (zero, zero, zero, zero)
      var frame = 0
      while frame < width {
        let (x, lags) = (Frames(repeating: means[frame]), means + (first &+ frame))
        a = addProduct(a, x, lags.vector(0))
        b = addProduct(b, x, lags.vector(16))
        c = addProduct(c, x, lags.vector(32))
        d = addProduct(d, x, lags.vector(48))
        frame &+= 1
      }
      let to = likeness + first
      to.store(a, 0)
      to.store(b, 16)
      to.store(c, 32)
      to.store(d, 48)
      first &+= 64
    }
    let own = power(means, width)
    var (other, lag) = (own, 0)
    while lag <= most {
      let all = own + other
      likeness[lag] = all > 1e-12 ? Float(2 * Double(likeness[lag]) / all) : 0
      other += Double(means[lag &+ width] * means[lag &+ width]) - Double(means[lag] * means[lag])
      lag &+= 1
    }
  }

  /// The sum of squares.
  @inline(__always) @_noLocks private func power(_ signal: UnsafeMutablePointer<Float>, _ width: Int)
    -> Double
  {
    var (sum, frame) = (Frames(repeating: 0), 0)
    while frame < width {
      sum = addProduct(sum, signal.vector(frame), signal.vector(frame))
      frame &+= 16
    }
    return Double(totalOf(sum))
  }

  /// Writes how alike the signal is to itself, by lags from `first` to `last`: 2 sum(xy) / sum(x^2 + y^2).
  @inline(__always) @_noLocks private func compare(
    _ signal: UnsafeMutablePointer<Float>, _ width: Int, _ first: Int, _ last: Int,
    to likeness: UnsafeMutablePointer<Float>
  ) {
    let own = power(signal, width)
    var other = power(signal + first, width)
    var lag = first
    while lag <= last {
      var (a, b, frame) = (Frames(repeating: 0), Frames(repeating: 0), 0)
      while frame &+ 32 <= width {
        a = addProduct(a, signal.vector(frame), (signal + lag).vector(frame))
        b = addProduct(b, signal.vector(frame &+ 16), (signal + lag).vector(frame &+ 16))
        frame &+= 32
      }
      if frame < width { a = addProduct(a, signal.vector(frame), (signal + lag).vector(frame)) }
      let sum = Double(totalOf(a + b))
      let all = own + other
      likeness[lag &- first] = all > 1e-12 ? Float(2 * sum / all) : 0
      other += Double(signal[lag &+ width] * signal[lag &+ width]) - Double(signal[lag] * signal[lag])
      lag &+= 1
    }
  }

  /// Place and height of the first peak that is nearly as high as the highest, behind the first valley. Means see high peaks
  /// too low, so that those which may be high enough are looked at by frames.
  @_noLocks private func firstPeak(_ most: Int) -> (place: Float, height: Float)? {
    let shortest = Int(rate / 2600) / mean
    var start = 1
    while start < most, likeness[start] > 0 { start &+= 1 }
    if start < shortest { start = shortest > 1 ? shortest : 1 }
    var (highest, lag) = (start, start)
    while lag < most {
      if likeness[lag] > likeness[highest] { highest = lag }
      lag &+= 1
    }
    guard highest < most, likeness[highest] > 0.3 else { return nil }
    let best = near(highest)
    lag = start > 1 ? start : 1
    while lag < highest {
      let value = likeness[lag]
      if value > 0.4 * likeness[highest], value >= likeness[lag &- 1], value >= likeness[lag &+ 1] {
        let peak = near(lag)
        if peak.height > 0.9 * best.height { return peak }
      }
      lag &+= 1
    }
    return best.height > 0 ? best : nil
  }

  /// The peak of whole frames about a lag of means.
  @_noLocks private func near(_ lag: Int) -> (place: Float, height: Float) {
    top((lag &- 1) &* mean &- 1, (lag &+ 1) &* mean &+ 1)
  }

  /// Octaves above A4, of a pitch that was found.
  var octaves: Float { @inline(__always) @_noLocks get { logarithm2(frequency / 440) } }
}

@inline(__always) @_noLocks private func totalOf(_ v: Frames) -> Float { total(v) }

/// Weight of a channel in the sum of all that a pitch is looked for in, 0.4...1: different ones, since two sides of opposite
/// signs would cancel each other.
@inline(__always) @_noLocks func sumWeight(of channel: Int) -> Float { 1 - 0.6 * Sweep.part(channel) }
