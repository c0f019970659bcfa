import CVector
import Patch
import Realtime

/// Splits sound into bands whose sum is as loud as the input at every frequency.
///
/// Filters of Linkwitz and Riley of the fourth order, 24 dB an octave (`sostenuto_cross_eight`). At a frequency both bands are
/// 6 dB down and in phase. The sum is an all-pass: it turns phases and leaves levels.
public struct Crossover: Kernel {
  public static let description = KindDescription(
    name: "crossover", summary: "Splits sound into two to four bands, whose sum is flat.", category: .effect,
    inputs: [PortDescription("in", .flexible)],
    outputs: [
      PortDescription("band1", .flexible, "The lowest band."),
      PortDescription("band2", .flexible, "The next one."),
      PortDescription("band3", .flexible, "The next one, with three bands or four.", isOptional: true),
      PortDescription("band4", .flexible, "The highest of four bands.", isOptional: true),
    ],
    parameters: [
      .count("bands", "How many there are.", default: 2, range: 2...4),
      .frequency("freq1", "Between the first band and the second.", default: 250),
      frequency(2, default: 1500), frequency(3, default: 6000),
    ], amplification: .never, cost: .init(500, perChannel: 60))

  private static func frequency(_ number: Int, default hertz: Double) -> ParameterDescription {
    var parameter = ParameterDescription.frequency(
      "freq\(number)",
      number == 2 ? "Between the second and the third." : "Between the third and the fourth.",
      default: hertz)
    parameter.requirement = .init("bands", atLeast: number + 1)
    return parameter
  }

  /// Positions in `description.parameters`.
  public static var bands: Int { @_noLocks get { 0 } }
  /// That of the frequency above band `band`, from 0 on.
  @_noLocks public static func freq(_ band: Int) -> Int { 1 &+ band }

  private let bands: Int
  private var lanes: Lanes

  private static func bands(_ configuration: KernelConfiguration) -> Int {
    Int(min(max(configuration.value(bands), 2), 4))
  }

  private static var work: Int { 4 * 8 * blockCapacity + 6 * blockCapacity }

  private static func lanes(_ configuration: KernelConfiguration, _ arena: inout Arena) -> Lanes {
    let states = [0, 0, 4, 10, 16][bands(configuration)]
    return Lanes(configuration.inputs[0], states: states, work: work, &arena)
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { lanes(configuration, &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    bands = Self.bands(configuration)
    var arena = Arena(memory)
    lanes = Self.lanes(configuration, &arena)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    lanes.widen(widening, &arena)
  }

  @_noLocks public mutating func isFinished() -> Bool { lanes.finish() }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard lanes.begin(block) else { return .silent }
    let room = LaneRoom(block)
    let frames = lanes.work
    let numbers = frames + 32 &* blockCapacity
    let step: Int64 = aim(block, numbers) ? 0 : 1
    let input = block.inputs[0]
    var first = 0
    while first < lanes.channels {
      let count = lanes.count(first)
      if count == 1 {
        processOne(block, first, frames, numbers, step)
        first &+= 8
        continue
      }
      var channel = first
      while channel < first &+ count {
        copyMemory(room.row(channel), input[channel], 4 &* blockCapacity)
        channel &+= 1
      }
      room.turn(count, to: frames)
      sostenuto_cross_eight(
        frames, numbers, step, lanes.states(first), Int64(truncatingIfNeeded: bands),
        Int64(truncatingIfNeeded: block.frames))
      lanes.mend(first)
      var band = 0
      while band < 4 {
        if band < bands { room.turnBack(from: frames + 8 &* blockCapacity &* band) }
        channel = first
        while channel < first &+ count {
          write(room.row(channel), block, band, channel)
          channel &+= 1
        }
        band &+= 1
      }
      first &+= 8
    }
    return .sounding
  }

  /// Writes a channel of a band: silence beyond the last one.
  @inline(__always) @_noLocks private func write(
    _ row: UnsafeMutablePointer<Float>, _ block: Block, _ band: Int, _ channel: Int
  ) {
    if band < bands {
      multiplyWhole(row, 1, to: block.outputs[band][channel])
    } else {
      setMemory(block.outputs[band][channel], 0, 4 &* blockCapacity)
    }
  }

  /// Splits a channel that is alone: nothing has to be turned.
  @inline(__always) @_noLocks private func processOne(
    _ block: Block, _ channel: Int, _ frames: UnsafeMutablePointer<Float>,
    _ numbers: UnsafeMutablePointer<Float>, _ step: Int64
  ) {
    copyWhole(block.inputs[0][channel], to: frames)
    sostenuto_cross_one(
      frames, numbers, step, lanes.states(channel), Int64(truncatingIfNeeded: bands),
      Int64(truncatingIfNeeded: block.frames))
    lanes.mend(channel)
    var band = 0
    while band < 4 {
      write(frames + blockCapacity &* band, block, band, channel)
      band &+= 1
    }
  }

  /// Writes the coefficients of each frequency. True: those of the first frame stand for all.
  @inline(__always) @_noLocks private func aim(_ block: Block, _ numbers: UnsafeMutablePointer<Float>) -> Bool
  {
    var isSteady = true
    var place = 0
    while place < bands &- 1 {
      if !block.parameters[Self.freq(place)].isSteady { isSteady = false }
      place &+= 1
    }
    place = 0
    while place < bands &- 1 {
      let freq = block.parameters[Self.freq(place)]
      let row = numbers + 2 &* blockCapacity &* place
      var frame = 0
      while frame < (isSteady ? 1 : block.frames) {
        let (sine, cosine) = halfAngle(limited(freq.vector(0, frame) / block.rate, 0, 0.49))
        let g = sine / cosine
        row.store(g, frame)
        row.store(1 / (1 + g * (g + 1.414_213_6)), blockCapacity &+ frame)
        frame &+= 16
      }
      place &+= 1
    }
    return isSteady
  }
}
