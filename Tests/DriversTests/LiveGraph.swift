import Engine
import Instruments
import Patch
import PatchLanguage
import Realtime
import Testing

/// An engine edited by lines of the patch language, as in a session.
final class LiveGraph {
  let engine: Engine
  private(set) var patch: Patch

  init(_ text: String, rate: Double = 48000, period: Int = 64, threads: Int = 1) throws {
    engine = Engine(rate: rate, period: period, threads: threads)
    let read = PatchReader.read(
      "sostenuto 1\n" + text, file: "test.patch", catalogue: KindRegistry.builtIn.catalogue)
    try #require(read.diagnostics.isEmpty, "\(read.diagnostics)")
    patch = read.patch
    engine.adopt(patch)
  }

  /// Performs an edit or plays a note. A refused edit throws and changes nothing.
  func perform(_ line: String, at time: Int64? = nil, fade: Double = Engine.standardFade) throws {
    switch try StatementParser.parse(line, patch: patch, catalogue: KindRegistry.builtIn.catalogue) {
    case .edit(let edit):
      let change = try patch.applying(edit, catalogue: KindRegistry.builtIn.catalogue)
      patch = change.patch
      engine.adopt(patch, ramps: change.ramps, tails: change.tails, fade: fade, at: time)
    case .perform(let performance):
      guard let node = patch[named: performance.node] else { return }
      switch performance.event {
      case .noteOn(let key, let velocity):
        engine.perform(Event(.noteOn, key: UInt8(key), value: Float(velocity)), on: node.id, at: time)
      case .noteOff(let key):
        engine.perform(Event(.noteOff, key: UInt8(key)), on: node.id, at: time)
      case .pedal(.sustain, let isDown):
        engine.perform(Event(.control, key: 64, value: isDown ? 127 : 0), on: node.id, at: time)
      default: break
      }
    case .transport(.roll): engine.perform(.roll, at: time)
    case .transport(.halt): engine.perform(.halt, at: time)
    case .transport(.locate(let place)): engine.perform(.locate(place), at: time)
    case .panic: engine.panic()
    default: break
    }
  }

  /// Returns to an earlier state of the patch, as an undo does.
  func restore(_ earlier: Patch) {
    patch = earlier
    engine.adopt(patch)
  }

  func load(_ path: String, into name: String) throws {
    let node = try #require(patch[named: name])
    let resource =
      node.kind == "player"
      ? try AudioFileLoader.load(path: path, rate: engine.rate).resource
      : try InstrumentLoader.load(path: path).resource
    engine.use(resource, for: node.id)
  }
}
