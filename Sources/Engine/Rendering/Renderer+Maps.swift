import Realtime

// Movements of maps. Audio thread.

extension Renderer {
  /// Lets maps hear the events of the block before `now`. What they move begins at the end of a cell, so that the same
  /// events sound the same with every period.
  @_noLocks final func follow(_ maps: UnsafeMutablePointer<MapTable>) {
    maps.pointee.hear()
    if maps.pointee.earCount > 0 { maps.pointee.listen(heard) }
    guard now & 63 == 0 else { return }
    var index = 0
    while index < maps.pointee.count {
      let map = maps.pointee.maps[index]
      index &+= 1
      guard let due = map.pointee.takeDue() else { continue }
      let values = map.pointee.values
      guard values.pointee.value(map.pointee.element, map.pointee.field) != due.value else { continue }
      move(values, map.pointee.element, map.pointee.field, to: due.value, over: maps.pointee.fade)
      var movement = MapSlot.Movement(
        map: map.pointee.number, position: Int32(truncatingIfNeeded: due.position), time: now,
        executed: executed.load(ordering: .relaxed))
      _ = movements.push(&movement)
    }
  }

  /// Sets a value that maps move, and lets what is heard of it follow.
  @_noLocks private final func move(
    _ values: UnsafeMutablePointer<MappedValues>, _ element: Int, _ field: MappedValues.Field,
    to value: Float, over frames: Int32
  ) {
    switch field {
    case .value, .mute, .invert:
      let before = values.pointee.heard(element)
      values.pointee.set(element, field, to: value)
      if values.pointee.heard(element) != before { moveHeard(values, element, over: frames) }
    case .solo:
      values.pointee.set(element, field, to: value)
      // Values heard from the others are not kept. A move to where a gain is already changes nothing.
      var other = 0
      while other < values.pointee.count {
        moveHeard(values, other, over: frames)
        other &+= 1
      }
    }
    if field != .value { moveFollowers(of: values, over: frames) }
  }

  /// Lets the gains of cables follow the switches of what they add to.
  @_noLocks final func moveFollowers(
    of values: UnsafeMutablePointer<MappedValues>, over frames: Int32
  ) {
    var index = 0
    while index < values.pointee.followers.count {
      let follower = values.pointee.followers[index]
      if values.pointee.switchFollower(follower) { moveHeard(follower.gain, 0, over: frames) }
      index &+= 1
    }
  }

  @_noLocks private final func moveHeard(
    _ values: UnsafeMutablePointer<MappedValues>, _ element: Int, over frames: Int32
  ) {
    let value = values.pointee.heard(element)
    if let cable = values.pointee.cable {
      cable.pointee.redirect(to: value, over: Int(frames))
      return countMove()
    }
    guard let node = values.pointee.node else { return }
    let parameter = values.pointee.parameter
    if values.pointee.isKernels {
      return execute(
        .kernel(
          node, parameter: parameter, element: Int32(truncatingIfNeeded: element), value: value,
          frames: frames))
    }
    if let notes {
      var index = 0
      while let command = notes.pointee.end(node, parameter, from: &index) { execute(command) }
    }
    var first = element
    var end = element &+ 1
    if values.pointee.isShared { (first, end) = (0, node.pointee.parameters[Int(parameter)].elements) }
    while first < end {
      execute(
        .ramp(
          node, parameter: parameter, element: Int32(truncatingIfNeeded: first), value: value, frames: frames)
      )
      first &+= 1
    }
  }
}
