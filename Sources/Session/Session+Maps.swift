import Engine
import Patch
import Realtime

/// Movements by maps in one go, as one edit.
struct MapGesture {
  /// Number of its edit in the history.
  var edit: Int?
  /// The values moved, each with its latest value.
  var values: [(target: ControlTarget, value: Value)] = []
  /// Engine frame of the latest movement.
  var time: Int64
}

/// Maps of controllers: the audio thread moves values, and the patch follows.
extension Session {
  /// Gives the patch the values that maps have moved since the last call. What moves without a pause is one edit; the pause
  /// is counted in the engine's frames, so that a file played twice makes the same history.
  func followMaps() {
    // A line with several statements is one: what moves meanwhile comes after it, also if it is taken back.
    guard changesOfLine == nil else { return }
    let movements = engine.takeMovements(upTo: knownMovements ?? .max)
    if movements.isEmpty { return }
    let pause = Int64(History.gesturePause * engine.rate)
    var pending = false
    func write() {
      if pending { writeMovements() }
      pending = false
    }
    for movement in movements {
      if let gesture = mapGesture, pending || gesture.edit == history.newest,
        movement.time - gesture.time <= pause
      {
        mapGesture?.time = movement.time
      } else {
        write()
        mapGesture = MapGesture(edit: nil, time: movement.time)
      }
      engine.accept(movement)
      move(movement)
      pending = true
    }
    write()
  }

  private func move(_ movement: Engine.Movement) {
    if let index = mapGesture?.values.firstIndex(where: { $0.target == movement.target }) {
      mapGesture?.values[index].value = movement.value
    } else {
      mapGesture?.values.append((movement.target, movement.value))
    }
  }

  /// Performs the gesture's edit, in place of its earlier steps. A target that is gone is left out.
  private func writeMovements() {
    guard let gesture = mapGesture else { return }
    let edits = gesture.values.compactMap { edit(moving: $0.target, to: $0.value) }
    guard !edits.isEmpty else { return }
    do throws(EditError) {
      try perform(.joined(edits), amending: gesture.edit, isMoved: true)
      mapGesture?.edit = history.newest
    } catch {
      // The newest edit is another one, which later movements must not replace.
      mapGesture = nil
    }
  }

  /// nil: the patch has no such value any more. A movement may come after the edit that took its target away, and one that
  /// is refused would take the others with it.
  private func edit(moving target: ControlTarget, to value: Value) -> Edit? {
    guard let edit = try? patch.turning(target, to: value, catalogue: catalogue),
      (try? patch.applyingCanonically(edit, catalogue: catalogue)) != nil
    else { return nil }
    return edit
  }

  // MARK: Controllers

  /// Last position of each map's controller, as far as it has moved.
  public var mapPlaces: [MapName: Int] {
    var places: [MapName: Int] = [:]
    for name in patch.settings.maps.keys { places[name] = engine.place(of: name) }
    return places
  }

  /// Hears all controllers: one is about to be chosen for a map.
  public var isLearning: Bool {
    get { engine.isListening }
    set { engine.isListening = newValue }
  }

  /// Events played and controllers moved since the last call while `isLearning`, with the nodes' names.
  public func takeHeard() -> [(node: String, event: Event)] {
    engine.takeHeard().compactMap { heard in patch[heard.node].map { ($0.name, heard.event) } }
  }

  /// Tells controllers the values that they did not set themselves.
  func echoMaps() {
    guard patch.settings.maps.values.contains(where: { $0.echo != nil }) else {
      if !echoed.isEmpty { echoed = [:] }
      return
    }
    for (name, course) in patch.settings.maps {
      guard let echo = course.echo.flatMap({ patch[named: $0] }),
        let scale = try? patch.scale(of: name, course, catalogue: catalogue),
        let value = try? patch.controlled(name.target, catalogue: catalogue).value,
        let place = scale.place(of: value), echoed[name]?.place != place
      else { continue }
      let heard = engine.place(of: name)
      // A controller that has been told a value since it was moved no longer stands where it was moved to.
      let hasMoved = heard != echoed[name]?.heard
      echoed[name] = (place, heard)
      if hasMoved, heard.map({ scale.value(at: $0) == value }) == true { continue }
      for event in name.source.events(at: place) { engine.perform(event, on: echo.id) }
    }
  }
}

extension MapScale {
  /// The position to tell a controller of: an end where the value is that of an end.
  fileprivate func place(of value: Value) -> Int? {
    value == self.value(at: most) ? most : value == self.value(at: 0) ? 0 : position(of: value)
  }
}

extension MapSource {
  /// Messages that show a controller its position.
  func events(at position: Int) -> [Event] {
    let channel = UInt8(clamping: (self.channel ?? 1) - 1)
    func control(_ number: Int, _ value: Int) -> Event {
      Event(.control, channel: channel, key: UInt8(clamping: number), value: Float(value & 127))
    }
    func parameter(_ high: Int, _ low: Int, _ number: Int) -> [Event] {
      [
        control(high, number >> 7), control(low, number), control(6, position >> 7), control(38, position),
      ]
    }
    switch sender {
    case .controller(let number): return [control(number, min(position, 127))]
    case .fine(let coarse, let fine): return [control(coarse, position >> 7), control(fine, position)]
    case .nrpn(let number): return parameter(99, 98, number)
    case .rpn(let number): return parameter(101, 100, number)
    case .note(let key):
      return [
        position > 0
          ? Event(.noteOn, channel: channel, key: UInt8(clamping: key), value: Float(min(position, 127)))
          : Event(.noteOff, channel: channel, key: UInt8(clamping: key))
      ]
    case .bend:
      return [Event(.bend, channel: channel, value: PitchWheel.value(steps: Float(position - 8192)))]
    case .pressure: return [Event(.pressure, channel: channel, value: Float(position))]
    case .keyPressure(let key):
      return [Event(.keyPressure, channel: channel, key: UInt8(clamping: key), value: Float(position))]
    }
  }
}
