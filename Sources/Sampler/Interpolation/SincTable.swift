import CVector
import Realtime

/// One kernel of interpolation: a polynomial of second degree for each tap, around each of 65 places from one
/// frame to the next, so that a kernel of 32 taps takes 16 KB, which stay in the first cache; of eight taps, for
/// each of 32 phases between two frames. Without a transposition the weights of 32 taps are off by -129 dB.
///
/// A frame's products are summed in two steps: `write` leaves a row of eight partial sums for each frame, and
/// `sums` adds up sixteen rows at once. `fill` does both for a run of frames.
struct SincTable {
  /// Those of eight taps.
  static var phases: Int { @_noLocks @inline(__always) get { 32 } }
  /// Floats of partial sums: sixteen rows for each side.
  static var partials: Int { @_noLocks @inline(__always) get { 2 &* side } }
  private static var side: Int { @_noLocks @inline(__always) get { 128 } }

  let rows: UnsafePointer<Float>
  let taps: Int
  /// The number of each frame's kernel, with a fraction, for paces between two kernels: `rows` are those of kernel
  /// 0.
  var mixes: UnsafePointer<Float>?

  @_noLocks @inline(__always) init(rows: UnsafePointer<Float>, taps: Int) {
    self.rows = rows
    self.taps = taps
  }

  /// Floats of a table; of 32 taps, with the units of its words.
  @_noLocks @inline(__always) static func size(_ taps: Int) -> Int {
    taps < 32 ? phases &* row(taps) : Int(sostenuto_points_rows) &* row(taps) &+ taps
  }

  /// Floats of a phase: the coefficients of the taps' polynomials, of which 32 have two packed
  /// (`sostenuto_weights_of_points`).
  @_noLocks @inline(__always) static func row(_ taps: Int) -> Int {
    taps < 32 ? 3 &* taps : Int(sostenuto_points_row)
  }

  /// Frames before the one at the position.
  var before: Int { @_noLocks @inline(__always) get { taps / 2 &- 1 } }

  /// The planes to read from; the right one is nil if there is none.
  struct Planes {
    var left: SamplePlane
    var right: SamplePlane?

    @_noLocks @inline(__always) init(_ left: SamplePlane, _ right: SamplePlane?) {
      self.left = left
      self.right = right
    }
  }

  /// Writes `count` frames, at these positions (32.32 fixed point) of the planes and times `scale`, into a row for each
  /// side: whole sixteens, for which there are positions. Audio thread.
  @_noLocks @inline(never) func fill(
    _ planes: Planes, _ positions: UnsafePointer<Int64>, _ count: Int, scale: Float,
    _ partials: UnsafeMutablePointer<Float>, to row: UnsafeMutablePointer<Float>,
    _ otherRow: UnsafeMutablePointer<Float>
  ) {
    let isShort = planes.left.isShort
    let left = planes.left.base - before &<< (isShort ? 1 : 2)
    let right = planes.right.map { $0.base - before &<< (isShort ? 1 : 2) }
    if taps == 32, mixes == nil {
      return sostenuto_weigh(
        isShort, rows, left, right, positions, Int64(count), scale, row, otherRow)
    }
    var frame = 0
    while frame < count {
      writeSixteen(planes, left, right, positions + frame, mixes.map { $0 + frame }, partials)
      store(sums(partials, side: 0) * scale, row + frame)
      if right != nil { store(sums(partials, side: 1) * scale, otherRow + frame) }
      frame &+= 16
    }
  }

  /// The partial sums of sixteen frames by few points, or between kernels, which are mostly the same two for all.
  @_noLocks @inline(__always) private func writeSixteen(
    _ planes: Planes, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer?, _ positions: UnsafePointer<Int64>,
    _ mixes: UnsafePointer<Float>?, _ partials: UnsafeMutablePointer<Float>
  ) {
    if taps == 32, let mixes {
      let whole = sostenuto_common_whole(mixes)
      if whole >= 0 {
        let size = Self.size(32)
        return sostenuto_weigh_between(
          planes.left.isShort, rows + Int(whole) &* size, Int64(size), mixes, Float(whole), left, right,
          positions, partials, partials + Self.side)
      }
    }
    write(planes, positions, mixes, 0, 16, partials)
  }

  /// Writes the partial sums of the frames `from..<to`, at these positions (32.32 fixed point) of the planes.
  /// Audio thread.
  @_noLocks @inline(__always) func write(
    _ planes: Planes, _ positions: UnsafePointer<Int64>, _ from: Int, _ to: Int,
    _ partials: UnsafeMutablePointer<Float>
  ) {
    write(planes, positions, mixes, from, to, partials)
  }

  @_noLocks private func write(
    _ planes: Planes, _ positions: UnsafePointer<Int64>, _ mixes: UnsafePointer<Float>?, _ from: Int,
    _ to: Int,
    _ partials: UnsafeMutablePointer<Float>
  ) {
    let left = planes.left.base - before &<< (planes.left.isShort ? 1 : 2)
    if let other = planes.right {
      let right = other.base - before &<< (other.isShort ? 1 : 2)
      if planes.left.isShort {
        write(isShort: true, isStereo: true, left, right, positions, mixes, from, to, partials)
      } else {
        write(isShort: false, isStereo: true, left, right, positions, mixes, from, to, partials)
      }
    } else if planes.left.isShort {
      write(isShort: true, isStereo: false, left, left, positions, mixes, from, to, partials)
    } else {
      write(isShort: false, isStereo: false, left, left, positions, mixes, from, to, partials)
    }
  }

  @_noLocks @inline(__always) private func write(
    isShort: Bool, isStereo: Bool, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer,
    _ positions: UnsafePointer<Int64>, _ mixes: UnsafePointer<Float>?, _ from: Int, _ to: Int,
    _ partials: UnsafeMutablePointer<Float>
  ) {
    // Frames by twos: a vector of sums is loaded at once soon after.
    var index = from
    if taps < 32 {
      while index &+ 1 < to {
        let (one, two) = (positions[index], positions[index &+ 1])
        let (weights, others) = (short(one), short(two))
        let row = partials + index &* 8
        store(
          SIMD16(
            lowHalf: weights * Self.eight(isShort, left, one),
            highHalf: others * Self.eight(isShort, left, two)),
          row)
        if isStereo {
          store(
            SIMD16(
              lowHalf: weights * Self.eight(isShort, right, one),
              highHalf: others * Self.eight(isShort, right, two)), row + Self.side)
        }
        index &+= 2
      }
      if index < to {
        let weights = short(positions[index])
        let row = UnsafeMutableRawPointer(partials + index &* 8)
        row.storeBytes(of: weights * Self.eight(isShort, left, positions[index]), as: SIMD8<Float>.self)
        if isStereo {
          row.storeBytes(
            of: weights * Self.eight(isShort, right, positions[index]), toByteOffset: 4 &* Self.side,
            as: SIMD8<Float>.self)
        }
      }
    } else if let mixes {
      while index &+ 1 < to {
        let weights = mixed(positions[index], mixes[index])
        let others = mixed(positions[index &+ 1], mixes[index &+ 1])
        weights.write(isShort, isStereo, left, right, positions + index, others, partials + index &* 8)
        index &+= 2
      }
      if index < to {
        let weights = mixed(positions[index], mixes[index])
        weights.write(isShort, isStereo, left, right, positions[index], partials + index &* 8)
      }
    } else {
      while index &+ 1 < to {
        let (weights, others) = (long(rows, positions[index]), long(rows, positions[index &+ 1]))
        weights.write(isShort, isStereo, left, right, positions + index, others, partials + index &* 8)
        index &+= 2
      }
      if index < to {
        let weights = long(rows, positions[index])
        weights.write(isShort, isStereo, left, right, positions[index], partials + index &* 8)
      }
    }
  }

  /// The sums of sixteen frames of a side (0 left, 1 right). Audio thread.
  @_noLocks @inline(__always)
  func sums(_ partials: UnsafePointer<Float>, side: Int) -> SIMD16<Float> {
    sostenuto_sum_rows(partials + side &* Self.side)
  }

  /// Leaves silence for the frames from `from` on. Audio thread.
  @_noLocks func clear(_ partials: UnsafeMutablePointer<Float>, from: Int) {
    setMemory(partials + from &* 8, 0, (16 &- from) &* 32)
    setMemory(partials + (Self.side &+ from &* 8), 0, (16 &- from) &* 32)
  }

  // MARK: Weights

  /// The weights of 32 taps.
  struct Long {
    var first: SIMD16<Float>
    var last: SIMD16<Float>

    /// Writes the partial sums of a frame.
    @_noLocks @inline(__always) func write(
      _ isShort: Bool, _ isStereo: Bool, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer,
      _ position: Int64, _ sums: UnsafeMutablePointer<Float>
    ) {
      let row = UnsafeMutableRawPointer(sums)
      row.storeBytes(of: product(isShort, left, position), as: SIMD8<Float>.self)
      if isStereo {
        row.storeBytes(of: product(isShort, right, position), toByteOffset: 4 &* side, as: SIMD8<Float>.self)
      }
    }

    /// Writes those of two frames, of which the second has `others` for weights.
    @_noLocks @inline(__always) func write(
      _ isShort: Bool, _ isStereo: Bool, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer,
      _ positions: UnsafePointer<Int64>, _ others: Self, _ sums: UnsafeMutablePointer<Float>
    ) {
      let (one, two) = (positions[0], positions[1])
      store(
        SIMD16(lowHalf: product(isShort, left, one), highHalf: others.product(isShort, left, two)), sums)
      if isStereo {
        store(
          SIMD16(lowHalf: product(isShort, right, one), highHalf: others.product(isShort, right, two)),
          sums + side)
      }
    }

    /// Sums of products with the frames around a position; integers are unscaled. Audio thread.
    @_noLocks @inline(__always)
    private func product(_ isShort: Bool, _ base: UnsafeRawPointer, _ position: Int64) -> SIMD8<Float> {
      sostenuto_weigh_points(isShort, base, position >> 32, first, last)
    }
  }

  /// The place within a phase, 0..<1.
  @_noLocks @inline(__always) private func within(_ fraction: UInt32) -> Float {
    Float(bitPattern: (fraction &<< 5) &>> 9 | 0x3F80_0000) - 1
  }

  /// The weights at a position.
  @_noLocks @inline(__always)
  private func long(_ rows: UnsafePointer<Float>, _ position: Int64) -> Long {
    let fraction = UInt32(truncatingIfNeeded: position)
    return Long(
      first: sostenuto_first_weights(rows, fraction), last: sostenuto_last_weights(rows, fraction))
  }

  /// The weights between two kernels.
  @_noLocks @inline(__always) private func mixed(_ position: Int64, _ kernel: Float) -> Long {
    let whole = sostenuto_whole(kernel)
    let first = rows + Int(whole) &* Self.size(32)
    let share = SIMD16(repeating: sostenuto_share_of_kernels(kernel - Float(whole)))
    let (one, two) = (long(first, position), long(first + Self.size(32), position))
    return Long(
      first: sostenuto_add_product(one.first, two.first - one.first, share),
      last: sostenuto_add_product(one.last, two.last - one.last, share))
  }

  @_noLocks @inline(__always) private func short(_ position: Int64) -> SIMD8<Float> {
    let fraction = UInt32(truncatingIfNeeded: position)
    let row = UnsafeRawPointer(rows + Int(fraction &>> 27) &* 24)
    let t = SIMD8(repeating: within(fraction))
    let slope = sostenuto_add_product_of_eight(
      row.loadUnaligned(fromByteOffset: 32, as: SIMD8<Float>.self),
      row.loadUnaligned(fromByteOffset: 64, as: SIMD8<Float>.self), t)
    return sostenuto_add_product_of_eight(row.loadUnaligned(as: SIMD8<Float>.self), slope, t)
  }

  /// Eight frames; integers are unscaled.
  @_noLocks @inline(__always) private static func eight(
    _ isShort: Bool, _ base: UnsafeRawPointer, _ position: Int64
  ) -> SIMD8<Float> {
    let place = Int(position >> 32)
    return isShort
      ? sostenuto_load_eight_words(base + place &<< 1)
      : (base + place &<< 2).loadUnaligned(as: SIMD8<Float>.self)
  }
}
