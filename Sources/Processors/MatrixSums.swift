import CVector
import Realtime

/// Sums of products of a block's inputs with rows of gains, four rows at a time: a vector of an input is read once for
/// four sums, and eight sums at once hide the latency of the additions. Each sum runs over the inputs in order, whatever
/// is calculated beside it, so that its bits depend on its row alone.
///
/// The inner loop is the register tile of a matrix product (Goto and van de Geijn, "Anatomy of High-Performance Matrix
/// Multiplication", 2008): eight vectors of sums, in 8 of 32 registers of 16 floats, or in 8 of 16 of 8 floats.
struct MatrixSums {
  private let sources: UnsafeMutablePointer<UnsafePointer<Float>>
  private let inputs: Int
  private let frames: Int
  private let master: Float
  private var rows: LastFour
  private var count = 0

  /// Sums over `inputs` sources, which have room for a whole block, times `master`. `spare` is written over. Audio thread.
  @_noLocks init(
    _ sources: UnsafeMutablePointer<UnsafePointer<Float>>, inputs: Int, frames: Int,
    spare: UnsafeMutablePointer<Float>, master: Float = 1
  ) {
    self.sources = sources
    self.inputs = inputs
    self.frames = frames
    self.master = master
    rows = LastFour(Row(gains: spare, output: spare, gain: 1))
  }

  /// Notes that `output` is to have the sum of the inputs by `row`, times `gain`. Audio thread.
  @inline(__always) @_noLocks mutating func append(
    _ row: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>, times gain: Float = 1
  ) {
    rows.push(Row(gains: row, output: output, gain: gain))
    count &+= 1
    if count == 4 { flush() }
  }

  /// Calculates what is left. Audio thread.
  @_noLocks mutating func flush() {
    if count > 2 {
      // A missing fourth is the first one again.
      if count == 3 { rows.push(rows.b) }
      sumFour()
    } else if count > 0 {
      if count == 1 { rows.push(rows.d) }
      sumTwo()
    }
    count = 0
  }

  @_noLocks private func sumFour() {
    var frame = 0
    while frame < frames {
      var a = Frames(repeating: 0)
      var b = a
      var c = a
      var d = a
      var a1 = a
      var b1 = a
      var c1 = a
      var d1 = a
      var i = 0
      while i < inputs {
        let p = rows.a.gains[i]
        let q = rows.b.gains[i]
        let r = rows.c.gains[i]
        let s = rows.d.gains[i]
        let x = sources[i].vector(frame)
        a = addProduct(a, x, p)
        b = addProduct(b, x, q)
        c = addProduct(c, x, r)
        d = addProduct(d, x, s)
        if hasWideVectors {
          let x1 = sources[i].vector(frame &+ 16)
          a1 = addProduct(a1, x1, p)
          b1 = addProduct(b1, x1, q)
          c1 = addProduct(c1, x1, r)
          d1 = addProduct(d1, x1, s)
        }
        i &+= 1
      }
      rows.a.output.store(finished(a, rows.a.gain), frame)
      rows.b.output.store(finished(b, rows.b.gain), frame)
      rows.c.output.store(finished(c, rows.c.gain), frame)
      rows.d.output.store(finished(d, rows.d.gain), frame)
      if hasWideVectors {
        rows.a.output.store(finished(a1, rows.a.gain), frame &+ 16)
        rows.b.output.store(finished(b1, rows.b.gain), frame &+ 16)
        rows.c.output.store(finished(c1, rows.c.gain), frame &+ 16)
        rows.d.output.store(finished(d1, rows.d.gain), frame &+ 16)
      }
      frame &+= hasWideVectors ? 32 : 16
    }
  }

  /// A sum times its gains. Zeros have no sign, whatever they were multiplied by.
  @inline(__always) @_noLocks private func finished(_ sum: Frames, _ gain: Float) -> Frames {
    sum * gain * master + 0
  }

  /// The last two of the four.
  @_noLocks private func sumTwo() {
    var frame = 0
    while frame < frames {
      var a = Frames(repeating: 0)
      var b = a
      var a1 = a
      var b1 = a
      var a2 = a
      var b2 = a
      var a3 = a
      var b3 = a
      var i = 0
      while i < inputs {
        let p = rows.c.gains[i]
        let q = rows.d.gains[i]
        let x = sources[i].vector(frame)
        let x1 = sources[i].vector(frame &+ 16)
        a = addProduct(a, x, p)
        b = addProduct(b, x, q)
        a1 = addProduct(a1, x1, p)
        b1 = addProduct(b1, x1, q)
        if hasWideVectors {
          let x2 = sources[i].vector(frame &+ 32)
          let x3 = sources[i].vector(frame &+ 48)
          a2 = addProduct(a2, x2, p)
          b2 = addProduct(b2, x2, q)
          a3 = addProduct(a3, x3, p)
          b3 = addProduct(b3, x3, q)
        }
        i &+= 1
      }
      rows.c.output.store(finished(a, rows.c.gain), frame)
      rows.d.output.store(finished(b, rows.d.gain), frame)
      rows.c.output.store(finished(a1, rows.c.gain), frame &+ 16)
      rows.d.output.store(finished(b1, rows.d.gain), frame &+ 16)
      if hasWideVectors {
        rows.c.output.store(finished(a2, rows.c.gain), frame &+ 32)
        rows.d.output.store(finished(b2, rows.d.gain), frame &+ 32)
        rows.c.output.store(finished(a3, rows.c.gain), frame &+ 48)
        rows.d.output.store(finished(b3, rows.d.gain), frame &+ 48)
      }
      frame &+= hasWideVectors ? 64 : 32
    }
  }
}

/// A row of gains, and where its sum goes, times what.
private struct Row {
  let gains: UnsafeMutablePointer<Float>
  let output: UnsafeMutablePointer<Float>
  let gain: Float
}

/// The last four rows that were pushed.
private struct LastFour {
  private(set) var a: Row
  private(set) var b: Row
  private(set) var c: Row
  private(set) var d: Row

  @inline(__always) @_noLocks init(_ row: Row) {
    a = row
    b = row
    c = row
    d = row
  }

  @inline(__always) @_noLocks mutating func push(_ row: Row) {
    a = b
    b = c
    c = d
    d = row
  }
}
