import CVector
import Realtime

/// Noise that plucks a string.
struct Pluck: BitwiseCopyable {
  /// Frames that are left of it.
  var left: Int32 = 0
  /// How many there have been.
  var number: UInt32 = 0
  var height: Float = 0
  var isHigh = false
}

/// Numbers of a loop at rest, which are calculated once: 32 floats, which begin as zeros.
struct StringRest: BitwiseCopyable {
  /// Weights of eight frames, of the loop and of the comb.
  let weights, combWeights: UnsafeMutablePointer<Float>
  /// Gain and filter, then what they hold for: frequency, decay, damping, position, the sample rate.
  private let numbers: UnsafeMutablePointer<Float>
  /// Whole delays of the loop and of the comb.
  private let delays: UnsafeMutablePointer<Int32>

  static var size: Int { @inline(__always) @_noLocks get { 32 } }

  @inline(__always) @_noLocks init(_ memory: UnsafeMutablePointer<Float>) {
    (weights, combWeights, numbers) = (memory, memory + 8, memory + 16)
    delays = UnsafeMutableRawPointer(memory + 24).assumingMemoryBound(to: Int32.self)
  }

  var gain: Float { @inline(__always) @_noLocks get { numbers[0] } }
  var damp: Float { @inline(__always) @_noLocks get { numbers[1] } }
  var whole: Int { @inline(__always) @_noLocks get { Int(delays[0]) } }
  var place: Int { @inline(__always) @_noLocks get { Int(delays[1]) } }

  /// True when they hold for these parameters. Audio thread.
  @inline(__always) @_noLocks func holds(_ parameters: SIMD4<Float>, _ rate: Float) -> Bool {
    numbers[2] == parameters[0] && numbers[3] == parameters[1] && numbers[4] == parameters[2]
      && numbers[5] == parameters[3] && numbers[6] == rate
  }

  /// Takes what has been calculated for a block's first frame. Audio thread.
  @inline(never) @_noLocks func take(_ work: StringWork, _ parameters: SIMD4<Float>, _ rate: Float) {
    copyMemory(weights, work.weights, 32)
    copyMemory(combWeights, work.placeWeights, 32)
    (numbers[0], numbers[1]) = (work.gains[0], work.damps[0])
    (numbers[2], numbers[3], numbers[4]) = (parameters[0], parameters[1], parameters[2])
    (numbers[5], numbers[6]) = (parameters[3], rate)
    (delays[0], delays[1]) = (work.wholes[0], work.places[0])
  }
}

/// The loops of all channels.
struct StringMemory: BitwiseCopyable {
  /// Frames of a line: a power of two.
  let length: Int
  /// Frames between the three that the loop's filter adds up: as far apart in time at any rate.
  var spread: Int
  let plucks: UnsafeMutablePointer<Pluck>
  private let lines, histories, rests: UnsafeMutablePointer<Float>
  private static var historyLength: Int { @inline(__always) @_noLocks get { 128 } }

  init(_ channels: Int, rate: Double, _ arena: inout Arena) {
    var length = 256
    while Double(length) < rate / 16 + 128 { length *= 2 }
    self.init(channels, length: length, spread: Self.spread(rate), &arena)
  }

  @_noLocks private init(_ channels: Int, length: Int, spread: Int, _ arena: inout Arena) {
    (self.length, self.spread) = (length, spread)
    plucks = arena.reserve(MemoryLayout<Pluck>.stride &* channels).assumingMemoryBound(to: Pluck.self)
    lines = arena.take(Float.self, channels &* (length &+ DelayLine.margin))
    histories = arena.take(Float.self, channels &* (Self.historyLength &+ DelayLine.margin))
    rests = arena.take(Float.self, channels &* StringRest.size)
  }

  /// Memory for as long loops of another number of channels.
  @_noLocks func another(_ channels: Int, _ arena: inout Arena) -> StringMemory {
    StringMemory(channels, length: length, spread: spread, &arena)
  }

  /// Begins a channel in zeroed memory: as channel `from` of other memory, or, below 0, at rest.
  @_noLocks func begin(_ channel: Int, as other: StringMemory, _ from: Int) {
    plucks[channel] = from >= 0 ? other.plucks[from] : Pluck()
    guard from >= 0 else { return }
    let (line, history) = (length &+ DelayLine.margin, Self.historyLength &+ DelayLine.margin)
    copyMemory(lines + channel &* line, other.lines + from &* line, 4 &* line)
    copyMemory(histories + channel &* history, other.histories + from &* history, 4 &* history)
  }

  static func spread(_ rate: Double) -> Int { min(max(Int((rate / 48_000).rounded()), 1), 16) }

  @inline(__always) @_noLocks func line(_ channel: Int) -> DelayLine {
    DelayLine(lines + channel &* (length &+ DelayLine.margin), length: length)
  }

  @inline(__always) @_noLocks func rest(_ channel: Int) -> StringRest {
    StringRest(rests + channel &* StringRest.size)
  }

  /// Latest output of the string, before the loop's filter.
  @inline(__always) @_noLocks func history(_ channel: Int) -> DelayLine {
    DelayLine(
      histories + channel &* (Self.historyLength &+ DelayLine.margin), length: Self.historyLength)
  }

  /// Worker.
  func pasts(_ channel: Int, _ head: Int, step: Double) -> (line: Past, history: Past) {
    (
      Past((1...length).map { line(channel)[head - $0] }, step: step),
      Past((1...Self.historyLength).map { history(channel)[head - $0] }, step: step)
    )
  }

  /// Worker.
  func restore(_ channel: Int, _ head: Int, _ pasts: (line: Past, history: Past), step: Double) {
    for age in 1...length { line(channel).write(pasts.line.value(Double(age) * step), at: head - age) }
    for age in 1...Self.historyLength {
      history(channel).write(pasts.history.value(Double(age) * step), at: head - age)
    }
  }
}

/// One channel's block: numbers of the loop in each frame.
struct StringWork: BitwiseCopyable {
  let wholes, places: UnsafeMutablePointer<Int32>
  let parts, flats, gains, damps, sound, heard, placeParts: UnsafeMutablePointer<Float>
  let weights, placeWeights, products: UnsafeMutablePointer<Float>
  private let known: UnsafeMutablePointer<StringCourse>

  var nearest: Int { @inline(__always) @_noLocks get { known.pointee.nearest } }
  var isFlat: Bool { @inline(__always) @_noLocks get { known.pointee.isFlat } }
  var isSteady: Bool { @inline(__always) @_noLocks get { known.pointee.isSteady } }
  var isPlaceSteady: Bool { @inline(__always) @_noLocks get { known.pointee.isPlaceSteady } }

  struct StringCourse: BitwiseCopyable {
    /// The smallest whole delay.
    var nearest = 4
    /// Some frame's delay is short enough for flat weights.
    var isFlat = false
    var isSteady = false
    var isPlaceSteady = false
  }

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    // Vectors may begin at any frame.
    let size = blockCapacity &+ 16
    wholes = room.reserve(size &* 4).assumingMemoryBound(to: Int32.self)
    places = room.reserve(size &* 4).assumingMemoryBound(to: Int32.self)
    parts = room.take(Float.self, size)
    flats = room.take(Float.self, size)
    gains = room.take(Float.self, size)
    damps = room.take(Float.self, size)
    sound = room.take(Float.self, size)
    heard = room.take(Float.self, size)
    placeParts = room.take(Float.self, size)
    weights = room.take(Float.self, 8)
    placeWeights = room.take(Float.self, 8)
    products = room.take(Float.self, 128)
    known = room.reserve(64).assumingMemoryBound(to: StringCourse.self)
  }

  /// The numbers of a string at rest, for a block of whole vectors that do not reach into the frames that they calculate;
  /// nil: there are others for each frame.
  @inline(__always) @_noLocks func rest(_ block: Block, _ channel: Int, _ memory: StringMemory) -> StringRest?
  {
    let (freq, decay) = (block.parameters[PluckedString.freq], block.parameters[PluckedString.decay])
    let (damp, position) = (block.parameters[PluckedString.damp], block.parameters[PluckedString.position])
    guard memory.spread == 1, block.frames & 15 == 0, freq.isSteady, decay.isSteady, damp.isSteady,
      position.isSteady
    else { return nil }
    let parameters = SIMD4(freq.value(channel), decay.value(channel), damp.value(0), position.value(0))
    let rest = memory.rest(channel)
    if !rest.holds(parameters, block.rate) {
      prepare(block, channel, memory)
      rest.take(self, parameters, block.rate)
    }
    return rest.whole >= 19 ? rest : nil
  }

  /// Calculates the loop's delay, gain and filter in each frame.
  @_noLocks func prepare(_ block: Block, _ channel: Int, _ memory: StringMemory) {
    let (freq, decay) = (block.parameters[PluckedString.freq], block.parameters[PluckedString.decay])
    let (damp, position) = (block.parameters[PluckedString.damp], block.parameters[PluckedString.position])
    let isAnyMoving = !freq.isSteady || !decay.isSteady || !damp.isSteady || !position.isSteady
    let spread = Float(memory.spread)
    let (rate, longest) = (block.rate, Float(memory.length &- 80))
    let stretch = rate / (48_000 * spread)
    var (nearest, isFlat) = (UInt32.max, false)
    var frame = 0
    while frame < block.frames {
      if frame == 0 || isAnyMoving {
        let f = limited(freq.vector(channel, frame), 16, rate / (spread + 5))
        let period = rate / f
        let d = limited(damp.vector(0, frame) * 0.01, 0, 1)
        let a = atMost(0.25, d * d * (0.25 * stretch * stretch))
        // The filter's gain at the pitch: 1 - 2 a (1 - cos).
        let s = sineOfQuarters(f * (2 * spread / rate))
        let falls = -9.965_784_3 / (f * limited(decay.vector(channel, frame), 0.001, 1000))
        let (whole, part) = DelayLine.split(limited(period - spread, 4, longest))
        let angle = f * (6.283_185_3 / rate)
        // From 32 frames (times the spread) to 24: in a shorter loop the loss of the others at the pitch could not be given
        // back; in a longer one that of flat weights takes more from high partials.
        let flat = limited(4 - period * (0.125 / spread), 0, 1)
        var loss = Self.loss(part, angle)
        if sostenuto_has_above(flat, 0) {
          loss = addProduct(loss, flat, Self.flatLoss(part, angle) - loss)
          isFlat = true
        }
        let kept = (1 - 4 * a * s * s) * (1 - loss)
        // Below its pitch the loop must not grow, however much is taken from the pitch.
        let gain = sostenuto_lesser(
          sostenuto_powers_of_two(falls) / kept, sostenuto_powers_of_two(falls * 0.25))
        let along = limited(position.vector(0, frame) * 0.01, 0, 1)
        let (place, placePart) = DelayLine.split(limited(period * along - spread, 4, longest))
        nearest =
          nearest < least(unsafeBitCast(whole, to: SIMD16<UInt32>.self))
          ? nearest : least(unsafeBitCast(whole, to: SIMD16<UInt32>.self))
        store(whole, wholes, frame)
        store(place, places, frame)
        parts.store(part, frame)
        flats.store(flat, frame)
        placeParts.store(placePart, frame)
        gains.store(gain, frame)
        damps.store(a, frame)
      } else {
        gains.store(gains.vector(0), frame)
        damps.store(damps.vector(0), frame)
      }
      frame &+= 16
    }
    gains.store(gains.vector(frame &- 16), frame)
    damps.store(damps.vector(frame &- 16), frame)
    let isSteady = freq.isSteady
    known.pointee = StringCourse(
      nearest: Int(nearest), isFlat: isFlat, isSteady: isSteady,
      isPlaceSteady: isSteady && position.isSteady)
    if isSteady { setWeights(weights, parts[0], flats[0]) }
    if isSteady, position.isSteady { setWeights(placeWeights, placeParts[0], 0) }
  }

  /// Loss of `Interpolator` at a frequency (radians a frame) in each pass: least squares over places between frames,
  /// within 1e-5 up to a twelfth of the rate and 1e-4 to an eighth.
  @inline(__always) @_noLocks private static func loss(_ part: Frames, _ frequency: Frames) -> Frames {
    let w = atMost(0.85, frequency)
    let (u, e) = (w * w, part * (1 - part))
    let first = (0.490_130_4 + 0.292_041_8 * e) * (0.25 - e)
    let second = -0.090_999_93 + e * (6.274_718 * e - 0.837_079_4)
    let third = 0.004_333_983 + e * (0.916_771_2 - 4.825_643 * e)
    return atLeast(0, u * e * (first + u * (second + u * third)))
  }

  /// The same of flat weights: the first term of the series, within 2e-7 up to a twelfth of the rate.
  @inline(__always) @_noLocks private static func flatLoss(_ part: Frames, _ frequency: Frames) -> Frames {
    let w = atMost(0.85, frequency)
    let (u, e) = (w * w, part * (1 - part))
    // Four squares of the sine of half the angle, nearly.
    let s = u * (1 - u * 0.083_333_33)
    let fourth = (s * s) * (s * s)
    let first = e * (2 + e)
    let second = (6 + e) * (12 + e)
    return fourth * first * second * 2.480_158_7e-5
  }

  @inline(__always) @_noLocks private func store(
    _ v: SIMD16<Int32>, _ to: UnsafeMutablePointer<Int32>, _ frame: Int
  ) {
    UnsafeMutableRawPointer(to + frame).storeBytes(of: v, as: SIMD16<Int32>.self)
  }

  @inline(__always) @_noLocks private func setWeights(
    _ to: UnsafeMutablePointer<Float>, _ part: Float, _ flat: Float
  ) {
    let all = Interpolator.weights(Frames(repeating: part), flat: Frames(repeating: flat))
    UnsafeMutableRawPointer(to).storeBytes(of: all.lowHalf, as: SIMD8<Float>.self)
  }
}
