import CVector
import Patch
import Realtime

/// Calculates a formula for one channel of a block, with a stack of rows of 64 frames in its scratch memory.
struct FormulaMachine {
  private let block: Block
  private let channel: Int
  private let rows: UnsafeMutablePointer<Float>
  /// Rows in use.
  private var depth = 0

  /// The row behind the deepest stack, for numbers.
  private static var spare: Int { @_noLocks get { 28 } }

  @inline(__always) @_noLocks init(_ block: Block, _ channel: Int) {
    self.block = block
    self.channel = channel
    rows = block.scratch.assumingMemoryBound(to: Float.self)
  }

  @inline(__always) @_noLocks private func row(_ number: Int) -> UnsafeMutablePointer<Float> {
    rows + 64 &* number
  }

  /// Performs a step. Audio thread.
  @inline(never) @_noLocks mutating func run(_ operation: Int, _ number: Float) {
    if operation < 10 {
      copy(source(operation, number), to: row(depth))
      depth &+= 1
    } else if operation < 40 {
      unary(operation, row(depth &- 1))
    } else if operation < 70 {
      depth &-= 1
      binary(operation, row(depth &- 1), UnsafePointer(row(depth)))
    } else if operation < 100 {
      depth &-= 2
      ternary(operation, row(depth &- 1), row(depth), row(depth &+ 1))
    } else {
      // The plain kind of a value: a number, an input, a parameter.
      let kind = operation / 100 &- 1
      binary(operation % 100, row(depth &- 1), source(kind, number))
    }
  }

  /// Frames of a plain value.
  @inline(__always) @_noLocks private func source(_ kind: Int, _ number: Float) -> UnsafePointer<Float> {
    let spare = row(Self.spare)
    switch kind {
    case 1:
      let input = block.inputs[Int(number)]
      if !input.isSilent, input.count > 0 { return input[channel % input.count] }
      spare.fill(0)
    case 2:
      let parameter = block.parameters[Int(number)]
      if let moving = parameter.frames(channel) { return moving }
      spare.fill(parameter.value(channel))
    case 3: spare.fill(block.rate)
    default: spare.fill(number)
    }
    return UnsafePointer(spare)
  }

  @inline(__always) @_noLocks private func copy(
    _ from: UnsafePointer<Float>, to row: UnsafeMutablePointer<Float>
  ) {
    let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
    row.store(a, 0)
    row.store(b, 16)
    row.store(c, 32)
    row.store(d, 48)
  }

  /// Writes the result, zeros for what is no number. False: all of it is zero. Audio thread.
  @inline(__always) @_noLocks func give(_ output: UnsafeMutablePointer<Float>, _ count: Int) -> Bool {
    guard count > 0 else {
      output.fill(0)
      return false
    }
    var frame = 0
    var any = false
    while frame < block.frames {
      let value = rows.vector(frame)
      let tame = sostenuto_where_above(1e30 - magnitude(value), 0, value, Frames(repeating: 0)) + 0
      output.store(tame, frame)
      if !areZero(tame) { any = true }
      frame &+= 16
    }
    return any
  }

  // MARK: Operations

  @inline(__always) @_noLocks private func each(
    _ row: UnsafeMutablePointer<Float>, _ function: (Frames) -> Frames
  ) {
    var frame = 0
    while frame < 64 {
      row.store(function(row.vector(frame)), frame)
      frame &+= 16
    }
  }

  @inline(never) @_noLocks private func unary(_ operation: Int, _ row: UnsafeMutablePointer<Float>) {
    switch operation {
    case 10: each(row) { 0 - $0 }
    case 11: each(row) { Self.choice($0, 0, 1) }
    case 12: each(row) { Self.sine($0, 0) }
    case 13: each(row) { Self.sine($0, 1) }
    case 14: each(row) { Self.sine($0, 0) / Self.sine($0, 1) }
    case 15: each(row) { 1 - 2 / (Self.power(limited($0, -20, 20) * 2.885_390) + 1) }
    case 16: each(row) { Self.power($0 * 1.442_695) }
    case 17: each(row) { Self.logarithm($0) * 0.693_147_2 }
    case 18: each(row) { Self.logarithm($0) }
    case 19: each(row) { Self.logarithm($0) * 0.301_03 }
    case 20: each(row) { squareRoots(atLeast(0, $0)) }
    case 21: each(row) { magnitude($0) }
    case 22: each(row) { Self.choice($0, 1, 0) - Self.choice(0 - $0, 1, 0) }
    case 23: each(row) { Self.floor($0) }
    case 24: each(row) { 0 - Self.floor(0 - $0) }
    case 25: each(row) { Self.floor($0 + 0.5) }
    case 26: each(row) { $0 - Self.floor($0) }
    case 27: each(row) { Self.power($0 * 0.166_096_4) }
    case 28: each(row) { Self.power($0) }
    default: each(row) { $0 * $0 }
    }
  }

  @inline(__always) @_noLocks private func both(
    _ row: UnsafeMutablePointer<Float>, _ other: UnsafePointer<Float>, _ function: (Frames, Frames) -> Frames
  ) {
    var frame = 0
    while frame < 64 {
      row.store(function(row.vector(frame), other.vector(frame)), frame)
      frame &+= 16
    }
  }

  @inline(never) @_noLocks private func binary(
    _ operation: Int, _ row: UnsafeMutablePointer<Float>, _ other: UnsafePointer<Float>
  ) {
    switch operation {
    case 40: both(row, other) { $0 + $1 }
    case 41: both(row, other) { $0 - $1 }
    case 42: both(row, other) { $0 * $1 }
    case 43: both(row, other) { $0 / $1 }
    case 44: both(row, other) { $0 - Self.floor($0 / $1) * $1 }
    case 45: both(row, other) { Self.power($0, $1) }
    case 46: both(row, other) { Self.choice($1 - $0, 1, 0) }
    case 47: both(row, other) { 1 - Self.choice($0 - $1, 1, 0) }
    case 48: both(row, other) { Self.choice($0 - $1, 1, 0) }
    case 49: both(row, other) { 1 - Self.choice($1 - $0, 1, 0) }
    case 50: both(row, other) { 1 - Self.choice(magnitude($0 - $1), 1, 0) }
    case 51: both(row, other) { Self.choice(magnitude($0 - $1), 1, 0) }
    case 52: both(row, other) { Self.choice($0, 1, 0) * Self.choice($1, 1, 0) }
    case 53: both(row, other) { 1 - Self.choice($0, 0, 1) * Self.choice($1, 0, 1) }
    case 54: both(row, other) { sostenuto_lesser($0, $1) }
    default: both(row, other) { 0 - sostenuto_lesser(0 - $0, 0 - $1) }
    }
  }

  @inline(never) @_noLocks private func ternary(
    _ operation: Int, _ row: UnsafeMutablePointer<Float>, _ second: UnsafeMutablePointer<Float>,
    _ third: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < 64 {
      let (a, b, c) = (row.vector(frame), second.vector(frame), third.vector(frame))
      switch operation {
      case 70: row.store(sostenuto_where_above(a, 0, b, c), frame)
      case 71: row.store(sostenuto_lesser(0 - sostenuto_lesser(0 - a, 0 - b), c), frame)
      default: row.store(a + (b - a) * c, frame)
      }
      frame &+= 16
    }
  }

  /// One number where `x` is above 0, else another.
  @inline(__always) @_noLocks private static func choice(_ x: Frames, _ yes: Float, _ no: Float) -> Frames {
    sostenuto_where_above(x, 0, Frames(repeating: yes), Frames(repeating: no))
  }

  /// 2^x, limited to what a float holds.
  @inline(__always) @_noLocks private static func power(_ x: Frames) -> Frames {
    sostenuto_powers_of_two(atMost(126, x))
  }

  /// Logarithm to base 2; 0 where there is none.
  @inline(__always) @_noLocks private static func logarithm(_ x: Frames) -> Frames {
    sostenuto_where_above(x, 0, sostenuto_logarithms(x), Frames(repeating: 0))
  }

  /// x^y. Of a negative number for whole exponents only, else 0.
  @inline(__always) @_noLocks private static func power(_ x: Frames, _ y: Frames) -> Frames {
    let size = power(sostenuto_logarithms(magnitude(x)) * y)
    let half = y * 0.5
    let odd = choice(magnitude(half - floor(half)), -1, 1)
    let isWhole = choice(magnitude(y - floor(y)), 0, 1)
    let negative = size * odd * isWhole
    let zero = 1 - choice(magnitude(y), 1, 0)
    return sostenuto_where_above(x, 0, size, sostenuto_where_above(0 - x, 0, negative, zero))
  }

  /// Rounded down. Above 2^22 it is nearly whole.
  @inline(__always) @_noLocks private static func floor(_ x: Frames) -> Frames {
    let near = x + 12_582_912 - 12_582_912
    let whole = near - choice(near - x, 1, 0)
    return sostenuto_where_above(magnitude(x), 4_194_304, x, whole)
  }

  /// Sine, or with one quarter ahead cosine. A whole number of half turns is taken off in three parts, so that digits stay:
  /// the products with the first two are exact below a million half turns. An odd number turns the sine over.
  @inline(__always) @_noLocks private static func sine(_ x: Frames, _ ahead: Float) -> Frames {
    // The sum has the nearest whole number in its low bits.
    let number = addProduct(Frames(repeating: 0.5 * ahead), x, 0.318_309_89) + 12_582_912
    let halves = number - 12_582_912
    var rest = addProduct(x, halves, -3.125)
    rest = addProduct(rest, halves, -0.016_601_562_5)
    rest = addProduct(rest, halves, 0.000_008_908_910_2)
    // A little beyond one where the number of a large angle's half turns was rounded.
    let quarters = limited(addProduct(Frames(repeating: ahead), rest, 0.636_619_77), -1.25, 1.25)
    return sostenuto_turned_over(sineOfQuarters(quarters), number)
  }
}
