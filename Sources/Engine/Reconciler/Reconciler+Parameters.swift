import Patch
import Processors
import Realtime

// Values of nodes that stay. Worker.

extension Reconciler {
  /// Updates the name, the driver's ports and the values of a node.
  func update(_ target: EngineNode, _ node: Node, _ values: [[Float]]) {
    if target.name != node.name {
      target.name = node.name
      engine.rename(target)
      // Inputs are summed in name order. The change takes effect at this frame, not with some later plan.
      work.needsPlan = true
      work.isLocal = false
      graph.reorderCables(from: target)
    }
    if target.firstChannel != nil { updatePorts(of: target, node) }
    if target.midiPort != nil { updateMidiPort(of: target, node) }
    guard let description = target.type?.description else { return }
    if !request.ramps.isEmpty { giveAgain(ordersTo: target, node, values, description) }
    let lengths = node.settings.isEmpty ? [:] : node.noteLengths(description)
    let oldLengths = target.noteLengths
    guard target.values != values || lengths != oldLengths else { return }
    let old = target.values
    target.values = values
    follow(lengths, of: target)
    grow(target)
    if target.sizes.contains(where: { $0.map { old[$0] != values[$0] } == true }) {
      target.row.markPending()
      target.row.pointee.mayNarrow = true
      work.needsPlan = true
    }
    for (index, parameter) in description.parameters.enumerated()
    where old[index] != values[index] || lengths[index] != oldLengths[index] {
      send(index, of: target) { element in
        let frames = request.ramps.frames(of: parameter, element: element, of: node, description, values)
        return (frames ?? fade, law(of: parameter, over: frames))
      }
    }
  }

  /// Sends orders of the edit that are those of before: what was ordered may be over, or a pedal have ordered something else.
  private func giveAgain(
    ordersTo target: EngineNode, _ node: Node, _ values: [[Float]], _ description: KindDescription
  ) {
    // A node that is new has the order from its beginning.
    guard target.slot != nil else { return }
    for (index, parameter) in description.parameters.enumerated()
    where parameter.isOrder && target.values[index] == values[index] {
      guard request.ramps.frames(of: ParameterPath(parameter.name), of: node.id) != nil else { continue }
      let value = request.isUndo ? -1 : values[index][0]
      work.commands.append(
        .kernel(target.slot, parameter: Int32(index), element: 0, value: value, frames: 0))
    }
  }

  /// Gives a node its lengths of notes.
  func follow(_ lengths: [Int: [Double?]], of node: EngineNode) {
    guard node.noteLengths != lengths else { return }
    node.noteLengths = lengths
    engine.followNotes(of: node)
    work.changesNotes = true
    if node.slot != nil { tellCycles(of: node) }
  }

  /// Tells a kernel the notes of rates that are in phase with the transport.
  func tellCycles(of node: EngineNode) {
    guard let parameters = node.type?.description.parameters else { return }
    for (index, parameter) in parameters.enumerated() where parameter.isInPhase {
      for (element, length) in (node.noteLengths[index] ?? [nil]).enumerated() {
        work.commands.append(
          .kernel(
            node.slot, parameter: Int32(index), element: Int32(element), value: Float(length ?? 0), frames: 0)
        )
      }
    }
  }

  /// Moves a kernel into more memory where its values or its cables ask for it.
  func grow(_ node: EngineNode) {
    guard let (command, garbage) = node.grow(rate: engine.rate) else { return }
    work.commands.append(command)
    work.garbage += garbage.map { .memory($0) }
  }

  /// The course of a move of which an edit states the frames. A shorter one is smoothing: nobody hears its course.
  private func law(of parameter: ParameterDescription, over frames: Int?) -> Ramp.Law {
    guard let frames, Double(frames) >= Self.shortestGlide * engine.rate else { return .even }
    return parameter.unit == .decibels || parameter.unit == .hertz ? .ratio : .even
  }

  /// Seconds.
  private static var shortestGlide: Double { 0.1 }

  /// Updates the name and the connections of its ports at the driver.
  func updatePorts(of target: EngineNode, _ node: Node) {
    let (name, connections) = Self.portWords(of: node, target)
    guard (target.portName, target.connections) != (name, connections) else { return }
    (target.portName, target.connections) = (name, connections)
    engine.rename(target)
  }

  /// Name of a node's ports, nil for the node's own, and the patterns of what they are connected to, empty for the
  /// driver's choice.
  static func portWords(of node: Node, _ target: EngineNode) -> (name: String?, connections: String) {
    func text(_ name: String, unless usual: String) -> String? {
      let value =
        node.settings[ParameterPath(name)]
        ?? target.type?.description.parameters.first { $0.name == name }?.defaultValue
      guard case .text(let text)? = value, !text.isEmpty, text != usual else { return nil }
      return text
    }
    return (text("port", unless: "none"), text("connect", unless: "auto") ?? "")
  }

  /// Sends the targets of a parameter's changed elements. `move`: duration and course of an element's move.
  func send(_ index: Int, of node: EngineNode, move: (Int) -> (frames: Int, law: Ramp.Law)) {
    let before = node.sentValues[index]
    let elements = node.elements(of: index)
    guard elements != before, let description = node.type?.description.parameters[index] else { return }
    let smoothing = description.smoothing
    node.sentValues[index] = elements
    if smoothing == .ramp, let room = node.makeRoom(for: elements.count, of: index) {
      work.commands.append(room)
    }
    for (element, value) in elements.enumerated() where element >= before.count || before[element] != value {
      let move = move(element)
      if value.isNaN {
        if smoothing == .crossfade { work.crossfade = max(work.crossfade, move.frames) }
        work.noteMoves[NoteMove(node: node.number, parameter: index, element: element)] = move
        work.changesNotes = true
        continue
      }
      let frames = Int32(clamping: move.frames)
      let (parameter, element) = (Int32(index), Int32(element))
      switch smoothing {
      case .ramp, .crossfade:
        if smoothing == .crossfade { work.crossfade = max(work.crossfade, Int(frames)) }
        work.commands.append(
          .ramp(
            node.slot, parameter: parameter, element: element, value: value, frames: frames, law: move.law))
      case .kernel:
        let value = description.isOrder && request.isUndo ? -1 : value
        work.commands.append(
          .kernel(node.slot, parameter: parameter, element: element, value: value, frames: frames))
      case .gain, .structural, .none: break
      }
    }
  }
}

/// Frames of the parameters for which an edit states a time.
struct RampTimes {
  private struct Key: Hashable {
    var node: NodeID
    var path: ParameterPath
  }

  private var frames: [Key: Int] = [:]

  var isEmpty: Bool { frames.isEmpty }

  init() {}

  /// Times in seconds at `rate`. Gains that a switch controls take the switch's time.
  init(
    _ ramps: [(node: NodeID, path: ParameterPath, seconds: Double)], rate: Double, in patch: Patch,
    _ kinds: KindRegistry
  ) {
    for ramp in ramps {
      frames[Key(node: ramp.node, path: ramp.path)] = Int(limited: ramp.seconds * rate)
    }
    for (key, frames) in frames {
      guard let kind = patch[key.node].flatMap({ kinds[$0.kind]?.description }) else { continue }
      self.frames[Key(node: key.node, path: kind.gains(movedBy: key.path))] = frames
    }
  }

  /// Frames of an element's move; nil: the edit states no time for it.
  func frames(
    of parameter: ParameterDescription, element: Int, of node: Node, _ description: KindDescription,
    _ values: [[Float]]
  ) -> Int? {
    if frames.isEmpty { return nil }
    var indices: [Int] = []
    var rest = element
    for dimension in parameter.dimensions.reversed() {
      let size = description.parameters.firstIndex { $0.name == dimension }.map { Int(values[$0][0]) } ?? 1
      indices.insert(rest % max(size, 1), at: 0)
      rest /= max(size, 1)
    }
    if indices.isEmpty { indices = [element] }
    return frames(of: ParameterPath(parameter.name, indices), of: node.id)
  }

  /// The same of an element, or of all of a parameter.
  func frames(of path: ParameterPath, of node: NodeID) -> Int? {
    if frames.isEmpty { return nil }
    return frames[Key(node: node, path: ParameterPath(path.name))] ?? frames[Key(node: node, path: path)]
  }
}
