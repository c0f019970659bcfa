import Drivers
import Engine
import Glibc
import Midi
import Patch
import PatchLanguage
import Realtime
import Recording

/// Journals of takes, and their repetition.
extension Session {
  /// Begins to write down what happens, with the patch as it has been opened.
  func beginTape() {
    guard options.keepsTape, !options.isOffline else { return }
    if tape == nil {
      tape =
        SessionTape(folder: StateFolder.folder("tapes"))
        ?? StateFolder.spare("tapes").flatMap { SessionTape(folder: $0) }
      engine.startTaping()
    }
    var head = TakeJournal()
    head.rate = engine.rate
    head.tellsFades = true
    head.quality = options.quality?.rawValue ?? "auto"
    head.folder = file.map { PatchFile.split(PatchFile.absolute($0)).folder } ?? ""
    head.patch = PatchWriter.write(patch, catalogue: catalogue, whole: true)
    tape?.begin(head)
  }

  /// Notes that the transactions of `body` are those of `happening`, if there is a tape.
  func taping(_ happening: @autoclosure () -> TakeJournal.Happening, _ body: () -> Void) {
    guard let tape else { return body() }
    let happening = happening()
    switch happening {
    case .edit, .amend, .apply, .undo, .redo: tape.noteMovements(engine)
    default: break
    }
    tape.note(happening, engine, body)
  }

  /// An edit that is the newest of the history. `whole`: that of another step of its gesture, which takes back the steps
  /// before; nil: it is the first.
  func tapedEdit(_ line: String, amending whole: Edit?) -> TakeJournal.Happening {
    guard let tape else { return .edit(line) }
    guard let whole else {
      tape.depth = (tape.depth.undo + 1, 0)
      tape.newest = history.newest
      return .edit(line)
    }
    // In a replay a map may have moved something since, and another edit is the newest: this one would take that back.
    if tape.newest == history.newest {
      tape.depth.redo = 0
      return .amend(line)
    }
    tape.forgetSteps()
    return .edit(whole.line)
  }

  /// The same for a change that is performed exactly.
  func tapedEdit(exactly change: Change) -> TakeJournal.Happening {
    guard let tape else { return .panic }
    tape.depth = (tape.depth.undo + 1, 0)
    tape.newest = history.newest
    return edit(of: change, tape)
  }

  /// A step of the history as a replay can make it, which may not have its edit.
  func tapedStep(_ change: Change, isUndo: Bool) -> TakeJournal.Happening {
    guard let tape else { return .undo }
    let depth = tape.depth
    tape.newest = nil
    if isUndo, depth.undo > 0 {
      tape.depth = (depth.undo - 1, depth.redo + 1)
      return .undo
    }
    if !isUndo, depth.redo > 0 {
      tape.depth = (depth.undo + 1, depth.redo - 1)
      return .redo
    }
    // An undo of the replay's would take this back.
    tape.depth = (0, 0)
    return edit(of: change, tape)
  }

  /// The edit that a change amounts to.
  private func edit(of change: Change, _ tape: SessionTape) -> TakeJournal.Happening {
    guard let back = try? change.patch.applying(exactly: change.inverse, catalogue: catalogue) else {
      tape.doubt("a step of the history")
      return .panic
    }
    return .apply(back.inverse.line)
  }

  func followTape() {
    guard let tape else { return }
    tape.follow(engine) { supervisor.bytes(of: $0) }
    if supervisor.status.lostMidi > 0 { tape.doubt("MIDI messages were lost") }
    if library.underruns > 0 { tape.doubt("samples came late from the disk") }
  }

  /// Has a finished take's journal and, if anything was played, its MIDI file written beside it.
  func writeJournal(of take: Take) {
    guard let tape, let start = take.start, take.status.frames > 0 else {
      tape?.end(PatchFile.absolute(take.status.path))
      return
    }
    let (status, format) = (take.status, take.request.format.rawValue)
    let inputs = endInputs(of: take)
    let doubt = doubt(inputs, from: start)
    let files = JournalFiles(path: status.path, start: start, frames: status.frames, rate: status.rate)
    write(files, of: status.port, format, tape, inputs, doubt)
  }

  /// The same of a file of what was heard.
  func writeJournal(of kept: KeptFile) {
    guard let tape else { return }
    let files = JournalFiles(path: kept.path, start: kept.start, frames: kept.frames, rate: kept.rate)
    write(files, of: nil, kept.format.rawValue, tape, [], doubt([], from: kept.start))
  }

  /// `port`: nil: of a file of what was heard.
  private func write(
    _ files: JournalFiles, of port: String?, _ format: String, _ tape: SessionTape,
    _ inputs: [TakeJournal.Input], _ doubt: String?
  ) {
    let extract = tape.extract()
    var files = files
    files.makeRoom = { extract.makeRoom() }
    journals.begin(files.path) { [files] in
      let end = files.start + files.frames
      guard var journal = extract.journal(of: port, format: format, from: files.start, to: end) else {
        return [.warning("\(files.path): its journal is lost, since the tape of the session cannot be read")]
      }
      journal.inputs = inputs
      if let doubt { journal.doubts.append(doubt) }
      return files.write(journal)
    }
    followJournals()
  }

  /// Takes note of journals that have been written.
  func followJournals() {
    for journal in journals.takeWritten() {
      tape?.end(PatchFile.absolute(journal.take))
      for said in journal.said { notice(said) }
    }
  }

  /// Waits for the journals under way.
  func finishJournals() {
    journals.finish()
    followJournals()
  }

  /// Writes down takes that have begun, for the case that the program is killed.
  func noteTakes() {
    guard let tape else { return }
    for index in runningTakes.indices where !runningTakes[index].isNoted {
      let (take, owner) = (runningTakes[index].take, runningTakes[index].owner)
      guard let start = take.start, take.hasFile else { continue }
      runningTakes[index].isNoted = true
      let path = PatchFile.absolute(take.status.path)
      if owner == nil {
        let (format, port) = (take.request.format.rawValue, take.status.port)
        tape.begin(TakeJournal.Taking(start: start, format: format, port: port, path: path))
      } else {
        tape.begin(TakeJournal.Input(node: take.status.port, start: start, file: PatchFile.split(path).name))
      }
    }
  }

  /// Writes journal and MIDI file of a take that a killed session left behind; false: nothing is known of it;
  /// nil: it is what came in while another was recorded.
  func writeJournal(ofLost path: String, frames: Int64, rate: Double, among lost: [TakeJournal]) -> Bool? {
    for journal in lost {
      if journal.inputs.contains(where: { $0.file == PatchFile.split(path).name }) { return nil }
      guard let taking = journal.takings.first(where: { $0.path == path }) else { continue }
      // The file's rate may be another: Opus knows few.
      let engineRate = journal.rate(at: taking.start)
      let frames = Int64((Double(frames) * engineRate / rate).rounded())
      var own = journal.cut(
        format: taking.format, port: taking.port, from: taking.start, to: taking.start + frames)
      let beginning = PatchFile.split(Self.beside(path, "in.")).name
      own.inputs = journal.inputs.filter { $0.file.hasPrefix(beginning) }
      own.doubts.append("its session was cut off")
      let files = JournalFiles(path: path, start: taking.start, frames: frames, rate: engineRate)
      for said in files.write(own) { notice(said) }
      return true
    }
    return false
  }

  /// `take.mid` for `take.wav`.
  nonisolated static func beside(_ path: String, _ ending: String) -> String {
    beside(path, after: "." + ending)
  }

  /// `take-replay.wav` for `take.wav`; a name that would be too long is cut.
  nonisolated static func beside(_ path: String, after ending: String) -> String {
    let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let stem = path[start...].lastIndex(of: ".").map { path[start..<$0] } ?? path[start...]
    return path[..<start] + FileName.joined(String(stem), after: ending)
  }
}

/// The repetition of a take from its journal.
public struct Replay {
  let journal: TakeJournal
  let inputs: ReplayedInputs
  private let path: String
  /// Sample format of the take.
  private let format: SampleFormat
  /// Sample rate with which it begins, Hz.
  public var rate: Double { journal.rate }
  /// Interpolation of nodes that do not set it.
  public var quality: SampleQuality? { SampleQuality(rawValue: journal.quality) }
  /// Reasons for which it may differ from the take.
  public var doubts: [String] {
    journal.doubts
      + inputs.missing.map { "\($0) is missing: what came in is not in it" }
      + (journal.broken.isEmpty ? [] : ["\(journal.broken.count) lines of the journal cannot be read"])
  }

  /// Reads a journal. Throws if it is none, has no take, or keeps more than there was.
  public init(path: String) throws(FileError) {
    let read = TakeJournal(reading: try PatchFile.readArgument(path))
    if let line = read?.overlong { throw .keepsTooMuch(path: path, line: line) }
    guard let journal = read,
      let subject = journal.entries.last(where: { $0.happening.subjectFormat != nil })
    else { throw .noTakeJournal(path: path) }
    (self.journal, self.path) = (journal, path)
    format = subject.happening.subjectFormat ?? .float32
    inputs = ReplayedInputs(journal.inputs, in: PatchFile.split(PatchFile.absolute(path)).folder)
  }

  /// The file that it renders unless told otherwise: beside the journal, in the take's own format.
  public var output: String {
    let ending = SampleFormat.ending(of: journal.sound) ?? "wav"
    return Session.beside(path, after: "-replay." + ending)
  }

  /// The format in which a file of this name has the samples of the take, and, where it cannot have them, the reason.
  public func format(for output: String) -> (format: SampleFormat, doubt: String?) {
    guard let coded = SampleFormat.ending(of: journal.sound), coded != "wav",
      coded != SampleFormat.ending(of: output)
    else { return (format, nil) }
    // FLAC loses nothing; what it was given were whole numbers.
    if coded == "flac" { return (format == .float32 ? .pcm24 : format, nil) }
    return (format, "\(journal.sound) has what its coding left of the sound, and this file has all of it")
  }

  /// An entry, the frame before which all was known when it was decided, and the same of the next one that has such a frame.
  fileprivate typealias Step = (entry: TakeJournal.Entry, known: Int64?, nextKnown: Int64)

  /// The entries in order.
  fileprivate var steps: [Step] {
    var steps: [Step] = []
    var known: (frame: Int64, at: Int64)?
    for entry in journal.entries {
      if case .known(let frame) = entry.happening {
        known = (frame, entry.frame)
      } else {
        // An edit without a transaction stands before the one that came with it.
        steps.append((entry, known?.at == entry.frame ? known?.frame : nil, .max))
      }
    }
    var next = Int64.max
    for index in steps.indices.reversed() {
      steps[index].nextKnown = next
      if let known = steps[index].known { next = known }
    }
    return steps
  }

  /// Engine frame of the end.
  var end: Int64 { journal.entries.last { $0.happening == .end }?.frame ?? journal.entries.last?.frame ?? 0 }
}

extension Session {
  /// Renders a take again into `output`, from the beginning of its session on, faster than real time. For an offline
  /// session with the replay's rate and quality. `isInterrupted` is called now and then. Returns the file's path and
  /// its length in seconds. Worker.
  public func render(
    _ replay: Replay, to output: String, isInterrupted: @escaping () -> Bool = { false },
    progress: (Double) -> Void = { _ in }
  ) throws -> (path: String, seconds: Double) {
    heldFiles = [:]
    if let seconds = replay.heldSeconds { holdAgain(seconds) }
    file = replay.journal.folder.isEmpty ? nil : replay.journal.folder + "/replay.patch"
    engine.isTold = replay.journal.tellsFades
    openText(replay.journal.patch)
    let renderer = OfflineRenderer(engine: engine, rate: engine.rate, period: 1024, tracks: [])
    renderer.input = { endpoint, frame, count, target in
      replay.inputs.fill(endpoint, named: self.patch[endpoint.node]?.name, frame, count, target)
    }
    renderer.moved = { self.engine.readMovements() }
    let (rate, end) = (engine.rate, replay.end)
    let format = replay.format(for: output).format
    let cues = replay.steps.map { step in
      Cue(frame: step.entry.frame) {
        self.engine.knownFrame = step.known
        do {
          try self.repeatEntry(step.entry, renderer, output, format)
        } catch {
          throw RefusedEntry(entry: step.entry, reason: error)
        }
        self.engine.toldUntil = step.nextKnown
      }
    }
    engine.toldUntil = replay.steps.first?.known ?? replay.steps.first?.nextKnown ?? .max
    do {
      try renderer.render(frames: end + 64, cues: cues) { frame in
        recorder.pump()
        progress(Double(frame) / rate)
        if isInterrupted() { throw CancellationError() }
      }
    } catch {
      discardTakes()
      throw error
    }
    let take = recorder.takes.first
    finishTakes()
    if let kept = recorder.takeKept().first { return (kept.path, Double(kept.frames) / kept.rate) }
    guard let status = take?.status else { throw FileError.noTakeJournal(path: output) }
    return (status.path, status.seconds)
  }

  private func repeatEntry(
    _ entry: TakeJournal.Entry, _ renderer: OfflineRenderer, _ output: String, _ format: SampleFormat
  ) throws {
    let now = engine.renderer.time
    switch entry.happening {
    case .edit(let line): try perform(line, at: now)
    case .amend(let line):
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      if case .edit(let edit) = statement { try perform(edit, amending: newestEdit) }
    case .apply(let line):
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      due = now
      defer { due = nil }
      followMaps()
      if case .edit(let edit) = statement { try perform(exactly: edit) }
    case .undo: try undo()
    case .redo: try redo()
    case .panic: engine.panic()
    case .moved(let count): knownMovements = count
    case .known: break
    case .settle: engine.settle(at: now)
    case .event(let node, let event):
      if let id = patch[named: node]?.id { engine.perform(event, on: id, at: now) }
    case .midi(let port, let event): renderer.receive(event, port: port)
    // It went to receivers; what it means to players follows.
    case .exclusive: break
    case .closed(let port): renderer.closeMidi(port)
    case .load(let isHigh): renderer.load = isHigh ? 1 : 0
    case .rate(let rate):
      engine.retune(rate: rate, period: engine.period)
      useLoadedFiles()
      _ = held?.sound.restart(rate: rate)
      held?.rate = rate
    case .transport(let line): try perform(line, at: now)
    case .follow(let input): renderer.follow(input)
    case .file(let node): if let id = patch[named: node]?.id { useHeldFile(of: id) }
    case .hold(let name):
      let gone = held?.outputs.keys.filter { patch[$0] == nil } ?? []
      holdOutputs(among: gone + (patch[named: name].map { [$0.id] } ?? []))
    case .keep(_, let frames):
      _ = try recorder.writeKept(from: now - frames, to: now, to: output, format: format)
    case .take(_, let port):
      let parts = port.split(separator: ".", maxSplits: 1).map(String.init)
      _ = try beginTake(
        PortName(parts.first ?? "", parts.count > 1 ? parts[1] : nil), output, at: now, as: format)
    case .end: for index in runningTakes.indices { end(&runningTakes[index], at: now) }
    }
  }
}

extension TakeJournal.Happening {
  /// Format of the file that the journal is about, where this makes it.
  fileprivate var subjectFormat: SampleFormat? {
    switch self {
    case .take(let format, _), .keep(let format, _): SampleFormat(rawValue: format) ?? .float32
    default: nil
    }
  }
}

extension TakeJournal {
  /// Frames a second at a frame.
  func rate(at frame: Int64) -> Double {
    var rate = rate
    for entry in entries where entry.frame <= frame {
      if case .rate(let next) = entry.happening { rate = next }
    }
    return rate
  }
}

extension Replay {
  /// Seconds of the outputs' sound that are needed for a file of `keep`; nil: it is a take.
  fileprivate var heldSeconds: Double? {
    guard case .keep(_, let frames)? = journal.entries.last(where: { $0.happening != .end })?.happening else {
      return nil
    }
    let slowest = journal.entries.reduce(journal.rate) {
      if case .rate(let rate) = $1.happening { min($0, rate) } else { $0 }
    }
    return Double(frames) / slowest
  }
}
