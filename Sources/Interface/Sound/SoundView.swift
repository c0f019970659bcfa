import Analysis
import Patch
import Screen
import Session

extension KeyContext {
  static let scope = KeyContext(name: "scope", title: "In scope, spectrum, tuner and loudness")
}

/// Scope, spectrum, tuner and loudness of a port of the focused node.
struct SoundView: View {
  let name = ViewName.scope
  let help = "Scope, spectrum, tuner and loudness of any port; again for the next of them"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "alt-v", .patch: "5 v"]
  let context: KeyContext? = .scope
  let actions = SoundView.table

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    if scene.patch.nodes.isEmpty { return Action.hints(ofEmpty: name, scene) }
    let own: [ActionHint] =
      switch state.sound.mode {
      case .scope: [("less-time", "shorter"), ("more-time", "longer"), ("trigger", "trigger")]
      case .spectrum: [("sound-more", "deeper"), ("hold-peaks", "peaks")]
      case .tuner: [("sound-more", "A4 up"), ("sound-less", "down")]
      case .loudness: [("reset-sound", "begin anew"), ("sound-more", "target")]
      }
    return [
      ("next-sound", "next"), ("leave", "graph"), ("freeze", state.sound.isFrozen ? "go on" : "freeze"),
      ("keep-sound", state.sound.kept == nil ? "compare" : "compare no more"),
    ] + own + (state.sound.picture.channels > 1 ? [("next-channel", "channel")] : []) + [
      ("show-help", "help")
    ]
  }

  // MARK: Listening

  func showAgain(_ desk: Desk) { Self.nextMode(desk) }

  /// The port follows the focus while the view is shown.
  func settle(_ desk: Desk) {
    guard desk.state.view == name else { return }
    let ports = desk.focusedNode.map { desk.scene.soundPorts(of: $0) } ?? []
    if let port = desk.state.sound.port, ports.contains(port) { return }
    // Of a node that replaces another, the port of the same name.
    let old = desk.state.sound.port
    desk.state.sound.port = ports.first { $0.port == old?.port && $0.isInput == old?.isInput } ?? ports.first
  }

  /// Loudness is measured on while other screens are shown, since it takes a whole piece.
  private func isListening(_ state: ViewState) -> Bool {
    state.view == name || state.sound.mode == .loudness
  }

  func tick(_ desk: Desk) -> Bool {
    if !isListening(desk.state), let inspector = desk.state.overlay as? Inspector {
      return listen(inspector, desk)
    }
    let port = isListening(desk.state) ? desk.state.sound.port : nil
    desk.ear.listen(to: port, name: port.flatMap { desk.scene.name(of: $0) } ?? "", desk)
    guard port != nil, desk.ear.hear(desk) else {
      guard desk.state.view == name, desk.state.sound.picture != SoundPicture() else { return false }
      desk.state.sound.picture = SoundPicture()
      return true
    }
    guard desk.state.view == name, !desk.state.sound.isFrozen else { return false }
    let picture = Self.picture(desk, modes: [desk.state.sound.mode])
    guard picture != desk.state.sound.picture else { return false }
    desk.state.sound.picture = picture
    return true
  }

  /// The inspector's scope and spectrum, where it has room for them.
  @MainActor private func listen(_ inspector: Inspector, _ desk: Desk) -> Bool {
    let dots = inspector.scopeDots(desk)
    let port = dots > 0 ? inspector.port(desk.scene) : nil
    desk.ear.listen(to: port, name: port.flatMap { desk.scene.name(of: $0) } ?? "", desk)
    let isHeard = port != nil && desk.ear.hear(desk)
    let picture =
      isHeard ? desk.ear.picture(SoundState(), dots: dots, modes: inspector.modes(desk)) : SoundPicture()
    guard picture.trace != inspector.picture.trace || picture.spectrum != inspector.picture.spectrum else {
      return false
    }
    var inspector = inspector
    inspector.picture = picture
    desk.state.overlay = inspector
    return true
  }

  @MainActor static func picture(_ desk: Desk, modes: [SoundState.Mode]) -> SoundPicture {
    let size = SoundPainting.pictureSize(desk.viewSize)
    return desk.ear.picture(desk.state.sound, dots: 2 * size.columns, modes: modes)
  }

  // MARK: Keys

  /// Left and right choose the node, up and down its port.
  func move(_ motion: Motion, _ desk: Desk) {
    switch motion {
    case .up: step(-1, desk)
    case .down: step(1, desk)
    default: GraphView().move(motion, desk)
    }
  }

  @MainActor private func step(_ step: Int, _ desk: Desk) {
    let ports = desk.focusedNode.map { desk.scene.soundPorts(of: $0) } ?? []
    guard let port = desk.state.sound.port, let index = ports.firstIndex(of: port) else { return }
    desk.state.sound.port = ports[(index + step + ports.count) % ports.count]
    desk.state.sound.channel = nil
  }

  let movesFocus = true

  @MainActor static func nextMode(_ desk: Desk) {
    let modes = SoundState.Mode.allCases
    let index = modes.firstIndex(of: desk.state.sound.mode) ?? 0
    show(modes[(index + 1) % modes.count], desk)
  }

  @MainActor static func show(_ mode: SoundState.Mode, _ desk: Desk) {
    desk.state.sound.mode = mode
    // A picture of another mode has nothing to show in this one.
    desk.state.sound.isFrozen = false
  }

  // MARK: The mouse

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    place.row == 0 ? SoundPainting.mode(at: place.column, state).map { .soundMode($0) } ?? .nothing : .nothing
  }

  func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk) {
    if case .soundMode(let mode) = hit { Self.show(mode, desk) }
  }

  /// The wheel turns time in the scope, and elsewhere what plus and minus do.
  func turnWheel(_ mouse: MouseEvent, _ hit: Hit, _ desk: Desk) {
    if desk.state.sound.mode == .scope {
      Self.turnSpan(mouse.wheelRows.signum(), desk)
    } else {
      Self.turn(-mouse.wheelRows.signum(), desk)
    }
  }

  // MARK: Drawing

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    SoundPainting.draw(scene, state, on: &canvas)
  }

  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    SoundPainting.footer(scene, state, columns: columns)
  }
}
