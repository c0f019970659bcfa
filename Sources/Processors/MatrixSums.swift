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
  private var rows: LastFour
  private var outputs: LastFour
  private var count = 0

  /// Sums over `inputs` sources, which have room for a whole block. `spare` is written over. Audio thread.
  @_noLocks init(
    _ sources: UnsafeMutablePointer<UnsafePointer<Float>>, inputs: Int, frames: Int,
    spare: UnsafeMutablePointer<Float>
  ) {
    self.sources = sources
    self.inputs = inputs
    self.frames = frames
    rows = LastFour(spare)
    outputs = LastFour(spare)
  }

  /// Notes that `output` is to have the sum of the inputs by `row`. Audio thread.
  @_noLocks mutating func append(_ row: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>) {
    rows.push(row)
    outputs.push(output)
    count &+= 1
    if count == 4 { flush() }
  }

  /// Calculates what is left. Audio thread.
  @_noLocks mutating func flush() {
    if count > 2 {
      // A missing fourth is the first one again.
      if count == 3 {
        rows.push(rows.b)
        outputs.push(outputs.b)
      }
      sumFour()
    } else if count > 0 {
      if count == 1 {
        rows.push(rows.d)
        outputs.push(outputs.d)
      }
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
        let p = rows.a[i]
        let q = rows.b[i]
        let r = rows.c[i]
        let s = rows.d[i]
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
      outputs.a.store(a, frame)
      outputs.b.store(b, frame)
      outputs.c.store(c, frame)
      outputs.d.store(d, frame)
      if hasWideVectors {
        outputs.a.store(a1, frame &+ 16)
        outputs.b.store(b1, frame &+ 16)
        outputs.c.store(c1, frame &+ 16)
        outputs.d.store(d1, frame &+ 16)
      }
      frame &+= hasWideVectors ? 32 : 16
    }
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
        let p = rows.c[i]
        let q = rows.d[i]
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
      outputs.c.store(a, frame)
      outputs.d.store(b, frame)
      outputs.c.store(a1, frame &+ 16)
      outputs.d.store(b1, frame &+ 16)
      if hasWideVectors {
        outputs.c.store(a2, frame &+ 32)
        outputs.d.store(b2, frame &+ 32)
        outputs.c.store(a3, frame &+ 48)
        outputs.d.store(b3, frame &+ 48)
      }
      frame &+= hasWideVectors ? 64 : 32
    }
  }
}

/// The last four rows, or outputs, that were pushed.
private struct LastFour {
  private(set) var a: UnsafeMutablePointer<Float>
  private(set) var b: UnsafeMutablePointer<Float>
  private(set) var c: UnsafeMutablePointer<Float>
  private(set) var d: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ value: UnsafeMutablePointer<Float>) {
    a = value
    b = value
    c = value
    d = value
  }

  @inline(__always) @_noLocks mutating func push(_ value: UnsafeMutablePointer<Float>) {
    a = b
    b = c
    c = d
    d = value
  }
}
