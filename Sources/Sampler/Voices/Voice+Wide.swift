import CVector
import Realtime

/// Interpolation by more than four points.
extension Voice {
  /// Reads a whole run, if all that it needs lies side by side; otherwise false, with no effect. Audio thread.
  @_noLocks mutating func readWide(
    _ context: VoiceContext, at place: Int, _ count: Int, _ increment: Int64, _ change: Int64
  ) -> Bool {
    let done = Int64(count &- 1)
    let step = increment &+ change &* done
    // Increments that fall below zero would lead out of the sample.
    guard region.pointee.stream == nil, increment >= 0, step >= 0, wrap() else { return false }
    let last = position &+ increment &* done &+ change &* (done &* (done &- 1) / 2)
    let table = context.kernels.table(quality, kernel)
    guard let planes = planes(around: last, before: table.before, after: table.taps &- table.before) else {
      return false
    }
    sostenuto_write_places(position, increment, change, Int64(count), context.steps)
    // Frames of the last sixteen that nobody hears.
    var frame = count
    while frame & 15 != 0 {
      context.steps[frame] = last
      frame &+= 1
    }
    table.fill(
      SincTable.Planes(planes.left, region.pointee.isStereo ? planes.right : nil), context.steps, count,
      scale: region.pointee.left.isShort ? SamplePlane.scale : 1, context.partials, to: context.rows + place,
      context.rightRows + place)
    advance(from: last, by: step)
    return true
  }

  /// The next `count` frames, at most sixteen, by the increments in `context.steps`. Audio thread.
  @_noLocks @inline(never) mutating func wide(_ context: VoiceContext, _ count: Int) -> Sides {
    if region.pointee.stream != nil {
      var length: Int64 = 0
      for index in 0..<count { length = length &+ context.steps[index] }
      if !isRead(length) { return skipped(context, count) }
    }
    let table = context.kernels.table(quality, kernel)
    let isStereo = region.pointee.isStereo
    var done = 0
    while done < count, wrap() {
      let first = Int(position >> 32) &- table.before
      let next = place(context, done, count, table.taps)
      let end = Int(context.steps[next &- 1] >> 32) &- table.before &+ table.taps
      table.write(planes(context, first, end), context.steps, done, next, context.partials)
      done = next
    }
    if done < 16 { table.clear(context.partials, from: done) }
    let scale = region.pointee.left.isShort ? SamplePlane.scale : 1
    let left = table.sums(context.partials, side: 0) * scale
    let right = isStereo ? table.sums(context.partials, side: 1) * scale : left
    return Sides(left: left, right: right)
  }

  /// Replaces increments, from that of the frame `done` on, by their positions: up to the next wrap, and so
  /// many that the frames read fit into a strip. Returns the number of the frame after the last.
  @_noLocks @inline(__always)
  private mutating func place(_ context: VoiceContext, _ done: Int, _ count: Int, _ taps: Int) -> Int {
    let turn = isLooping ? region.pointee.loopEnd : region.pointee.end
    let furthest = Int(position >> 32) &+ VoiceContext.strip &- taps
    let limit = Int64(turn < furthest ? turn : furthest) &<< 32
    var at = position
    var index = done
    while index < count, at < limit {
      let step = context.steps[index]
      context.steps[index] = at
      at = at &+ step
      index &+= 1
    }
    position = at
    return index
  }

  /// The frames `first..<end` as they are heard, side by side: of the sample, of its loop's seam, or copied.
  @_noLocks @inline(__always) private mutating func planes(
    _ context: VoiceContext, _ first: Int, _ end: Int
  ) -> SincTable.Planes {
    let isStereo = region.pointee.isStereo
    if let planes = self.planes(first, end) {
      return SincTable.Planes(planes.left, isStereo ? planes.right : nil)
    }
    return unrolled(context, first, end)
  }

  @_noLocks @inline(never) private mutating func unrolled(
    _ context: VoiceContext, _ first: Int, _ end: Int
  ) -> SincTable.Planes {
    unroll(region.pointee.left, first, end, to: context.strips)
    let left = plane(context.strips, first)
    guard region.pointee.isStereo else { return SincTable.Planes(left, nil) }
    unroll(region.pointee.right, first, end, to: context.strips + VoiceContext.strip)
    return SincTable.Planes(left, plane(context.strips + VoiceContext.strip, first))
  }

  @_noLocks @inline(__always)
  private mutating func plane(_ strip: UnsafeMutablePointer<Float>, _ first: Int) -> SamplePlane {
    SamplePlane(base: UnsafeRawPointer(strip) - first &<< 2, isShort: false)
  }

  /// Copies the frames one by one, as large as those of the sample, since all are scaled together.
  @_noLocks private mutating func unroll(
    _ plane: SamplePlane, _ first: Int, _ end: Int, to strip: UnsafeMutablePointer<Float>
  ) {
    let scale: Float = plane.isShort ? 1 / SamplePlane.scale : 1
    for index in 0..<end &- first { strip[index] = heard(plane, first &+ index) * scale }
  }
}
