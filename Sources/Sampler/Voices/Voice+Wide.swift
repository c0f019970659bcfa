import Realtime

/// Interpolation by more than four points.
extension Voice {
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
  @_noLocks @inline(__always) private func planes(
    _ context: VoiceContext, _ first: Int, _ end: Int
  ) -> SincTable.Planes {
    let isStereo = region.pointee.isStereo
    if let planes = self.planes(first, end) {
      return SincTable.Planes(planes.left, isStereo ? planes.right : nil)
    }
    return unrolled(context, first, end)
  }

  @_noLocks @inline(never) private func unrolled(
    _ context: VoiceContext, _ first: Int, _ end: Int
  ) -> SincTable.Planes {
    unroll(region.pointee.left, first, end, to: context.strips)
    let left = plane(context.strips, first)
    guard region.pointee.isStereo else { return SincTable.Planes(left, nil) }
    unroll(region.pointee.right, first, end, to: context.strips + VoiceContext.strip)
    return SincTable.Planes(left, plane(context.strips + VoiceContext.strip, first))
  }

  @_noLocks @inline(__always)
  private func plane(_ strip: UnsafeMutablePointer<Float>, _ first: Int) -> SamplePlane {
    SamplePlane(base: UnsafeRawPointer(strip) - first &<< 2, isShort: false)
  }

  /// Copies the frames one by one, as large as those of the sample, since all are scaled together.
  @_noLocks private func unroll(
    _ plane: SamplePlane, _ first: Int, _ end: Int, to strip: UnsafeMutablePointer<Float>
  ) {
    let scale: Float = plane.isShort ? 1 / SamplePlane.scale : 1
    for index in 0..<end &- first { strip[index] = heard(plane, first &+ index) * scale }
  }
}
