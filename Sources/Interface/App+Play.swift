import Patch
import Realtime
import Screen

/// Play mode: the computer keyboard as a piano.
extension App {
  /// Semitones above C of the lower row's octave, by the key's position on a US keyboard.
  static let pianoKeys: [Character: Int] = [
    "z": 0, "s": 1, "x": 2, "d": 3, "c": 4, "v": 5, "g": 6, "b": 7, "h": 8, "n": 9, "j": 10, "m": 11,
    "q": 12, "2": 13, "w": 14, "3": 15, "e": 16, "r": 17, "5": 18, "t": 19, "6": 20, "y": 21, "7": 22,
    "u": 23,
  ]
  /// Upper limit of the key repeat interval, in seconds, for terminals that do not report releases.
  private static let repeatInterval = 0.12

  /// The focused keyboard; otherwise the first one; otherwise the first node with an events input.
  var playTarget: NodeID? {
    let nodes = scene.patch.nodes.values
    if let node = focusedNode, isKeyboard(node) { return node.id }
    if let target = state.play.target, let node = scene.patch[target], isKeyboard(node) { return target }
    if let keyboard = nodes.first(where: isKeyboard) { return keyboard.id }
    return nodes.first { node in
      scene.catalogue[node.kind]?.inputs.contains(where: \.isEvents) ?? false
    }?.id
  }

  private func isKeyboard(_ node: Node) -> Bool { scene.catalogue[node.kind]?.isKeyboard == true }

  func togglePlay() {
    if state.mode == .play {
      state.mode = .patch
      if !state.play.held.isEmpty {
        let count = state.play.held.count
        state.message = .init("\(count) note\(count == 1 ? "" : "s") held on; p to play on, ! for silence")
      }
      return
    }
    guard let target = playTarget, let node = scene.patch[target] else {
      state.message = .init("nothing to play: add a keyboard or a sampler", isError: true)
      return
    }
    state.mode = .play
    state.play.target = target
    state.message = nil
    if state.play.held.isEmpty, isKeyboard(node) {
      func number(_ name: String) -> Int? {
        guard
          case .number(let value, _) = scene.patch.value(
            of: node.name, ParameterPath(name), catalogue: scene.catalogue)
        else { return nil }
        return Int(value)
      }
      if !hasPlayed {
        state.play.octave = min(max(number("octave") ?? 4, -1), 8)
        state.play.velocity = min(max(number("velocity") ?? 100, 1), 127)
        hasPlayed = true
      }
    }
    if state.view == .help { state.view = .graph }
  }

  /// Handles a piano key; false for other keys.
  func playKey(_ stroke: KeyStroke) -> Bool {
    guard stroke.key.modifiers.isEmpty, case .character = stroke.key.code, let place = stroke.place,
      let semitone = App.pianoKeys[place]
    else { return false }
    guard stroke.action == .press else { return true }
    let pressedAt = now()
    if var played = playing[place] {
      // If releases are reported, a second press means that a release was lost. Otherwise the same key ends
      // the note, except for key repeats.
      let isRepeat = pressedAt - played.pressedAt < App.repeatInterval
      played.pressedAt = pressedAt
      playing[place] = played
      if scene.hasKeyRelease { return true }
      if !isRepeat { end(place) }
      return true
    }
    let key = (state.play.octave + 1) * 12 + semitone
    guard (0...127).contains(key), let target = state.play.target ?? playTarget else { return true }
    playing[place] = PlayedKey(key: UInt8(key), node: target, pressedAt: pressedAt)
    workbench.play(Event(.noteOn, key: UInt8(key), value: Float(state.play.velocity)), on: target)
    showHeld()
    return true
  }

  func release(_ stroke: KeyStroke) {
    guard let place = stroke.place, playing[place] != nil, scene.hasKeyRelease else { return }
    end(place)
  }

  /// The terminal lost the keyboard focus, so it will not report releases.
  func releaseHeldKeys() {
    guard scene.hasKeyRelease else { return }
    for place in playing.keys.sorted() { end(place) }
  }

  func end(_ place: Character) {
    guard let played = playing.removeValue(forKey: place) else { return }
    // Two physical keys may play the same note; it ends with the last of them.
    if !playing.values.contains(where: { $0.key == played.key && $0.node == played.node }) {
      workbench.play(Event(.noteOff, key: played.key, value: 64), on: played.node)
    }
    showHeld()
  }

  func showHeld() { state.play.held = Set(playing.values.map(\.key)) }

  func togglePedal() {
    guard let target = state.play.target ?? playTarget else { return }
    state.play.pedal.toggle()
    workbench.play(Event(.control, key: 64, value: state.play.pedal ? 127 : 0), on: target)
  }

  /// Ends everything played through the keyboard, before the program ends.
  public func endNotes() {
    for place in playing.keys.sorted() { end(place) }
    if state.play.pedal { togglePedal() }
  }
}

/// The drawn keyboard, played with the mouse.
extension App {
  /// A click starts a note; another one ends it.
  func click(_ key: UInt8) {
    guard let target = state.play.target ?? playTarget else { return }
    if let place = playing.first(where: { $0.value.key == key })?.key {
      end(place)
      return
    }
    // A position that no key of the keyboard has.
    guard let place = Unicode.Scalar(0xE000 + UInt32(key)).map(Character.init) else { return }
    playing[place] = PlayedKey(key: key, node: target, pressedAt: now())
    workbench.play(Event(.noteOn, key: key, value: Float(state.play.velocity)), on: target)
    showHeld()
  }
}
