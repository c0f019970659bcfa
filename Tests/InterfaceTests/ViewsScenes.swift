@testable import Engine
@testable import Interface
import Patch
import PatchLanguage
import Screen
import Session
import Testing

/// A scene of a patch as the engine would report it, running and silent. Tests then add levels, fades and
/// faults.
func makeScene(_ text: String) -> Scene {
  var scene = Scene()
  scene.patch = PatchReader.read(text, file: "test.patch", catalogue: scene.catalogue).patch
  scene.fileName = "reconnect.patch"
  scene.status.driver = "jack"
  scene.status.period = 64
  scene.status.roundTrip = 0.0013
  scene.status.load = 0.07
  scene.status.peakLoad = 0.11
  scene.status.voices = 6
  scene.status.polyphony = 64
  scene.report.isRunning = true
  scene.report.plan = 42
  scene.report.time = 700_000
  for node in scene.patch.nodes.values.reversed() {
    scene.report.nodes.append(report(of: node, in: scene))
  }
  // Lists each cable at its source as well.
  for index in scene.report.nodes.indices {
    for port in scene.report.nodes[index].outputs.indices {
      let node = scene.report.nodes[index]
      scene.report.nodes[index].outputs[port].cables = scene.report.nodes.flatMap {
        $0.inputs.flatMap(\.cables)
      }
      .filter { $0.from == node.name && $0.fromPort == node.outputs[port].name }
    }
  }
  scene.report.steps = scene.report.nodes.count
  return scene
}

private func report(of node: Node, in scene: Scene) -> NodeReport {
  var report = NodeReport(id: node.id, name: node.name, kind: node.kind, state: .active)
  let kind = scene.catalogue[node.kind]
  report.endpoint = kind?.endpoint
  report.isMatrix = kind?.crosspoints != nil
  if kind == nil { report.state = .placeholder("unknown kind `\(node.kind)`") }
  func channels(_ port: PortDescription) -> Int {
    switch port.format {
    case .events: return 0
    case .channels(let count): return count
    case .parameter(let name):
      guard case .number(let count, _)? = node.value(at: ParameterPath(name), description: kind) else {
        return 0
      }
      return Int(count)
    case .flexible: return 2
    }
  }
  let cables = scene.patch.cables(into: node.id, catalogue: scene.catalogue)
  let names = (kind?.inputs.map(\.name) ?? ["in"])
  let extra = Set(cables.map(\.ends.destination.port)).subtracting(names).sorted()
  for name in names + extra {
    let port = kind?.inputs.first { $0.name == name }
    let own = cables.filter { $0.ends.destination.port == name }
    report.inputs.append(
      PortReport(
        name: name, isEvents: port?.isEvents ?? false, channels: port.map(channels) ?? 1,
        cables: own.enumerated().map { index, cable in
          let source = cable.ends.source
          let shared = scene.patch.cables(from: source.node, catalogue: scene.catalogue)
            .filter { $0.ends.source == source }
          return CableReport(
            from: scene.patch[source.node]?.name ?? "", fromPort: source.port, to: node.name, toPort: name,
            fromChannels: port?.isEvents == true ? 0 : 2, toChannels: port.map(channels) ?? 1,
            gain: EngineValues.gain(decibels: cable.gain), target: EngineValues.gain(decibels: cable.gain),
            map: cable.map, state: .active, isFeedback: false,
            splitter: ((shared.firstIndex(of: cable) ?? 0) + 1, shared.count),
            sum: (index + 1, own.count))
        }))
  }
  for port in kind?.outputs ?? [] {
    report.outputs.append(PortReport(name: port.name, isEvents: port.isEvents, channels: channels(port)))
  }
  return report
}

extension Scene {
  func id(_ name: String) -> NodeID { patch.id(named: name) ?? NodeID(raw: 0) }

  /// Changes the engine's report of a node.
  mutating func change(_ name: String, _ change: (inout NodeReport) -> Void) {
    for index in report.nodes.indices where report.nodes[index].name == name {
      change(&report.nodes[index])
    }
  }

  mutating func sound(_ name: String, _ peaks: Float...) {
    change(name) { node in
      if let index = node.outputs.firstIndex(where: { !$0.isEvents }) { node.outputs[index].peaks = peaks }
    }
  }
}

/// Three held notes while `dist` replaces `eq`, which fades out.
func reconnecting() -> (scene: Scene, state: ViewState) {
  var scene = makeScene(
    """
    sostenuto 1
    node keys keyboard
    node piano sampler instrument=upright.sfz polyphony=64
    connect keys -> piano
    node dist distortion drive=18dB
    connect piano -> dist gain=-3dB
    node eq equalizer band2.gain=9dB band4.gain=-9dB
    connect piano -> eq
    node main matrix inputs=4 outputs=2
    connect dist -> main
    connect eq -> main
    node out output
    connect main -> out
    set main[0,1] -6dB
    set main.in[1] -3dB
    set main.master -6dB
    """)
  scene.isModified = true
  scene.sound("piano", 0.5, 0.35)
  scene.sound("dist", 0.6, 0.4)
  scene.sound("eq", 0.02, 0.02)
  scene.sound("main", 0.35, 0.28)
  scene.change("piano") {
    $0.file = "upright.sfz"
    $0.voices = 6
    $0.polyphony = 64
    $0.heldNotes = 3
  }
  // `eq` is no longer in the patch; the engine still fades it out, for 4 ms.
  scene.change("eq") { $0.state = .leaving(secondsLeft: 0.004) }
  for index in scene.report.nodes.indices {
    for port in scene.report.nodes[index].inputs.indices {
      let cables = scene.report.nodes[index].inputs[port].cables
      for cable in cables.indices where cables[cable].from == "eq" || cables[cable].to == "eq" {
        scene.report.nodes[index].inputs[port].cables[cable].state = .fadingOut(secondsLeft: 0.004)
        scene.report.nodes[index].inputs[port].cables[cable].gain = 0.27
      }
    }
  }
  if let change = try? scene.patch.applying(.remove("eq", bridge: false), catalogue: scene.catalogue) {
    scene.patch = change.patch
  }
  var state = ViewState()
  state.focus = scene.id("dist")
  state.play.heldBy = [scene.id("keys"): [60, 64, 67]]
  state.play.target = scene.id("keys")
  state.keyHints = [
    KeyHelp(keys: "?", name: "help"), KeyHelp(keys: ":", name: "prompt"),
    KeyHelp(keys: "c", name: "connect"), KeyHelp(keys: "d", name: "disconnect"),
    KeyHelp(keys: "r", name: "replace"), KeyHelp(keys: "i", name: "insert"),
    KeyHelp(keys: "x", name: "remove"), KeyHelp(keys: "u", name: "undo"), KeyHelp(keys: "p", name: "play"),
  ]
  return (scene, state)
}

/// An echo that feeds back into the mix before it, modulated by a slow oscillator.
func feedback() -> (scene: Scene, state: ViewState) {
  var scene = makeScene(
    """
    sostenuto 1
    node tone oscillator freq=220Hz
    node wobble oscillator freq=2Hz level=-6dB
    node sum mix
    connect tone -> sum
    connect echo -> sum gain=-6dB map=[1,0]
    node echo filter type=lowpass
    connect sum -> echo
    connect wobble -> echo.freq
    node out output
    connect sum -> out
    """)
  scene.sound("tone", 1.2)
  scene.sound("sum", 0.5, 0.5)
  scene.change("sum") { node in
    for index in node.inputs[0].cables.indices where node.inputs[0].cables[index].from == "echo" {
      node.inputs[0].cables[index].isFeedback = true
    }
  }
  var state = ViewState()
  state.focus = scene.id("sum")
  return (scene, state)
}

/// A node of an unknown kind, one without its file, and one that was muted.
func broken() -> (scene: Scene, state: ViewState) {
  var scene = makeScene(
    """
    sostenuto 1
    node piano sampler instrument=gone.sfz
    node space shimmer size=90%
    connect piano -> space
    node loud filter
    connect space -> loud
    node out output
    connect loud -> out
    """)
  scene.change("piano") { $0.state = .placeholder("no file gone.sfz") }
  scene.change("loud") { $0.state = .muted("sent NaN at 3.2 s") }
  var state = ViewState()
  state.focus = scene.id("piano")
  return (scene, state)
}

/// `reconnecting` in the trace: a note, then `dist` replaces `eq`.
func tracing() -> (scene: Scene, state: ViewState) {
  var (scene, state) = reconnecting()
  let eq = NodeID(raw: 4)
  let entries: [(time: Int64, id: NodeID, name: String, happening: TraceEntry.Happening)] = [
    (0, scene.id("piano"), "piano", .allocated(bytes: 120_000)),
    (0, scene.id("piano"), "piano", .prepared),
    (595_312, scene.id("piano"), "piano", .noteOn(key: 60, velocity: 100)),
    (672_000, scene.id("dist"), "dist", .allocated(bytes: 14_100)),
    (672_000, scene.id("dist"), "dist", .fadingIn(seconds: 0.01)),
    (672_000, eq, "eq", .fadingOut(seconds: 0.01)),
    (672_480, eq, "eq", .retired(plan: 42)),
    (672_492, eq, "eq", .freed),
  ]
  for (index, entry) in entries.enumerated() {
    scene.trace.append(
      TraceEntry(id: index, time: entry.time, node: entry.id, name: entry.name, happening: entry.happening))
  }
  state.view = .trace
  state.focus = scene.id("piano")
  return (scene, state)
}

/// Play mode with the letters of an English keyboard.
func playing(_ state: inout ViewState) {
  state.mode = .play
  for (step, letter) in "zsxdcvgbhnjmq2w3er5t6y7u".enumerated() {
    state.play.labels[UInt8(60 + step)] = String(letter)
  }
}

func prompting(_ state: inout ViewState) {
  var prompt = Prompt(LineEditor("replace dist equ"))
  prompt.candidates = [.init("equalizer", "Up to eight parametric bands."), .init("envelope")]
  prompt.selectedCompletion = 0
  prompt.error = ("no kind `equ`", 13)
  state.overlay = prompt
}

func choosing(_ state: inout ViewState) {
  var chooser = Chooser(
    title: "replace dist by",
    items: [
      ("gain", "Makes louder or softer."), ("filter", "A resonant two-pole filter."),
      ("equalizer", "Up to eight parametric bands."), ("delay", "Echoes."),
    ])
  chooser.filter = "l"
  chooser.selected = 1
  state.overlay = chooser
}

func hinting(_ scene: Scene, _ state: inout ViewState) {
  let letters = "ASDFGHJKLQ"
  let hints = zip(GraphPlaces.ports(scene, state, columns: 110, rows: 14), letters).map { port, letter in
    PortHint(letters: "A\(letter)", target: port.target)
  }
  state.overlay = PortHints(targets: hints, purpose: "connect from")
}

/// The matrix view of a matrix with these settings between two channels.
func matrixScene(_ settings: String, _ change: (inout ViewState) -> Void = { _ in }) -> (Scene, ViewState) {
  var scene = makeScene(
    """
    sostenuto 1
    node desk input channels=2
    node main matrix \(settings)
    connect desk -> main
    node out output channels=2
    connect main -> out
    """)
  scene.sound("desk", 0.5, 0.01)
  scene.sound("main", 0.25)
  var state = ViewState()
  state.view = .matrix
  change(&state)
  return (scene, state)
}

/// Compares the whole screen, as text, with the expected one.
func expectScreen(
  _ scene: Scene, _ state: ViewState, _ columns: Int, _ rows: Int, _ expected: String,
  at location: SourceLocation = #_sourceLocation
) {
  let canvas = Views.draw(scene, state, columns: columns, rows: rows)
  let screen = canvas.lines.joined(separator: "\n")
  // The comment is printed whole.
  #expect(screen == expected, "\n\(screen)", sourceLocation: location)
}
