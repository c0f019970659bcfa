import Realtime

/// The low-pass that splits the tone of one channel.
struct ToneState: BitwiseCopyable {
  /// Its state is their sum, each times its weight (`DistortionMemory.decays`): while the tone rests, nobody needs that.
  private(set) var summands = Frames(repeating: 0)
  /// Its state after frames in which the tone was followed; read from a sum it would have other bits.
  private(set) var followed: Float?
  /// The tone was not 0 in some frame of this 64-frame cell.
  var isFollowed = false

  /// `decays`: the weights of the summands.
  @_noLocks mutating func low(_ decays: Frames) -> Float { followed ?? total(summands * decays) }

  @_noLocks mutating func setLow(_ value: Float) { followed = value }

  /// Makes summands of a state that has been followed. `decay`: the last one's weight.
  @inline(__always) @_noLocks mutating func settle(_ decay: Float) {
    guard let value = followed else { return }
    followed = nil
    summands = Frames(repeating: 0)
    summands[15] = value / decay
  }

  /// The low-pass goes from the start of a cell to its end, sixteen frames at a time, over each of which it decays by `decay`.
  @inline(__always) @_noLocks mutating func passCell(
    _ a: Frames, _ b: Frames, _ c: Frames, _ d: Frames, decay: Float
  ) {
    let sum = addProduct(d, addProduct(c, addProduct(b, a, decay), decay), decay)
    summands = addProduct(sum, summands, (decay * decay) * (decay * decay))
  }
}

/// Memory of one channel's tone. The buffers need no history.
struct ToneRow {
  let state: UnsafeMutablePointer<ToneState>
  /// The shaped sound of this 64-frame cell of engine time, while the tone is 0.
  let cell: UnsafeMutablePointer<Float>
  /// State of the low-pass before each frame.
  let low: UnsafeMutablePointer<Float>

  /// The frames of this cell before the first sound were silence.
  @_noLocks func beginMidway() {
    setMemory(cell, 0, blockCapacity &* 4)
    state.pointee.isFollowed = false
  }

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    state = arena.reserve(MemoryLayout<ToneState>.size).assumingMemoryBound(to: ToneState.self)
    cell = arena.take(Float.self, 64)
    low = arena.take(Float.self, 64)
  }
}

/// One channel's memory without oversampling. The buffers need no history.
struct PlainRow {
  let tone: ToneRow
  /// The shaped sound of the block, where some of it is dry.
  let wet: UnsafeMutablePointer<Float>
  /// The curve that fades out.
  let old: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    tone = ToneRow(&arena)
    wet = arena.take(Float.self, 64)
    old = arena.take(Float.self, 64)
  }
}

/// One oversampled channel's buffers, each with room for its history before the block.
struct DistortionRow {
  let tone: ToneRow
  let wet: UnsafeMutablePointer<Float>
  let dry: UnsafeMutablePointer<Float>
  let input: UnsafeMutablePointer<Float>
  let even: UnsafeMutablePointer<Float>
  let odd: UnsafeMutablePointer<Float>
  let double: UnsafeMutablePointer<Float>
  /// Even phase of the driven sound at the highest rate.
  let driven: UnsafeMutablePointer<Float>
  let innerEven: UnsafeMutablePointer<Float>
  let innerOdd: UnsafeMutablePointer<Float>
  let halved: UnsafeMutablePointer<Float>
  /// Working memory of the curves.
  let curves: CurveRoom
  /// The curve that fades out, both phases.
  let oldEven: UnsafeMutablePointer<Float>
  let oldOdd: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    tone = ToneRow(&arena)
    wet = arena.take(Float.self, 64)
    dry = arena.take(Float.self, 64, after: 48)
    input = arena.take(Float.self, 64, after: 48)
    even = arena.take(Float.self, 64, after: 32)
    odd = arena.take(Float.self, 64, after: 16)
    double = arena.take(Float.self, 128, after: 32)
    driven = arena.take(Float.self, 128, after: 32)
    innerEven = arena.take(Float.self, 128, after: 16)
    innerOdd = arena.take(Float.self, 128, after: 16)
    halved = arena.take(Float.self, 128)
    curves = CurveRoom(&arena)
    oldEven = arena.take(Float.self, 128)
    oldOdd = arena.take(Float.self, 128)
  }

  @_noLocks func keep(_ frames: Int, _ oversampling: Int) {
    keepHistory(dry - 48, 48, frames)
    keepHistory(input - 48, 48, frames)
    keepHistory(even - 32, 32, frames)
    keepHistory(odd - 16, 16, frames)
    if oversampling == 2 {
      keepHistory(driven - 32, 32, frames)
      return
    }
    keepHistory(double - 32, 32, 2 &* frames)
    keepHistory(driven - 32, 32, 2 &* frames)
    keepHistory(innerEven - 16, 16, 2 &* frames)
    keepHistory(innerOdd - 16, 16, 2 &* frames)
  }
}

/// Memory of a distortion.
struct DistortionMemory: BitwiseCopyable {
  /// Weights of the last sixteen frames of a 64-frame cell in the tone's low-pass at the cell's end.
  let decays: UnsafeMutablePointer<Float>
  /// `outer`: 63 taps, between the node's rate and twice it. `inner`: 31 taps, between two and four times the
  /// rate.
  let outer: HalfBand
  let inner: HalfBand
  private let isPlain: Bool
  private let rows: UnsafeMutableRawPointer
  /// Bytes of a channel's row.
  let rowSize: Int

  @_noLocks init(_ channels: Int, oversampling: Int, _ arena: inout Arena) {
    decays = arena.take(Float.self, 16)
    var row = Arena(measuring: ())
    isPlain = oversampling == 1
    if isPlain { _ = PlainRow(&row) } else { _ = DistortionRow(&row) }
    rowSize = row.bytes
    rows = arena.reserve(channels &* rowSize)
    outer = HalfBand(half: 16, &arena)
    inner = HalfBand(half: 8, &arena)
  }

  /// The row of a channel, of either form.
  @inline(__always) @_noLocks func place(_ channel: Int) -> UnsafeMutableRawPointer {
    rows + channel &* rowSize
  }

  @_noLocks func tone(_ channel: Int) -> ToneRow {
    isPlain ? plainRow(channel).tone : row(channel).tone
  }

  @inline(__always) @_noLocks func plainRow(_ channel: Int) -> PlainRow {
    var arena = Arena(place(channel))
    return PlainRow(&arena)
  }

  @inline(__always) @_noLocks func row(_ channel: Int) -> DistortionRow {
    var arena = Arena(place(channel))
    return DistortionRow(&arena)
  }
}
