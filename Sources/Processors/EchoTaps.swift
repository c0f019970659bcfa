import CVector
import Realtime

/// The taps of an echo, and the feedback into its lines.
extension Echo {
  /// Sixteen frames of a tap along the course or courses that are heard.
  @inline(__always) @_noLocks private mutating func tap(
    _ number: Int, _ line: DelayLine, _ position: Int, _ frame: Int, _ change: CrossfadeStream, _ rows: Rows
  ) -> Frames {
    let products = rows[Room.products]
    if change.blend == nil, change.new == 0 {
      return gliding.vector(number, line, position, frame, products)
    }
    var y = held.vector(number, line, position, frame, products)
    if isFading {
      let b = rows[Room.fade].vector(frame)
      y = leaving.vector(number, line, position, frame, products) * (1 - b) + y * b
    }
    guard let blend = change.blend else { return y }
    let b = change.new == 1 ? blend.vector(frame) : 1 - blend.vector(frame)
    return gliding.vector(number, line, position, frame, products) * (1 - b) + y * b
  }

  /// All taps but the last, each as loud as `slope` says.
  @inline(__always) @_noLocks private mutating func early(
    _ line: DelayLine, _ position: Int, _ frame: Int, _ change: CrossfadeStream, _ rows: Rows, _ slope: Frames
  ) -> (sum: Frames, share: Frames) {
    var (sum, share, number) = (Frames(repeating: 0), Frames(repeating: 1), 0)
    while number &+ 1 < taps {
      sum += tap(number, line, position, frame, change, rows) * share
      share *= slope
      number &+= 1
    }
    return (sum, share)
  }

  /// A pair of channels, or a single one. A single tap on a single course has loops of its own, in which the
  /// processor's registers are enough.
  @inline(__always) @_noLocks mutating func renderChannels(
    _ block: Block, _ channel: Int, _ isPair: Bool, _ rows: Rows, _ entry: UnsafePointer<Float>?
  ) {
    let change = block.crossfades[Self.change]
    if taps > 1 || change.blend != nil || change.new != 0 {
      render(block, channel, isPair, rows, entry)
    } else if gliding.rests {
      renderResting(block, channel, isPair, rows, entry)
    } else {
      renderGliding(block, channel, isPair, rows, entry)
    }
  }

  @inline(never) @_noLocks private mutating func renderResting(
    _ block: Block, _ channel: Int, _ isPair: Bool, _ rows: Rows, _ entry: UnsafePointer<Float>?
  ) {
    renderFrames(block, channel, isPair, rows, entry, isSingle: true, rests: true)
  }

  @inline(never) @_noLocks private mutating func renderGliding(
    _ block: Block, _ channel: Int, _ isPair: Bool, _ rows: Rows, _ entry: UnsafePointer<Float>?
  ) {
    renderFrames(block, channel, isPair, rows, entry, isSingle: true, rests: false)
  }

  @inline(never) @_noLocks private mutating func render(
    _ block: Block, _ channel: Int, _ isPair: Bool, _ rows: Rows, _ entry: UnsafePointer<Float>?
  ) {
    renderFrames(block, channel, isPair, rows, entry, isSingle: false, rests: false)
  }

  /// Sixteen frames of the last tap.
  @inline(__always) @_noLocks private mutating func lastTap(
    _ line: DelayLine, _ position: Int, _ frame: Int, _ change: CrossfadeStream, _ rows: Rows,
    _ isSingle: Bool, _ rests: Bool
  ) -> Frames {
    if !isSingle { return tap(taps &- 1, line, position, frame, change, rows) }
    if rests { return gliding.resting(line, position) }
    return gliding.moving(line, position, frame, rows[Room.products])
  }

  /// `isSingle`: there is one tap, which glides. `rests`: it has arrived.
  @inline(__always) @_noLocks private mutating func renderFrames(
    _ block: Block, _ channel: Int, _ isPair: Bool, _ rows: Rows, _ entry: UnsafePointer<Float>?,
    isSingle: Bool, rests: Bool
  ) {
    let other = isPair ? channel &+ 1 : channel
    let (parameters, change) = (block.parameters, block.crossfades[Self.change])
    let (line, second) = (line(channel), self.line(other))
    let (first, next) = (rows[Room.first], rows[Room.second])
    var (low, lowNext) = (lows[channel], lows[other])
    var frame = 0
    while frame < block.frames {
      let position = head &+ frame
      let count = block.frames &- frame < 16 ? block.frames &- frame : 16
      let (x, z) = (block.inputs[0][channel].vector(frame), block.inputs[0][other].vector(frame))
      let t = lastTap(line, position, frame, change, rows, isSingle, rests)
      let u = isPair ? lastTap(second, position, frame, change, rows, isSingle, rests) : t
      // The low-passes' states follow from frame to frame; all else of them is done by vectors.
      let damp = rows[Room.damp].vector(frame)
      rows[Room.edge].store(1 - 2 * damp, 0)
      first.store(t * (2 * damp), 0)
      if isPair { next.store(u * (2 * damp), 0) }
      let kept = rows[Room.edge]
      var lane = 0
      while isPair, lane < count {
        let (more, moreNext) = (first[lane], next[lane])
        (first[lane], next[lane]) = (low, lowNext)
        low = sostenuto_add_product_of_one(more, low, kept[lane])
        lowNext = sostenuto_add_product_of_one(moreNext, lowNext, kept[lane])
        lane &+= 1
      }
      // A single channel's chain leaves the processor room for the next frames' taps.
      while lane < count {
        let more = first[lane]
        first[lane] = low
        low = sostenuto_add_product_of_one(more, low, kept[lane])
        lane &+= 1
      }
      let amount = limited(parameters[Self.feedback].vector(0, frame) * 0.01, -1, 1)
      let across =
        isPair ? limited(parameters[Self.pingpong].vector(0, frame) * 0.01, 0, 1) : Frames(repeating: 0)
      let m = limited(parameters[Self.mix].vector(0, frame) * 0.01, 0, 1)
      let slope = limited(parameters[Self.slope].vector(0, frame), 0, 1)
      let gain = entry?.vector(frame) ?? Frames(repeating: 1)
      let a = first.vector(0) + (t - first.vector(0)) * damp
      let b = isPair ? next.vector(0) + (u - next.vector(0)) * damp : a
      let inflow = (x * (1 - across) + (x + z) * (0.5 * across)) * gain
      var (early, share) = (Frames(repeating: 0), Frames(repeating: 1))
      if !isSingle { (early, share) = self.early(line, position, frame, change, rows, slope) }
      line.write(
        Self.flushed(inflow + amount * (a * (1 - across) + b * across)), count, at: position, rows[Room.edge])
      block.outputs[0][channel].store(x * (1 - m) + (early + t * share) * m + 0, frame)
      if isPair {
        if !isSingle { (early, share) = self.early(second, position, frame, change, rows, slope) }
        second.write(
          Self.flushed(z * (1 - across) * gain + amount * (b * (1 - across) + a * across)), count,
          at: position,
          rows[Room.edge])
        block.outputs[0][other].store(z * (1 - m) + (early + u * share) * m + 0, frame)
      }
      frame &+= 16
    }
    // A NaN would stay for ever.
    lows[channel] = low.magnitude < 1e18 ? low : 0
    if isPair { lows[other] = lowNext.magnitude < 1e18 ? lowNext : 0 }
  }

  /// Echoes end at -300 dB instead of in denormals, and what is no number is silent.
  @inline(__always) @_noLocks private static func flushed(_ w: Frames) -> Frames {
    sostenuto_where_above(magnitude(w), 1e-15, sostenuto_numbers(w), Frames(repeating: 0))
  }
}
