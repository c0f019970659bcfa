import Realtime

/// Crosspoints that start together, from rest, over the same time: scenes and fades of whole matrices.
///
/// Each gain is its target plus its distance times one shared fraction, which goes from 1 to 0 as a `Ramp`.
/// An output is then the product with the targets, plus the fraction times the product with the distances:
/// two steady products instead of thousands of ramps. When the fraction is 0, the second product adds
/// nothing, to the bit.
struct MatrixTravels: BitwiseCopyable {
  private let rows: Int
  private let columns: Int
  private let fractions: UnsafeMutablePointer<Ramp>
  private let lengths: UnsafeMutablePointer<Int32>
  /// Distance in travel k: crosspoint (i, j) at `(k * columns + j) * rows + i`; zero for crosspoints outside
  /// it.
  private let distances: UnsafeMutablePointer<Float>
  /// Number of travel k's crosspoints in output j.
  private let members: UnsafeMutablePointer<Int32>
  /// One more than the index of a crosspoint's travel; 0: none.
  private let travel: UnsafeMutablePointer<UInt8>
  private let frames: UnsafeMutablePointer<Float>
  private let isActive: UnsafeMutablePointer<Bool>
  /// Sum over the distances of travel k for output j, from `(k * together + j % together) * blockCapacity`.
  private let products: UnsafeMutablePointer<Float>

  private static var capacity: Int { @_noLocks get { 4 } }
  /// Number of outputs that are calculated together; a power of two.
  static var together: Int { @_noLocks get { 4 } }

  /// Worker.
  init(_ rows: Int, _ columns: Int, _ arena: inout Arena) {
    self.rows = rows
    self.columns = columns
    fractions = arena.take(Ramp.self, Self.capacity)
    lengths = arena.take(Int32.self, Self.capacity)
    distances = arena.take(Float.self, Self.capacity * rows * columns)
    members = arena.take(Int32.self, Self.capacity * columns)
    travel = arena.take(UInt8.self, rows * columns)
    frames = arena.take(Float.self, Self.capacity * blockCapacity)
    isActive = arena.take(Bool.self, Self.capacity)
    products = arena.take(Float.self, Self.capacity * Self.together * blockCapacity)
  }

  /// Initialises the fractions in zeroed memory. Worker.
  func reset() {
    for k in 0..<Self.capacity { fractions[k] = Ramp(0) }
  }

  /// The same time at another rate. Worker.
  func stretch(by factor: Double) {
    for k in 0..<Self.capacity where fractions[k].isMoving {
      let left = fractions[k].framesLeft
      fractions[k].stretch(by: factor)
      // `leave` needs the elapsed part in frames of the new rate.
      let done = Double(Int(lengths[k]) - left) * factor
      lengths[k] = Int32(clamping: fractions[k].framesLeft + Int(done.rounded()))
    }
  }

  /// Starts a crosspoint from rest; false when there is no room. Audio thread.
  @_noLocks func join(_ crosspoint: Int, _ j: Int, distance: Float, over length: Int) -> Bool {
    var free = -1
    var k = 0
    while k < Self.capacity {
      if !fractions[k].isMoving {
        if free < 0 { free = k }
      } else if Int(lengths[k]) == length, fractions[k].framesLeft == length {
        break
      }
      k &+= 1
    }
    if k == Self.capacity {
      guard free >= 0 else { return false }
      k = free
      fractions[k] = Ramp(1)
      fractions[k].move(to: 0, over: length)
      lengths[k] = Int32(truncatingIfNeeded: length)
    }
    distances[k &* rows &* columns &+ crosspoint] = distance
    members[k &* columns &+ j] &+= 1
    travel[crosspoint] = UInt8(truncatingIfNeeded: k &+ 1)
    return true
  }

  @inline(__always) @_noLocks func contains(_ crosspoint: Int) -> Bool { travel[crosspoint] != 0 }

  /// Removes a crosspoint and returns its ramp in its present state. Audio thread.
  @_noLocks func leave(_ crosspoint: Int, _ j: Int, target: Float) -> Ramp {
    let k = Int(travel[crosspoint]) &- 1
    let index = k &* rows &* columns &+ crosspoint
    var ramp = Ramp(target + distances[index])
    ramp.move(to: target, over: Int(lengths[k]))
    ramp.skip(Int(lengths[k]) &- fractions[k].framesLeft)
    distances[index] = 0
    members[k &* columns &+ j] &-= 1
    travel[crosspoint] = 0
    return ramp
  }

  var isMoving: Bool {
    @_noLocks get {
      var k = 0
      while k < Self.capacity {
        if fractions[k].isMoving { return true }
        k &+= 1
      }
      return false
    }
  }

  /// Evaluates the fractions of a block. Audio thread.
  @_noLocks func begin(_ count: Int) {
    var k = 0
    while k < Self.capacity {
      isActive[k] = fractions[k].isMoving
      if isActive[k] { fractions[k].fill(frames + k &* blockCapacity, frames: count) }
      k &+= 1
    }
  }

  /// Advances the fractions during silence. Audio thread.
  @_noLocks func skip(_ count: Int) {
    var k = 0
    while k < Self.capacity {
      isActive[k] = fractions[k].isMoving
      fractions[k].skip(count)
      k &+= 1
    }
    end()
  }

  /// Appends the sums for output `j` that are to be added to it: a row of distances for each travel. Audio thread.
  @_noLocks func append(_ j: Int, to sums: inout MatrixSums) {
    var k = 0
    while k < Self.capacity {
      if isActive[k], members[k &* columns &+ j] > 0 {
        sums.append(
          distances + (k &* columns &+ j) &* rows,
          products + (k &* Self.together &+ j & (Self.together &- 1)) &* blockCapacity)
      }
      k &+= 1
    }
  }

  /// Adds these sums, when they are done, to output `j`; false if there are none. Zeros have no sign then. Audio thread.
  @_noLocks func add(_ j: Int, _ to: UnsafeMutablePointer<Float>) -> Bool {
    var hasAny = false
    var k = 0
    while k < Self.capacity {
      if isActive[k], members[k &* columns &+ j] > 0 {
        let fraction = frames + k &* blockCapacity
        let sum = products + (k &* Self.together &+ j & (Self.together &- 1)) &* blockCapacity
        var frame = 0
        while frame < blockCapacity {
          to.store(addProduct(to.vector(frame), sum.vector(frame), fraction.vector(frame)) + 0, frame)
          frame &+= 16
        }
        hasAny = true
      }
      k &+= 1
    }
    return hasAny
  }

  /// Removes the travels that arrived in this block. Audio thread.
  @_noLocks func end() {
    var k = 0
    while k < Self.capacity {
      if isActive[k], !fractions[k].isMoving { forget(k) }
      k &+= 1
    }
  }

  @_noLocks private func forget(_ k: Int) {
    isActive[k] = false
    var j = 0
    while j < columns {
      if members[k &* columns &+ j] > 0 {
        members[k &* columns &+ j] = 0
        setMemory(distances + (k &* columns &+ j) &* rows, 0, rows &* 4)
        var i = 0
        while i < rows {
          if Int(travel[j &* rows &+ i]) == k &+ 1 { travel[j &* rows &+ i] = 0 }
          i &+= 1
        }
      }
      j &+= 1
    }
  }
}
