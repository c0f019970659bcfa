import CVector
import Realtime

// Parameters that move or are modulated. Audio thread, all of it.

extension StepRunner {
  /// Fills the streams of moving and modulated parameters. A parameter at rest was filled when it came to
  /// rest.
  @_noLocks func prepareParameters(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>, restingOnly: Bool
  ) {
    var room = scratch
    let frames = frames
    if node.pointee.isMoving, !restingOnly {
      var isStillMoving = false
      var index = 0
      while index < Int(node.pointee.parameterCount) {
        let state = node.pointee.parameters + index
        if state.pointee.isMoving {
          if state.pointee.isRamp {
            let anyMoved = fill(state, node.pointee.streams + index, &room, frames)
            state.pointee.isMoving = anyMoved
          } else {
            // To the end of the cell, since a kernel may calculate frames before the end of the blend once more.
            let isBlending = state.pointee.crossfade.old != state.pointee.crossfade.new
            let stream = node.pointee.crossfades + index
            stream.pointee.old = state.pointee.crossfade.old
            stream.pointee.new = state.pointee.crossfade.new
            stream.pointee.blend = isBlending ? UnsafePointer(room) : nil
            if isBlending {
              state.pointee.crossfade.fill(room, frames: frames)
              room += blockCapacity
            } else {
              stream.pointee.old = stream.pointee.new
            }
          }
          if state.pointee.isMoving { isStillMoving = true }
        }
        index &+= 1
      }
      node.pointee.isMoving = isStillMoving
    }
    // Mostly the same parameters as before are modulated, and the others need not be looked at.
    let modulated = step.pointee.modulated
    if node.pointee.modulated & ~(modulated & ~NodeSlot.lateParameters) != 0 { restUnmoved(node) }
    node.pointee.modulated = modulated
    let elements = step.pointee.context.modulations
    elements?.pointee.count = 0
    var index = Int(step.pointee.inputCount)
    while index < Int(step.pointee.portCount) {
      let (port, binding) = (step.pointee.ports + index, step.pointee.bindings + index)
      if let elements, binding.pointee.element >= 0 {
        modulateElement(port, binding, elements, &room)
      } else {
        modulate(port, binding, node, &room)
      }
      index &+= 1
    }
  }

  /// Adds all modulations, of a node none of whose parameters moves by itself.
  @inline(never) @_noLocks func modulateAll(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) {
    var room = scratch
    let elements = step.pointee.context.modulations
    elements?.pointee.count = 0
    var index = Int(step.pointee.inputCount)
    while index < Int(step.pointee.portCount) {
      let (port, binding) = (step.pointee.ports + index, step.pointee.bindings + index)
      if let elements, binding.pointee.element >= 0 {
        modulateElement(port, binding, elements, &room)
      } else if binding.pointee.isSingle, !port.pointee.isSilent {
        let base = binding.pointee.base
        // Frames behind the block's end may be anything.
        if let direct = binding.pointee.direct {
          let gain = binding.pointee.gain
          room.store(sostenuto_affine(direct.vector(0), gain, base), 0)
          room.store(sostenuto_affine(direct.vector(16), gain, base), 16)
          room.store(sostenuto_affine(direct.vector(32), gain, base), 32)
          room.store(sostenuto_affine(direct.vector(48), gain, base), 48)
        } else {
          let source = port.pointee[0]
          room.store(base + source.vector(0), 0)
          room.store(base + source.vector(16), 16)
          room.store(base + source.vector(32), 32)
          room.store(base + source.vector(48), 48)
        }
        let stream = node.pointee.streams + Int(binding.pointee.parameter)
        UnsafeMutablePointer(mutating: stream.pointee.values).pointee = room.pointee
        stream.pointee.stream = UnsafePointer(room)
        // A modulation behind it may have made more of it in the block before.
        stream.pointee.elements = 1
        room += blockCapacity
      } else {
        modulate(port, binding, node, &room)
      }
      index &+= 1
    }
  }

  /// Fills one parameter's ramps; false when all were at rest before this block.
  @_noLocks func fill(
    _ state: UnsafeMutablePointer<ParameterState>, _ stream: UnsafeMutablePointer<ParameterStream>,
    _ room: inout UnsafeMutablePointer<Float>, _ frames: Int
  ) -> Bool {
    let elements = state.pointee.elements
    let isMoving = isAnyRampMoving(state)
    let values = state.pointee.values(elements)
    var element = 0
    while element < elements {
      values[element] = state.pointee.ramps[element].value
      if isMoving { state.pointee.ramps[element].fill(room + element &* blockCapacity, frames: frames) }
      element &+= 1
    }
    stream.pointee = ParameterStream(
      values: UnsafePointer(values), stream: isMoving ? UnsafePointer(room) : nil, elements: elements)
    if isMoving { room += elements &* blockCapacity }
    return isMoving
  }

  /// Modulates a parameter's own value, or what the binding before has made of it: adds the sum of the cables, or
  /// multiplies by a power of two.
  @_noLocks private func modulate(
    _ port: UnsafeMutablePointer<InputPort>, _ binding: UnsafeMutablePointer<InputBinding>,
    _ node: UnsafeMutablePointer<NodeSlot>, _ room: inout UnsafeMutablePointer<Float>
  ) {
    let parameter = Int(binding.pointee.parameter)
    let state = node.pointee.parameters + parameter
    let stream = node.pointee.streams + parameter
    let isFurther = binding.pointee.isFurther && !(port - 1).pointee.isSilent
    let moving = state.pointee.isMoving || isFurther ? stream.pointee.stream : nil
    let own = isFurther ? stream.pointee.elements : state.pointee.elements
    let inputs = port.pointee.count
    let isRatio = binding.pointee.isRatio
    binding.pointee.isSingle = !state.pointee.isMoving && own == 1 && inputs == 1 && !isRatio
    binding.pointee.base = state.pointee.ramps[0].target
    if port.pointee.isSilent {
      if isFurther { return }
      if moving == nil, state.pointee.isMoving || stream.pointee.stream != nil || binding.pointee.isHeld {
        rest(state, stream)
        binding.pointee.isHeld = false
      }
      return
    }
    if let direct = binding.pointee.direct {
      writeSum(direct, binding.pointee.gain, to: UnsafeMutablePointer(mutating: port.pointee[0]))
    }
    let elements = own > inputs ? own : inputs
    let values = state.pointee.values(elements)
    let earlier = stream.pointee.values
    // From the last one on: without a stream the values that were modulated before may stand where these are written.
    var element = elements &- 1
    if moving == nil, areStill(port) {
      binding.pointee.isHeld = true
      while element >= 0 {
        let source = port.pointee[element < inputs ? element : inputs &- 1]
        let ownElement = element < own ? element : own &- 1
        let base = isFurther ? earlier[ownElement] : state.pointee.ramps[ownElement].target
        values[element] = isRatio ? raise(base, by: source.pointee) : base + source.pointee
        element &-= 1
      }
      stream.pointee = ParameterStream(values: UnsafePointer(values), stream: nil, elements: elements)
      return
    }
    while element >= 0 {
      let target = room + element &* blockCapacity
      let source = port.pointee[element < inputs ? element : inputs &- 1]
      let ownElement = element < own ? element : own &- 1
      let base = isFurther ? earlier[ownElement] : state.pointee.ramps[ownElement].target
      if isRatio {
        multiply(moving.map { $0 + ownElement &* blockCapacity }, base, by: source, to: target)
      } else if let moving {
        let base = moving + ownElement &* blockCapacity
        var frame = 0
        while frame < frames {
          target.store(base.vector(frame) + source.vector(frame), frame)
          frame &+= 16
        }
      } else {
        var frame = 0
        while frame < frames {
          target.store(base + source.vector(frame), frame)
          frame &+= 16
        }
      }
      values[element] = target[0]
      element &-= 1
    }
    stream.pointee = ParameterStream(
      values: UnsafePointer(values), stream: UnsafePointer(room), elements: elements)
    room += elements &* blockCapacity
  }

  /// Lists what cables bring to an element that the kernel modulates itself.
  @inline(never) @_noLocks private func modulateElement(
    _ port: UnsafeMutablePointer<InputPort>, _ binding: UnsafeMutablePointer<InputBinding>,
    _ elements: UnsafeMutablePointer<ModulatedElements>, _ room: inout UnsafeMutablePointer<Float>
  ) {
    if port.pointee.isSilent { return }
    if let direct = binding.pointee.direct {
      writeSum(direct, binding.pointee.gain, to: UnsafeMutablePointer(mutating: port.pointee[0]))
    }
    let source = port.pointee[0]
    let isStill = areStill(port)
    let isListed = binding.pointee.isFurther && !(port - 1).pointee.isSilent
    if !isListed {
      elements.pointee.list[elements.pointee.count] = ModulatedElement(
        parameter: binding.pointee.parameter, element: binding.pointee.element)
      elements.pointee.count &+= 1
    }
    let entry = elements.pointee.list + (elements.pointee.count &- 1)
    if !isStill { entry.pointee.isStill = false }
    guard binding.pointee.isRatio else {
      entry.pointee.addend = source
      return
    }
    if isStill {
      room.pointee = raise(1, by: source.pointee)
      var frame = 0
      let power = SIMD16<Float>(repeating: room.pointee)
      while frame < blockCapacity {
        room.store(power, frame)
        frame &+= 16
      }
    } else {
      multiply(nil, 1, by: source, to: room)
    }
    entry.pointee.factor = UnsafePointer(room)
    room += blockCapacity
  }

  /// True when no channel of a modulation moves in this whole block: the pitches of held notes, for example. The parameter
  /// is then at rest, which costs its node much less.
  @inline(never) @_noLocks private func areStill(_ port: UnsafeMutablePointer<InputPort>) -> Bool {
    guard frames == blockCapacity else { return false }
    var channel = 0
    while channel < port.pointee.count {
      let source = port.pointee[channel]
      // A moving signal mostly ends elsewhere than it began: two loads, and none of a vector that was just written.
      if source[0].bitPattern != source[blockCapacity &- 1].bitPattern { return false }
      let first = bits(SIMD16<Float>(repeating: source.pointee))
      let moved =
        (bits(source.vector(0)) ^ first) | (bits(source.vector(16)) ^ first)
        | (bits(source.vector(32)) ^ first) | (bits(source.vector(48)) ^ first)
      if sostenuto_any(moved) { return false }
      channel &+= 1
    }
    return true
  }

  @inline(__always) @_noLocks private func bits(_ frames: SIMD16<Float>) -> SIMD16<UInt32> {
    unsafeBitCast(frames, to: SIMD16<UInt32>.self)
  }

  /// A value times two to the power of octaves, with the bits that a moving one has.
  @inline(__always) @_noLocks private func raise(_ base: Float, by octaves: Float) -> Float {
    let octaves = SIMD16<Float>(repeating: octaves)
    return (base * sostenuto_powers_of_two(sostenuto_at_most(sostenuto_at_least(octaves, -64), 64)))[0]
  }

  /// Multiplies a parameter's stream, or its value at rest, by powers of two of octaves.
  @inline(never) @_noLocks private func multiply(
    _ stream: UnsafePointer<Float>?, _ value: Float, by octaves: UnsafePointer<Float>,
    to target: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < frames {
      // So far apart that no parameter reaches them, and near enough to stay numbers.
      let power = sostenuto_powers_of_two(
        sostenuto_at_most(sostenuto_at_least(octaves.vector(frame), -64), 64))
      let base = if let stream { stream.vector(frame) } else { SIMD16<Float>(repeating: value) }
      target.store(base * power, frame)
      frame &+= 16
    }
  }

  /// Writes a sum of one cable, which was left to the node.
  @_noLocks private func writeSum(
    _ source: UnsafePointer<Float>, _ gain: Float, to sum: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < frames {
      sum.store(source.vector(frame) * gain, frame)
      frame &+= 16
    }
  }

  /// Restores the own values of parameters at rest, since their modulation may have ended.
  @_noLocks private func restUnmoved(_ node: UnsafeMutablePointer<NodeSlot>) {
    var index = 0
    while index < Int(node.pointee.parameterCount) {
      let state = node.pointee.parameters + index
      let stream = node.pointee.streams + index
      if state.pointee.isRamp, !state.pointee.isMoving { rest(state, stream) }
      index &+= 1
    }
  }

  /// Points the stream at the parameter's own values, which are at rest.
  @_noLocks func rest(
    _ state: UnsafeMutablePointer<ParameterState>, _ stream: UnsafeMutablePointer<ParameterStream>
  ) {
    let elements = state.pointee.elements
    let values = state.pointee.values(elements)
    var element = 0
    while element < elements {
      values[element] = state.pointee.ramps[element].target
      element &+= 1
    }
    stream.pointee = ParameterStream(values: UnsafePointer(values), stream: nil, elements: elements)
  }

  /// Ends the movement of parameters whose ramps and crossfades are over, at the end of a 64-frame cell. A
  /// ramp is otherwise known to be over one block later, and where blocks begin depends on the driver's period.
  @_noLocks func settle(_ node: UnsafeMutablePointer<NodeSlot>) {
    var isStillMoving = false
    var index = 0
    while index < Int(node.pointee.parameterCount) {
      let state = node.pointee.parameters + index
      if state.pointee.isMoving {
        if state.pointee.isRamp {
          state.pointee.isMoving = isAnyRampMoving(state)
          if !state.pointee.isMoving { rest(state, node.pointee.streams + index) }
        } else {
          let wasBlending = state.pointee.crossfade.isMoving
          state.pointee.crossfade.settle()
          if !wasBlending, !state.pointee.crossfade.isMoving {
            let stream = node.pointee.crossfades + index
            stream.pointee.old = state.pointee.crossfade.new
            stream.pointee.new = state.pointee.crossfade.new
            stream.pointee.blend = nil
            state.pointee.isMoving = false
          }
        }
        if state.pointee.isMoving { isStillMoving = true }
      }
      index &+= 1
    }
    node.pointee.isMoving = isStillMoving
  }

  @inline(__always) @_noLocks private func isAnyRampMoving(
    _ state: UnsafeMutablePointer<ParameterState>
  ) -> Bool {
    var element = 0
    while element < state.pointee.elements {
      if state.pointee.ramps[element].isMoving { return true }
      element &+= 1
    }
    return false
  }
}
