import Engine
import Patch
import Screen
import Session
import Testing

@testable import Interface

/// A whole user interface without terminal and driver: keys in as text, the screen out as text.
///
/// ```swift
/// let stage = Stage("node piano sampler", "node out output", "connect piano -> out")
/// stage.press("x")
/// #expect(stage.names == ["out"])
/// ```
@MainActor final class Stage {
  let session: Session
  let workbench: SessionWorkbench
  let app: App
  let clock = TestClock()
  var columns = 110
  var rows = 30

  final class TestClock { var seconds = 0.0 }

  init(_ lines: String..., hasKeyRelease: Bool = false) {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    session = Session(options: options)
    for line in lines where (try? session.perform(line)) == nil { Issue.record("refused: \(line)") }
    workbench = SessionWorkbench(session: session)
    workbench.hasKeyRelease = hasKeyRelease
    let clock = clock
    app = App(workbench: workbench, now: { clock.seconds })
    play(seconds: 0.1)
    app.state.message = nil
  }

  /// The demo: keyboard -> sampler -> distortion -> matrix -> output, without an instrument.
  static func demo(hasKeyRelease: Bool = false) -> Stage {
    let stage = Stage(
      "node keys keyboard", "node piano sampler", "node dist distortion drive=18dB",
      "node main matrix inputs=4 outputs=2", "node out output", "connect keys -> piano",
      "connect piano -> dist", "connect dist -> main map=[0,1,-1,-1]", "connect main -> out",
      hasKeyRelease: hasKeyRelease)
    stage.app.desk.focus(stage.session.patch.id(named: "dist") ?? NodeID(raw: 0))
    return stage
  }

  /// Renders `seconds` of audio, as a driver would. `looking`: the user interface looks at it.
  func play(seconds: Double, looking: Bool = true) {
    let inputs = UnsafeMutablePointer<UnsafePointer<Float>?>.allocate(capacity: 256)
    let outputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: 256)
    inputs.initialize(repeating: nil, count: 256)
    outputs.initialize(repeating: nil, count: 256)
    defer {
      inputs.deallocate()
      outputs.deallocate()
    }
    for _ in 0..<Int(seconds * 48000 / 480) {
      session.engine.renderer.render(frames: 480, inputs: inputs, outputs: outputs)
      clock.seconds += 0.01
      if looking { app.tick() }
    }
  }

  /// Presses keys by name, separated by spaces: "c a s", "ctrl-r", "enter". A word that begins with `=` is
  /// typed letter by letter.
  func press(_ keys: String) {
    for name in keys.split(separator: " ") {
      clock.seconds += 0.5
      if name.hasPrefix("="), name.count > 1 {
        type(name.dropFirst().replacing("_", with: " "))
      } else if let key = Key(name: name) {
        app.handle(.key(KeyStroke(key)))
      } else {
        Issue.record("no key \(name)")
      }
    }
  }

  func type(_ text: some StringProtocol) {
    for character in text { app.handle(.key(KeyStroke(Key(.character(character))))) }
  }

  func release(_ name: String) {
    guard let key = Key(name: name) else { return }
    app.handle(.key(KeyStroke(key, .release)))
  }

  var screen: String { app.render(columns: columns, rows: rows).text }
  var canvas: Canvas { app.render(columns: columns, rows: rows) }
  var message: String { app.state.message?.text ?? "" }
  var focus: String { app.desk.focusedNode?.name ?? "" }
  var names: [String] { session.patch.names }
  /// Contents of the matrix screen.
  var grid: Grid? { Grid(app.scene, app.state) }
  /// Newest entry of the undo list.
  var lastEdit: String { session.undoList.first ?? "" }
}
