@testable import Engine
@testable import Interface
import Patch
import Screen
import Testing

/// Views: whatever is shown, at whatever size.
@Suite struct ViewsTests {
  /// A view state with random content of every sort.
  private func randomState(_ scene: Scene, _ generator: inout SeededGenerator) -> ViewState {
    var state = ViewState()
    state.view = Views.all.map(\.name).randomElement(using: &generator) ?? .graph
    state.mode = Bool.random(using: &generator) ? .patch : .play
    let ids = scene.report.nodes.map(\.id) + scene.patch.nodes.keys
    state.focus = Bool.random(using: &generator) ? ids.randomElement(using: &generator) : NodeID(raw: 999)
    for view in Views.all.map(\.name) {
      state.scroll[view] = (.random(in: -5...50, using: &generator), .random(in: -5...200, using: &generator))
    }
    state.play.heldBy = [
      NodeID(raw: 1): Set((0..<6).map { _ in UInt8.random(in: 0...127, using: &generator) })
    ]
    state.play.octave = .random(in: -2...12, using: &generator)
    state.play.labels = [60: "z", 62: "", 64: "長い"]
    state.matrix.row = .random(in: -2...70, using: &generator)
    state.matrix.column = .random(in: -2...70, using: &generator)
    state.matrix.typed = Bool.random(using: &generator) ? "-12.25" : nil
    state.trace.isFollowing = .random(using: &generator)
    state.keyHints = [KeyHelp(keys: "c", name: "connect"), KeyHelp(keys: "Ctrl-Ü", name: "長い")]
    state.help = [HelpSection(title: "Keys", entries: state.keyHints)]
    if Bool.random(using: &generator) { state.message = ViewState.Message("no node `長`", isError: true) }
    var prompt = Prompt(LineEditor("replace dist 長い名前 equalizer band1.gain=6dB"))
    prompt.candidates = (0..<Int.random(in: 0...20, using: &generator)).map {
      .init("completion\($0)", Bool.random(using: &generator) ? "what number \($0) is" : "")
    }
    prompt.selectedCompletion = .random(in: -1...25, using: &generator)
    prompt.error = ("wrong", .random(in: -3...90, using: &generator))
    var chooser = Chooser(
      title: "kinds", items: scene.catalogue.kinds.map { ($0.name, $0.summary) })
    chooser.selected = .random(in: -3...40, using: &generator)
    var panel = Inspector(ids.randomElement(using: &generator) ?? NodeID(raw: 1))
    panel.selected = .random(in: -3...40, using: &generator)
    panel.typed = Bool.random(using: &generator) ? LineEditor("12") : nil
    let hints = GraphPlaces.ports(scene, state, columns: 80, rows: 24).map {
      PortHint(letters: "AS", target: $0.target)
    }
    let overlays: [(any Overlay)?] = [
      nil, prompt, chooser, panel, PortHints(targets: hints, typed: "A", purpose: "connect"),
      Question(text: "leave?", keys: [("y", "yes"), ("n", "no")]),
    ]
    state.overlay = overlays.randomElement(using: &generator) ?? nil
    return state
  }

  @Test func anySizeDownToOneCellDrawsAndTheMouseMayBeAnywhereSeed7() {
    var generator = SeededGenerator(seed: 7)
    let scenes = [
      reconnecting().scene, Scene(), feedback().scene, broken().scene,
      makeScene("node m matrix inputs=64 outputs=64"), manyNodes(40),
    ]
    for round in 0..<400 {
      var scene = scenes[round % scenes.count]
      scene.status.isDisturbed = round % 7 == 0
      scene.status.driverMessage = "JACK server gone: playing on through the clock driver"
      let state = randomState(scene, &generator)
      let isSmall = round % 3 == 0
      let columns = Int.random(in: 1...(isSmall ? 25 : 130), using: &generator)
      let rows = Int.random(in: 1...(isSmall ? 8 : 45), using: &generator)
      let canvas = Views.draw(scene, state, columns: columns, rows: rows)
      #expect(canvas.lines.count == rows)
      #expect(canvas.lines.allSatisfy { DisplayWidth.of($0) <= columns })
      for _ in 0..<4 {
        let cell = Point(
          .random(in: -2...columns, using: &generator), .random(in: -2...rows, using: &generator))
        _ = Views.hit(scene, state, columns: columns, rows: rows, at: cell)
      }
    }
  }

  /// The hardware cursor stands on the name of the focused node, however the graph is scrolled.
  @Test func theHardwareCursorStandsOnTheNameOfTheFocusedNode() {
    let scene = manyNodes(40)
    for (columns, rows) in [(110, 30), (80, 24), (40, 10), (20, 5)] {
      for node in scene.patch.nodes.values {
        var state = ViewState()
        state.focus = node.id
        let canvas = Views.draw(scene, state, columns: columns, rows: rows)
        guard let cursor = canvas.cursor else {
          Issue.record("no cursor for \(node.name) at \(columns)x\(rows)")
          continue
        }
        let shown = String((0..<node.name.count).map { canvas[cursor + Point($0, 0)].character })
        #expect(shown == node.name, "\(columns)x\(rows)")
      }
    }
  }

  @Test func everyPortThatIsShownAnswersToTheMouseOnItsCellAndBesideIt() {
    let (scene, state) = reconnecting()
    for (columns, rows) in [(110, 30), (80, 24)] {
      let ports = GraphPlaces.ports(scene, state, columns: columns, rows: rows)
      #expect(ports.count == 11)
      for port in ports {
        let expected: Hit
        let beside: Point
        switch port.target {
        case .input(let reference): (expected, beside) = (.input(reference), port.place + Point(-1, 0))
        case .output(let reference): (expected, beside) = (.output(reference), port.place + Point(1, 0))
        case .cable: continue
        }
        #expect(Views.hit(scene, state, columns: columns, rows: rows, at: port.place) == expected)
        guard beside.column >= 0 else { continue }
        #expect(Views.hit(scene, state, columns: columns, rows: rows, at: beside) == expected)
      }
    }
  }

  @Test func aClickFindsBoxesCablesTabsCrosspointsAndTheKeysOfTheKeyboard() {
    var (scene, state) = reconnecting()
    func hit(_ column: Int, _ row: Int) -> Hit {
      Views.hit(scene, state, columns: 110, rows: 30, at: Point(column, row))
    }
    #expect(hit(5, 3) == .node(scene.id("keys")))
    #expect(hit(13, 1) == .tab(.printout))
    let dotted = Cable.Ends(
      PortReference(scene.id("piano"), "out"), PortReference(NodeID(raw: 4), "in"))
    #expect(hit(40, 6) == .cable(dotted))
    #expect(hit(100, 20) == .nothing)
    state.mode = .play
    #expect(hit(3, 26) == .key(60))
    #expect(hit(6, 23) == .key(61))
    state.view = .matrix
    #expect(hit(30, 8) == .crosspoint(row: 0, column: 0))
    #expect(hit(40, 9) == .crosspoint(row: 1, column: 1))
    #expect(hit(5, 9) == .crosspoint(row: 1, column: -1))
    #expect(hit(5, 6) == .crosspoint(row: -1, column: -1))
  }

  @Test func arrowsLeadFromBoxToBoxAsTheyStandOnTheScreen() {
    let (scene, state) = reconnecting()
    func next(_ name: String, _ direction: Diagram.Direction) -> String? {
      GraphPlaces.neighbour(of: scene.id(name), direction, scene, state).flatMap { id in
        scene.report.nodes.first { $0.id == id }?.name
      }
    }
    #expect(next("keys", .right) == "piano")
    #expect(next("piano", .right) == "dist")
    #expect(next("dist", .down) == "eq")
    #expect(next("main", .left) == "dist")
    #expect(next("keys", .left) == nil)
  }
}

/// A patch of `count` nodes in a few chains.
func manyNodes(_ count: Int) -> Scene {
  var text = "node out output\n"
  for index in 0..<count {
    text += "node fx\(index) \(index % 5 == 0 ? "oscillator" : "distortion")\n"
    if index % 5 > 0 { text += "connect fx\(index - 1) -> fx\(index)\n" }
    if index % 5 == 4 { text += "connect fx\(index) -> out\n" }
  }
  return makeScene(text)
}
