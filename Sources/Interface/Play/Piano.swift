import Patch
import Realtime
import Screen

/// Play mode: the computer keyboard as a piano.
@MainActor struct Piano {
  /// Length of a gated note in seconds: longer than the delay of a key's first repeat, which prolongs it.
  private static let gate = 0.75

  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var scene: Scene { desk.scene }
  private var playing: [Character: PianoMemory.Key] {
    get { desk.piano.playing }
    nonmutating set { desk.piano.playing = newValue }
  }

  // MARK: The mode

  /// The focused keyboard; otherwise the first one; otherwise the first node with an events input.
  var target: NodeID? {
    let key = PianoMemory.TargetKey(scene.patch, desk.state.focus, desk.state.play.target)
    if let known = desk.piano.knownTarget, known.key.isSame(as: key) { return known.target }
    let target = findTarget()
    desk.piano.knownTarget = (key, target)
    return target
  }

  private func findTarget() -> NodeID? {
    let nodes = scene.patch.nodes.values
    if let node = desk.focusedNode, isKeyboard(node) { return node.id }
    if let target = desk.state.play.target, let node = scene.patch[target], isKeyboard(node) { return target }
    if let keyboard = nodes.first(where: isKeyboard) { return keyboard.id }
    return nodes.first { node in
      scene.catalogue[node.kind]?.inputs.contains(where: \.isEvents) ?? false
    }?.id
  }

  private func isKeyboard(_ node: Node) -> Bool { scene.catalogue[node.kind]?.isKeyboard == true }

  private var presentTarget: NodeID? {
    desk.state.play.target.flatMap { scene.patch[$0] == nil ? nil : $0 } ?? target
  }

  private static let nothingToPlay = "nothing to play: add a keyboard or a sampler"

  /// There is something to do in play mode, if only with controls and scenes.
  private var canPlay: Bool {
    target != nil || !scene.patch.settings.controls.isEmpty || !scene.patch.scenes.isEmpty
  }

  /// Looks for the node that gets the notes.
  func findPlayer() {
    desk.state.play.target = target
    desk.state.play.hasPlayer = desk.state.play.target != nil
    followKeyboard()
  }

  /// Octave and velocity of the keyboard that plays are those of the keys, when an edit or a control changes them.
  private func followKeyboard() {
    guard desk.piano.hasPlayed, desk.piano.followed !== scene.patch.revision else { return }
    desk.piano.followed = scene.patch.revision
    guard let node = desk.state.play.target.flatMap({ scene.patch[$0] }), isKeyboard(node) else { return }
    let (octave, velocity) = (number("octave", of: node), number("velocity", of: node))
    let known = desk.piano.keyboard
    desk.piano.keyboard = (node.id, octave, velocity)
    guard let known, known.node == node.id else { return }
    if let octave, octave != known.octave { desk.state.play.octave = min(max(octave, -1), 8) }
    if let velocity, velocity != known.velocity { desk.state.play.velocity = min(max(velocity, 1), 127) }
  }

  func toggleMode() {
    if desk.state.mode == .play {
      desk.state.mode = .patch
      if !desk.state.play.held.isEmpty {
        let count = desk.state.play.held.count
        desk.say("\(count) note\(count == 1 ? "" : "s") held on; p to play on, ! for silence")
      }
      return
    }
    guard canPlay else { return desk.complain(Self.nothingToPlay) }
    desk.state.mode = .play
    findPlayer()
    desk.state.message = nil
    if let node = desk.state.play.target.flatMap({ scene.patch[$0] }), isKeyboard(node),
      desk.state.play.held.isEmpty, !desk.piano.hasPlayed
    {
      desk.state.play.octave = min(max(number("octave", of: node) ?? 4, -1), 8)
      desk.state.play.velocity = min(max(number("velocity", of: node) ?? 100, 1), 127)
      desk.piano.hasPlayed = true
    }
    if desk.state.view == .help { desk.state.view = .graph }
  }

  private func number(_ name: String, of node: Node) -> Int? {
    guard
      case .number(let value, _) = scene.patch.value(
        of: node.name, ParameterPath(name), catalogue: scene.catalogue)
    else { return nil }
    return Int(value)
  }

  /// The letters that play each MIDI key.
  var labels: [UInt8: String] {
    var labels: [UInt8: String] = [:]
    // Where two keys play the same note, the letter of the upper one is shown.
    for (place, step) in layout.steps.sorted(by: { layout.rank($0.key) < layout.rank($1.key) }) {
      let key = (desk.state.play.octave + 1) * 12 + step
      if (0...127).contains(key) { labels[UInt8(key)] = String(place) }
    }
    return labels
  }

  private var layout: KeyboardLayout { desk.state.play.layout }

  // MARK: Notes

  /// Handles a piano key; false for other keys.
  func press(_ stroke: KeyStroke) -> Bool {
    guard stroke.key.modifiers.isEmpty, case .character = stroke.key.code, let place = stroke.place,
      // A key that a change of the layout has left without a note still ends the one that it began.
      let semitone = layout.step(stroke)
        ?? playing[place].map({ Int($0.key) - (desk.state.play.octave + 1) * 12 })
    else { return false }
    guard stroke.action == .press else { return true }
    if scene.hasKeyRelease {
      // A second press means that a release was lost.
      if playing[place] == nil { start(place, semitone) }
      return true
    }
    // The sign of life of a held key, which prolongs a gated note.
    if playing[place] != nil { playing[place]?.pressedAt = desk.now() }
    switch desk.piano.repeats.press(place, at: desk.now()) {
    case .new:
      desk.piano.startedInDoubt = nil
      strike(place, semitone)
    case .doubtful:
      // A note that may be wanted begins at once; one that sounds can wait for its end.
      if playing[place] == nil || desk.state.play.isGated {
        strike(place, semitone)
        desk.piano.startedInDoubt = place
      }
    case .confirmed:
      // The key that ended the note is still held: what it has begun in doubt ends.
      if desk.piano.startedInDoubt == place, !desk.state.play.isGated { end(place) }
      desk.piano.startedInDoubt = nil
    case .repeated: break
    }
    return true
  }

  /// A press by a finger: without releases the second one ends the note, or begins it again where notes are gated.
  private func strike(_ place: Character, _ semitone: Int) {
    let isSounding = playing[place] != nil
    end(place)
    if !isSounding || desk.state.play.isGated { start(place, semitone) }
  }

  private func start(_ place: Character, _ semitone: Int) {
    let key = (desk.state.play.octave + 1) * 12 + semitone
    guard (0...127).contains(key) else { return }
    guard let target = presentTarget else { return desk.complain(Self.nothingToPlay) }
    start(UInt8(key), at: place, on: target)
  }

  /// Ends what only time can end, in a terminal that reports no releases.
  func tick() {
    guard !scene.hasKeyRelease else { return }
    let now = desk.now()
    if let place = desk.piano.repeats.settle(at: now), let semitone = layout.step(at: place) {
      if desk.piano.startedInDoubt != place, !desk.state.play.isGated { strike(place, semitone) }
      desk.piano.startedInDoubt = nil
    }
    guard desk.state.play.isGated else { return }
    for (place, played) in playing where !Self.isClicked(place) {
      let isOver =
        desk.piano.repeats.hasRepeated(place)
        ? !desk.piano.repeats.isHeld(place, at: now) : now - played.pressedAt > Self.gate
      if isOver { end(place) }
    }
  }

  func release(_ stroke: KeyStroke) {
    guard let place = stroke.place, playing[place] != nil, scene.hasKeyRelease else { return }
    end(place)
  }

  /// A click with the right button on the drawn keyboard starts a note that goes on; another one ends it.
  func click(_ key: UInt8) { _ = strike(key, isHeld: false) }

  /// The left button on the drawn keyboard: a note that lasts until the button is released, or the end of one that goes on.
  func press(_ key: UInt8) {
    desk.drag = .key(nil)
    slide(to: key)
  }

  /// The button is down over a key, or over none.
  func slide(to key: UInt8?) {
    guard case .key(let place) = desk.drag, place.flatMap({ playing[$0]?.key }) != key || key == nil else {
      return
    }
    letGo()
    desk.drag = .key(key.flatMap { strike($0, isHeld: true) })
  }

  /// The button is released.
  func letGo() {
    if case .key(let place?) = desk.drag { end(place) }
  }

  /// Starts a note of a drawn key, or ends it if it sounds. Returns its position while it sounds.
  private func strike(_ key: UInt8, isHeld: Bool) -> Character? {
    guard let target = presentTarget else {
      desk.complain(Self.nothingToPlay)
      return nil
    }
    if let place = playing.first(where: { $0.value.key == key })?.key {
      end(place)
      return nil
    }
    // A position that no key of the keyboard has.
    guard let place = Unicode.Scalar(Self.clicked + UInt32(key)).map(Character.init) else { return nil }
    start(key, at: place, on: target)
    playing[place]?.endsByRelease = isHeld
    return place
  }

  private static let clicked: UInt32 = 0xE000

  private static func isClicked(_ place: Character) -> Bool {
    place.unicodeScalars.first.map { $0.value >= clicked && $0.value < clicked + 128 } ?? false
  }

  private func start(_ key: UInt8, at place: Character, on target: NodeID) {
    playing[place] = PianoMemory.Key(
      key: key, node: target, pressedAt: desk.now(),
      endsByRelease: scene.hasKeyRelease && !Self.isClicked(place),
      listeners: scene.listeners(of: target, in: scene.patch))
    desk.workbench.play(Event(.noteOn, key: key, value: Float(desk.state.play.velocity)), on: target)
    showHeld()
  }

  private func end(_ place: Character) {
    guard let played = playing.removeValue(forKey: place) else { return }
    // Two physical keys may play the same note; it ends with the last of them.
    if !playing.values.contains(where: { $0.key == played.key && $0.node == played.node }) {
      desk.workbench.play(Event(.noteOff, key: played.key, value: 64), on: played.node)
    }
    showHeld()
  }

  private func showHeld() {
    desk.state.play.heldBy = Dictionary(grouping: playing.values, by: \.node).mapValues { Set($0.map(\.key)) }
  }

  /// Forgets notes that an edit has ended: their node has left the patch, or no node plays them any more. An undo brings node
  /// and cables back without them.
  func settle() {
    guard !playing.isEmpty, desk.piano.settledOn !== scene.patch.revision else { return }
    desk.piano.settledOn = scene.patch.revision
    for (place, played) in playing where isOver(played) { end(place) }
  }

  private func isOver(_ played: PianoMemory.Key) -> Bool {
    guard scene.patch[played.node] != nil else { return true }
    return !played.listeners.isEmpty
      && played.listeners.isDisjoint(with: scene.listeners(of: played.node, in: scene.patch))
  }

  func togglePedal() {
    guard let target = presentTarget else { return }
    desk.state.play.pedal.toggle()
    desk.workbench.play(Event(.control, key: 64, value: desk.state.play.pedal ? 127 : 0), on: target)
  }

  // MARK: Ends

  /// The terminal lost the keyboard focus, or the shell has it: releases of the keys that are held are not told.
  func releaseHeldKeys() {
    for place in playing.keys.sorted() where playing[place]?.endsByRelease == true { end(place) }
  }

  /// Ends everything played through the keyboard, before the program ends.
  func endAll() {
    for place in playing.keys.sorted() { end(place) }
    if desk.state.play.pedal { togglePedal() }
  }

  func panic() {
    if desk.state.isLocked, !desk.isConfirmed("panic", "locked: again for silence") { return }
    let song = scene.status.song?.name
    desk.workbench.panic()
    playing = [:]
    desk.state.play.heldBy = [:]
    desk.state.play.pedal = false
    desk.say(
      "panic: every voice fades out" + (song.map { ", and \($0) is over: :open plays it again" } ?? ""))
  }
}
