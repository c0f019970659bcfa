import Realtime

/// A transaction within a block. The nodes that it reaches run the block in two parts, before it and after it; everything
/// else renders the block as a whole. Audio thread.
struct BlockSplit: BitwiseCopyable {
  /// Frames of the block before it.
  var frames: Int
  var commands: UnsafeMutablePointer<Command>
  var count: Int

  /// True for a node that begins with it.
  @_noLocks func begins(_ node: UnsafeMutablePointer<NodeSlot>) -> Bool {
    var index = 0
    while index < count {
      if case .begin(let new) = commands[index], new == node { return true }
      index &+= 1
    }
    return false
  }

  /// Executes its commands to a node.
  @_noLocks func execute(on node: UnsafeMutablePointer<NodeSlot>) {
    var index = 0
    while index < count {
      if commands[index].node == node { commands[index].execute(on: node) }
      index &+= 1
    }
  }
}

extension Command {
  /// Executes a command that concerns this node alone. Audio thread.
  @_noLocks func execute(on node: UnsafeMutablePointer<NodeSlot>) {
    switch self {
    case .ramp(_, let parameter, let element, let value, let frames, let law):
      node.pointee.parameters[Int(parameter)].move(
        element: Int(element), to: value, over: Int(frames), law: law)
      node.pointee.isMoving = true
      if value.magnitude > 1 { node.pointee.amplifies = true }
    case .makeRoom(_, let parameter, let room): node.pointee.parameters[Int(parameter)].move(into: room)
    case .kernel(_, let parameter, let element, let value, let frames):
      dispatchSet(node.pointee.tag, node.pointee.kernel, Int(parameter), Int(element), value, Int(frames))
      node.pointee.wake()
    case .use(_, let resource):
      dispatchUse(node.pointee.tag, node.pointee.kernel, resource)
      node.pointee.wake()
    case .adopt(_, let kernel, let bytes):
      copyMemory(node.pointee.kernel, kernel, Int(bytes))
      node.pointee.wake()
    default: break
    }
  }
}
