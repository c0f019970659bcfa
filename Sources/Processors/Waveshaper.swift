import CVector
import Patch
import Realtime

/// Drives sound through a curve that is drawn as nine points.
///
/// Between the points the curve is straight, beyond them level. It runs at twice the rate, antialiased by antiderivatives of
/// the second order, as the curves of a distortion with corners are (`Curve`): a line between two frames is averaged for each
/// straight part of the curve, weighted by its rise. That is linear in the points, which may therefore move as sound does.
/// Output is `latency` frames late, and so is the dry sound.
public struct Waveshaper: Kernel {
  public static let description = KindDescription(
    name: "waveshaper", summary: "Drives sound through a curve that is drawn as nine points.",
    category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .gain("drive", "How far into the curve.", default: 0, upTo: 60),
      .percent("mix", "How much of it is shaped.", default: 100),
    ]
      + (1...points).map { point in
        .number(
          "y\(point)", "The curve's value at \(place(point)); the whole is moved so that silence is silent.",
          default: -1 + Double(point - 1) / 4, range: -2...2)
      }, cost: .init(60, perChannel: 900))

  private static var points: Int { 9 }
  private static func place(_ point: Int) -> Double { -1 + Double(point - 1) / 4 }

  /// Positions in `description.parameters`.
  public static var drive: Int { @_noLocks get { 0 } }
  public static var mix: Int { @_noLocks get { 1 } }
  /// That of the point `point`, from 1 to 9.
  @_noLocks public static func y(_ point: Int) -> Int { 1 &+ point }

  private var rows: HalfBandRows
  private var quiet = QuietCell()
  private var quietCells = 0
  private var isAsleep = true

  public static func latency(_ configuration: KernelConfiguration) -> Int { HalfBandRows.latency }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    HalfBandRows.bytes(configuration.inputs[0], of: ShaperRow.size)
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    rows = HalfBandRows(configuration.inputs[0], of: ShaperRow.size, &arena)
    rows.filter.design(beta: 8)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    rows = rows.widened(widening, memory: memory)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietCells = quiet.isQuiet ? quietCells &+ 1 : 0
    // By then every history holds silence.
    guard quietCells > 3 else { return false }
    rows.clear()
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    let points = ShaperPoints(block)
    let (drive, mix) = (block.parameters[Self.drive], block.parameters[Self.mix])
    var channel = 0
    while channel < rows.channels {
      var arena = rows[channel]
      let row = ShaperRow(&arena)
      var frame = 0
      while frame < block.frames {
        let x = input[channel].vector(frame)
        row.input.store(limited(x * drive.vector(channel, frame), -1e6, 1e6), frame)
        row.dry.store(x, frame)
        frame &+= 16
      }
      rows.filter.up(row.input, even: row.driven, block.frames)
      row.shape(row.driven, rows.filter.odd(row.input), points, block.frames)
      rows.filter.down(even: row.even, odd: row.odd, points.wet, block.frames)
      let (dry, to) = (row.dry - HalfBandRows.latency, block.outputs[0][channel])
      frame = 0
      while frame < block.frames {
        let m = limited(mix.vector(channel, frame) * 0.01, 0, 1)
        to.store(dry.vector(frame) * (1 - m) + points.wet.vector(frame) * m + 0, frame)
        frame &+= 16
      }
      row.keep(block.frames)
      channel &+= 1
    }
    return .sounding
  }
}

/// Rises of the curve from point to point in each frame of a block.
private struct ShaperPoints {
  private let rises: UnsafeMutablePointer<Float>
  /// Room for a channel's shaped sound.
  let wet: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ block: Block) {
    var arena = Arena(block.scratch)
    rises = arena.take(Float.self, 8 &* blockCapacity)
    wet = arena.take(Float.self, blockCapacity)
    let parameters = block.parameters
    var frame = 0
    while frame < block.frames {
      var before = parameters[Waveshaper.y(1)].vector(0, frame)
      var part = 0
      while part < 8 {
        let next = parameters[Waveshaper.y(2) &+ part].vector(0, frame)
        rises.store(next - before, part &* blockCapacity &+ frame)
        before = next
        part &+= 1
      }
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks func rise(_ part: Int, _ frame: Int) -> Frames {
    rises.vector(part &* blockCapacity &+ frame)
  }
}

/// One channel's buffers, each with room for its history before the block.
private struct ShaperRow {
  let dry, input, driven, even, odd: UnsafeMutablePointer<Float>
  /// Averages of lines that end at even frames, weighted for their start; of both lines at even frames; of those that end at
  /// odd frames, weighted for their end.
  let starts, evens, ends: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    dry = arena.take(Float.self, 64, after: 48)
    input = arena.take(Float.self, 64, after: 48)
    driven = arena.take(Float.self, 64)
    even = arena.take(Float.self, 64, after: 32)
    odd = arena.take(Float.self, 64, after: 16)
    starts = arena.take(Float.self, 64, after: 16)
    evens = arena.take(Float.self, 64, after: 16)
    ends = arena.take(Float.self, 64, after: 16)
  }

  static var size: Int {
    @_noLocks get {
      var arena = Arena(measuring: ())
      _ = ShaperRow(&arena)
      return arena.bytes
    }
  }

  @inline(__always) @_noLocks func keep(_ frames: Int) {
    keepHistory(dry - 48, 48, frames)
    keepHistory(input - 48, 48, frames)
    keepHistory(even - 32, 32, frames)
    keepHistory(odd - 16, 16, frames)
    keepHistory(starts - 16, 16, frames)
    keepHistory(evens - 16, 16, frames)
    keepHistory(ends - 16, 16, frames)
  }

  /// Shapes the two phases at twice the rate, a frame late.
  @inline(never) @_noLocks func shape(
    _ x: UnsafeMutablePointer<Float>, _ odd: UnsafeMutablePointer<Float>, _ points: ShaperPoints,
    _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      let (before, here, there) = (odd.vector(frame &- 1), x.vector(frame), odd.vector(frame))
      let (first, second) = (Self.inverse(before, here), Self.inverse(here, there))
      let reach = sostenuto_extremes_of_three(before, here, there)
      var start = Frames(repeating: 0)
      var (middle, end) = (start, start)
      var part = 0
      var low: Float = -1
      // Below silence a part counts from its upper end: so silence is 0 throughout, in the histories of a row that begins
      // as well, and so is what lies beyond all that sounds.
      var ceiling: Float = 1
      while part < 8 {
        defer {
          low += 0.25
          if low == 0 { ceiling = 0 }
          part &+= 1
        }
        if part < 4 ? reach.least >= low + 0.25 : reach.most <= low { continue }
        let rise = points.rise(part, frame)
        let a = Self.place(before, low)
        let b = Self.place(here, low)
        let c = Self.place(there, low)
        let toHere = Self.averages(a, b, first, ceiling)
        let onwards = Self.averages(b, c, second, ceiling)
        start = addProduct(start, toHere.start, rise)
        middle = addProduct(middle, toHere.end + onwards.start, rise)
        end = addProduct(end, onwards.end, rise)
      }
      starts.store(start, frame)
      evens.store(middle, frame)
      ends.store(end, frame)
      frame &+= 16
    }
    frame = 0
    while frame < frames {
      // The droop of the averages is levelled by three taps, as a distortion's is.
      let before = starts.vector(frame &- 1) + ends.vector(frame &- 2)
      let evenOne = evens.vector(frame &- 1)
      let oddOne = starts.vector(frame) + ends.vector(frame &- 1)
      even.store(1.42 * evenOne - 0.21 * (before + oddOne), frame)
      self.odd.store(1.42 * oddOne - 0.21 * (evenOne + evens.vector(frame)), frame)
      frame &+= 16
    }
  }

  /// Place in a straight part of the curve, which goes from 0 to 1, and the same held in it.
  @inline(__always) @_noLocks private static func place(_ x: Frames, _ low: Float) -> (Frames, Frames) {
    let u = (x - low) * 4
    return (u, limited(u, 0, 1))
  }

  /// Inverse of a line's length in parts of the curve; 0 where it has (nearly) none.
  @inline(__always) @_noLocks private static func inverse(_ a: Frames, _ b: Frames) -> Frames {
    let length = (b - a) * 4
    return sostenuto_where_above(length * length, 1e-12, 1 / length, Frames(repeating: 0))
  }

  /// Both averages of a line (`ClippedFrames.averages`): level, straight between two fractions of its length, level.
  /// `ceiling`: a place in the part, from which they count.
  @inline(__always) @_noLocks private static func averages(
    _ a: (Frames, Frames), _ b: (Frames, Frames), _ inverse: Frames, _ ceiling: Float
  ) -> (start: Frames, end: Frames) {
    let drop = a.1 - b.1
    let half = 0.5 * (b.1 - ceiling)
    let enters = limited((a.1 - a.0) * inverse, 0, 1)
    let leaves = limited((b.1 - b.0) * inverse + 1, 0, 1)
    let both = enters + leaves
    let sixth = (both * both - enters * leaves) * (1 / 6)
    return (half + drop * (0.5 * both - sixth), half + drop * sixth)
  }
}
