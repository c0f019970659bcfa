import CVector
import Patch
import Realtime

/// A ladder of four one-poles, with a saturation in its loop.
///
/// The loop has no delay (`sostenuto_ladder_eight`), so the ladder is in tune up to the top, also where it sings by itself.
/// It runs at twice the rate, between half-band filters of all-passes; what it saturates aliases so much less.
public struct Ladder: Kernel {
  public static let description = KindDescription(
    name: "ladder", summary: "A filter of four poles with drive, whose resonance sings.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .choice(
        "type", "What it lets pass: four poles, or two of them.",
        ["lowpass", "lowpass12", "bandpass", "highpass"]),
      .frequency(
        "freq", "Cutoff, and the note that it sings; a list gives one a channel.", default: 1000,
        isPerChannel: true),
      .number(
        "resonance", "Feedback; beyond 100 % it sings by itself.", default: 30, range: 0...110, unit: .percent
      ),
      .gain("drive", "How far into the saturation.", default: 0, upTo: 48),
      .percent(
        "bass", "How much of the level that resonance takes from the lows is given back.", default: 50),
    ], cost: .init(3200, perChannel: 40))

  /// Positions in `description.parameters`.
  public static var type: Int { @_noLocks get { 0 } }
  public static var freq: Int { @_noLocks get { 1 } }
  public static var resonance: Int { @_noLocks get { 2 } }
  public static var drive: Int { @_noLocks get { 3 } }
  public static var bass: Int { @_noLocks get { 4 } }

  private var lanes: Lanes
  private var bands: UnsafeMutablePointer<Float>
  /// It sang at the end of the last block.
  private var sings = false
  private var entry = Entry.ofFilter

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(configuration.inputs[0], &$0) }
  }

  private struct Layout {
    let lanes: Lanes
    let bands: UnsafeMutablePointer<Float>

    @_noLocks init(_ channels: Int, _ arena: inout Arena) {
      bands = arena.take(Float.self, 16)
      lanes = Lanes(channels, states: 16, work: LaneCoefficients.size &+ 8 &* blockCapacity, &arena)
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let layout = Layout(configuration.inputs[0], &arena)
    (lanes, bands) = (layout.lanes, layout.bands)
    for (index, value) in AllPassPair.halfBand().enumerated() { bands[index] = value }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let wide = arena.take(Float.self, 16)
    copyMemory(wide, bands, 64)
    bands = wide
    lanes.widen(widening, &arena)
  }

  @_noLocks public mutating func isFinished() -> Bool { !sings && lanes.finish() }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let room = LaneRoom(block)
    let (feedback, gains, seeds) = (room.shared(0), room.shared(1), room.shared(2))
    let entry = entry.follow(block, room.shared(3))
    guard lanes.begin(block, wakes: prepare(block, feedback, gains, seeds)) else { return .silent }
    var weights = LadderWeights(block, lanes.work + LaneCoefficients.size)
    weights.fill(block)
    let (input, output) = (block.inputs[0], block.outputs[0])
    var first = 0
    while first < lanes.channels {
      let count = lanes.count(first)
      let shares = aim(block, room, first, count)
      var channel = first
      while channel < first &+ count {
        let (from, row) = (input[channel], room.row(channel))
        var frame = 0
        while frame < block.frames {
          row.store(from.vector(frame) * gains.vector(frame) + seeds.vector(frame), frame)
          frame &+= 16
        }
        channel &+= 1
      }
      if let entry { room.multiply(count, by: entry) }
      room.turn(count)
      sostenuto_ladder_eight(
        room.turned, shares.numbers, shares.step, feedback, weights.numbers, weights.step, bands,
        lanes.states(first), Int64(truncatingIfNeeded: block.frames))
      lanes.mend(first)
      room.turnBack()
      channel = first
      while channel < first &+ count {
        multiplyWhole(room.row(channel), 1, to: output[channel])
        channel &+= 1
      }
      first &+= 8
    }
    return .sounding
  }

  /// Writes the feedback, the gain of the input, and what a ladder that sings begins with. True: it sings somewhere.
  @inline(__always) @_noLocks private mutating func prepare(
    _ block: Block, _ feedback: UnsafeMutablePointer<Float>, _ gains: UnsafeMutablePointer<Float>,
    _ seeds: UnsafeMutablePointer<Float>
  ) -> Bool {
    let parameters = block.parameters
    let (resonance, drive, bass) = (parameters[Self.resonance], parameters[Self.drive], parameters[Self.bass])
    var most = false
    var frame = 0
    while frame < block.frames {
      let k = limited(resonance.vector(0, frame) * 0.04, 0, 4.4)
      let back = limited(bass.vector(0, frame) * 0.01, 0, 1)
      feedback.store(k, frame)
      gains.store(limited(drive.vector(0, frame), -1000, 1000) * (1 + back * k), frame)
      // -120 dB, from which the oscillation grows.
      seeds.store(
        sostenuto_where_above(k, 4, Frames(repeating: 1e-6), Frames(repeating: 0)), frame)
      frame &+= 16
    }
    frame = 0
    while frame < block.frames {
      if feedback[frame] > 4 { most = true }
      frame &+= 1
    }
    sings = feedback[block.frames &- 1] > 4
    return most
  }

  /// How much of the way the one-poles of a group go in half a frame.
  @inline(__always) @_noLocks private func aim(_ block: Block, _ room: LaneRoom, _ first: Int, _ count: Int)
    -> LaneCoefficients
  {
    let freq = block.parameters[Self.freq]
    var shares = LaneCoefficients(lanes.work)
    let half = 0.5 / block.rate
    if shares.rests(freq.isSteady) {
      var channel = 0
      while channel < 8 {
        let last = channel < count ? channel : count &- 1
        let (sine, cosine) = halfAngle(Frames(repeating: Self.part(freq.value(first &+ last), half)))
        shares.set(channel, (sine / (sine + cosine))[0])
        channel &+= 1
      }
    } else {
      var channel = 0
      while channel < 8 {
        let last = first &+ (channel < count ? channel : count &- 1)
        var frame = 0
        while frame < block.frames {
          let (sine, cosine) = halfAngle(limited(freq.vector(last, frame) * half, 0, 0.245))
          room.row(channel).store(sine / (sine + cosine), frame)
          frame &+= 16
        }
        channel &+= 1
      }
      shares.take(room)
    }
    return shares
  }

  /// Frequency as a part of twice the rate, below half the rate.
  @inline(__always) @_noLocks private static func part(_ freq: Float, _ half: Float) -> Float {
    limited(freq * half, 0, 0.245)
  }
}

/// Weights of the saturated sound and of the four poles in the output, for each type (Zavalishin, 5.4): (1 - H)^n H^m by
/// powers of the one-poles' H.
private struct LadderWeights {
  private let room: UnsafeMutablePointer<Float>
  private(set) var step: Int64 = 0

  @inline(__always) @_noLocks init(_ block: Block, _ room: UnsafeMutablePointer<Float>) { self.room = room }

  var numbers: UnsafePointer<Float> { @inline(__always) @_noLocks get { UnsafePointer(room) } }

  @inline(__always) @_noLocks private static func of(_ type: Float) -> SIMD8<Float> {
    if type == 0 { return SIMD8(0, 0, 0, 0, 1, 0, 0, 0) }
    if type == 1 { return SIMD8(0, 0, 1, 0, 0, 0, 0, 0) }
    if type == 2 { return SIMD8(0, 0, 4, -8, 4, 0, 0, 0) }
    return SIMD8(1, -4, 6, -4, 1, 0, 0, 0)
  }

  @inline(__always) @_noLocks mutating func fill(_ block: Block) {
    let type = block.crossfades[Ladder.type]
    let place = UnsafeMutableRawPointer(room)
    guard let blend = type.blend else {
      place.storeBytes(of: Self.of(type.new), as: SIMD8<Float>.self)
      step = 0
      return
    }
    step = 8
    var frame = 0
    while frame < block.frames {
      let b = blend[frame]
      place.storeBytes(
        of: Self.of(type.old) * (1 - b) + Self.of(type.new) * b, toByteOffset: 32 &* frame,
        as: SIMD8<Float>.self)
      frame &+= 1
    }
  }
}
