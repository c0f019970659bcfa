import Glibc
import Patch
import Realtime

/// Tells the loudness of a sound by ITU-R BS.1770, and passes it.
public struct Loudness: Kernel {
  public static let description = KindDescription(
    name: "loudness",
    summary: "Tells the loudness of a sound by ITU-R BS.1770 (EBU R 128), and passes it as it is.",
    category: .mixing,
    inputs: [
      PortDescription("in", .flexible),
      PortDescription(
        "reset", .channels(1), "Opening it begins the integrated loudness anew.", role: .sidechain),
    ],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      ParameterDescription(
        "integrate",
        "On: the sound counts for the integrated loudness. Hold: it does not, and the figure stays. Clear: there is none, until on begins anew.",
        form: .choice(["on", "hold", "clear"]), range: 0...2, default: .text("on"), smoothing: .kernel)
    ], face: .channels(), amplification: .never,
    cost: .init(40, perChannel: 300),
    readings: [
      ReadingDescription("momentary", "Loudness of the last 400 ms, in LUFS.", unit: .decibels),
      ReadingDescription("shortterm", "Loudness of the last 3 s, in LUFS.", unit: .decibels),
      ReadingDescription("integrated", "Gated loudness since the beginning, in LUFS.", unit: .decibels),
    ])

  /// Memory of the two filters of a channel.
  struct Filters: BitwiseCopyable {
    var shelf = SIMD2<Double>(0, 0)
    var highPass = SIMD2<Double>(0, 0)
    /// Squares of what left them since the tenth of a second began.
    var power = 0.0

    @_noLocks init() {}
  }

  /// Coefficients of the weighting: b0, b1, b2, a1, a2 of the shelf, a1 and a2 of the high-pass.
  private var weighting: SIMD8<Double>
  private var filters: PerChannel<Filters>
  /// Powers of the last tenths of a second, and the place of the next one.
  private var tenths = SIMD32<Float>(repeating: 0)
  private var next = 0
  private var left: Int
  private var tenth: Int
  private var isAsleep = true
  /// Loudness since the beginning.
  private var programme: Programme
  private var integrate: Float
  private var wasReset = false
  /// Frame from which on tenths are counted, also through sleep; negative: there was no block so far.
  private var start: Int64 = -1
  /// Tenths that have passed since the beginning or a reset, up to as many as a block of 400 ms has; -1 amid one.
  private var passed = 0

  /// Position in `description.parameters`.
  public static var integrate: Int { @_noLocks get { 0 } }

  /// Tenths of a second of the longer window.
  private static var longest: Int { @_noLocks get { 30 } }

  public static var worksInPlace: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Programme.size + PerChannel<Filters>.size(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    programme = Programme(memory)
    integrate = configuration.value(Self.integrate)
    filters = PerChannel(configuration.inputs[0], Filters(), memory + Programme.size)
    weighting = Self.weighting(configuration.rate)
    tenth = max(1, Int(configuration.rate / 10))
    left = tenth
  }

  /// The filters of the recommendation, which has them at 48 kHz, as their analogue originals at any rate.
  private static func weighting(_ rate: Double) -> SIMD8<Double> {
    let k = tan(Double.pi * min(1681.974_450_955_533 / rate, 0.49))
    let (q, high) = (0.707_175_236_955_419_6, pow(10, 3.999_843_853_973_347 / 20))
    let middle = pow(high, 0.499_666_774_154_541_6)
    let all = 1 + k / q + k * k
    let low = tan(Double.pi * 38.135_470_876_024_44 / rate)
    let lowQ = 0.500_327_037_323_877_3
    let lowAll = 1 + low / lowQ + low * low
    return SIMD8(
      (high + middle * k / q + k * k) / all, 2 * (k * k - high) / all, (high - middle * k / q + k * k) / all,
      2 * (k * k - 1) / all, (1 - k / q + k * k) / all, 2 * (low * low - 1) / lowAll,
      (1 - low / lowQ + low * low) / lowAll, 0)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    programme.move(to: memory)
    filters = filters.widened(widening, Filters(), memory + Programme.size)
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    integrate = value
    if value > 1.5 { begin() }
  }

  /// Begins the integrated loudness anew. Its first block is heard from here on.
  @_noLocks private mutating func begin() {
    programme.clear()
    passed = left == tenth ? 0 : -1
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    weighting = Self.weighting(new)
    tenth = max(1, Int(new / 10))
    left = tenth
    start = -1
    for channel in 0..<filters.count { filters[channel].pointee = Filters() }
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    let resets = Gates.open(block.inputs[1], 0, block.frames)
    if Gates.rises(resets, wasReset) != 0 { begin() }
    wasReset = Gates.last(resets, block.frames)
    if start < 0 { start = block.time }
    if isAsleep, input.isSilent { return .silent }
    if isAsleep { wake(block.time) }
    let pair = block.scratch.assumingMemoryBound(to: Float.self)
    var frame = 0
    while frame < block.frames {
      let end = left < block.frames &- frame ? frame &+ left : block.frames
      var channel = 0
      while channel < filters.count {
        add(channel, input, pair, frame, end)
        channel &+= 2
      }
      left &-= end &- frame
      frame = end
      if left == 0 { take() }
    }
    return passOn(block)
  }

  /// Four to six channels are 4.0, 5.0 and 5.1 in the order L R C LFE Ls Rs, as for the screen's meter: the last two are
  /// around and count more, and that for effects does not. Of other numbers all are alike.
  @inline(__always) @_noLocks private func weight(of channel: Int) -> Double {
    let count = filters.count
    guard count > 3, count < 7 else { return 1 }
    if channel > count &- 3 { return 1.41 }
    return count == 6 && channel == 3 ? 0 : 1
  }

  /// Adds the powers of a channel and the next one in some frames. Both go through the filters at once, whose steps wait
  /// for each other; the last of an odd number goes with itself.
  @inline(__always) @_noLocks private mutating func add(
    _ channel: Int, _ input: InputPort, _ pair: UnsafeMutablePointer<Float>, _ start: Int, _ end: Int
  ) {
    let other = channel &+ 1 < filters.count ? channel &+ 1 : channel
    let (one, two, both) = (input[channel], input[other], UnsafeMutableRawPointer(pair))
    var frame = start & ~15
    while frame < end {
      let turned = interleaved(one.vector(frame), two.vector(frame))
      both.storeBytes(of: turned, toByteOffset: frame &* 8, as: SIMD32<Float>.self)
      frame &+= 16
    }
    let (w, first, second) = (weighting, filters[channel], filters[other])
    let (w0, w1, w2) = (Pair(repeating: w[0]), Pair(repeating: w[1]), Pair(repeating: w[2]))
    let (w3, w4) = (Pair(repeating: w[3]), Pair(repeating: w[4]))
    let (w5, w6) = (Pair(repeating: w[5]), Pair(repeating: w[6]))
    var shelf = Pair(first.pointee.shelf[0], second.pointee.shelf[0])
    var shelfBefore = Pair(first.pointee.shelf[1], second.pointee.shelf[1])
    var high = Pair(first.pointee.highPass[0], second.pointee.highPass[0])
    var highBefore = Pair(first.pointee.highPass[1], second.pointee.highPass[1])
    var power = Pair(first.pointee.power, second.pointee.power)
    frame = start
    while frame < end {
      let x = Pair(both.load(fromByteOffset: frame &* 8, as: SIMD2<Float>.self))
      let y = w0 * x + shelf
      shelf = (w1 * x + shelfBefore) - w3 * y
      shelfBefore = w2 * x - w4 * y
      let z = y + high
      high = (highBefore - (y + y)) - w5 * z
      highBefore = y - w6 * z
      power += z * z
      frame &+= 1
    }
    keep(first, SIMD2(shelf[0], shelfBefore[0]), SIMD2(high[0], highBefore[0]), power[0])
    keep(second, SIMD2(shelf[1], shelfBefore[1]), SIMD2(high[1], highBefore[1]), power[1])
  }

  /// Two channels.
  private typealias Pair = SIMD2<Double>

  @inline(__always) @_noLocks private func keep(
    _ state: UnsafeMutablePointer<Filters>, _ shelf: SIMD2<Double>, _ high: SIMD2<Double>, _ power: Double
  ) {
    // A NaN would stay for ever.
    let isTame = shelf[0].magnitude < 1e18 && shelf[1].magnitude < 1e18 && high[0].magnitude < 1e18
    (state.pointee.shelf, state.pointee.highPass) = isTame ? (shelf, high) : (SIMD2(0, 0), SIMD2(0, 0))
    state.pointee.power = power
  }

  /// Weighted power of all channels since the tenth of a second began.
  @_noLocks private func sum() -> Double {
    var (sum, channel) = (0.0, 0)
    while channel < filters.count {
      let weight = weight(of: channel)
      if weight > 0 { sum += weight * filters[channel].pointee.power }
      channel &+= 1
    }
    return sum
  }

  @_noLocks private mutating func clearPowers() {
    var channel = 0
    while channel < filters.count {
      filters[channel].pointee.power = 0
      channel &+= 1
    }
  }

  /// Goes on where the tenths would be without the silence that was slept through.
  @_noLocks private mutating func wake(_ time: Int64) {
    isAsleep = false
    let elapsed = time &- start
    left = tenth &- Int(elapsed % Int64(tenth))
    let silent = elapsed / Int64(tenth)
    passed = silent < 4 &- Int64(passed) ? passed &+ Int(silent) : 4
  }

  /// Begins the next tenth of a second.
  @inline(never) @_noLocks private mutating func take() {
    defer {
      // Blocks of 400 ms, three quarters of which are the next one's.
      if passed < 4 { passed &+= 1 }
      if passed == 4, integrate < 0.5 { programme.take(Double(power(4))) }
    }
    let power = sum() / Double(tenth)
    tenths[next] = power < 1e18 ? Float(power) : 0
    next = next &+ 1 < Self.longest ? next &+ 1 : 0
    left = tenth
    clearPowers()
  }

  @_noLocks private func power(_ count: Int) -> Float {
    var (sum, index) = (Float(0), 0)
    while index < count {
      let place = next &- 1 &- index
      sum += tenths[place < 0 ? place &+ Self.longest : place]
      index &+= 1
    }
    return sum / Float(count)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard power(Self.longest) < 1e-10, sum() < 1e-6 else { return false }
    tenths = SIMD32(repeating: 0)
    clearPowers()
    isAsleep = true
    return true
  }

  /// In LUFS, -100 at least.
  @_noLocks public func reading(_ position: Int) -> Float {
    if position == 2 { return programme.loudness }
    let power = power(position == 0 ? 4 : Self.longest)
    return power > 1e-10 ? 3.010_3 * logarithm2(power) - 0.691 : -100
  }
}
