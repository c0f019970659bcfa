import Patch
import PatchLanguage
import Screen

/// The eight controls: picking one, turning it, and choosing what it turns.
@MainActor struct Controls {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var targets: [Int: ControlTarget] { desk.scene.patch.settings.controls }

  /// The number on a key of the controls.
  private nonisolated static func number(_ key: Key?) -> Int? {
    guard case .character(let character)? = key?.code else { return nil }
    return character.wholeNumberValue
  }

  /// Picks the control of a key, or asks what it is to turn: where it turns nothing yet, and in patch mode.
  func pick(_ key: Key?) {
    guard let number = Self.number(key), ControlTarget.numbers.contains(number) else { return }
    if desk.state.mode == .play, targets[number] != nil { return pick(number) }
    choose(for: number)
  }

  /// Lets go of a control that turns nothing any more, as after an undo.
  func settle() {
    if let number = desk.state.play.control, targets[number] == nil { desk.state.play.control = nil }
  }

  func pick(_ number: Int) {
    guard let target = targets[number] else { return choose(for: number) }
    desk.state.play.control = number
    desk.say("control \(number) turns \(target): ← → by a step, shift for ten, Enter types")
  }

  /// Turns the picked control, or another one.
  func turn(_ other: Int? = nil, by steps: Int) {
    guard let number = other ?? desk.state.play.control, let target = targets[number] else {
      return desk.say("Alt-1 to Alt-8 pick a control")
    }
    desk.attempt {
      let (patch, catalogue) = (desk.scene.patch, desk.scene.catalogue)
      let (value, parameter) = try patch.controlled(target, catalogue: catalogue)
      guard let next = ValueSteps.stepped(value, parameter, by: steps), next != value else { return }
      desk.perform(
        try patch.turning(target, to: next, catalogue: catalogue), as: .step(target.description))
    }
  }

  /// Opens the prompt with the value of the picked control, or else of the crosspoint under the cursor.
  func type() {
    let picked = desk.state.play.control.flatMap { targets[$0] }
    guard let target = picked ?? crosspoint else { return desk.say("Alt-1 to Alt-8 pick a control") }
    desk.attempt {
      let (patch, catalogue) = (desk.scene.patch, desk.scene.catalogue)
      let value = try patch.controlled(target, catalogue: catalogue).value.line
      switch target {
      case .setting: Prompt.open("set \(target) ", value: value, desk)
      case .morph: Prompt.open("\(target) ", value: value, desk)
      case .gain(let name):
        // The gain is typed behind the rest of the cable's line.
        let rest = Edit.connect(name, try patch.existing(name, catalogue: catalogue).settings.with(gain: 0))
        Prompt.open("\(rest.line) gain=", value: value, desk)
      }
    }
  }

  /// Asks what a control is to turn: what it turns now, the crosspoint under the cursor, the focused node's parameters, then
  /// all others.
  func choose(for number: Int) {
    var items: [(name: String, detail: String)] = []
    var seen: Set<String> = []
    func offer(_ target: ControlTarget) {
      let name = target.description
      guard
        let found = try? desk.scene.patch.controlled(target, catalogue: desk.scene.catalogue),
        seen.insert(name).inserted
      else { return }
      items.append((name, found.value.display))
    }
    if let target = targets[number] {
      // It stands first, so that Enter changes nothing.
      let value = try? desk.scene.patch.controlled(target, catalogue: desk.scene.catalogue).value.display
      items = [(target.description, "as now: \(value ?? "gone")"), ("off", "it turns nothing")]
      seen.insert(target.description)
    }
    if let crosspoint { offer(crosspoint) }
    let nodes = desk.scene.patch.nodes.values
    for node in [desk.focusedNode].compactMap(\.self) + nodes {
      for path in NodeFacts(node, desk.scene).lines { offer(.setting(node.name, path)) }
    }
    for node in nodes where desk.scene.isMatrix(node) {
      for path in gains(of: node) { offer(.setting(node.name, path)) }
    }
    for cable in desk.scene.patch.orderedCables(catalogue: desk.scene.catalogue) {
      offer(.gain(desk.scene.patch.name(of: cable.ends)))
    }
    let scenes = desk.scene.patch.scenes.keys.sorted()
    for (from, to) in zip(scenes, scenes.dropFirst()) { offer(.morph(Morph(from, to))) }
    guard !items.isEmpty else { return desk.complain("nothing here that a control can turn") }
    desk.state.overlay = Chooser(title: "control \(number) turns", items: items) { name, desk in
      Controls(desk).assign(number, name)
    }
  }

  /// Gains of a matrix: its crosspoints, inputs and outputs.
  private func gains(of node: Node) -> [ParameterPath] {
    guard let kind = desk.scene.catalogue[node.kind] else { return [] }
    return kind.parameters.filter { $0.unit == .decibels && !$0.dimensions.isEmpty }.flatMap { gain in
      gain.dimensions.reduce([[]]) { places, dimension in
        places.flatMap { place in (0..<kind.count(dimension, of: node)).map { place + [$0] } }
      }.map { ParameterPath(gain.name, $0) }
    }
  }

  /// Gives a control its target, as the language names it.
  func assign(_ number: Int, _ target: String) {
    if target == targets[number]?.description {
      return desk.state.mode == .play ? pick(number) : desk.say("control \(number) turns \(target)")
    }
    desk.attempt {
      desk.say(try desk.workbench.perform(line: "control \(number) \(target)"))
      if desk.state.mode == .play { desk.state.play.control = targets[number] == nil ? nil : number }
    }
  }

  /// The crosspoint under the cursor of the matrix view.
  var crosspoint: ControlTarget? {
    let matrix = desk.state.matrix
    guard desk.state.view == .matrix, matrix.cable == nil, matrix.cell.isCrosspoint,
      let node = matrix.node.flatMap({ desk.scene.patch[$0] }), desk.scene.isMatrix(node)
    else { return nil }
    return .setting(node.name, ParameterPath("", [matrix.row, matrix.column]))
  }
}

extension Controls {
  nonisolated static let actions: [Action] = [
    Action(
      "control", "Pick a control, or choose what it turns",
      [.anywhere: ControlTarget.numbers.map { "alt-\($0)" }.joined(separator: " ")],
      shownKeys: "Alt-1–8"
    ) { desk, key in Controls(desk).pick(key) },
    Action(
      "control-down", "Turn the picked control down by ten steps", [.playing: "shift-left"], repeats: true
    ) {
      Controls($0).turn(by: -10)
    },
    Action("control-up", "Turn the picked control up by ten steps", [.playing: "shift-right"], repeats: true)
    {
      Controls($0).turn(by: 10)
    },
    Action("control-type", "Type the picked control's value, or the crosspoint's", [.playing: "enter"]) {
      Controls($0).type()
    },
  ]
}
