import Patch
import Screen

/// Editing of the graph by key: short forms of prompt commands.
extension App {
  // MARK: Connecting

  /// Shows hints on every port, and after the first choice on the fitting ones.
  func startConnecting() {
    let ports = allPorts()
    guard !ports.outputs.isEmpty, !ports.inputs.isEmpty else {
      state.message = .init("nothing to connect: there must be an output and an input", isError: true)
      return
    }
    let targets =
      ports.outputs.map { ViewState.Hint.Target.output($0) } + ports.inputs.map { .input($0) }
    showHints(targets, purpose: "connect: from or to which port?") { [weak self] first in
      self?.continueConnecting(from: first)
    }
  }

  func continueConnecting(from first: ViewState.Hint.Target) {
    let ports = allPorts()
    switch first {
    case .output(let source):
      let fitting = ports.inputs.filter { isEvents(input: $0) == isEvents(output: source) }
      showHints(fitting.map { .input($0) }, purpose: "connect \(text(source)) to which input?") {
        [weak self] in
        if case .input(let destination) = $0 { self?.connect(source, destination) }
      }
    case .input(let destination):
      let fitting = ports.outputs.filter { isEvents(output: $0) == isEvents(input: destination) }
      showHints(fitting.map { .output($0) }, purpose: "connect which output to \(text(destination))?") {
        [weak self] in
        if case .output(let source) = $0 { self?.connect(source, destination) }
      }
    case .cable: break
    }
  }

  func connect(_ source: PortReference, _ destination: PortReference) {
    let ends = Cable.Ends(source, destination)
    guard scene.patch.cables[ends] == nil else {
      state.message = .init(
        "\(scene.patch.shortName(of: ends, catalogue: scene.catalogue)) is connected already")
      return
    }
    perform(.connect(scene.patch.shortName(of: ends, catalogue: scene.catalogue)))
    focus(destination.node)
  }

  /// Declared ports and modulated parameters. Optional ports only for the focused node: elsewhere they would
  /// crowd out the others.
  func allPorts() -> (outputs: [PortReference], inputs: [PortReference]) {
    var outputs: [PortReference] = []
    var inputs: [PortReference] = []
    for node in scene.patch.nodes.values {
      // The ports of a placeholder are those named by its cables.
      let kind = scene.catalogue[node.kind]
      let used = (
        inputs: scene.patch.cables(into: node.id, catalogue: scene.catalogue).map(\.ends.destination.port),
        outputs: scene.patch.cables(from: node.id, catalogue: scene.catalogue).map(\.ends.source.port)
      )
      let declared = kind?.outputs.filter { !$0.isOptional || node.id == focusedNode?.id }.map(\.name)
      for name in unique((declared ?? []) + used.outputs) {
        outputs.append(PortReference(node.id, name))
      }
      for name in unique((kind?.inputs.map(\.name) ?? []) + used.inputs) {
        inputs.append(PortReference(node.id, name))
      }
    }
    return (outputs, inputs)
  }

  private func unique(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  func isEvents(output port: PortReference) -> Bool? {
    let kind = scene.patch[port.node].flatMap { scene.catalogue[$0.kind] }
    return kind.map { $0.outputs.first { $0.name == port.port }?.isEvents ?? false }
  }

  func isEvents(input port: PortReference) -> Bool? {
    let kind = scene.patch[port.node].flatMap { scene.catalogue[$0.kind] }
    return kind.map { $0.inputs.first { $0.name == port.port }?.isEvents ?? false }
  }

  private func text(_ port: PortReference) -> String { "\(scene.patch[port.node]?.name ?? "?").\(port.port)" }

  func startDisconnecting() {
    guard let node = focusedNode else { return }
    let cables = cables(of: node.id)
    switch cables.count {
    case 0: state.message = .init("\(node.name) has no cables")
    case 1: disconnect(cables[0].ends)
    default:
      showHints(cables.map { .cable($0.ends) }, purpose: "disconnect which cable of \(node.name)?") {
        [weak self] in
        if case .cable(let ends) = $0 { self?.disconnect(ends) }
      }
    }
  }

  private func disconnect(_ ends: Cable.Ends) {
    perform(.disconnect(scene.patch.shortName(of: ends, catalogue: scene.catalogue)))
  }

  /// Cables into the node, then cables out of it; a cable to itself once.
  func cables(of id: NodeID) -> [Cable] {
    scene.patch.cables(into: id, catalogue: scene.catalogue)
      + scene.patch.cables(from: id, catalogue: scene.catalogue).filter { $0.ends.destination.node != id }
  }

  // MARK: Hints

  private static let hintLetters = Array("asdfjklghqweruiopzxcvmtybn")

  func showHints(
    _ targets: [ViewState.Hint.Target], purpose: String, _ action: @escaping (ViewState.Hint.Target) -> Void
  ) {
    guard !targets.isEmpty else {
      state.overlay = .none
      state.message = .init("no port that fits", isError: true)
      return
    }
    let letters = App.hintLetters
    // As few different letters as two places need, so that the fingers stay on the home row.
    var used = 4
    while used < letters.count, used * used < targets.count { used += 1 }
    let hints = targets.prefix(used * used).enumerated().map { index, target in
      ViewState.Hint(letters: "\(letters[index % used])\(letters[index / used])", target: target)
    }
    onHint = action
    state.view = .graph
    state.overlay = .hints(hints, typed: "", purpose: purpose)
  }

  func handleHint(_ key: Key) {
    guard case .hints(let hints, let typed, let purpose) = state.overlay else { return }
    switch key {
    case "esc", "ctrl-c":
      state.overlay = .none
      state.message = nil
    case "backspace": state.overlay = .hints(hints, typed: String(typed.dropLast()), purpose: purpose)
    default:
      guard let letter = key.text else { return }
      let text = typed + letter.lowercased()
      guard hints.contains(where: { $0.letters.hasPrefix(text) }) else { return }
      guard let hint = hints.first(where: { $0.letters == text }) else {
        state.overlay = .hints(hints, typed: text, purpose: purpose)
        return
      }
      let action = onHint
      onHint = nil
      state.overlay = .none
      action?(hint.target)
    }
  }

  // MARK: Removing

  func removeFocused(bridge: Bool) {
    guard let node = focusedNode else { return }
    // The focus moves along the signal path, to where the gap closes.
    let next =
      scene.patch.cables(from: node.id, catalogue: scene.catalogue).first?.ends.destination.node
      ?? scene.patch.cables(into: node.id, catalogue: scene.catalogue).first?.ends.source.node
    if perform(.remove(node.name, bridge: bridge)) {
      focusName = next.flatMap { scene.patch[$0]?.name }
      state.focus = next
      keepFocus()
    }
  }

  // MARK: Kinds

  func startReplacing() {
    guard let node = focusedNode else { return }
    choose("replace \(node.name) by", kindItems(near: node.kind)) { [weak self] kind in
      self?.replaceFocused(with: Node(name: node.name, kind: kind))
    }
  }

  private func replaceFocused(with replacement: Node) {
    guard let node = focusedNode else { return }
    if perform(.replace(node.name, with: replacement)) { otherKinds[node.name] = plain(node) }
  }

  func startInserting() {
    guard let node = focusedNode else { return }
    let cables = cables(of: node.id)
    switch cables.count {
    case 0: state.message = .init("\(node.name) has no cable to insert into", isError: true)
    case 1: chooseInsertion(cables[0].ends)
    default:
      showHints(cables.map { .cable($0.ends) }, purpose: "insert into which cable of \(node.name)?") {
        [weak self] in
        if case .cable(let ends) = $0 { self?.chooseInsertion(ends) }
      }
    }
  }

  private func chooseInsertion(_ ends: Cable.Ends) {
    let cable = scene.patch.shortName(of: ends, catalogue: scene.catalogue)
    choose("insert into \(cable)", kindItems(near: nil, passing: true)) { [weak self] kind in
      self?.insert(kind, into: ends)
    }
  }

  func insert(_ kind: String, into ends: Cable.Ends) {
    let cable = scene.patch.shortName(of: ends, catalogue: scene.catalogue)
    let name = freshName(kind)
    if perform(.insert(Node(name: name, kind: kind), into: cable)) {
      insertedKind = kind
      focusName = name
      if let id = scene.patch.id(named: name) { focus(id) }
    }
  }

  func startAdding() {
    choose("add a node of kind", kindItems(near: nil)) { [weak self] kind in
      guard let self else { return }
      let name = freshName(kind)
      if perform(.add(Node(name: name, kind: kind), before: nil)), let id = scene.patch.id(named: name) {
        focus(id)
      }
    }
  }

  /// The kind's name, with a number if it is taken.
  func freshName(_ kind: String) -> String {
    guard scene.patch[named: kind] != nil else { return kind }
    var number = 2
    while scene.patch[named: "\(kind)\(number)"] != nil { number += 1 }
    return "\(kind)\(number)"
  }

  /// All kinds, those in the category of `kind` first. `passing`: only kinds with inputs and outputs.
  private func kindItems(near kind: String?, passing: Bool = false) -> [(name: String, detail: String)] {
    let category = kind.flatMap { scene.catalogue[$0]?.category } ?? .effect
    let kinds = scene.catalogue.kinds.filter {
      $0.name != kind && (!passing || (!$0.inputs.isEmpty && !$0.outputs.isEmpty))
    }
    let near = kinds.filter { $0.category == category }
    return (near + kinds.filter { $0.category != category }).map { ($0.name, $0.summary) }
  }

  // MARK: Rewiring while playing

  /// Target of the function keys: the focused node if it is an effect, otherwise the first effect of the
  /// patch.
  private var effect: Node? {
    func isEffect(_ node: Node) -> Bool {
      guard let kind = scene.catalogue[node.kind] else { return false }
      return kind.category == .effect
    }
    if let node = focusedNode, isEffect(node) { return node }
    return scene.patch.nodes.values.first(where: isEffect)
  }

  /// Replaces the effect by the one that it replaced before, with its settings. The first time, by an
  /// equalizer, or for an equalizer by a distortion.
  func swapEffect() {
    guard let node = effect else {
      state.message = .init("no effect to swap: F8 inserts one", isError: true)
      return
    }
    focus(node.id)
    let fallback = node.kind == "equalizer" ? "distortion" : "equalizer"
    var other = otherKinds[node.name] ?? Node(name: node.name, kind: fallback)
    if other.kind == node.kind { other = Node(name: node.name, kind: fallback) }
    replaceFocused(with: other)
  }

  /// Inserts the last inserted kind into the focused node's first output cable, or otherwise input cable.
  func insertEffect() {
    guard let node = focusedNode else { return }
    let out = scene.patch.cables(from: node.id, catalogue: scene.catalogue)
    let audio = (out + scene.patch.cables(into: node.id, catalogue: scene.catalogue)).first {
      isEvents(output: $0.ends.source) != true
    }
    guard let audio else {
      state.message = .init("\(node.name) has no cable to insert into", isError: true)
      return
    }
    insert(insertedKind, into: audio.ends)
  }

  /// The node's kind and settings without its identity.
  private func plain(_ node: Node) -> Node { Node(name: node.name, kind: node.kind, settings: node.settings) }

  // MARK: Choosing

  func choose(
    _ title: String, _ items: [(name: String, detail: String)], _ action: @escaping (String) -> Void
  ) {
    onChoose = action
    state.overlay = .chooser(ViewState.Chooser(title: title, items: items))
  }

  func handleChooser(_ key: Key) {
    guard case .chooser(var chooser) = state.overlay else { return }
    let count = chooser.matching.count
    switch key {
    case "esc", "ctrl-c":
      state.overlay = .none
      onChoose = nil
      return
    case "enter":
      guard chooser.matching.indices.contains(chooser.selected) else { return }
      let action = onChoose
      onChoose = nil
      state.overlay = .none
      action?(chooser.matching[chooser.selected].name)
      return
    case "up", "ctrl-p", "shift-tab": chooser.selected = max(0, chooser.selected - 1)
    case "down", "ctrl-n", "tab": chooser.selected = min(max(0, count - 1), chooser.selected + 1)
    case "pageup": chooser.selected = max(0, chooser.selected - 8)
    case "pagedown": chooser.selected = min(max(0, count - 1), chooser.selected + 8)
    case "home": chooser.selected = 0
    case "end": chooser.selected = max(0, count - 1)
    case "backspace":
      chooser.filter = String(chooser.filter.dropLast())
      chooser.selected = 0
    case "ctrl-u":
      chooser.filter = ""
      chooser.selected = 0
    default:
      guard let letter = key.text else { return }
      chooser.filter += letter.lowercased()
      chooser.selected = 0
    }
    state.overlay = .chooser(chooser)
  }
}
