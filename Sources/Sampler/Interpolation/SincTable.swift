import Realtime

/// One kernel of interpolation: a polynomial of second degree for each tap and each of 32 phases between two
/// frames, so that a kernel of 32 taps takes 12 KB, which stay in the first cache. The polynomials are off by
/// at most -102 dB at the Nyquist frequency.
///
/// A frame's products are summed in two steps: `write` leaves a row of eight partial sums for each frame, and
/// `sums` adds up sixteen rows at once.
struct SincTable {
  static var phases: Int { @_noLocks @inline(__always) get { 32 } }
  /// Floats of partial sums: sixteen rows for each side.
  static var partials: Int { @_noLocks @inline(__always) get { 2 &* side } }
  private static var side: Int { @_noLocks @inline(__always) get { 128 } }

  let rows: UnsafePointer<Float>
  let taps: Int
  /// The number of each frame's kernel, with a fraction, for a pace that moves: `rows` are those of kernel 0.
  var mixes: UnsafePointer<Float>?

  @_noLocks @inline(__always) init(rows: UnsafePointer<Float>, taps: Int) {
    self.rows = rows
    self.taps = taps
  }

  /// Floats of a table.
  @_noLocks @inline(__always) static func size(_ taps: Int) -> Int { phases &* 3 &* taps }

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

  /// Writes the partial sums of the frames `from..<to`, at these positions (32.32 fixed point) of the planes.
  /// Audio thread.
  @_noLocks func write(
    _ planes: Planes, _ positions: UnsafePointer<Int64>, _ from: Int, _ to: Int,
    _ partials: UnsafeMutablePointer<Float>
  ) {
    let left = planes.left.base - before &<< (planes.left.isShort ? 1 : 2)
    if let other = planes.right {
      let right = other.base - before &<< (other.isShort ? 1 : 2)
      if planes.left.isShort {
        write(isShort: true, isStereo: true, left, right, positions, from, to, partials)
      } else {
        write(isShort: false, isStereo: true, left, right, positions, from, to, partials)
      }
    } else if planes.left.isShort {
      write(isShort: true, isStereo: false, left, left, positions, from, to, partials)
    } else {
      write(isShort: false, isStereo: false, left, left, positions, from, to, partials)
    }
  }

  @_noLocks @inline(__always) private func write(
    isShort: Bool, isStereo: Bool, _ left: UnsafeRawPointer, _ right: UnsafeRawPointer,
    _ positions: UnsafePointer<Int64>, _ from: Int, _ to: Int, _ partials: UnsafeMutablePointer<Float>
  ) {
    if taps == 32 {
      var index = from
      while index < to {
        let fraction = UInt32(truncatingIfNeeded: positions[index])
        let place = Int(positions[index] >> 32)
        let weights = mixes.map { mixed(fraction, $0[index]) } ?? long(rows, fraction)
        let row = UnsafeMutableRawPointer(partials + index &* 8)
        row.storeBytes(of: weights.product(isShort, left, place), as: SIMD8<Float>.self)
        if isStereo {
          row.storeBytes(
            of: weights.product(isShort, right, place), toByteOffset: 4 &* Self.side, as: SIMD8<Float>.self)
        }
        index &+= 1
      }
    } else {
      var index = from
      while index < to {
        let weights = short(UInt32(truncatingIfNeeded: positions[index]))
        let place = Int(positions[index] >> 32)
        let row = UnsafeMutableRawPointer(partials + index &* 8)
        row.storeBytes(of: weights * Self.eight(isShort, left, place), as: SIMD8<Float>.self)
        if isStereo {
          row.storeBytes(
            of: weights * Self.eight(isShort, right, place), toByteOffset: 4 &* Self.side,
            as: SIMD8<Float>.self)
        }
        index &+= 1
      }
    }
  }

  /// The sums of sixteen frames of a side (0 left, 1 right): halves of rows, then quarters, then pairs. (Sums
  /// of neighbours from the start on are compiled to narrow vectors.) Audio thread.
  @_noLocks @inline(__always)
  func sums(_ partials: UnsafePointer<Float>, side: Int) -> SIMD16<Float> {
    let rows = partials + side &* Self.side
    let first = pairs(quarters(rows, 0), quarters(rows, 2))
    let last = pairs(quarters(rows, 4), quarters(rows, 6))
    return evens(first, last) + odds(first, last)
  }

  /// Leaves silence for the frames from `from` on. Audio thread.
  @_noLocks func clear(_ partials: UnsafeMutablePointer<Float>, from: Int) {
    setMemory(partials + from &* 8, 0, (16 &- from) &* 32)
    setMemory(partials + (Self.side &+ from &* 8), 0, (16 &- from) &* 32)
  }

  /// Four sums for each of the four rows from two vectors on.
  @_noLocks @inline(__always)
  private func quarters(_ rows: UnsafePointer<Float>, _ number: Int) -> SIMD16<Float> {
    let a = unsafeBitCast(vector(rows + number &* 16), to: SIMD8<Double>.self)
    let b = unsafeBitCast(vector(rows + (number &* 16 &+ 16)), to: SIMD8<Double>.self)
    let low = SIMD8(a[0], a[1], a[4], a[5], b[0], b[1], b[4], b[5])
    let high = SIMD8(a[2], a[3], a[6], a[7], b[2], b[3], b[6], b[7])
    return unsafeBitCast(low, to: SIMD16<Float>.self) + unsafeBitCast(high, to: SIMD16<Float>.self)
  }

  /// Two sums for each of eight rows.
  @_noLocks @inline(__always)
  private func pairs(_ first: SIMD16<Float>, _ last: SIMD16<Float>) -> SIMD16<Float> {
    let a = unsafeBitCast(first, to: SIMD8<Double>.self)
    let b = unsafeBitCast(last, to: SIMD8<Double>.self)
    let low = SIMD8(a[0], a[2], a[4], a[6], b[0], b[2], b[4], b[6])
    let high = SIMD8(a[1], a[3], a[5], a[7], b[1], b[3], b[5], b[7])
    return unsafeBitCast(low, to: SIMD16<Float>.self) + unsafeBitCast(high, to: SIMD16<Float>.self)
  }

  // MARK: Weights

  /// The weights of 32 taps.
  struct Long {
    var even: SIMD16<Float>
    var odd: SIMD16<Float>

    /// Partial sums of the products with the frames from `place` on; integers are unscaled. Audio thread.
    @_noLocks @inline(__always)
    func product(_ isShort: Bool, _ base: UnsafeRawPointer, _ place: Int) -> SIMD8<Float> {
      if isShort {
        let pairs = base.loadUnaligned(fromByteOffset: place &<< 1, as: SIMD16<UInt32>.self)
        return folded(SamplePlane.lower(pairs) * even + SamplePlane.upper(pairs) * odd)
      }
      let first = base.loadUnaligned(fromByteOffset: place &<< 2, as: SIMD16<Float>.self)
      let last = base.loadUnaligned(fromByteOffset: place &<< 2 &+ 64, as: SIMD16<Float>.self)
      return folded(evens(first, last) * even + odds(first, last) * odd)
    }

    @_noLocks @inline(__always) private func folded(_ v: SIMD16<Float>) -> SIMD8<Float> {
      v.lowHalf + v.highHalf
    }
  }

  /// The place within a phase, 0..<1.
  @_noLocks @inline(__always) private func within(_ fraction: UInt32) -> Float {
    Float(bitPattern: (fraction &<< 5) &>> 9 | 0x3F80_0000) - 1
  }

  /// The weights at a fraction of 2^32.
  @_noLocks @inline(__always)
  private func long(_ rows: UnsafePointer<Float>, _ fraction: UInt32) -> Long {
    let row = UnsafeRawPointer(rows + Int(fraction &>> 27) &* 96)
    let t = SIMD16(repeating: within(fraction))
    return Long(
      even: (part(row, 4) * t + part(row, 2)) * t + part(row, 0),
      odd: (part(row, 5) * t + part(row, 3)) * t + part(row, 1))
  }

  @_noLocks @inline(__always)
  private func part(_ row: UnsafeRawPointer, _ number: Int) -> SIMD16<Float> {
    row.loadUnaligned(fromByteOffset: number &* 64, as: SIMD16<Float>.self)
  }

  /// The weights between two kernels.
  @_noLocks @inline(__always) private func mixed(_ fraction: UInt32, _ kernel: Float) -> Long {
    let first = rows + Int(kernel) &* Self.size(32)
    let share = SIMD16(repeating: kernel - Float(Int(kernel)))
    let (one, two) = (long(first, fraction), long(first + Self.size(32), fraction))
    return Long(
      even: one.even + (two.even - one.even) * share,
      odd: one.odd + (two.odd - one.odd) * share)
  }

  @_noLocks @inline(__always) private func short(_ fraction: UInt32) -> SIMD8<Float> {
    let row = UnsafeRawPointer(rows + Int(fraction &>> 27) &* 24)
    let t = SIMD8(repeating: within(fraction))
    let last = row.loadUnaligned(fromByteOffset: 64, as: SIMD8<Float>.self) * t
    return (last + row.loadUnaligned(fromByteOffset: 32, as: SIMD8<Float>.self)) * t
      + row.loadUnaligned(as: SIMD8<Float>.self)
  }

  /// Eight frames, those with even numbers first; integers are unscaled.
  @_noLocks @inline(__always) private static func eight(
    _ isShort: Bool, _ base: UnsafeRawPointer, _ place: Int
  ) -> SIMD8<Float> {
    if isShort {
      let pairs = base.loadUnaligned(fromByteOffset: place &<< 1, as: SIMD4<UInt32>.self)
      let words = SIMD8(lowHalf: pairs & 0xFFFF, highHalf: pairs &>> 16) ^ 0x4B00_8000
      return unsafeBitCast(words, to: SIMD8<Float>.self) - 8_421_376
    }
    let v = base.loadUnaligned(fromByteOffset: place &<< 2, as: SIMD8<Float>.self)
    return SIMD8(v[0], v[2], v[4], v[6], v[1], v[3], v[5], v[7])
  }
}
