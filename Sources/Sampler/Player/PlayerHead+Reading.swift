import Realtime

/// Reading of a file at the positions in the scratch memory, sixteen frames and two channels at a time.
extension PlayerHead {
  /// Adds the frames of the course to the outputs, from the frame `from` on. `kernel`: the long one, or -1 for the mixtures
  /// in the scratch memory. Audio thread.
  @_noLocks func read(
    _ image: UnsafeMutablePointer<AudioImage>, _ outputs: OutputPort, _ from: Int, _ course: Course,
    _ isLooping: Bool, _ quality: UInt8, _ kernel: Int, _ scratch: Scratch
  ) {
    let channels = image.pointee.channels
    let frames = course.frames
    // Both sides of a stereo file go into one output at half gain each, as for a cable.
    let isFolded = outputs.count == 1 && channels == 2
    let share: Float = isFolded ? 0.5 : 1
    let used = channels == 1 || isFolded ? channels : (channels < outputs.count ? channels : outputs.count)
    let end = (frames &+ 15) & ~15
    for index in frames..<end {
      scratch.places[index] = scratch.places[frames &- 1]
      scratch.paces[index] = 1
    }
    let length = image.pointee.frames
    let isNear =
      isLooping && (course.least < SamplePlane.margin || course.most &+ SamplePlane.margin >= length)
    // Of a loop of which the seam is near, otherwise 0.
    let turn = isNear ? length : 0
    var frame = 0
    while frame < frames {
      let count = frames &- frame < 16 ? frames &- frame : 16
      let isPlain = isWhole(frame, count, scratch)
      let gains = vector(scratch.gains + frame) * share
      var channel = 0
      while channel < used {
        let next = channel &+ 1 < used ? channel &+ 1 : channel
        let (left, right) = (plane(image, channel), plane(image, next))
        let sides =
          isPlain
          ? copied(left, right, frame, scratch)
          : quality > 0
            ? wide(left, next > channel ? right : nil, frame, count, turn, quality, kernel, scratch)
            : narrow(left, right, frame, turn, scratch)
        if channels == 1 {
          for output in 0..<outputs.count {
            mix(sides.left * gains, to: outputs[output] + (from &+ frame), count, scratch)
          }
        } else {
          mix(sides.left * gains, to: outputs[isFolded ? 0 : channel] + (from &+ frame), count, scratch)
          if next > channel {
            mix(sides.right * gains, to: outputs[isFolded ? 0 : next] + (from &+ frame), count, scratch)
          }
        }
        channel = next &+ 1
      }
      frame &+= 16
    }
  }

  @_noLocks @inline(__always)
  private func plane(_ image: UnsafeMutablePointer<AudioImage>, _ channel: Int) -> SamplePlane {
    let first = image.pointee.plane
    return SamplePlane(base: first.base + image.pointee.stride &* channel, isShort: first.isShort)
  }

  /// True when the positions are successive frames of the file.
  @_noLocks @inline(__always) private func isWhole(_ frame: Int, _ count: Int, _ scratch: Scratch) -> Bool {
    let places = scratch.places + frame
    let first = places[0]
    guard UInt32(truncatingIfNeeded: first) == 0 else { return false }
    var index = 1
    while index < count, places[index] &- first == Int64(index) &<< 32 { index &+= 1 }
    return index >= count
  }

  /// Adds the first `count` values to an output, behind which there may be no memory.
  @_noLocks @inline(__always) private func mix(
    _ values: SIMD16<Float>, to output: UnsafeMutablePointer<Float>, _ count: Int, _ scratch: Scratch
  ) {
    if count == 16 {
      add(values, to: output)
    } else {
      store(values, scratch.fades)
      for index in 0..<count { output[index] += scratch.fades[index] }
    }
  }

  /// Successive frames as they are; behind the last of a file lies silence.
  @_noLocks @inline(__always) private func copied(
    _ left: SamplePlane, _ right: SamplePlane, _ frame: Int, _ scratch: Scratch
  ) -> Voice.Sides {
    let first = Int(scratch.places[frame] >> 32)
    return Voice.Sides(left: left.vector(first), right: right.vector(first))
  }

  /// By eight or 32 points. `length`: of a loop of which the seam may be near, otherwise 0.
  @_noLocks @inline(never) private func wide(
    _ left: SamplePlane, _ right: SamplePlane?, _ frame: Int, _ count: Int, _ length: Int,
    _ quality: UInt8, _ kernel: Int, _ scratch: Scratch
  ) -> Voice.Sides {
    var table = scratch.kernels.table(quality, UInt8(truncatingIfNeeded: kernel > 0 ? kernel : 0))
    if kernel < 0 { table.mixes = UnsafePointer(scratch.mixes + frame) }
    let places = UnsafePointer(scratch.places + frame)
    var done = 0
    while done < count {
      var end = length > 0 ? done : count
      while end < count, !isNearSeam(places[end], length) { end &+= 1 }
      if end > done {
        table.write(SincTable.Planes(left, right), places, done, end, scratch.partials)
      } else {
        end &+= 1
        let first = Int(places[done] >> 32) &- table.before
        unroll(left, first, table.taps, length, to: scratch.strips)
        if let right { unroll(right, first, table.taps, length, to: scratch.strips + 64) }
        table.write(
          SincTable.Planes(
            strip(scratch.strips, first), right == nil ? nil : strip(scratch.strips + 64, first)),
          places, done, end, scratch.partials)
      }
      done = end
    }
    if done < 16 { table.clear(scratch.partials, from: done) }
    let scale = left.isShort ? SamplePlane.scale : 1
    let sums = table.sums(scratch.partials, side: 0) * scale
    return Voice.Sides(left: sums, right: right == nil ? sums : table.sums(scratch.partials, side: 1) * scale)
  }

  @_noLocks @inline(__always) private func isNearSeam(_ place: Int64, _ length: Int) -> Bool {
    let at = Int(place >> 32)
    return length > 0 && (at < SamplePlane.margin || at &+ SamplePlane.margin >= length)
  }

  @_noLocks @inline(__always)
  private func strip(_ strip: UnsafeMutablePointer<Float>, _ first: Int) -> SamplePlane {
    SamplePlane(base: UnsafeRawPointer(strip) - first &<< 2, isShort: false)
  }

  /// Frames of a loop that goes over its seam, as large as integers are.
  @_noLocks private func unroll(
    _ plane: SamplePlane, _ first: Int, _ count: Int, _ length: Int, to strip: UnsafeMutablePointer<Float>
  ) {
    let scale: Float = plane.isShort ? 1 / SamplePlane.scale : 1
    var at = first % length
    if at < 0 { at = at &+ length }
    for index in 0..<count {
      strip[index] = plane[at] * scale
      at = at &+ 1 < length ? at &+ 1 : 0
    }
  }

  /// By four points.
  @_noLocks @inline(never) private func narrow(
    _ left: SamplePlane, _ right: SamplePlane, _ frame: Int, _ length: Int, _ scratch: Scratch
  ) -> Voice.Sides {
    let places = UnsafePointer(scratch.places + frame)
    let low = UnsafeMutableRawPointer(scratch.mixes).assumingMemoryBound(to: UInt32.self)
    var isInside = true
    for index in 0..<16 {
      low[index] = UInt32(truncatingIfNeeded: places[index])
      isInside = isInside && !isNearSeam(places[index], length)
    }
    let fraction = fractions(UnsafeRawPointer(low).loadUnaligned(as: SIMD16<UInt32>.self))
    if isInside {
      return Voice.Sides(
        left: Taps(left, positions: places).interpolated(fraction),
        right: Taps(right, positions: places).interpolated(fraction))
    }
    return Voice.Sides(
      left: gathered(left, places, length, scratch).interpolated(fraction),
      right: gathered(right, places, length, scratch).interpolated(fraction))
  }

  /// The neighbours of each position, looked up one by one.
  @_noLocks private func gathered(
    _ plane: SamplePlane, _ places: UnsafePointer<Int64>, _ length: Int, _ scratch: Scratch
  ) -> Taps {
    for index in 0..<16 {
      for tap in 0..<4 {
        var at = (Int(places[index] >> 32) &+ tap &- 1) % length
        if at < 0 { at = at &+ length }
        scratch.strips[4 &* index &+ tap] = plane[at]
      }
    }
    return Taps(gathered: scratch.strips)
  }
}
