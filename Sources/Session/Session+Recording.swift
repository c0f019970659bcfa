import Engine
import Glibc
import Patch
import PatchLanguage
import Realtime
import Recording

/// A take, and the capture that feeds it.
struct RunningTake {
  let take: Take
  let capture: NodeID
  var point: Engine.CapturePoint
  /// The take for whose replay it is there.
  var owner: Take?
  /// It has been asked to end.
  var isEnding = false
  /// The rate has changed, and it has what came before.
  var isCut = false
  /// The tape knows of it.
  var isNoted = false
}

/// The outputs whose sound is held for `keep`.
struct HeldOutputs {
  struct Output {
    /// Name of the node.
    var name: String
    var capture: NodeID
    var track: Int
    var channels: Int
  }

  let sound: KeptSound
  var rate: Double
  var outputs: [NodeID: Output] = [:]
}

extension Session {
  nonisolated static func makeRecorder(_ renderer: Renderer, isOffline: Bool) -> Recorder {
    let notes = StateFolder.path + "/takes"
    let register = TakeRegister(folder: notes, spare: { StateFolder.spare("takes") }) {
      PatchFile.makeFolder(notes)
    }
    return Recorder(isOffline: isOffline, register: isOffline ? nil : register) { renderer.time }
  }

  // MARK: Takes

  /// Begins or ends a take, at engine frame `frame`; nil: the next block. Returns an answer.
  func record(_ order: TakeOrder, at frame: Int64?) throws(EditError) -> String {
    try order.check(patch, catalogue)
    guard options.mayRecord else { return "takes are off" }
    // No audio thread runs offline, so the next block's frame is known.
    let frame = frame ?? (options.isOffline ? engine.renderer.time : nil)
    switch order {
    case .begin(let port, let file):
      return try beginTake(port, file.map { FilePath.resolved($0, from: "") }, at: frame, as: nil)
    case .end(let port): return try endTakes(of: port, at: frame)
    case .keep(let seconds, let file): return try keep(seconds, FilePath.resolved(file, from: ""))
    }
  }

  /// `format`: nil: as the node's settings say.
  func beginTake(
    _ port: PortName, _ file: String?, at frame: Int64?, as format: SampleFormat?
  ) throws(EditError) -> String {
    let node = try patch.node(named: port.node)
    let settings = settings(of: node)
    guard let point = engine.capturePoint(of: node.id, port: port.port), let path = file ?? settings.file
    else {
      throw .notRecorded("`\(node.name)` (\(node.kind)) has no sound to record")
    }
    let feed = Recorder.feed(channels: point.channels, rate: engine.rate)
    let name = PortName(node.name, point.port).description
    let request = Take.Request(path: path, port: name, format: format ?? settings.format, rate: engine.rate)
    let take: Take
    do throws(RecordingError) {
      take = try recorder.begin(request, feed)
    } catch {
      throw .notRecorded(error.description)
    }
    let capture = engine.beginCapture(point, feed: feed.resource, at: frame)
    runningTakes.append(RunningTake(take: take, capture: capture, point: point))
    beginInputs(of: take, at: frame)
    return "recording \(name) to \(take.status.path)"
  }

  /// File and format in the settings of a `record` node.
  private func settings(of node: Node) -> (file: String?, format: SampleFormat) {
    var found: (file: String?, format: SampleFormat) = (nil, .float32)
    found.file = TakeOrder.file(of: node, catalogue).map(absolute)
    if case .text(let format)? = node.settings[ParameterPath("format")] {
      found.format = SampleFormat(rawValue: format) ?? .float32
    }
    return found
  }

  private func endTakes(of port: PortName, at frame: Int64?) throws(EditError) -> String {
    let node = try patch.node(named: port.node)
    let ending = runningTakes.indices.filter {
      let point = runningTakes[$0].point
      return !runningTakes[$0].isEnding && runningTakes[$0].owner == nil && point.node == node.id
        && (port.port == nil || port.port == point.port)
    }
    guard !ending.isEmpty else { return "`\(port)` is not being recorded" }
    for index in ending { end(&runningTakes[index], at: frame) }
    return "recorded " + ending.map { runningTakes[$0].take.status.path }.joined(separator: ", ")
  }

  /// A take goes on with the node that replaces its own, as the cables do. Call it before the patch changes.
  func moveTakes(to next: Patch) {
    for index in runningTakes.indices where !runningTakes[index].isEnding && runningTakes[index].owner == nil
    {
      let point = runningTakes[index].point
      guard next[point.node] == nil, let name = patch[point.node]?.name, let node = next[named: name],
        let kind = catalogue[node.kind]
      else { continue }
      let port = kind.output(like: point.port ?? "", isEvents: false)
      runningTakes[index].point.node = node.id
      runningTakes[index].point.port = port
      runningTakes[index].point.input = port == nil ? kind.inputs.first { !$0.isEvents }?.name : nil
      engine.moveCapture(runningTakes[index].capture, to: node.id, port: port)
    }
  }

  func end(_ running: inout RunningTake, at frame: Int64?) {
    running.isEnding = true
    running.take.end(at: frame ?? engine.renderer.time)
    engine.endCapture(running.capture, at: frame)
  }

  /// Takes have nothing of another rate, which begins with the next frame. Their files are made later, one after the other.
  func cutTakes() {
    for index in runningTakes.indices where !runningTakes[index].isEnding {
      runningTakes[index].take.end(at: engine.renderer.time)
      runningTakes[index].isCut = true
    }
  }

  /// Tells what has happened to takes; ends captures whose file has ended, and begins another file when the rate has
  /// changed.
  func followTakes() {
    for said in recorder.takeNotices() { notice(said) }
    followJournals()
    noteTakes()
    for index in runningTakes.indices where !runningTakes[index].isEnding {
      let (take, point) = (runningTakes[index].take, runningTakes[index].point)
      let status = take.status
      if status.isFinished, !runningTakes[index].isCut || status.fault != nil {
        runningTakes[index].isEnding = true
        engine.endCapture(runningTakes[index].capture)
      } else if runningTakes[index].isCut {
        end(&runningTakes[index], at: nil)
        guard runningTakes[index].owner == nil, let name = patch[point.node]?.name else { continue }
        do throws(EditError) {
          let said = try beginTake(
            PortName(name, point.port), take.request.path, at: nil, as: take.request.format)
          notice(.news("the rate has changed: \(said)"))
        } catch {
          notice("the rate has changed, and the take cannot go on: \(error.description)")
        }
      }
    }
    let finished = recorder.removeFinished()
    if !finished.isEmpty, tape != nil {
      // Everything before their ends has been executed.
      engine.collect()
      followTape()
      for take in finished where !take.request.isInput { writeJournal(of: take) }
    }
    let kept = tape == nil ? [] : recorder.takeKept()
    if !kept.isEmpty {
      engine.collect()
      followTape()
      for file in kept { writeJournal(of: file) }
    }
    // The recorded inputs are kept until the journal names them.
    runningTakes.removeAll { $0.take.status.isFinished && $0.owner?.status.isFinished ?? true }
    if held != nil, held?.rate != engine.rate {
      held?.rate = engine.rate
      let seconds = held?.sound.restart(rate: engine.rate) ?? 0
      if seconds > 0 {
        notice(
          "the rate has changed: \(Take.length(seconds: seconds)) of what was heard before are held no longer"
        )
      }
    }
  }

  /// Ends the takes that have begun behind the first `count` of those that run, and leaves nothing of them.
  func discardTakes(behind count: Int = 0) {
    let unwanted = runningTakes.dropFirst(count)
    for running in unwanted where !running.isEnding { engine.endCapture(running.capture) }
    recorder.discard(unwanted.map(\.take))
    runningTakes.removeSubrange(unwanted.indices)
  }

  /// Completes all takes.
  func finishTakes() {
    let isSilent = options.isOffline || supervisor.driver == nil
    if !isSilent { endRunningTakes() }
    recorder.close(isSilent: isSilent)
    engine.collect()
    followTape()
    followTakes()
    if let first = runningTakes.first?.take.status.path {
      notice("\(first): the disk does not answer; the take is made whole at the next start")
    }
    runningTakes = []
  }

  /// Ends takes while the audio thread runs, and waits for their last cells, two seconds at most.
  private func endRunningTakes() {
    for index in runningTakes.indices where !runningTakes[index].isEnding {
      end(&runningTakes[index], at: nil)
    }
    let end = ContinuousClock.now + .seconds(2)
    while !runningTakes.allSatisfy(\.take.status.isFinished), ContinuousClock.now < end {
      supervisor.poll()
      engine.collect()
      usleep(2000)
    }
  }

  /// Makes takes whole that an earlier session could not complete.
  func mendTakes() {
    let lost = StateFolder.places("tapes").flatMap { SessionTape.lost(in: $0) }
    var known: Set<String> = []
    for folder in StateFolder.places("takes") {
      for said in TakeRegister(folder: folder).mend(journal: {
        known.insert($0)
        return writeJournal(ofLost: $0, frames: $1, rate: $2, among: lost)
      }) {
        notice(said)
      }
    }
    // Takes that were complete when their journals were still being written.
    for path in Set(lost.flatMap { $0.takings.map(\.path) }).subtracting(known).sorted() {
      guard let take = try? TakeMender.mend(path), take.frames > 0, take.rate > 0,
        writeJournal(ofLost: path, frames: take.frames, rate: Double(take.rate), among: lost) == true
      else { continue }
      notice(.news("\(path) has its notes and its journal now: the session that recorded it was cut off"))
    }
  }

  // MARK: What was heard

  private func keep(_ seconds: Double, _ file: String) throws(EditError) -> String {
    do throws(RecordingError) {
      guard let path = try recorder.writeKept(seconds: seconds, to: file) else {
        throw RecordingError.unfit(path: file, "nothing is held of what was heard (`--keep`)")
      }
      return "keeping what was heard as \(path)"
    } catch {
      throw .notRecorded(error.description)
    }
  }

  /// Holds what the patch's outputs play, from now on.
  func holdOutputs() {
    guard options.heldSeconds > 0, !options.isOffline else { return }
    if held == nil {
      held = HeldOutputs(
        sound: recorder.keep(seconds: options.heldSeconds, rate: engine.rate), rate: engine.rate)
    }
    let outputs = patch.nodes.values.filter { catalogue[$0.kind]?.endpoint == .output }.map(\.id)
    holdOutputs(among: outputs + held!.outputs.keys.filter { patch[$0] == nil })
  }

  /// In a replay, where the journal says when each output begins.
  func holdAgain(_ seconds: Double) {
    held = HeldOutputs(sound: recorder.keep(seconds: seconds, rate: engine.rate), rate: engine.rate)
  }

  /// The same for nodes that may be new, gone or wider.
  func holdOutputs(among nodes: some Sequence<NodeID>) {
    guard held != nil else { return }
    for id in nodes {
      let isOutput = patch[id].map { catalogue[$0.kind]?.endpoint == .output } ?? false
      let point = isOutput ? engine.capturePoint(of: id, port: nil) : nil
      let known = held?.outputs[id]
      guard point?.channels != known?.channels else { continue }
      let name = patch[id]?.name ?? known?.name ?? ""
      taping(.hold(node: name)) { hold(id, named: name, point, instead: known) }
    }
  }

  private func hold(
    _ id: NodeID, named name: String, _ point: Engine.CapturePoint?, instead known: HeldOutputs.Output?
  ) {
    if let known {
      engine.endCapture(known.capture)
      held?.sound.end(known.track)
      held?.outputs[id] = nil
    }
    guard let point else { return }
    let feed = Recorder.feed(channels: point.channels, rate: engine.rate)
    guard let track = held?.sound.add(feed, named: name) else { return }
    let capture = engine.beginCapture(point, feed: feed.resource)
    held?.outputs[id] = HeldOutputs.Output(
      name: name, capture: capture, track: track, channels: point.channels)
  }
}

extension TakeOrder {
  /// Throws for what the patch has no port for, and for a file of no known format.
  func check(_ patch: Patch, _ catalogue: KindCatalogue) throws(EditError) {
    switch self {
    case .end(let port): _ = try patch.node(named: port.node)
    case .keep(_, let file): try Self.check(file)
    case .begin(let port, let file):
      let node = try patch.node(named: port.node)
      let kind = catalogue[node.kind]
      let known = kind?.outputs.filter { !$0.isEvents }.map(\.name) ?? []
      if let wanted = port.port, !known.isEmpty, !known.contains(wanted) {
        throw .noPort(port, .output, known: known)
      }
      let outlets = patch.outlets(of: node.name, catalogue).filter { !$0.isEvents }
      if let first = outlets.first {
        throw .notRecorded("`\(node.name)` is a sub-patch; what leaves it is `\(node.name)/\(first.name)`")
      }
      guard let kind, !known.isEmpty || kind.outputs.isEmpty && kind.inputs.first?.isEvents == false else {
        throw .notRecorded("`\(node.name)` (\(node.kind)) has no sound to record")
      }
      guard let path = file ?? Self.file(of: node, catalogue) else {
        throw .notRecorded("which file? `record \(port) take.wav`, or set the `file` of a `record` node")
      }
      try Self.check(path)
    }
  }

  private static func check(_ path: String) throws(EditError) {
    guard !SampleFormat.endings.contains(where: { path.lowercased().hasSuffix("." + $0) }) else { return }
    throw .notRecorded(RecordingError.noFormat(path: path).description)
  }

  /// The file that a `record` node's settings name.
  static func file(of node: Node, _ catalogue: KindCatalogue) -> String? {
    guard catalogue[node.kind]?[parameter: "file"]?.form == .text,
      case .text(let path)? = node.settings[ParameterPath("file")], !path.isEmpty
    else { return nil }
    return path
  }
}
