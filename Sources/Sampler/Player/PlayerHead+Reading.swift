import Realtime

/// Reading of a file at the positions in the scratch memory, two channels at a time.
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
    let isNear = isLooping && image.pointee.seam.isNear(course.least, course.most)
    // The kernel of no transposition has at a frame of the file that frame alone.
    let isPlain = course.isPlain && kernel == 0 && !isNear
    var channel = 0
    while channel < used {
      let next = channel &+ 1 < used ? channel &+ 1 : channel
      let left = plane(image, channel)
      let right = next > channel ? plane(image, next) : nil
      if isPlain {
        copy(left, frames, to: scratch.left, scratch)
        if let right { copy(right, frames, to: scratch.right, scratch) }
      } else if quality > 0, !isNear {
        wide(left, right, frames, quality, kernel, scratch)
      } else {
        var frame = 0
        while frame < frames {
          let count = frames &- frame < 16 ? frames &- frame : 16
          let sides =
            quality > 0
            ? wide(image, channel, next, frame, count, quality, kernel, scratch)
            : narrow(image, channel, next, frame, isNear, scratch)
          store(sides.left, scratch.left + frame)
          store(sides.right, scratch.right + frame)
          frame &+= 16
        }
      }
      if channels == 1 {
        for output in 0..<outputs.count {
          mix(scratch.left, share, to: outputs[output] + from, frames, scratch)
        }
      } else {
        mix(scratch.left, share, to: outputs[isFolded ? 0 : channel] + from, frames, scratch)
        if right != nil {
          mix(scratch.right, share, to: outputs[isFolded ? 0 : next] + from, frames, scratch)
        }
      }
      channel = next &+ 1
    }
  }

  @_noLocks @inline(__always)
  private func plane(_ image: UnsafeMutablePointer<AudioImage>, _ channel: Int) -> SamplePlane {
    let first = image.pointee.plane
    return SamplePlane(base: first.base + image.pointee.stride &* channel, isShort: first.isShort)
  }

  /// A channel of the file, or of its seam.
  @_noLocks @inline(__always) private func plane(
    _ image: UnsafeMutablePointer<AudioImage>, _ channel: Int, _ side: FileSeam.Side
  ) -> SamplePlane {
    side == .inside ? plane(image, channel) : image.pointee.seam.plane(side, channel)
  }

  /// Adds a row by the gains to an output, behind which there may be no memory.
  @_noLocks @inline(__always) private func mix(
    _ row: UnsafeMutablePointer<Float>, _ share: Float, to output: UnsafeMutablePointer<Float>, _ frames: Int,
    _ scratch: Scratch
  ) {
    var frame = 0
    while frame &+ 16 <= frames {
      add(vector(row + frame) * (vector(scratch.gains + frame) * share), to: output + frame)
      frame &+= 16
    }
    while frame < frames {
      output[frame] += row[frame] * (scratch.gains[frame] * share)
      frame &+= 1
    }
  }

  /// Successive frames as they are; behind the last of a file lies silence.
  @_noLocks @inline(__always) private func copy(
    _ plane: SamplePlane, _ frames: Int, to row: UnsafeMutablePointer<Float>, _ scratch: Scratch
  ) {
    let first = Int(scratch.places[0] >> 32)
    var frame = 0
    while frame < frames {
      store(plane.vector(first &+ frame), row + frame)
      frame &+= 16
    }
  }

  /// The whole course by eight or 32 points, where no seam is near.
  @_noLocks @inline(__always) private func wide(
    _ left: SamplePlane, _ right: SamplePlane?, _ frames: Int, _ quality: UInt8, _ kernel: Int,
    _ scratch: Scratch
  ) {
    table(quality, kernel, 0, scratch).fill(
      SincTable.Planes(left, right), UnsafePointer(scratch.places), frames,
      scale: left.isShort ? SamplePlane.scale : 1, scratch.partials, to: scratch.left, scratch.right)
  }

  /// The table for the frames from `frame` on.
  @_noLocks @inline(__always)
  private func table(_ quality: UInt8, _ kernel: Int, _ frame: Int, _ scratch: Scratch) -> SincTable {
    var table = scratch.kernels.table(quality, UInt8(truncatingIfNeeded: kernel > 0 ? kernel : 0))
    if kernel < 0 { table.mixes = UnsafePointer(scratch.mixes + frame) }
    return table
  }

  /// By eight or 32 points, where the seam of a loop may be near.
  @_noLocks @inline(never) private func wide(
    _ image: UnsafeMutablePointer<AudioImage>, _ channel: Int, _ next: Int, _ frame: Int, _ count: Int,
    _ quality: UInt8, _ kernel: Int, _ scratch: Scratch
  ) -> Voice.Sides {
    let table = self.table(quality, kernel, frame, scratch)
    let places = UnsafePointer(scratch.places + frame)
    let seam = image.pointee.seam
    let isStereo = next > channel
    var done = 0
    while done < count {
      let side = seam.side(places[done])
      var end = done &+ 1
      while end < count, seam.side(places[end]) == side { end &+= 1 }
      table.write(
        SincTable.Planes(plane(image, channel, side), isStereo ? plane(image, next, side) : nil), places,
        done, end, scratch.partials)
      done = end
    }
    if done < 16 { table.clear(scratch.partials, from: done) }
    let scale = image.pointee.plane.isShort ? SamplePlane.scale : 1
    let sums = table.sums(scratch.partials, side: 0) * scale
    return Voice.Sides(left: sums, right: isStereo ? table.sums(scratch.partials, side: 1) * scale : sums)
  }

  /// By four points. `isNear`: the seam of a loop may be near.
  @_noLocks @inline(never) private func narrow(
    _ image: UnsafeMutablePointer<AudioImage>, _ channel: Int, _ next: Int, _ frame: Int, _ isNear: Bool,
    _ scratch: Scratch
  ) -> Voice.Sides {
    let places = UnsafePointer(scratch.places + frame)
    let low = UnsafeMutableRawPointer(scratch.mixes).assumingMemoryBound(to: UInt32.self)
    for index in 0..<16 { low[index] = UInt32(truncatingIfNeeded: places[index]) }
    let fraction = fractions(UnsafeRawPointer(low).loadUnaligned(as: SIMD16<UInt32>.self))
    if !isNear {
      return Voice.Sides(
        left: Taps(plane(image, channel), positions: places).interpolated(fraction),
        right: Taps(plane(image, next), positions: places).interpolated(fraction))
    }
    return Voice.Sides(
      left: gathered(image, channel, places, scratch).interpolated(fraction),
      right: gathered(image, next, places, scratch).interpolated(fraction))
  }

  /// The neighbours of each position, looked up one by one.
  @_noLocks private func gathered(
    _ image: UnsafeMutablePointer<AudioImage>, _ channel: Int, _ places: UnsafePointer<Int64>,
    _ scratch: Scratch
  ) -> Taps {
    let seam = image.pointee.seam
    let scale = image.pointee.plane.isShort ? SamplePlane.scale : 1
    for index in 0..<16 {
      let side = seam.side(places[index])
      let from = plane(image, channel, side)
      // A file's integers have been scaled.
      let gain = side == .inside ? 1 : scale
      for tap in 0..<4 {
        scratch.strips[4 &* index &+ tap] = from[Int(places[index] >> 32) &+ tap &- 1] * gain
      }
    }
    return Taps(gathered: scratch.strips)
  }
}
