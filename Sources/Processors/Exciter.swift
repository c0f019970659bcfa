import CVector
import Patch
import Realtime

/// Adds harmonics of the top of a sound.
///
/// The part above `freq` is driven through tanh, and through the square of it, which has even harmonics, at twice the rate and
/// antialiased as a distortion is (`Curve`). Of the result the part above `freq` is added to the sound, which is as late.
public struct Exciter: Kernel {
  public static let description = KindDescription(
    name: "exciter", summary: "Adds harmonics of the top of a sound, for brilliance.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .frequency("freq", "Above it sound makes harmonics.", default: 3000, range: 100...20_000),
      .gain("drive", "How far into the curve: more gives higher harmonics.", default: 12, upTo: 48),
      .number(
        "even", "Share of even harmonics: 0 % gives odd ones only, 100 % even ones only.", default: 50,
        range: 0...100, unit: .percent),
      .gain("amount", "Loudness of what is added.", default: -6),
    ], cost: .init(60, perChannel: 1400))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var drive: Int { @_noLocks get { 1 } }
  public static var even: Int { @_noLocks get { 2 } }
  public static var amount: Int { @_noLocks get { 3 } }

  private var rows: HalfBandRows
  private var quiet = QuietCell()
  private var quietCells = 0
  private var isAsleep = true

  public static func latency(_ configuration: KernelConfiguration) -> Int { HalfBandRows.latency }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    HalfBandRows.bytes(configuration.inputs[0], of: ExciterRow.size)
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    rows = HalfBandRows(configuration.inputs[0], of: ExciterRow.size, &arena)
    rows.filter.design(beta: 8)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    rows = rows.widened(widening, memory: memory)
  }

  @inline(__always) @_noLocks private func row(_ channel: Int) -> ExciterRow {
    var arena = rows[channel]
    return ExciterRow(&arena)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietCells = quiet.isQuiet ? quietCells &+ 1 : 0
    guard quietCells > 3 else { return false }
    var channel = 0
    while channel < rows.channels {
      if !row(channel).state.pointee.hasFaded { return false }
      channel &+= 1
    }
    rows.clear()
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    let (drive, even) = (block.parameters[Self.drive], block.parameters[Self.even])
    let amount = block.parameters[Self.amount]
    let scratch = Rows(block)
    let (a, b, c, wet) = (scratch[0], scratch[1], scratch[2], scratch[3])
    aim(block, a, b, c)
    var channel = 0
    while channel < rows.channels {
      let row = row(channel)
      let from = input[channel]
      var frame = 0
      while frame < block.frames {
        row.dry.store(from.vector(frame), frame)
        wet.store(limited(from.vector(frame), -1e6, 1e6), frame)
        frame &+= 16
      }
      row.state.pointee.before.passHigh(wet, a, b, c, block.frames)
      frame = 0
      while frame < block.frames {
        row.input.store(wet.vector(frame) * drive.vector(0, frame), frame)
        frame &+= 16
      }
      rows.filter.up(row.input, even: row.driven, block.frames)
      row.curves.apply(
        0, row.driven, rows.filter.odd(row.input), toEven: row.even, toOdd: row.odd, block.frames)
      row.curves.apply(
        3, row.driven, rows.filter.odd(row.input), toEven: row.evenSquare, toOdd: row.oddSquare, block.frames)
      frame = 0
      while frame < block.frames {
        let share = limited(even.vector(0, frame) * 0.01, 0, 1)
        row.even.store(row.even.vector(frame) * (1 - share) + row.evenSquare.vector(frame) * share, frame)
        row.odd.store(row.odd.vector(frame) * (1 - share) + row.oddSquare.vector(frame) * share, frame)
        frame &+= 16
      }
      rows.filter.down(even: row.even, odd: row.odd, wet, block.frames)
      row.state.pointee.behind.passHigh(wet, a, b, c, block.frames)
      let (dry, to) = (row.dry - HalfBandRows.latency, block.outputs[0][channel])
      frame = 0
      while frame < block.frames {
        to.store(dry.vector(frame) + wet.vector(frame) * amount.vector(0, frame) + 0, frame)
        frame &+= 16
      }
      row.keep(block.frames)
      channel &+= 1
    }
    return .sounding
  }

  /// Coefficients of the high-pass in each frame: of Butterworth's second order, without delay in its loop.
  @inline(__always) @_noLocks private func aim(
    _ block: Block, _ a: UnsafeMutablePointer<Float>, _ b: UnsafeMutablePointer<Float>,
    _ c: UnsafeMutablePointer<Float>
  ) {
    let freq = block.parameters[Self.freq]
    var frame = 0
    while frame < block.frames {
      let (sine, cosine) = halfAngle(limited(freq.vector(0, frame) * (1 / block.rate), 0.0001, 0.45))
      let g = sine / cosine
      let first = 1 / (1 + g * (g + ExciterFilter.damping))
      a.store(first, frame)
      b.store(g * first, frame)
      c.store(g * (g * first), frame)
      frame &+= 16
    }
  }
}

/// Memory of a high-pass, whose coefficients come frame by frame.
struct ExciterFilter: BitwiseCopyable {
  private var x: Float = 0
  private var y: Float = 0

  @_noLocks init() {}

  static var damping: Float { @inline(__always) @_noLocks get { 1.414_213_6 } }
  var hasFaded: Bool { @_noLocks get { isInaudible(x) && isInaudible(y) } }

  @inline(never) @_noLocks mutating func passHigh(
    _ frames: UnsafeMutablePointer<Float>, _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>,
    _ c: UnsafePointer<Float>, _ count: Int
  ) {
    var (x, y, frame) = (self.x, self.y, 0)
    while frame < count {
      let input = frames[frame]
      let rest = input - y
      let band = a[frame] * x + b[frame] * rest
      let low = y + b[frame] * x + c[frame] * rest
      x = 2 * band - x
      y = 2 * low - y
      frames[frame] = input - Self.damping * band - low
      frame &+= 1
    }
    // A NaN would stay for ever.
    let isTame = x.magnitude < 1e18 && y.magnitude < 1e18
    (self.x, self.y) = isTame ? (x, y) : (0, 0)
  }
}

/// One channel's buffers, each with room for its history before the block.
private struct ExciterRow {
  struct State: BitwiseCopyable {
    var before: ExciterFilter
    var behind: ExciterFilter
    var hasFaded: Bool { @_noLocks get { before.hasFaded && behind.hasFaded } }
  }

  let state: UnsafeMutablePointer<State>
  let dry, input, driven, even, odd, evenSquare, oddSquare: UnsafeMutablePointer<Float>
  let curves: CurveRoom

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    state = arena.reserve(MemoryLayout<State>.size).assumingMemoryBound(to: State.self)
    dry = arena.take(Float.self, 64, after: 48)
    input = arena.take(Float.self, 64, after: 48)
    driven = arena.take(Float.self, 64, after: 32)
    even = arena.take(Float.self, 64, after: 32)
    odd = arena.take(Float.self, 64, after: 16)
    evenSquare = arena.take(Float.self, 64)
    oddSquare = arena.take(Float.self, 64)
    curves = CurveRoom(&arena)
  }

  static var size: Int {
    @_noLocks get {
      var arena = Arena(measuring: ())
      _ = ExciterRow(&arena)
      return arena.bytes
    }
  }

  @inline(__always) @_noLocks func keep(_ frames: Int) {
    keepHistory(dry - 48, 48, frames)
    keepHistory(input - 48, 48, frames)
    keepHistory(driven - 32, 32, frames)
    keepHistory(even - 32, 32, frames)
    keepHistory(odd - 16, 16, frames)
  }
}
