import Realtime

// Fades of cables: which begin, and when. Worker.

extension Reconciler {
  /// A gain that starts to move to its cable's target.
  struct Fade {
    let cable: EngineCable
    /// Frames until it begins.
    let wait: Int32
    let frames: Int
    /// The same for all at an input: they lose their speed together.
    let pace: Int
  }

  /// An input of a node, where the gains of crossfading cables must keep adding up to one.
  struct Junction: Hashable {
    let node: Int32
    let port: String

    init(node: Int32, port: String) { (self.node, self.port) = (node, port) }

    init(of cable: EngineCable) {
      self.init(node: cable.key.destination, port: cable.key.destinationPort)
    }
  }

  /// Prepares a new cable's slot, and its fade in if it begins with one. `arrived`: numbers of the new nodes.
  func prepare(_ cable: EngineCable, arrived: Set<Int32>) {
    // A feedback cable begins with an empty delay; without a fade, a new node would receive a step when its
    // ring is full.
    let fades =
      !cable.carriesEvents && !isFirst && (cable.key.isFeedback || isAudible(cable, arrived: arrived))
    cable.prepare(gain: fades ? 0 : cable.target)
    if fades { move(cable) }
    // From the block's start on a delay is filled, and a kernel sees that its input is connected.
    if cable.carriesEvents || cable.key.delay > 0
      || work.isLocal && !arrived.contains(cable.destination.number) && connects(cable)
    {
      work.isLocal = false
    }
    guard cable.wait > 0 else { return }
    cable.opensAt = CableSlot.start(after: Int(cable.wait), from: time)
    work.opening.append(cable)
  }

  /// True when a change of this cable is heard downstream. In front of a node that is itself new or leaving
  /// it is not, since that node's outputs fade.
  private func isAudible(_ cable: EngineCable, arrived: Set<Int32>) -> Bool {
    cable.destination.isSink
      || !cable.destination.isLeaving && !arrived.contains(cable.destination.number)
  }

  /// True when the input of a new cable had none before.
  private func connects(_ cable: EngineCable) -> Bool {
    !cable.destination.incoming.contains { $0 !== cable && $0.slot != nil && $0.input == cable.input }
  }

  /// Lets a cable's gain move to its target.
  func move(_ cable: EngineCable) {
    moving.append(cable)
    cable.settling = .unsent(frames: fade)
    graph.unsettle(cable)
  }

  /// Lets a cable be under way for so many frames without a move of its gain.
  func settle(_ cable: EngineCable, after frames: Int) {
    cable.settling = .unsent(frames: frames)
    graph.unsettle(cable)
    work.fading.append(cable)
  }

  /// The fades that begin with this edit.
  ///
  /// Fades under way at the same junction restart together with a new one. A ramp is linear in its position,
  /// speed and target. Gains that add up to one and start together therefore keep adding up to one, however
  /// many edits arrive during a fade; those that are inaudible already end as they would have. All of them wait until
  /// the signals that fade in are complete.
  func alignedFades() -> [Fade] {
    if moving.isEmpty { return [] }
    var seen: Set<ObjectIdentifier> = []
    var cables = moving.filter { seen.insert(ObjectIdentifier($0)).inserted }
    let disturbed = Set(cables.map(Junction.init(of:)))
    for cable in graph.unsettled
    where cable.settling != nil && !cable.carriesEvents && !cable.isTail
      && disturbed.contains(Junction(of: cable)) && !(cable.isLeaving && isInaudible(cable))
    {
      if seen.insert(ObjectIdentifier(cable)).inserted { cables.append(cable) }
    }
    var waits: [Junction: Int32] = [:]
    var paces: [Junction: Int] = [:]
    for cable in cables {
      let junction = Junction(of: cable)
      waits[junction, default: 0] = max(waits[junction, default: 0], cable.remainingWait(at: time))
      let pace = cable.pace(at: time)
      if pace > 0 { paces[junction] = min(paces[junction] ?? pace, pace) }
    }
    return cables.map {
      let junction = Junction(of: $0)
      return Fade(
        cable: $0, wait: waits[junction, default: 0], frames: switchTimes[junction] ?? fade,
        pace: paces[junction] ?? 0)
    }
  }

  /// Sends the gain moves.
  func start(_ fades: [Fade]) {
    for start in fades {
      let (cable, wait, fade) = (start.cable, start.wait, start.frames)
      let move = GainMirror.Move(target: cable.target, frames: fade, pace: start.pace, wait: Int(wait))
      if isExact { cable.follow(move, at: time) } else { cable.follow(move, of: request.serial) }
      work.commands.append(
        .gain(
          cable.slot, value: cable.target, frames: Int32(fade), wait: wait,
          pace: Int32(clamping: start.pace)))
      // A kernel may round a parameter at rest in another way than one to which zeros are added.
      if case .parameter = cable.input { work.isLocal = false }
      cable.settling = .unsent(frames: fade + (wait > 0 ? Int(wait) + blockCapacity - 1 : 0))
      work.fading.append(cable)
    }
  }
}
