import Realtime

/// Crosspoints that start together, from rest, over the same time: scenes and fades of whole matrices.
///
/// Each gain is its target plus its distance times one shared fraction, which goes from 1 to 0 as a `Ramp`.
/// An output is then the product of the inputs with the targets, plus the product of the inputs times the fraction with
/// the distances: twice as many inputs with steady gains instead of thousands of ramps. When the fraction is 0, the
/// second product adds nothing, to the bit.
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
  private let isActive: UnsafeMutablePointer<Bool>
  /// The inputs of this block times the fraction of travel k: input i from `(k * rows + i) * blockCapacity`, and where
  /// that is.
  private let frames: UnsafeMutablePointer<Float>
  private let sources: UnsafeMutablePointer<UnsafePointer<Float>>
  /// Scratch for a fraction.
  private let fraction: UnsafeMutablePointer<Float>

  static var capacity: Int { @_noLocks get { 4 } }

  /// Worker.
  init(_ rows: Int, _ columns: Int, _ arena: inout Arena) {
    self.rows = rows
    self.columns = columns
    fractions = arena.take(Ramp.self, Self.capacity)
    lengths = arena.take(Int32.self, Self.capacity)
    distances = arena.take(Float.self, Self.capacity * rows * columns)
    members = arena.take(Int32.self, Self.capacity * columns)
    travel = arena.take(UInt8.self, rows * columns)
    isActive = arena.take(Bool.self, Self.capacity)
    frames = arena.take(Float.self, Self.capacity * rows * blockCapacity)
    sources = arena.take(UnsafePointer<Float>.self, Self.capacity * rows)
    fraction = arena.take(Float.self, blockCapacity)
  }

  /// Initialises the fractions in zeroed memory. Worker.
  func reset() {
    for k in 0..<Self.capacity { fractions[k] = Ramp(0) }
    for row in 0..<Self.capacity * rows { sources[row] = UnsafePointer(frames + row * blockCapacity) }
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

  /// Multiplies the inputs of a block by the fractions. Audio thread.
  @_noLocks func begin(_ inputs: UnsafeMutablePointer<UnsafePointer<Float>>, _ count: Int) {
    var k = 0
    while k < Self.capacity {
      isActive[k] = fractions[k].isMoving
      if isActive[k] {
        fractions[k].fill(fraction, frames: count)
        multiply(inputs, frames + k &* rows &* blockCapacity)
      }
      k &+= 1
    }
  }

  @_noLocks private func multiply(
    _ inputs: UnsafeMutablePointer<UnsafePointer<Float>>, _ to: UnsafeMutablePointer<Float>
  ) {
    let (a, b) = (fraction.vector(0), fraction.vector(16))
    let (c, d) = (fraction.vector(32), fraction.vector(48))
    var i = 0
    while i < rows {
      let (from, to) = (inputs[i], to + i &* blockCapacity)
      to.store(from.vector(0) * a, 0)
      to.store(from.vector(16) * b, 16)
      to.store(from.vector(32) * c, 32)
      to.store(from.vector(48) * d, 48)
      i &+= 1
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

  /// Next travel from `k` on that moves crosspoints of output j, or nil. Audio thread.
  @inline(__always) @_noLocks private func next(_ k: Int, of j: Int) -> Int? {
    var k = k
    while k < Self.capacity {
      if isActive[k], members[k &* columns &+ j] > 0 { return k }
      k &+= 1
    }
    return nil
  }

  /// Crosspoints of output `j` travel in this block. Audio thread.
  @inline(__always) @_noLocks func reach(_ j: Int) -> Bool { next(0, of: j) != nil }

  /// Adds what the travels contribute to output `j`, in the order of `MatrixSums`. `first`: the first crosspoint of the output
  /// that a cable moves, each noting the next; negative: none. What multiplies such a gain multiplies the way that is left of
  /// it. Audio thread.
  @_noLocks func add(
    _ j: Int, to output: UnsafeMutablePointer<Float>, _ elements: ModulatedElements, from first: Int32
  ) {
    var k = 0
    while let travel = next(k, of: j) {
      let row = distances + (travel &* columns &+ j) &* rows
      let sources = sources + travel &* rows
      var frame = 0
      while frame < blockCapacity {
        var sum = output.vector(frame)
        var entry = first
        var i = 0
        while i < rows {
          if entry >= 0, Int(elements.list[Int(entry)].element) == i &* columns &+ j {
            var distance = Frames(repeating: row[i])
            if let factor = elements.list[Int(entry)].factor { distance *= factor.vector(frame) }
            sum = addProduct(sum, sources[i].vector(frame), distance)
            entry = elements.list[Int(entry)].note
          } else {
            sum = addProduct(sum, sources[i].vector(frame), row[i])
          }
          i &+= 1
        }
        output.store(sum + 0, frame)
        frame &+= 16
      }
      k = travel &+ 1
    }
  }

  /// Travel `k` in this block: its inputs, and the distances of its crosspoints, in the layout of the gains; nil if it
  /// rests. Audio thread.
  @inline(__always) @_noLocks func part(
    _ k: Int
  ) -> (sources: UnsafeMutablePointer<UnsafePointer<Float>>, distances: UnsafeMutablePointer<Float>)? {
    isActive[k] ? (sources + k &* rows, distances + k &* rows &* columns) : nil
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
