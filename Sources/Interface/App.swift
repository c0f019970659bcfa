import Engine
import Patch
import Realtime
import Screen
import Session

/// The front end without a terminal: events in, canvases out. Actions become edits of the session; the views
/// show the session's scene. Main thread.
@MainActor public final class App {
  public var state = ViewState()
  public let workbench: any Workbench
  public var keymap: Keymap
  /// Request of the user beyond the screen; the caller carries it out and resets it.
  public enum Wish: Sendable { case none, quit, suspend, redraw }
  public var wish = Wish.none
  /// The screen may have changed since the last `render`.
  public internal(set) var needsRender = true
  public var scene: Scene { workbench.scene }

  /// Size at the last rendering, which defines a page.
  var size = Size(columns: 80, rows: 24)
  /// Monotonic clock, in seconds.
  let now: () -> Double
  /// Name of the focused node: a replacement has another identity, but keeps the focus.
  var focusName: String?
  /// Index of the focused node, for when it is removed.
  var focusIndex = 0
  /// Called with the choice in a list.
  var onChoose: ((String) -> Void)?
  /// Called with the chosen hint.
  var onHint: ((ViewState.Hint.Target) -> Void)?
  /// Called with the key that answers a question.
  var onAnswer: ((String) -> Void)?
  public internal(set) var promptHistory: [String] = []
  var lastSearch = ""
  var searchOrigin: NodeID?
  /// The effect before it was swapped, by name.
  var otherKinds: [String: Node] = [:]
  /// The kind inserted last.
  var insertedKind = "delay"
  /// Sounding keys of the keyboard, by position, with the time of their last press.
  var playing: [Character: PlayedKey] = [:]
  /// Octave and velocity have been taken from the keyboard node.
  var hasPlayed = false
  var drag: Drag?
  /// The current or last gesture.
  var gesture: Gesture?
  /// Range and time of the last `-` key.
  var minus: (range: GridRange, time: Double)?
  /// The edit that a typed gain replaces.
  var typedOver: Int?
  private var lastSight: Sight?

  /// Summary of a scene's appearance: an equal one need not be redrawn.
  private struct Sight: Equatable {
    var status: SessionStatus
    var plan: Int
    var trace: Int
    var undo: String?
    var redo: String?
    var isModified: Bool
    var fileName: String
    var nodes: Int
    var hasKeyRelease: Bool
    var states: [NodeReport.State]
    /// Something sounds or fades.
    var isMoving: Bool

    init(_ scene: Scene) {
      status = scene.status
      plan = scene.report.plan
      trace = scene.trace.last?.id ?? -1
      undo = scene.undo
      redo = scene.redo
      isModified = scene.isModified
      fileName = scene.fileName
      nodes = scene.patch.nodes.count
      hasKeyRelease = scene.hasKeyRelease
      states = scene.report.nodes.map(\.state)
      // Its change triggers one more drawing, so that a meter can fall to nothing.
      isMoving = scene.report.nodes.contains { node in
        node.state.isFading || node.voices > 0 || node.outputs.contains { $0.peaks.contains { $0 > 0 } }
          || (node.inputs + node.outputs).contains { $0.cables.contains { $0.state.isFading } }
      }
      // The digits of the load that are not shown.
      status.load = (status.load * 100).rounded()
      status.peakLoad = (status.peakLoad * 100).rounded()
    }
  }

  struct PlayedKey {
    var key: UInt8
    var node: NodeID
    var pressedAt: Double
  }

  public init(
    workbench: any Workbench, keymap: Keymap = .standard, history: [String] = [],
    now: @escaping () -> Double = App.steadySeconds
  ) {
    self.workbench = workbench
    self.keymap = keymap
    self.now = now
    promptHistory = history
    tick()
    if let first = preferredFocus { focus(first) }
  }

  /// Initial focus: the first effect, otherwise the first node.
  private var preferredFocus: NodeID? {
    let nodes = scene.patch.nodes.values
    return
      (nodes.first { scene.catalogue[$0.kind]?.category == .effect } ?? nodes.first)?.id
  }

  /// Takes a new scene. Call it about 30 times a second.
  public func tick() {
    workbench.tick()
    let notices = workbench.takeNotices()
    if !notices.isEmpty { state.message = .init(notices.joined(separator: "; ")) }
    state.play.target = playTarget
    keepFocus()
    if state.matrix.meters.take(state.view == .matrix ? grid : nil, at: now()) { needsRender = true }
    let sight = Sight(scene)
    if sight != lastSight || sight.isMoving {
      lastSight = sight
      needsRender = true
    }
  }

  // MARK: Events

  public func handle(_ event: InputEvent) {
    needsRender = true
    switch event {
    case .key(let stroke): handle(stroke)
    case .paste(let text): paste(text)
    case .mouse(let mouse): handle(mouse)
    case .resize(let columns, let rows): size = Size(columns: columns, rows: rows)
    case .focus(false): releaseHeldKeys()
    case .focus(true): wish = .redraw
    case .terminate: wish = .quit
    }
    keepFocus()
  }

  private func handle(_ stroke: KeyStroke) {
    if stroke.action == .release {
      release(stroke)
      return
    }
    // A key press clears the old message.
    state.message = nil
    switch state.overlay {
    case .prompt: handlePrompt(stroke)
    case .hints: handleHint(stroke.key)
    case .chooser: handleChooser(stroke.key)
    case .parameters: handlePanel(stroke.key)
    case .question: handleQuestion(stroke.key)
    case .none:
      if state.mode == .play, playKey(stroke) { return }
      if state.view == .matrix, state.mode == .patch, typeGain(stroke.key) { return }
      guard let action = keymap.action(for: stroke.key, in: contexts) else { return }
      if stroke.action == .repeat, !action.repeats { return }
      perform(action, key: stroke.key)
    }
  }

  private var contexts: [KeyContext] {
    if state.mode == .play { return [.playing, .anywhere] }
    switch state.view {
    case .matrix: return [.matrix, .patch, .anywhere]
    case .trace: return [.trace, .patch, .anywhere]
    default: return [.patch, .anywhere]
    }
  }

  private func paste(_ text: String) {
    guard case .prompt(var prompt) = state.overlay else { return }
    prompt.editor.handle(.paste(text))
    prompt.error = nil
    state.overlay = .prompt(prompt)
    complete()
  }

  /// Performs an action.
  public func perform(_ action: Action, key: Key? = nil) {
    needsRender = true
    switch action {
    case .showHelp: show(.help)
    case .showGraph: show(.graph)
    case .showPrintout: show(.printout)
    case .showMatrix: show(.matrix)
    case .showTrace: show(.trace)
    case .prompt: openPrompt()
    case .find: openFind()
    case .findNext: findNext()
    case .undo: undo()
    case .redo: redo()
    case .save: save()
    case .quit: quit()
    case .panic: panic()
    case .redraw: wish = .redraw
    case .suspend: wish = .suspend
    case .play: togglePlay()
    case .leave: leave()
    case .moveLeft, .moveRight, .moveUp, .moveDown, .pageUp, .pageDown, .moveHome, .moveEnd: move(action)
    case .nextNode: cycleFocus(1)
    case .previousNode: cycleFocus(-1)
    case .edit: openPanel()
    case .connect: startConnecting()
    case .disconnect: startDisconnecting()
    case .remove: removeFocused(bridge: false)
    case .removeBridge: removeFocused(bridge: true)
    case .replace: startReplacing()
    case .insert: startInserting()
    case .add: startAdding()
    case .rename: openPrompt("rename \(focusedNode?.name ?? "") ")
    case .swapEffect: swapEffect()
    case .insertEffect: insertEffect()
    case .openGrid, .openCable, .gainUp, .gainDown, .toggleCrosspoint, .toggleMute, .toggleSolo,
      .turnPolarity, .resetGain, .typeGain, .rangeStart, .rangeEnd, .zoomIn, .zoomOut, .nextMatrix,
      .makeMatrix, .labelChannel, .matrixPresets, .matrixIdentity, .matrixFold, .matrixClear, .matrixSwap:
      performMatrix(action, key: key)
    case .filterTrace: state.trace.node = state.trace.node == nil ? state.focus : nil
    case .followTrace: state.trace.isFollowing.toggle()
    case .octaveDown: state.play.octave = max(-1, state.play.octave - 1)
    case .octaveUp: state.play.octave = min(8, state.play.octave + 1)
    case .softer: state.play.velocity = max(1, state.play.velocity - 10)
    case .louder: state.play.velocity = min(127, state.play.velocity + 10)
    case .pedal: togglePedal()
    }
  }

  func show(_ view: ViewState.View) {
    state.view = state.view == view && view == .help ? .graph : view
    state.matrix.typed = nil
    if view == .matrix {
      state.matrix.formerCable = nil
      chooseMatrix()
    }
  }

  private func leave() {
    if state.mode == .play {
      togglePlay()
    } else if state.view == .matrix, state.matrix.rangeStart != nil {
      state.matrix.dropRange()
    } else if state.view != .graph {
      state.view = .graph
    }
    state.message = state.mode == .play ? state.message : nil
  }

  // MARK: Edits

  /// Performs an edit and shows it in the message row, in the words of the language. `step`: replaces the
  /// newest edit if it has this number.
  @discardableResult
  func perform(_ edit: Edit, amending step: Int? = nil) -> Bool {
    do {
      let said = try workbench.perform(edit, amending: step)
      state.message = .init(said.isEmpty ? edit.line : said)
      return true
    } catch {
      state.message = .init(App.words(error), isError: true)
      return false
    }
  }

  func undo() {
    do {
      if let undone = try workbench.undo() {
        state.message = .init("undone: \(undone)")
      } else {
        state.message = .init("nothing to undo")
      }
    } catch {
      state.message = .init(App.words(error), isError: true)
    }
  }

  func redo() {
    do {
      if let redone = try workbench.redo() {
        state.message = .init("redone: \(redone)")
      } else {
        state.message = .init("nothing to redo")
      }
    } catch {
      state.message = .init(App.words(error), isError: true)
    }
  }

  func panic() {
    workbench.panic()
    playing = [:]
    state.play.held = []
    state.play.pedal = false
    state.message = .init("panic: every voice fades out")
  }

  /// Monotonic time in seconds.
  public nonisolated static func steadySeconds() -> Double {
    let time = ContinuousClock.now - startOfTime
    return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
  }
  private nonisolated static let startOfTime = ContinuousClock.now
}

extension Action {
  /// True when holding the key down repeats the action.
  var repeats: Bool {
    switch self {
    case .moveLeft, .moveRight, .moveUp, .moveDown, .pageUp, .pageDown, .nextNode, .previousNode, .gainUp,
      .gainDown, .zoomIn, .zoomOut, .undo, .redo, .octaveUp, .octaveDown, .softer, .louder, .findNext:
      true
    default: false
    }
  }
}

extension App {
  /// Renders the whole screen. Main thread.
  public func render(columns: Int, rows: Int) -> Canvas {
    size = Size(columns: columns, rows: rows)
    needsRender = false
    state.keyHints = keyHints()
    if state.view == .help, state.help.isEmpty { state.help = helpSections() }
    if state.mode == .play { state.play.labels = keyLabels() }
    return Views.draw(scene, state, columns: size.columns, rows: size.rows)
  }
}
