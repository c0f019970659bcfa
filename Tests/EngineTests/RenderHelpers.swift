import Engine
import Patch
import Realtime
import TestSupport
import Testing

/// An engine rendered by the test itself: exact frames, no driver.
final class Bench {
  let engine: Engine
  let period: Int
  private(set) var patch = Patch()
  /// The patch as edited by lines of the language. `perform` and `edit` must not be mixed.
  private(set) lazy var draft = Draft(patch)
  private var history: [Edit] = []
  private var outputs: [UnsafeMutablePointer<Float>] = []
  private var inputs: [UnsafeMutablePointer<Float>] = []
  private let inputTable: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let outputTable: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// All output so far, by driver channel.
  private(set) var heard: [[Float]]

  init(
    rate: Double = 48000, period: Int = 64, channels: Int = 8, threads: Int = 1,
    kinds: KindRegistry = .builtIn
  ) {
    engine = Engine(rate: rate, period: period, threads: threads, kinds: kinds)
    engine.callHelpersAlways()
    self.period = period
    inputTable = .allocate(capacity: DriverChannels.capacity)
    inputTable.initialize(repeating: nil, count: DriverChannels.capacity)
    outputTable = .allocate(capacity: DriverChannels.capacity)
    outputTable.initialize(repeating: nil, count: DriverChannels.capacity)
    for channel in 0..<channels {
      outputs.append(.allocate(capacity: period))
      outputTable[channel] = outputs[channel]
    }
    heard = Array(repeating: [], count: channels)
  }

  deinit {
    outputs.forEach { $0.deallocate() }
    inputs.forEach { $0.deallocate() }
    inputTable.deallocate()
    outputTable.deallocate()
  }

  /// Feeds a constant into the driver's input channel from now on.
  func feed(_ value: Float, channel: Int = 0) {
    let samples = UnsafeMutablePointer<Float>.allocate(capacity: period)
    samples.initialize(repeating: value, count: period)
    inputs.append(samples)
    inputTable[channel] = UnsafePointer(samples)
  }

  /// Builds the patch before the first render.
  func begin(_ edits: [Edit]) throws {
    for edit in edits { patch = try patch.applying(edit, catalogue: KindRegistry.builtIn.catalogue).patch }
    engine.adopt(patch)
  }

  /// Builds the patch from its text, without the first line.
  func begin(_ text: String) throws { begin(try Draft(text).patch) }

  func begin(_ patch: Patch) {
    self.patch = patch
    engine.adopt(patch)
  }

  /// Performs one edit while the engine runs; false if it is refused.
  @discardableResult func edit(_ edit: Edit, fade: Double = Engine.standardFade) -> Bool {
    guard let change = try? patch.applying(edit, catalogue: engine.kinds.catalogue) else {
      return false
    }
    patch = change.patch
    history.append(change.inverse)
    engine.adopt(
      patch, touched: change.touched, ramps: change.ramps, tails: change.tails, fade: fade,
      at: engine.renderer.time, describing: edit.line)
    return true
  }

  /// Performs edits as one, as those of a line are.
  func edit(_ edits: [Edit], fade: Double = Engine.standardFade) throws {
    for edit in edits { patch = try patch.applying(edit, catalogue: engine.kinds.catalogue).patch }
    engine.adopt(patch, fade: fade, at: engine.renderer.time)
  }

  @discardableResult func undo() -> Bool {
    guard let inverse = history.popLast() else { return false }
    guard let change = try? patch.applying(exactly: inverse, catalogue: engine.kinds.catalogue) else {
      return false
    }
    patch = change.patch
    engine.adopt(
      patch, touched: change.touched, ramps: change.ramps, tails: change.tails, at: engine.renderer.time,
      describing: "undo")
    return true
  }

  /// Performs a line of the language on the draft alone.
  func changing(_ line: String) -> TestSupport.Draft.Outcome { draft.perform(line) }

  /// Performs a line of the language, at an engine frame or now; false if it changes nothing. A refused one is the test's
  /// mistake, and an issue.
  @discardableResult func perform(
    _ line: String, at time: Int64? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) -> Bool {
    let outcome = draft.perform(line)
    if case .refused = outcome { Issue.record("refused: \(line)", sourceLocation: sourceLocation) }
    return carryOut(outcome, line, at: time)
  }

  /// Performs a line that may be refused, as random ones are; false then, and if it changes nothing.
  @discardableResult func attempt(_ line: String, at time: Int64? = nil) -> Bool {
    carryOut(draft.perform(line), line, at: time)
  }

  private func carryOut(_ outcome: TestSupport.Draft.Outcome, _ line: String, at time: Int64?) -> Bool {
    switch outcome {
    case .edited(let change):
      engine.adopt(
        change.patch, ramps: change.ramps, tails: change.tails, at: time ?? engine.renderer.time,
        describing: line)
      return true
    case .performed(let performance):
      guard let node = draft.patch[named: performance.node], let event = Event(performance.event) else {
        return false
      }
      engine.perform(event, on: node.id, at: time)
      return true
    case .unchanged, .refused: return false
    }
  }

  func play(_ steps: [Step]) {
    for step in steps {
      render(step.frames)
      attempt(step.line)
    }
  }

  func render(_ frames: Int) {
    var left = frames
    while left > 0 {
      let toFadeEnd = engine.nextFadeEnd.map { Int($0 - engine.renderer.time) } ?? left
      let count = min(left, period, max(toFadeEnd, 1))
      // As every driver does; the engine's helper threads set the same mode as the thread that they help.
      let denormals = flushDenormals()
      engine.renderer.render(frames: count, inputs: inputTable, outputs: outputTable)
      restoreDenormals(denormals)
      for channel in heard.indices {
        heard[channel].append(contentsOf: UnsafeBufferPointer(start: outputs[channel], count: count))
      }
      engine.collect(expectingNothingBefore: engine.renderer.time)
      left -= count
    }
  }

  /// Renders until every fade and tail (a minute at most) has ended and every plan has come back.
  func settle() {
    var rounds = 0
    while !engine.isSettled, rounds < 60_000 {
      render(64)
      rounds += 1
    }
  }
}

/// `node("dist", "distortion", "drive=18")`: numbers are in the parameter's own unit.
func node(_ name: String, _ kind: String, _ settings: String...) -> Edit {
  .add(makeNode(name, kind, settings), before: nil)
}

func makeNode(_ name: String, _ kind: String, _ settings: [String] = []) -> Node {
  var result = Node(id: NodeID(raw: 0), name: name, kind: kind)
  for setting in settings {
    let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
    let unit = KindRegistry.builtIn.catalogue[kind]?.parameters.first { $0.name == parts[0] }?.unit ?? .none
    result.settings[ParameterPath(parts[0])] = Double(parts[1]).map { .number($0, unit) } ?? .text(parts[1])
  }
  return result
}

/// `cable("a", "b.freq", gain: -6)`
func cable(_ from: String, _ to: String, gain: Double = 0, map: [Int]? = nil) -> Edit {
  func port(_ text: String) -> PortName {
    let parts = text.split(separator: ".").map(String.init)
    return PortName(parts[0], parts.count > 1 ? parts[1] : nil)
  }
  return .connect(
    CableName(port(from), port(to)), CableSettings(gain: gain, map: map.map(ChannelMap.init)))
}

/// First frame at which the bits differ, with both values; nil if all are equal.
func firstDifference(_ a: [Float], _ b: [Float]) -> String? {
  guard a.count == b.count else { return "\(a.count) and \(b.count) frames" }
  for index in a.indices where a[index].bitPattern != b[index].bitPattern && !(a[index] == 0 && b[index] == 0)
  {
    return "frame \(index): \(a[index]) and \(b[index])"
  }
  return nil
}

/// Largest absolute difference of two recordings.
func distance(_ a: [Float], _ b: [Float]) -> Float {
  zip(a, b).reduce(0) { max($0, abs($1.0 - $1.1)) }
}
