import CVector
import Realtime

/// Sums of products of a block's inputs with rows of gains, four rows at a time: a vector of an input is read once for
/// four sums, and eight sums at once hide the latency of the additions. Each sum runs over the inputs in order, whatever
/// is calculated beside it, so that its bits depend on its row alone.
///
/// The inner loop is the register tile of a matrix product (Goto and van de Geijn, "Anatomy of High-Performance Matrix
/// Multiplication", 2008): eight vectors of sums, in 8 of 32 registers of 16 floats, or in 8 of 16 of 8 floats.
///
/// All rows are summed for some frames before any for the next ones: the inputs' frames stay in the nearest cache.
struct MatrixSums {
  private let sources: UnsafeMutablePointer<UnsafePointer<Float>>
  private let inputs: Int
  private let frames: Int
  private let master: Float
  /// The gains, of which the rows are, and what moves them; nil: nothing does.
  private let gains: UnsafeMutablePointer<Float>
  private let travels: MatrixTravels?
  private let rows: UnsafeMutablePointer<MatrixRow>
  private var count = 0

  /// Sums over `inputs` sources, which have room for a whole block, times `master`. `room`: for all rows. Audio thread.
  @_noLocks init(
    _ sources: UnsafeMutablePointer<UnsafePointer<Float>>, inputs: Int, frames: Int,
    room: UnsafeMutablePointer<MatrixRow>, gains: UnsafeMutablePointer<Float>, travels: MatrixTravels? = nil,
    master: Float = 1
  ) {
    self.sources = sources
    self.inputs = inputs
    self.frames = frames
    self.gains = gains
    self.travels = travels
    self.master = master
    rows = room
  }

  /// Notes that `output` is to have the sum of the inputs by `row`, times `gain`. Audio thread.
  @inline(__always) @_noLocks mutating func append(
    _ row: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>, times gain: Float = 1
  ) {
    rows[count] = MatrixRow(gains: row, output: output, gain: gain)
    count &+= 1
  }

  /// Calculates the sums. Audio thread.
  @_noLocks mutating func run() {
    let left = count & 3
    var frame = 0
    while frame < frames {
      var row = rows
      let end = rows + (count &- left)
      while row != end {
        sumFour(row, row + 3, frame)
        row += 4
      }
      // A missing fourth is the third one again.
      if left == 3 { sumFour(row, row + 2, frame) }
      frame &+= hasWideVectors ? 32 : 16
    }
    if left == 1 || left == 2 { sumTwo(rows + (count &- left), rows + (count &- 1)) }
  }

  /// Sums of three rows from `first` on, and of `last`.
  @_noLocks private mutating func sumFour(
    _ first: UnsafeMutablePointer<MatrixRow>, _ last: UnsafeMutablePointer<MatrixRow>, _ frame: Int
  ) {
    let (a, b, c, d) = (first[0], first[1], first[2], last.pointee)
    var sums = FourSums()
    sums.add(sources, inputs, frame, a.gains, b.gains, c.gains, d.gains)
    if let travels {
      var k = 0
      while k < MatrixTravels.capacity {
        if let part = travels.part(k) {
          sums.add(
            part.sources, inputs, frame, part.distances + (a.gains - gains),
            part.distances + (b.gains - gains), part.distances + (c.gains - gains),
            part.distances + (d.gains - gains))
        }
        k &+= 1
      }
    }
    if master != 1 || a.gain != 1 || b.gain != 1 || c.gain != 1 || d.gain != 1 {
      sums.multiply(a.gain, b.gain, c.gain, d.gain)
      sums.multiply(master, master, master, master)
    }
    // Zeros have no sign, whatever they were multiplied by.
    a.output.store(sums.a + 0, frame)
    b.output.store(sums.b + 0, frame)
    c.output.store(sums.c + 0, frame)
    d.output.store(sums.d + 0, frame)
    if hasWideVectors {
      a.output.store(sums.a1 + 0, frame &+ 16)
      b.output.store(sums.b1 + 0, frame &+ 16)
      c.output.store(sums.c1 + 0, frame &+ 16)
      d.output.store(sums.d1 + 0, frame &+ 16)
    }
  }

  /// Sums of two rows, which may be the same.
  @_noLocks private mutating func sumTwo(
    _ first: UnsafeMutablePointer<MatrixRow>, _ last: UnsafeMutablePointer<MatrixRow>
  ) {
    let (a, b) = (first.pointee, last.pointee)
    var frame = 0
    while frame < frames {
      var sums = TwoSums()
      sums.add(sources, inputs, frame, a.gains, b.gains)
      if let travels {
        var k = 0
        while k < MatrixTravels.capacity {
          if let part = travels.part(k) {
            sums.add(
              part.sources, inputs, frame, part.distances + (a.gains - gains),
              part.distances + (b.gains - gains)
            )
          }
          k &+= 1
        }
      }
      a.output.store(sums.a * a.gain * master + 0, frame)
      b.output.store(sums.b * b.gain * master + 0, frame)
      a.output.store(sums.a1 * a.gain * master + 0, frame &+ 16)
      b.output.store(sums.b1 * b.gain * master + 0, frame &+ 16)
      if hasWideVectors {
        a.output.store(sums.a2 * a.gain * master + 0, frame &+ 32)
        b.output.store(sums.b2 * b.gain * master + 0, frame &+ 32)
        a.output.store(sums.a3 * a.gain * master + 0, frame &+ 48)
        b.output.store(sums.b3 * b.gain * master + 0, frame &+ 48)
      }
      frame &+= hasWideVectors ? 64 : 32
    }
  }
}

/// Sums of four rows: of sixteen frames, with wide vectors of the sixteen behind them too.
private struct FourSums {
  var a = Frames(repeating: 0)
  var b = Frames(repeating: 0)
  var c = Frames(repeating: 0)
  var d = Frames(repeating: 0)
  var a1 = Frames(repeating: 0)
  var b1 = Frames(repeating: 0)
  var c1 = Frames(repeating: 0)
  var d1 = Frames(repeating: 0)

  @inline(__always) @_noLocks init() {}

  /// Adds the sources times the gains of each row.
  @inline(__always) @_noLocks mutating func add(
    _ sources: UnsafeMutablePointer<UnsafePointer<Float>>, _ count: Int, _ frame: Int,
    _ p: UnsafeMutablePointer<Float>, _ q: UnsafeMutablePointer<Float>, _ r: UnsafeMutablePointer<Float>,
    _ s: UnsafeMutablePointer<Float>
  ) {
    var i = 0
    while i < count {
      let x = sources[i].vector(frame)
      a = addProduct(a, x, p[i])
      b = addProduct(b, x, q[i])
      c = addProduct(c, x, r[i])
      d = addProduct(d, x, s[i])
      if hasWideVectors {
        let x1 = sources[i].vector(frame &+ 16)
        a1 = addProduct(a1, x1, p[i])
        b1 = addProduct(b1, x1, q[i])
        c1 = addProduct(c1, x1, r[i])
        d1 = addProduct(d1, x1, s[i])
      }
      i &+= 1
    }
  }

  @inline(__always) @_noLocks mutating func multiply(_ p: Float, _ q: Float, _ r: Float, _ s: Float) {
    a *= p
    b *= q
    c *= r
    d *= s
    a1 *= p
    b1 *= q
    c1 *= r
    d1 *= s
  }
}

/// Sums of two rows: of 32 frames, with wide vectors of 64.
private struct TwoSums {
  var a = Frames(repeating: 0)
  var b = Frames(repeating: 0)
  var a1 = Frames(repeating: 0)
  var b1 = Frames(repeating: 0)
  var a2 = Frames(repeating: 0)
  var b2 = Frames(repeating: 0)
  var a3 = Frames(repeating: 0)
  var b3 = Frames(repeating: 0)

  @inline(__always) @_noLocks init() {}

  /// Adds the sources times the gains of each row.
  @inline(__always) @_noLocks mutating func add(
    _ sources: UnsafeMutablePointer<UnsafePointer<Float>>, _ count: Int, _ frame: Int,
    _ p: UnsafeMutablePointer<Float>, _ q: UnsafeMutablePointer<Float>
  ) {
    var i = 0
    while i < count {
      let (x, x1) = (sources[i].vector(frame), sources[i].vector(frame &+ 16))
      a = addProduct(a, x, p[i])
      b = addProduct(b, x, q[i])
      a1 = addProduct(a1, x1, p[i])
      b1 = addProduct(b1, x1, q[i])
      if hasWideVectors {
        let (x2, x3) = (sources[i].vector(frame &+ 32), sources[i].vector(frame &+ 48))
        a2 = addProduct(a2, x2, p[i])
        b2 = addProduct(b2, x2, q[i])
        a3 = addProduct(a3, x3, p[i])
        b3 = addProduct(b3, x3, q[i])
      }
      i &+= 1
    }
  }
}

/// A row of gains, and where its sum goes, times what.
struct MatrixRow: BitwiseCopyable {
  let gains: UnsafeMutablePointer<Float>
  let output: UnsafeMutablePointer<Float>
  let gain: Float
}
