import CVector
import Realtime

/// Sample reading of a voice, sixteen frames at a time.
extension Voice {
  /// Sixteen frames of both sides; equal for a mono sample.
  struct Sides {
    var left: SIMD16<Float>
    var right: SIMD16<Float>

    static var silent: Sides {
      @_noLocks get { Sides(left: SIMD16(repeating: 0), right: SIMD16(repeating: 0)) }
    }
  }

  /// Writes the next `count` frames of the sample into the rows at `place`. Returns the number of frames,
  /// fewer at the sample's end, which sets `hasEnded`. `ratio` has grown by `ratioStep` per frame since `age`
  /// frames ago; `frame` is the block's next frame. Audio thread.
  @_noLocks mutating func read(
    _ context: VoiceContext, _ ratio: Double, _ ratioStep: Double, _ age: Int, at place: Int, _ frame: Int,
    _ count: Int
  ) -> Int {
    let isEven = context.factors == nil
    let change = ratioStep == 0 ? 0 : fixedPoint(ratioStep * context.factor)
    var increment = fixedPoint(ratio * context.factor) &+ change &* Int64(age)
    if isEven,
      quality == 0
        ? readNear(context, at: place, count, increment, change)
        : readWide(context, at: place, count, increment, change)
    {
      return count
    }
    var done = 0
    while done < count, !hasEnded {
      let some = count &- done < 16 ? count &- done : 16
      let sound: Sides
      if isEven {
        if quality > 0 {
          setSteps(context, increment, change)
          sound = wide(context, some)
        } else {
          sound = steady(context, some, increment, change)
        }
        increment = increment &+ change &* Int64(some)
      } else {
        setSteps(context, ratio, ratioStep, age &+ done, frame &+ done, some)
        sound = quality > 0 ? wide(context, some) : moving(context, some)
      }
      store(sound.left, context.rows + place + done)
      if region.pointee.isStereo { store(sound.right, context.rightRows + place + done) }
      done &+= some
    }
    return done
  }

  /// Sets the increments of sixteen frames; never negative.
  @_noLocks @inline(__always)
  private func setSteps(_ context: VoiceContext, _ increment: Int64, _ change: Int64) {
    var step = increment
    for index in 0..<16 {
      context.steps[index] = step > 0 ? step : 0
      step = step &+ change
    }
  }

  private static var numbers: SIMD8<Int64> {
    @_noLocks @inline(__always) get { SIMD8(0, 1, 2, 3, 4, 5, 6, 7) }
  }

  /// Sets the increment of each frame; never negative, which would lead out of the sample.
  @_noLocks private func setSteps(
    _ context: VoiceContext, _ ratio: Double, _ ratioStep: Double, _ place: Int, _ frame: Int, _ count: Int
  ) {
    if count == 16, let factors = context.factors {
      let (first, second) = (factors + frame, factors + (frame &+ 8))
      var low = sostenuto_fixed_products(first, ratio)
      var high = sostenuto_fixed_products(second, ratio)
      if ratioStep != 0 {
        let numbers = Self.numbers &+ SIMD8(repeating: Int64(place))
        low &+= sostenuto_fixed_products(first, ratioStep) &* numbers
        high &+= sostenuto_fixed_products(second, ratioStep) &* (numbers &+ SIMD8(repeating: 8))
      }
      context.setSteps(sostenuto_positive(low), sostenuto_positive(high))
      return
    }
    for index in 0..<count {
      let factor = context.factors?[frame &+ index] ?? context.factor
      let change = fixedPoint(ratioStep * factor)
      let step = fixedPoint(ratio * factor) &+ change &* (Int64(place) &+ Int64(index))
      context.steps[index] = step > 0 ? step : 0
    }
    for index in count..<16 { context.steps[index] = 0 }
  }

  /// Reads in windows, if these contain everything needed; otherwise false, with no effect.
  @_noLocks private mutating func readNear(
    _ context: VoiceContext, at place: Int, _ count: Int, _ increment: Int64, _ change: Int64
  ) -> Bool {
    let sixteens = (count &+ 15) &>> 4
    let steps = Int64(sixteens &* 16 &- 1)
    let final = increment &+ change &* steps
    guard SampleWindow.isAtHand, region.pointee.stream == nil, increment >= 0, final >= 0,
      increment < SampleWindow.largestStep, final < SampleWindow.largestStep, wrap()
    else { return false }
    let course = SampleWindow.Course(position, increment, change)
    let last = course.place(steps)
    guard let planes = planes(around: last),
      planes.isSeam || Int(last >> 32) &+ SampleWindow.reach <= region.pointee.end &+ SamplePlane.margin
    else { return false }
    SampleWindow.read(
      planes, isStereo: region.pointee.isStereo, course, sixteens, to: context.rows + place,
      context.rightRows + place)
    let done = Int64(count &- 1)
    advance(from: course.place(done), by: increment &+ change &* done)
    return true
  }

  /// Planes in which the frames `first..<end` are those that are heard: the sample's, or those of its loop's seam. nil:
  /// they have to be looked up one by one. Audio thread.
  @_noLocks @inline(__always) mutating func planes(_ first: Int, _ end: Int) -> HeardPlanes? {
    if !isLooping
      || (end <= region.pointee.loopEnd &- region.pointee.crossfade
        && (!hasLooped || first >= region.pointee.loopStart))
    {
      return HeardPlanes(left: region.pointee.left, right: region.pointee.right, isSeam: false, scale: 1)
    }
    return region.pointee.seam.planes(
      first, end, of: region.pointee.loop, hasLooped: hasLooped, isShort: region.pointee.left.isShort)
  }

  /// The same for some points around every position up to `last`: `before` of them before it, and `after` from it on. A
  /// voice that has to end, or that leaves its loop meanwhile, is looked after frame by frame.
  @_noLocks @inline(__always) mutating func planes(
    around last: Int64, before: Int = 1, after: Int = 3
  ) -> HeardPlanes? {
    let final = Int(last >> 32)
    if isLooping {
      guard final < region.pointee.loopEnd || turns < 0 else { return nil }
    } else if final >= region.pointee.end {
      return nil
    }
    return planes(Int(position >> 32) &- before, final &+ after)
  }

  /// Moves on from the position `last`, which has been read, by `step`. What has gone past the loop's end is on its
  /// next pass.
  @_noLocks @inline(__always) mutating func advance(from last: Int64, by step: Int64) {
    position = last
    if isLooping, Int(last >> 32) >= region.pointee.loopEnd { _ = wrap() }
    position = position &+ step
  }

  @_noLocks @inline(__always) private mutating func steady(
    _ context: VoiceContext, _ count: Int, _ increment: Int64, _ change: Int64
  ) -> Sides {
    let length = increment &* 15 &+ change &* 105
    let isThere = region.pointee.stream == nil || isRead(length)
    // Increments that fall below zero would lead out of the sample.
    guard isThere, increment >= 0, increment &+ change &* 15 >= 0,
      let planes = planes(around: position &+ length)
    else {
      setSteps(context, increment, change)
      return isThere ? gathered(context, count) : skipped(context, count)
    }
    let sides =
      change == 0 ? even(planes, increment) : changing(planes, increment, change)
    let done = Int64(count &- 1)
    advance(
      from: position &+ increment &* done &+ change &* (done &* (done &- 1) / 2),
      by: increment &+ change &* done)
    return sides
  }

  @_noLocks @inline(__always) private mutating func even(_ planes: HeardPlanes, _ increment: Int64) -> Sides {
    let fraction = fractions(position: position, increment: increment)
    let left =
      Taps(planes.left, position: position, increment: increment).interpolated(fraction) * planes.scale
    guard region.pointee.isStereo else { return Sides(left: left, right: left) }
    return Sides(
      left: left,
      right: Taps(planes.right, position: position, increment: increment).interpolated(fraction)
        * planes.scale)
  }

  /// The increment grows linearly, within a control period of moving pitch.
  @_noLocks @inline(__always) private mutating func changing(
    _ planes: HeardPlanes, _ increment: Int64, _ change: Int64
  ) -> Sides {
    let fraction = fractions(position: position, increment: increment, change: change)
    let taps = Taps(planes.left, position: position, increment: increment, change: change)
    let left = taps.interpolated(fraction) * planes.scale
    guard region.pointee.isStereo else { return Sides(left: left, right: left) }
    let others = Taps(planes.right, position: position, increment: increment, change: change)
    return Sides(left: left, right: others.interpolated(fraction) * planes.scale)
  }

  /// Every frame has its own increment, while the sampler's tuning moves.
  @_noLocks @inline(never) private mutating func moving(_ context: VoiceContext, _ count: Int) -> Sides {
    let (low, high) = context.loadSteps()
    let (step, lastStep) = (context.steps[count &- 1], context.steps[15])
    // Replaces the increments by their positions.
    let end = sostenuto_advance(context.steps, position, context.steps)
    let last = end &- lastStep
    let isThere = region.pointee.stream == nil || isRead(last &- position)
    guard isThere, let planes = planes(around: last) else {
      context.setSteps(low, high)
      return isThere ? gathered(context, count) : skipped(context, count)
    }
    let (first, second) = context.loadSteps()
    let fraction = fractions(
      unsafeBitCast(
        sostenuto_evens(
          unsafeBitCast(first, to: SIMD16<Float>.self), unsafeBitCast(second, to: SIMD16<Float>.self)),
        to: SIMD16<UInt32>.self))
    let left = Taps(planes.left, positions: context.steps).interpolated(fraction) * planes.scale
    var right = left
    if region.pointee.isStereo {
      right = Taps(planes.right, positions: context.steps).interpolated(fraction) * planes.scale
    }
    advance(from: end &- step, by: step)
    return Sides(left: left, right: right)
  }

  // MARK: Streams

  /// True when the data for the frames from the position on, over `length`, is in memory. Requests the data
  /// needed next. Audio thread.
  @_noLocks @inline(never) mutating func isRead(_ length: Int64) -> Bool {
    guard let stream = region.pointee.stream, let image, wrap() else { return true }
    let header = UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self)
    let reach = SamplePlane.margin &+ 1
    let first = Int(position >> 32) &- reach
    let last = Int((position &+ length) >> 32) &+ reach
    stream.pointee.expect(last, pace: Double(length) / (15 * 4_294_967_296))
    guard isLooping else { return stream.pointee.has(first, last, header) }
    let (start, end) = (region.pointee.loopStart, region.pointee.loopEnd)
    var isThere = stream.pointee.has(first, last < end ? last : end, header)
    if last &+ StreamTable.chunkFrames >= end { stream.pointee.expect(start, pace: 0) }
    if last >= end, !stream.pointee.has(start &- reach, start &+ (last &- end) &+ reach, header) {
      isThere = false
    }
    // The end of the loop is crossfaded with the frames before its start.
    let fade = region.pointee.crossfade
    if fade > 0, last &+ StreamTable.chunkFrames >= end &- fade {
      stream.pointee.expect(start &- fade, pace: 0)
      let back = end &- start
      if last >= end &- fade, !stream.pointee.has(first &- back, last &- back, header) { isThere = false }
    }
    if hasLooped, first < start, !stream.pointee.has(end &- 2 &* reach, end, header) { isThere = false }
    return isThere
  }

  /// Missing frames: writes silence and advances.
  @_noLocks mutating func skipped(_ context: VoiceContext, _ count: Int) -> Sides {
    for index in 0..<count { position = position &+ context.steps[index] }
    return Sides.silent
  }

  /// Wraps the position into the loop, and ends a voice without further frames; false then.
  @_noLocks @inline(__always) mutating func wrap() -> Bool {
    if isLooping, Int(position >> 32) >= region.pointee.loopEnd {
      let start = Int64(region.pointee.loopStart) &<< 32
      let length = Int64(region.pointee.loopEnd &- region.pointee.loopStart) &<< 32
      if turns >= 0 {
        // After its last pass the loop continues behind its end.
        let passed = (position &- start) / length
        turns = Int64(turns) > passed ? turns &- Int32(truncatingIfNeeded: passed) : 0
        isLooping = turns > 0
      }
      position = start &+ (position &- start) % length
      hasLooped = true
    }
    if !isLooping, Int(position >> 32) >= region.pointee.end {
      hasEnded = true
      return false
    }
    return true
  }

  /// The frame heard at `place`: wrapped, and near the loop's end crossfaded with the frames before its
  /// start.
  @_noLocks @inline(__always) mutating func heard(_ plane: SamplePlane, _ place: Int) -> Float {
    guard isLooping else { return plane[place] }
    let loop = region.pointee.loop
    return loop.heard(plane, hasLooped || place >= loop.end ? loop.folded(place) : place)
  }

  /// Slow path near a loop's seam and near the end. The neighbours of every frame are looked up one by one,
  /// with the same arithmetic as elsewhere, so the choice of path is inaudible.
  @_noLocks @inline(never) private mutating func gathered(_ context: VoiceContext, _ count: Int) -> Sides {
    let leftTaps = context.gathered
    let rightTaps = context.gathered + 64
    setMemory(leftTaps, 0, 512)
    setMemory(context.low, 0, 64)
    for index in 0..<count {
      guard wrap() else { break }
      let at = Int(position >> 32)
      context.low[index] = UInt32(truncatingIfNeeded: position)
      for tap in 0..<4 {
        let place = at &- 1 &+ tap
        leftTaps[index &* 4 &+ tap] = heard(region.pointee.left, place)
        rightTaps[index &* 4 &+ tap] = heard(region.pointee.right, place)
      }
      position = position &+ context.steps[index]
    }
    let fraction = fractions(UnsafeRawPointer(context.low).loadUnaligned(as: SIMD16<UInt32>.self))
    return Sides(
      left: Taps(gathered: leftTaps).interpolated(fraction),
      right: Taps(gathered: rightTaps).interpolated(fraction))
  }
}
