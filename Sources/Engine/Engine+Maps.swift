import Patch
import Realtime

// Maps of controllers: the audio thread moves what they name, and the patch follows. Worker, all of it.

extension Engine {
  /// A value that a map has moved.
  public struct Movement: Sendable {
    /// Moved value.
    public let target: ControlTarget
    /// Its value now.
    public let value: Value
    /// Engine frame from which it is heard.
    public let time: Int64
    fileprivate let number: Int32
    fileprivate let sound: Float
    /// Transactions that were executed before.
    fileprivate let executed: Int
  }

  /// True when the patch has maps, which move values at the end of a cell of 64 frames.
  public var hasMaps: Bool { !maps.maps.isEmpty }

  /// True when there are movements for `takeMovements`.
  public var hasMoved: Bool { renderer.movements.peek() != nil }

  /// Makes room for the audio thread's next movements.
  public func readMovements() {
    while let raw = renderer.movements.peek() {
      unread.append(raw.assumingMemoryBound(to: MapSlot.Movement.self).pointee)
      renderer.movements.pop()
    }
  }

  /// Movements since the last call, in order. Those that an edit has overruled meanwhile are left out. `most`: those that
  /// would be more than so many in total (`movementsTaken`) are left for later.
  public func takeMovements(upTo most: Int = .max) -> [Movement] {
    readMovements()
    let count = max(0, min(unread.count, most - movementsTaken))
    let records = Array(unread.prefix(count))
    unread.removeFirst(count)
    movementsTaken += count
    return records.compactMap { record -> Movement? in
      guard let map = maps.map(numbered: record.map),
        record.executed >= map.values.sent[map.key.element] ?? 0
      else { return nil }
      let value = map.scale.value(at: Int(record.position))
      return Movement(
        target: map.key.name.target, value: value, time: record.time, number: record.map,
        sound: map.parameter.engineValue(of: value), executed: record.executed)
    }
  }

  /// Takes note of a movement, right before the patch with its value is adopted: the audio thread has it already.
  public func accept(_ movement: Movement) {
    guard let map = maps.map(numbered: movement.number) else { return }
    let (values, element) = (map.values, map.key.element)
    switch map.field {
    case .value: values.values[element] = movement.sound
    case let field:
      let bit = MappedValues.bit(field)
      if movement.sound >= 0.5 { values.switches[element] |= bit } else { values.switches[element] &= ~bit }
      let factors = values.factors
      for (element, gain) in values.followers where movement.executed >= gain.sent[0] ?? 0 {
        gain.switches[0] = EngineMaps.Values.switches(factors[element])
        note(gain)
      }
    }
    let heard = values.heard
    if values.cable != nil {
      note(values)
    } else if let node = values.node {
      let count = values.isShared ? node.sentValues[values.parameter].count : heard.count
      node.sentValues[values.parameter] = values.isShared ? Array(repeating: heard[0], count: count) : heard
    }
  }

  /// Takes note of a cable's gain that the audio thread has moved.
  private func note(_ gain: EngineMaps.Values) {
    guard let cable = gain.cable, let intent = graph[cable.patchEnds], intent.cable === cable else { return }
    (intent.settings.gain, intent.settings.factor) = (gain.values[0], gain.factors[0])
    cable.target = gain.heard[0]
  }

  /// Last position of a map's controller; nil: it has not moved, or the map joins nothing.
  public func place(of name: MapName) -> Int? {
    guard let map = maps.maps.first(where: { $0.key.name == name }) else { return nil }
    let place = map.slot.pointee.place.load(ordering: .relaxed)
    return place < 0 ? nil : Int(place)
  }

  /// Hears all events that nodes hand out, for `takeHeard`: a controller is about to be chosen.
  public var isListening: Bool {
    get { listens }
    set {
      guard newValue != listens else { return }
      listens = newValue
      _ = takeHeard()
      adopt(wanted)
    }
  }

  /// Events since the last call, with the nodes that handed them out first.
  public func takeHeard() -> [(node: NodeID, event: Event)] {
    var found: [(node: NodeID, event: Event)] = []
    while let raw = renderer.heard.peek() {
      let heard = raw.assumingMemoryBound(to: MapTable.Heard.self).pointee
      renderer.heard.pop()
      if let node = numbers[heard.node] { found.append((node.id, heard.event)) }
    }
    return found
  }

  /// The cables whose gains the maps of a patch move, also those that add to a gain whose switches a map moves.
  func cables(mappedBy patch: Patch) -> Set<Cable.Ends> {
    var found: Set<Cable.Ends> = []
    for name in patch.settings.maps.keys {
      switch name.target {
      case .morph: break
      case .gain(let cable):
        if let cable = try? patch.existing(cable, catalogue: kinds.catalogue) { found.insert(cable.ends) }
      case .setting(let node, let path):
        guard let node = patch[named: node], let description = kinds[node.kind]?.description,
          let (index, field) = description.mappedParameter(path.name), field != .value
        else { continue }
        for cable in patch.cables(into: node.id, catalogue: kinds.catalogue)
        where description.parameter(ofPort: cable.ends.destination.port)?.0 == index {
          found.insert(cable.ends)
        }
      }
    }
    return found
  }

  /// Adds to `work` what makes the audio thread's maps those of the patch. `serial`: number of its transaction.
  func followMaps(_ work: inout Reconciler.Work, serial: Int) {
    if wanted.settings.maps.isEmpty, maps.table == nil, !listens { return }
    noteGains(of: work.commands, serial: serial, &work)
    var values = maps.values
    let known = Dictionary(maps.maps.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    let new = wanted.settings.maps.sorted { $0.key < $1.key }.compactMap { name, course in
      map(name, course, known, &values)
    }
    var moved: [ObjectIdentifier: Set<Int>] = [:]
    for map in new {
      guard let node = map.values.node else { continue }
      moved[ObjectIdentifier(node), default: []].insert(map.values.parameter)
    }
    for node in Set((maps.maps + new).compactMap(\.values.node).map(ByIdentity.init)).map(\.node) {
      let parameters = moved[ObjectIdentifier(node)] ?? []
      guard node.mapped != parameters else { continue }
      node.mapped = parameters
      if let (command, garbage) = node.grow(rate: rate) {
        work.commands.append(command)
        work.garbage += garbage.map { .memory($0) }
      }
    }
    var seen: Set<ObjectIdentifier> = []
    let moving = new.map(\.values).filter { seen.insert(ObjectIdentifier($0)).inserted }
      .map { ($0, followers(of: $0, &values)) }
    for values in values { synchronize(values, serial: serial, &work) }
    let fade = Int((Engine.standardFade * rate).rounded())
    if let (table, free) = maps.install(new, fade: fade, ears: listens ? sources : []) {
      work.commands.append(.maps(table))
      work.garbage.append(.other(free))
    }
    for (values, followers) in moving { follow(values, followers, serial: serial, &work) }
  }

  /// The gains of cables that add to elements of a gain with switches; new ones are added to `values`.
  private func followers(
    of gains: EngineMaps.Values, _ values: inout [EngineMaps.Values]
  ) -> [(element: Int, gain: EngineMaps.Values)] {
    guard let node = gains.node,
      node.type?.description.parameters[gains.parameter].switches != nil
    else { return [] }
    return node.incoming.compactMap { cable in
      guard case .parameter(gains.parameter, let element?) = cable.input, element < gains.values.count,
        cable.key.depth?.isRatio != true, cable.slot != nil, !cable.isTail
      else { return nil }
      // One that is fading out goes on to do so, by the switches too.
      let settings = graph[cable.patchEnds].flatMap { $0.cable === cable ? $0.settings : nil }
      return (
        element,
        self.values(of: cable, settings?.gain ?? 0, settings?.factor ?? gains.factors[element], &values)
      )
    }
  }

  /// Tells the audio thread which gains follow the switches of `values`, if there are others or an edit has just moved one.
  private func follow(
    _ values: EngineMaps.Values, _ followers: [(element: Int, gain: EngineMaps.Values)], serial: Int,
    _ work: inout Reconciler.Work
  ) {
    let isSame = values.followers.elementsEqual(followers) { $0.element == $1.element && $0.gain === $1.gain }
    if isSame, !followers.contains(where: { $0.gain.sent[0] == serial }) { return }
    let (list, free) = values.follow(followers)
    work.commands.append(.follow(values.memory, list))
    work.garbage.append(.other(free))
  }

  /// Nodes that hand out events and get none, in the order of the file.
  private var sources: [EngineNode] {
    wanted.nodes.values.compactMap { node in
      guard let found = graph.current[node.id], found.slot?.pointee.eventOutput != nil,
        !found.incoming.contains(where: \.carriesEvents)
      else { return nil }
      return found
    }
  }

  /// A map's slot, the old one where nothing about it has changed; nil: it joins nothing at present.
  private func map(
    _ name: MapName, _ course: MapCourse, _ known: [EngineMaps.Key: EngineMaps.Map],
    _ values: inout [EngineMaps.Values]
  ) -> EngineMaps.Map? {
    guard let id = wanted.id(named: name.source.node), let source = graph.current[id],
      source.slot?.pointee.eventOutput != nil,
      let scale = try? wanted.scale(of: name, course, catalogue: kinds.catalogue),
      let parameter = try? wanted.controlled(name.target, catalogue: kinds.catalogue).parameter,
      let (found, element, field) = self.values(of: name.target, &values)
    else { return nil }
    let key = EngineMaps.Key(
      name: name, course: course, source: ObjectIdentifier(source), values: ObjectIdentifier(found),
      element: element, field: field.rawValue)
    if let map = known[key] { return map }
    maps.nextNumber += 1
    return EngineMaps.Map(
      key, number: maps.nextNumber, scale: scale, parameter: parameter, source: source, values: found,
      field: field)
  }

  /// The values that a target is one of; new ones are added to `values`.
  private func values(
    of target: ControlTarget, _ values: inout [EngineMaps.Values]
  ) -> (EngineMaps.Values, element: Int, MappedValues.Field)? {
    switch target {
    // Many values, which the worker moves as an edit.
    case .morph: return nil
    case .gain(let name):
      guard let ends = try? wanted.existing(name, catalogue: kinds.catalogue).ends,
        let intent = graph[ends], let cable = intent.cable, cable.slot != nil
      else { return nil }
      return (self.values(of: cable, intent.settings.gain, intent.settings.factor, &values), 0, .value)
    case .setting(let name, let path):
      guard let node = wanted[named: name], let found = graph.current[node.id], found.slot != nil,
        let description = found.type?.description,
        let (index, field) = description.mappedParameter(path.name)
      else { return nil }
      let parameter = description.parameters[index]
      let sizes = parameter.dimensions.map { description.count($0, of: node) }
      guard let element = sizes.isEmpty ? 0 : EngineValues.place(of: path, sizes) else { return nil }
      if let known = values.first(where: { $0.node === found && $0.parameter == index }) {
        return element < known.values.count ? (known, element, field) : nil
      }
      let (plain, switches) = parts(of: parameter, of: node, description)
      guard element < plain.count else { return nil }
      let new = EngineMaps.Values(
        node: found, cable: nil, parameter: index, description: parameter, values: plain,
        switches: switches)
      values.append(new)
      return (new, element, field)
    }
  }

  /// The gain of a cable, and the factor by which it is heard; a new one is added to `values`.
  private func values(
    of cable: EngineCable, _ gain: Float, _ factor: Float, _ values: inout [EngineMaps.Values]
  ) -> EngineMaps.Values {
    if let found = values.first(where: { $0.cable === cable }) { return found }
    let new = EngineMaps.Values(
      node: nil, cable: cable, parameter: 0, description: nil, values: [gain],
      switches: [EngineMaps.Values.switches(factor)])
    values.append(new)
    return new
  }

  /// A parameter's values in the patch without switches, and its switches.
  private func parts(
    of parameter: ParameterDescription, of node: Node, _ description: KindDescription
  ) -> (values: [Float], switches: [UInt8]) {
    let (values, on) = EngineValues.parts(
      of: parameter, of: node, description: description, wholeNote: wanted.settings.wholeNote)
    // A list has a value for each channel; a map gives all of them one.
    if parameter.dimensions.isEmpty { return ([values.first ?? 0], [0]) }
    var switches = [UInt8](repeating: 0, count: values.count)
    for (name, place) in on {
      if let field = parameter.switches?.field(name) { switches[place] |= MappedValues.bit(field) }
    }
    return (values, switches)
  }

  /// Tells the audio thread of values that the patch has changed.
  private func synchronize(_ values: EngineMaps.Values, serial: Int, _ work: inout Reconciler.Work) {
    var wantedParts: (values: [Float], switches: [UInt8])?
    if let cable = values.cable {
      wantedParts = parts(of: cable, values)
    } else if let node = values.node, let document = wanted[node.id],
      let description = node.type?.description
    {
      wantedParts = parts(of: description.parameters[values.parameter], of: document, description)
    }
    guard let new = wantedParts, new.values.count == values.values.count else { return }
    for index in new.values.indices
    where new.values[index] != values.values[index] || new.switches[index] != values.switches[index] {
      tell(values, index, new.values[index], new.switches[index], serial: serial, &work)
    }
  }

  /// The gain of a cable in the patch without the switches of what it adds to, and their effect. One that is leaving goes
  /// to silence, and its switches are those that are known.
  private func parts(of cable: EngineCable, _ values: EngineMaps.Values) -> (
    values: [Float], switches: [UInt8]
  ) {
    guard let intent = graph[cable.patchEnds], intent.cable === cable else { return ([0], values.switches) }
    return ([intent.settings.gain], [EngineMaps.Values.switches(intent.settings.factor)])
  }

  private func tell(
    _ values: EngineMaps.Values, _ index: Int, _ value: Float, _ switches: UInt8, serial: Int,
    _ work: inout Reconciler.Work
  ) {
    values.values[index] = value
    values.switches[index] = switches
    values.sent[index] = serial
    work.commands.append(
      .mapped(values.memory, element: Int32(index), value: value, switches: switches))
  }

  /// A fade restarts the gains under way at its input: also one that a map has moved since.
  private func noteGains(of commands: [Command], serial: Int, _ work: inout Reconciler.Work) {
    for values in maps.values {
      guard let cable = values.cable, let slot = cable.slot else { continue }
      let isMoved = commands.contains { if case .gain(slot, _, _, _, _) = $0 { true } else { false } }
      guard isMoved else { continue }
      let (gain, switches) = parts(of: cable, values)
      tell(values, 0, gain[0], switches[0], serial: serial, &work)
    }
  }
}

/// A node as a member of a set.
private struct ByIdentity: Hashable {
  let node: EngineNode
  static func == (a: Self, b: Self) -> Bool { a.node === b.node }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(node)) }
}

extension GainSwitches {
  /// The field of a switch by its parameter's name.
  fileprivate func field(_ name: String) -> MappedValues.Field? {
    name == mute ? .mute : name == solo ? .solo : name == invert ? .invert : nil
  }
}

extension KindDescription {
  /// Position of the parameter that a map to `name` moves, and whether it moves its value or one of its switches.
  fileprivate func mappedParameter(_ name: String) -> (Int, MappedValues.Field)? {
    for (index, parameter) in parameters.enumerated() {
      if parameter.name == name, parameter.smoothing != .gain { return (index, .value) }
      if let field = parameter.switches?.field(name) { return (index, field) }
    }
    return nil
  }
}
