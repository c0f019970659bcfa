import Realtime

/// The matrix mixer: output j = master * out[j] * the sum over i of [i,j] * in[i] * input i. Each gain is a `Ramp` of its
/// own, and cables may move it. The sum always runs over i in order, so that neither the loop blocking nor the split into
/// blocks changes a bit.
public struct Matrix: Kernel {
  let rows: Int
  let columns: Int
  var masterRamp: Ramp
  let inRamps: UnsafeMutablePointer<Ramp>
  let outRamps: UnsafeMutablePointer<Ramp>
  /// Crosspoint (i, j) is at `j * rows + i`, here and below.
  let crossRamps: UnsafeMutablePointer<Ramp>
  /// Target of each crosspoint.
  let gains: UnsafeMutablePointer<Float>
  let moving: UnsafeMutablePointer<Bool>
  /// Number of moving crosspoints of each output.
  let movingCounts: UnsafeMutablePointer<Int32>
  /// Inputs with a nonzero gain into each output: `heardCounts[j]` of them from `j * rows`.
  let heard: UnsafeMutablePointer<Int32>
  let heardCounts: UnsafeMutablePointer<Int32>
  let scaled: UnsafeMutablePointer<Float>
  let sources: UnsafeMutablePointer<UnsafePointer<Float>>
  /// Scratch for the rows that are summed together.
  let summed: UnsafeMutablePointer<MatrixRow>
  let travels: MatrixTravels
  /// `heard` must be rebuilt.
  var isStale = true
  /// No gain moves.
  var isResting = true
  /// All gains of two inputs at unity and two outputs, as long as none is set: they lie far apart.
  private var stereo: StereoGains?

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Self(configuration, arena: &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    self.init(configuration, arena: &arena)
    travels.reset()
    for i in 0..<rows { inRamps[i] = Ramp(configuration.value(Self.in, i)) }
    for j in 0..<columns { outRamps[j] = Ramp(configuration.value(Self.out, j)) }
    for j in 0..<columns {
      for i in 0..<rows {
        let gain = configuration.value(Self.crosspoint, i * columns + j)
        crossRamps[j * rows + i] = Ramp(gain)
        gains[j * rows + i] = gain
        moving[j * rows + i] = false
      }
      movingCounts[j] = 0
    }
  }

  private init(_ configuration: KernelConfiguration, arena: inout Arena) {
    rows = configuration.inputs[0]
    columns = configuration.outputs[0]
    masterRamp = Ramp(configuration.value(Self.master))
    scaled = arena.take(Float.self, rows * blockCapacity)
    gains = arena.take(Float.self, rows * columns)
    inRamps = arena.take(Ramp.self, rows)
    outRamps = arena.take(Ramp.self, columns)
    crossRamps = arena.take(Ramp.self, rows * columns)
    moving = arena.take(Bool.self, rows * columns)
    movingCounts = arena.take(Int32.self, columns)
    heard = arena.take(Int32.self, rows * columns)
    heardCounts = arena.take(Int32.self, columns)
    sources = arena.take(UnsafePointer<Float>.self, rows)
    summed = arena.take(MatrixRow.self, columns)
    travels = MatrixTravels(rows, columns, &arena)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    let factor = new / old
    masterRamp.stretch(by: factor)
    for i in 0..<rows { inRamps[i].stretch(by: factor) }
    for j in 0..<columns { outRamps[j].stretch(by: factor) }
    for index in 0..<rows * columns { crossRamps[index].stretch(by: factor) }
    travels.stretch(by: factor)
  }

  @_noLocks public mutating func set(
    _ parameter: Int, element: Int, to value: Float, over frames: Int
  ) {
    // On its way already, by a map: it stays so.
    if frames > 0, target(parameter, element) == value { return }
    isResting = false
    stereo = nil
    if parameter == Self.in {
      inRamps[element].move(to: value, over: frames)
    } else if parameter == Self.out {
      outRamps[element].move(to: value, over: frames)
    } else if parameter == Self.master {
      masterRamp.move(to: value, over: frames)
    } else if parameter == Self.crosspoint {
      let j = element % columns
      let index = j &* rows &+ element / columns
      if travels.contains(index) {
        crossRamps[index] = travels.leave(index, j, target: gains[index])
      } else if !moving[index], frames > 0 {
        let distance = gains[index] - value
        if distance == 0 { return }
        if travels.join(index, j, distance: distance, over: frames) {
          gains[index] = value
          crossRamps[index] = Ramp(value)
          isStale = true
          return
        }
      }
      crossRamps[index].move(to: value, over: frames)
      gains[index] = value
      let isMoving = crossRamps[index].isMoving
      if isMoving != moving[index] { movingCounts[j] &+= isMoving ? 1 : -1 }
      moving[index] = isMoving
      isStale = true
    }
  }

  @inline(__always) @_noLocks private func target(_ parameter: Int, _ element: Int) -> Float {
    if parameter == Self.in { return inRamps[element].target }
    if parameter == Self.out { return outRamps[element].target }
    if parameter == Self.master { return masterRamp.target }
    guard parameter == Self.crosspoint else { return .nan }
    return gains[element % columns &* rows &+ element / columns]
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else {
      if !isResting { skip(block.frames) }
      return .silent
    }
    // None, unless cables lead to gains.
    let elements =
      block.modulations?.pointee
      ?? ModulatedElements(block.scratch.assumingMemoryBound(to: ModulatedElement.self))
    guard isResting, elements.count == 0 else {
      if isStale { listHeard() }
      move(block, elements)
      return .sounding
    }
    if let stereo {
      stereo.mix(input[0], input[1], to: block.outputs[0])
      return .sounding
    }
    if isStale { listHeard() }
    scaleInputs(input, block.frames)
    rest(block)
    return .sounding
  }

  /// A block in which no gain moves.
  @_noLocks private mutating func rest(_ block: Block) {
    let output = block.outputs[0]
    let master = masterRamp.target
    if rows == 2, columns == 2 {
      let gains = StereoGains(gains, outRamps[0].target, outRamps[1].target, master)
      if inRamps[0].target == 1, inRamps[1].target == 1 { stereo = gains }
      return gains.mix(sources[0], sources[1], to: output)
    }
    var sums = MatrixSums(
      sources, inputs: rows, frames: block.frames, room: summed, gains: gains, master: master)
    var j = 0
    while j < columns {
      let gain = outRamps[j].target
      if Int(heardCounts[j]) < rows &- (rows &>> 2) {
        sumHeard(j, output[j], block.frames, gain, master)
      } else {
        sums.append(gains + j &* rows, output[j], times: gain)
      }
      j &+= 1
    }
    sums.run()
  }

  @_noLocks public mutating func isFinished() -> Bool { !isMoving }

  var isMoving: Bool {
    @_noLocks mutating get {
      if masterRamp.isMoving || travels.isMoving { return true }
      var index = 0
      while index < rows {
        if inRamps[index].isMoving { return true }
        index &+= 1
      }
      index = 0
      while index < columns {
        if outRamps[index].isMoving || movingCounts[index] > 0 { return true }
        index &+= 1
      }
      return false
    }
  }

  /// Advances every ramp during silence.
  @_noLocks private mutating func skip(_ frames: Int) {
    defer { isResting = !isMoving }
    masterRamp.skip(frames)
    travels.skip(frames)
    var index = 0
    while index < rows {
      inRamps[index].skip(frames)
      index &+= 1
    }
    index = 0
    while index < columns {
      outRamps[index].skip(frames)
      if movingCounts[index] > 0 {
        var i = 0
        while i < rows {
          let crosspoint = index &* rows &+ i
          if moving[crosspoint] {
            crossRamps[crosspoint].skip(frames)
            settle(crosspoint, index)
          }
          i &+= 1
        }
      }
      index &+= 1
    }
  }

  @inline(__always) @_noLocks func settle(_ crosspoint: Int, _ j: Int) {
    guard !crossRamps[crosspoint].isMoving else { return }
    moving[crosspoint] = false
    movingCounts[j] &-= 1
  }

  @_noLocks private mutating func listHeard() {
    var j = 0
    while j < columns {
      let base = j &* rows
      var count = 0
      var i = 0
      while i < rows {
        if gains[base &+ i] != 0 || moving[base &+ i] {
          heard[base &+ count] = Int32(truncatingIfNeeded: i)
          count &+= 1
        }
        i &+= 1
      }
      heardCounts[j] = Int32(truncatingIfNeeded: count)
      j &+= 1
    }
    isStale = false
  }

  /// Points `sources` at each input times its gain, or at the input itself at unity.
  @_noLocks private mutating func scaleInputs(_ input: InputPort, _ frames: Int) {
    var i = 0
    while i < rows {
      scaleInput(i, input[i], frames)
      i &+= 1
    }
  }

  @inline(__always) @_noLocks mutating func scaleInput(_ i: Int, _ from: UnsafePointer<Float>, _ frames: Int)
  {
    let to = scaled + i &* blockCapacity
    if inRamps[i].isMoving {
      inRamps[i].fill(to, frames: frames)
      var frame = 0
      while frame < frames {
        to.store(to.vector(frame) * from.vector(frame), frame)
        frame &+= 16
      }
      sources[i] = UnsafePointer(to)
    } else if inRamps[i].target == 1 {
      sources[i] = from
    } else {
      let gain = inRamps[i].target
      var frame = 0
      while frame < frames {
        to.store(from.vector(frame) * gain, frame)
        frame &+= 16
      }
      sources[i] = UnsafePointer(to)
    }
  }

  /// One output at rest, from its nonzero inputs. Leaving out a gain of zero changes no bit.
  @_noLocks mutating func sumHeard(
    _ j: Int, _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ gain: Float, _ master: Float
  ) {
    let list = heard + j &* rows
    let count = Int(heardCounts[j])
    let row = gains + j &* rows
    var frame = 0
    while frame < frames {
      var sum = Frames(repeating: 0)
      var next = sum
      var k = 0
      while k < count {
        let i = Int(list[k])
        sum = addProduct(sum, sources[i].vector(frame), row[i])
        next = addProduct(next, sources[i].vector(frame &+ 16), row[i])
        k &+= 1
      }
      to.store(sum * gain * master + 0, frame)
      to.store(next * gain * master + 0, frame &+ 16)
      frame &+= 32
    }
  }

  /// Applies the output's own gain and the master gain. Zeros have no sign, whatever they were multiplied by.
  @_noLocks mutating func finish(
    _ j: Int, _ to: UnsafeMutablePointer<Float>, _ master: MovingGain, _ frames: Int
  ) {
    guard outRamps[j].isMoving || outRamps[j].target != 1 || !master.isUnity else { return }
    var gain = MovingGain(outRamps[j].target)
    if outRamps[j].isMoving { gain.fill(&outRamps[j], frames) }
    multiply(to, gain, master)
  }

  @inline(__always) @_noLocks func multiply(
    _ to: UnsafeMutablePointer<Float>, _ gain: MovingGain, _ master: MovingGain
  ) {
    to.store(to.vector(0) * gain.first * master.first + 0, 0)
    to.store(to.vector(16) * gain.second * master.second + 0, 16)
    to.store(to.vector(32) * gain.third * master.third + 0, 32)
    to.store(to.vector(48) * gain.fourth * master.fourth + 0, 48)
  }
}

/// Gains of two inputs and two outputs at rest.
private struct StereoGains: BitwiseCopyable {
  private let leftToLeft, rightToLeft, leftToRight, rightToRight: Float
  private let left, right, master: Float

  /// Of all crosspoints, of the outputs and of the whole.
  @inline(__always) @_noLocks init(
    _ crosspoints: UnsafePointer<Float>, _ left: Float, _ right: Float, _ master: Float
  ) {
    (leftToLeft, rightToLeft) = (crosspoints[0], crosspoints[1])
    (leftToRight, rightToRight) = (crosspoints[2], crosspoints[3])
    (self.left, self.right, self.master) = (left, right, master)
  }

  /// The same sums as of any other matrix, without lists.
  @inline(__always) @_noLocks func mix(
    _ x: UnsafePointer<Float>, _ y: UnsafePointer<Float>, to output: OutputPort
  ) {
    let (l, r) = (output[0], output[1])
    let zero = Frames(repeating: 0)
    var frame = 0
    while frame < blockCapacity {
      let (p, q) = (x.vector(frame), y.vector(frame))
      let toLeft = addProduct(addProduct(zero, p, leftToLeft), q, rightToLeft)
      let toRight = addProduct(addProduct(zero, p, leftToRight), q, rightToRight)
      l.store(toLeft * left * master + 0, frame)
      r.store(toRight * right * master + 0, frame)
      frame &+= 16
    }
  }
}
