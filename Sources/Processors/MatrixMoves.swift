import Realtime

/// Blocks in which gains move, by themselves or by cables. A modulated gain takes its place among the products of its output,
/// with the value (own + addend) * factor: where nothing is added and the factor is one, the bits are those of a gain that no
/// cable leads to. A modulation that does not move counts as another gain at rest.
extension Matrix {
  /// Entries of the modulated gains: of each input and output, of the master, and the first moving crosspoint of each output,
  /// which notes the next one. Negative: none.
  struct Moved {
    let inputs, outputs, crosspoints: UnsafeMutablePointer<Int32>
    var master: Int32 = -1

    /// `room`: for twelve bytes a channel.
    @_noLocks init(_ room: UnsafeMutableRawPointer, inputs: Int, outputs: Int) {
      self.inputs = room.assumingMemoryBound(to: Int32.self)
      self.outputs = self.inputs + inputs
      crosspoints = self.outputs + outputs
      // All bits of -1 are set.
      setMemory(room, 0xFF, (inputs &+ 2 &* outputs) &* 4)
    }
  }

  /// Note of a crosspoint whose modulated value stands among the gains at rest.
  static var held: Int32 { @_noLocks get { -2 } }

  @inline(never) @_noLocks mutating func move(_ block: Block, _ elements: ModulatedElements) {
    let travels = travels
    let (input, output, frames) = (block.inputs[0], block.outputs[0], block.frames)
    var moved = Moved(block.scratch, inputs: rows, outputs: columns)
    find(elements, &moved)
    scale(input, elements, moved, frames)
    travels.begin(sources, frames)
    var master = MovingGain(masterRamp.target)
    if masterRamp.isMoving { master.fill(&masterRamp, frames) }
    if moved.master >= 0 { master.modulate(elements.list[Int(moved.master)]) }
    var sums = MatrixSums(
      sources, inputs: rows, frames: frames, room: summed, gains: gains, travels: travels)
    var j = 0
    while j < columns {
      let first = moved.crosspoints[j]
      if first >= 0 || movingCounts[j] > 0 {
        sumMoving(j, output[j], elements, from: first, frames)
        travels.add(j, to: output[j], elements, from: first)
      } else if Int(heardCounts[j]) < rows &- (rows &>> 2), !travels.reach(j) {
        sumHeard(j, output[j], frames, 1, 1)
      } else {
        sums.append(gains + j &* rows, output[j])
      }
      j &+= 1
    }
    sums.run()
    j = 0
    while j < columns {
      let entry = moved.outputs[j]
      if entry >= 0 {
        var gain = MovingGain(outRamps[j].target)
        if outRamps[j].isMoving { gain.fill(&outRamps[j], frames) }
        gain.modulate(elements.list[Int(entry)])
        multiply(output[j], gain, master)
      } else {
        finish(j, output[j], master, frames)
      }
      j &+= 1
    }
    travels.end()
    restore(elements)
    isResting = !isMoving
  }

  /// Finds the entries of the gains. Crosspoints whose modulation does not move take their modulated value.
  @_noLocks private mutating func find(_ elements: ModulatedElements, _ moved: inout Moved) {
    // From the last one on, so that the crosspoints of an output stand in the order of the inputs.
    var index = elements.count &- 1
    while index >= 0 {
      let entry = elements.list + index
      let (parameter, element) = (Int(entry.pointee.parameter), Int(entry.pointee.element))
      if parameter == Self.crosspoint {
        let (i, j) = (element / columns, element % columns)
        let crosspoint = j &* rows &+ i
        hear(i, j)
        let isTravelling = entry.pointee.factor != nil && travels.contains(crosspoint)
        if entry.pointee.isStill, !moving[crosspoint], !isTravelling {
          gains[crosspoint] = entry.pointee.value(of: gains[crosspoint])
          entry.pointee.note = Self.held
        } else {
          entry.pointee.note = moved.crosspoints[j]
          moved.crosspoints[j] = Int32(truncatingIfNeeded: index)
        }
      } else if parameter == Self.in {
        moved.inputs[element] = Int32(truncatingIfNeeded: index)
      } else if parameter == Self.out {
        moved.outputs[element] = Int32(truncatingIfNeeded: index)
      } else {
        moved.master = Int32(truncatingIfNeeded: index)
      }
      index &-= 1
    }
  }

  /// Notes that input i is heard in output j, at its place among the others.
  @_noLocks private mutating func hear(_ i: Int, _ j: Int) {
    guard gains[j &* rows &+ i] == 0 else { return }
    let list = heard + j &* rows
    var place = Int(heardCounts[j])
    while place > 0, Int(list[place &- 1]) > i { place &-= 1 }
    if place > 0, Int(list[place &- 1]) == i { return }
    var last = Int(heardCounts[j])
    while last > place {
      list[last] = list[last &- 1]
      last &-= 1
    }
    list[place] = Int32(truncatingIfNeeded: i)
    heardCounts[j] &+= 1
  }

  /// Gives the gains at rest their own values back.
  @_noLocks private mutating func restore(_ elements: ModulatedElements) {
    var index = 0
    while index < elements.count {
      let entry = elements.list[index]
      if entry.note == Self.held, Int(entry.parameter) == Self.crosspoint {
        let crosspoint = Int(entry.element) % columns &* rows &+ Int(entry.element) / columns
        gains[crosspoint] = crossRamps[crosspoint].target
      }
      index &+= 1
    }
  }

  /// As `scaleInputs`, with the modulated gains.
  @_noLocks private mutating func scale(
    _ input: InputPort, _ elements: ModulatedElements, _ moved: Moved, _ frames: Int
  ) {
    var i = 0
    while i < rows {
      let entry = moved.inputs[i]
      if entry < 0 {
        scaleInput(i, input[i], frames)
      } else {
        let (from, to) = (input[i], scaled + i &* blockCapacity)
        var gain = MovingGain(inRamps[i].target)
        if inRamps[i].isMoving { gain.fill(&inRamps[i], frames) }
        gain.modulate(elements.list[Int(entry)])
        to.store(from.vector(0) * gain.first, 0)
        to.store(from.vector(16) * gain.second, 16)
        to.store(from.vector(32) * gain.third, 32)
        to.store(from.vector(48) * gain.fourth, 48)
        sources[i] = UnsafePointer(to)
      }
      i &+= 1
    }
  }

  /// One output with moving crosspoints. `first`: the first one that a cable moves, each noting the next; negative: none.
  @_noLocks private mutating func sumMoving(
    _ j: Int, _ to: UnsafeMutablePointer<Float>, _ elements: ModulatedElements, from first: Int32,
    _ frames: Int
  ) {
    var s0 = Frames(repeating: 0)
    var s1 = s0
    var s2 = s0
    var s3 = s0
    let list = heard + j &* rows
    let count = Int(heardCounts[j])
    var entry = first
    var next = entry < 0 ? -1 : Int(elements.list[Int(entry)].element)
    var gain = MovingGain(0)
    var k = 0
    while k < count {
      let i = Int(list[k])
      let crosspoint = j &* rows &+ i
      let x = sources[i]
      let isModulated = i &* columns &+ j == next
      if isModulated || moving[crosspoint] {
        if moving[crosspoint] {
          gain.fill(&crossRamps[crosspoint], frames)
          settle(crosspoint, j)
        } else {
          gain = MovingGain(gains[crosspoint])
        }
        if isModulated {
          gain.modulate(elements.list[Int(entry)])
          entry = elements.list[Int(entry)].note
          next = entry < 0 ? -1 : Int(elements.list[Int(entry)].element)
        }
        s0 = addProduct(s0, x.vector(0), gain.first)
        s1 = addProduct(s1, x.vector(16), gain.second)
        s2 = addProduct(s2, x.vector(32), gain.third)
        s3 = addProduct(s3, x.vector(48), gain.fourth)
      } else {
        let steady = gains[crosspoint]
        s0 = addProduct(s0, x.vector(0), steady)
        s1 = addProduct(s1, x.vector(16), steady)
        s2 = addProduct(s2, x.vector(32), steady)
        s3 = addProduct(s3, x.vector(48), steady)
      }
      k &+= 1
    }
    to.store(s0 + 0, 0)
    to.store(s1 + 0, 16)
    to.store(s2 + 0, 32)
    to.store(s3 + 0, 48)
  }
}

/// One gain over a block.
struct MovingGain {
  var first: Frames
  var second: Frames
  var third: Frames
  var fourth: Frames
  /// 1 in every frame of the block.
  var isUnity: Bool

  @inline(__always) @_noLocks init(_ steady: Float) {
    first = Frames(repeating: steady)
    second = first
    third = first
    fourth = first
    isUnity = steady == 1
  }

  @inline(__always) @_noLocks mutating func fill(_ ramp: inout Ramp, _ frames: Int) {
    isUnity = false
    withUnsafeMutablePointer(to: &self) {
      ramp.fill(UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self), frames: frames)
    }
  }
}

extension MovingGain {
  /// Adds and multiplies what cables bring.
  @inline(__always) @_noLocks mutating func modulate(_ element: ModulatedElement) {
    isUnity = false
    if let addend = element.addend {
      first += addend.vector(0)
      second += addend.vector(16)
      third += addend.vector(32)
      fourth += addend.vector(48)
    }
    if let factor = element.factor {
      first *= factor.vector(0)
      second *= factor.vector(16)
      third *= factor.vector(32)
      fourth *= factor.vector(48)
    }
  }
}
