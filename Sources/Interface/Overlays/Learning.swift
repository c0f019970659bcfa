import Patch
import Realtime
import Screen
import Session

/// Waits for a controller that is to move a value: the first one that is moved makes a map.
struct Learning: Overlay {
  let target: ControlTarget
  /// The overlay that it stands above, which comes back.
  let below: (any Overlay)?
  private var learner = MapLearner()
  /// When the controller was heard first.
  private var heardAt: Double?

  /// Seconds for which it listens to a controller, to tell its kind.
  static let listening = 0.3

  init(_ target: ControlTarget, above below: (any Overlay)?, hasMaps: Bool) {
    self.target = target
    self.below = below
    let leave = KeyHelp(keys: "Esc", name: "leave")
    hints = hasMaps ? [KeyHelp(keys: "Ctrl-L", name: "takes its maps away"), leave] : [leave]
  }

  var letsPlay: Bool { true }
  var isBeside: Bool { below?.isBeside ?? false }

  let hints: [KeyHelp]

  func words(_ scene: Scene) -> [String] { [request(scene)] }

  /// `move a controller for dist.drive`
  private func request(_ scene: Scene) -> String {
    let hears = scene.patch.nodes.values.contains { scene.catalogue[$0.kind]?.endpoint == .midi }
    return "move a controller for \(target)" + (hears ? "" : "; the patch hears none without a midi node")
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    if isBeside { below?.draw(scene, frame, row: row, on: &canvas) }
    let sources = scene.patch.maps(to: target).map(\.source.description)
    let words =
      learner.hasHeard
      ? "listening…"
      : sources.isEmpty
        ? request(scene)
        : "\(target) follows \(sources.joined(separator: ", ")); move another controller"
    let lines = Wrapping.lines([Wrapping.words(words, .prompt)], columns: canvas.columns - 2, gap: 3)
    canvas.placeCursor(at: Wrapping.draw(lines, endingAt: row, on: &canvas))
  }
}

@MainActor extension Learning {
  /// Learns for a target. `below`: an overlay that comes back afterwards.
  static func start(_ target: ControlTarget, _ desk: Desk, above below: (any Overlay)? = nil) {
    desk.attempt {
      _ = try desk.scene.patch.controlled(target, catalogue: desk.scene.catalogue)
      desk.workbench.learn(true)
      desk.state.overlay = Learning(
        target, above: below, hasMaps: !desk.scene.patch.maps(to: target).isEmpty)
    }
  }

  /// Takes what was heard since the last tick. Call it about 30 times a second.
  static func tick(_ desk: Desk) {
    guard var learning = desk.state.overlay as? Learning else { return desk.workbench.learn(false) }
    for (node, event) in desk.workbench.takeHeard() {
      // The typing keyboard has no key to spare; only controllers that pass through it count.
      let kind = desk.scene.patch[named: node].flatMap { desk.scene.catalogue[$0.kind] }
      if event.kind == .noteOn, kind?.isKeyboard == true { continue }
      learning.learner.hear(event, from: node)
    }
    if learning.learner.hasHeard { learning.heardAt = learning.heardAt ?? desk.now() }
    desk.state.overlay = learning
    guard let heardAt = learning.heardAt, desk.now() - heardAt >= listening else { return }
    learning.end(desk)
    guard let (name, course) = learning.learner.guess(for: learning.target) else { return }
    if desk.scene.patch.settings.maps[name] != nil { return desk.say("there already: map \(name)") }
    desk.perform(.setPatch(.map(name, course)))
  }

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    switch stroke.key {
    case "esc", "ctrl-c":
      end(desk)
      desk.say("nothing learned")
    case "ctrl-l":
      end(desk)
      let edits = desk.scene.patch.maps(to: target).map { Edit.setPatch(.map($0, nil)) }
      if edits.isEmpty { return desk.say("no controller moves \(target)") }
      desk.perform(edits.count == 1 ? edits[0] : .all(edits))
    default: break
    }
  }

  private func end(_ desk: Desk) {
    desk.workbench.learn(false)
    desk.state.overlay = below
  }
}
