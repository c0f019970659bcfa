import Dispatch
import Engine
import Glibc
import Instruments
import Patch
import Realtime
import Recording
import Synchronization

/// A file requested by a node.
struct FileRequest: FilesRequest, Sendable {
  enum Purpose: Hashable, Sendable {
    case instrument
    /// Converted to this sample rate, Hz.
    case audio(rate: Double)
    /// To convolve with, likewise.
    case impulse(rate: Double)
    /// To be held in memory, likewise.
    case sample(rate: Double)
    /// With as many frames in a wave.
    case wavetable(frames: Int)

    /// The same at another rate.
    func converted(to rate: Double) -> Self {
      switch self {
      case .instrument, .wavetable: self
      case .audio: .audio(rate: rate)
      case .impulse: .impulse(rate: rate)
      case .sample: .sample(rate: rate)
      }
    }
  }

  var path: String
  var purpose: Purpose

  var paths: [String] { [path] }
}

/// A tuning requested by a node.
struct TuningRequest: FilesRequest, Sendable {
  var scale: String?
  var keyMap: String?

  var paths: [String] { [scale, keyMap].compactMap(\.self) }
}

/// Result of a request.
struct LoadedFile: Sendable {
  var request: FileRequest
  /// nil if it could not be loaded.
  var resource: Resource?
  /// Reasons of a failure, or unsupported parts of the file.
  var findings: [Notice]
}

/// Loads instruments and audio files, once each: nodes with the same request share one, and undo finds it
/// again. In live use it loads in the background, so that loading disturbs neither sound nor screen. Loads
/// that are no longer wanted are cancelled.
@MainActor final class FileLibrary {
  private struct Entry {
    var stamp: FileStamp
    var file: LoadedFile
    /// Counter value of its last use.
    var turn: Int
  }

  private struct Result: Sendable {
    var stamp: FileStamp
    var file: LoadedFile
    /// Identifies the load; there may be a later one for the same request.
    var progress: LoadProgress
  }

  /// Bytes of unused files that are kept for undo.
  static let mostSpare = 512 << 20

  /// Streams wait for data that is not in memory, since nobody listens live.
  private let isOffline: Bool
  /// Something sounds, so loads must be gentle.
  var isGentle = false
  private var entries: [FileRequest: Entry] = [:]
  private var pending: [FileRequest: LoadProgress] = [:]
  private var failures = FailedFiles<FileRequest>()
  /// Tunings that could not be read. They are short, and nodes read them themselves.
  var failedTunings = FailedFiles<TuningRequest>()
  private var turn = 0
  /// One file after the other.
  let queue = DispatchQueue(label: "sostenuto.files", qos: .utility)
  /// Nodes that are prepared in the background, beside the files.
  private let preparations = DispatchQueue(
    label: "sostenuto.preparations", qos: .utility, attributes: .concurrent)
  private let finished = Finished()
  /// Reads a file, on the queue; tests replace it by something slow.
  var reader: @Sendable (FileRequest, LoadOptions) -> LoadedFile = { FileLibrary.read($0, $1) }

  /// Filled by the queue, emptied by `collectLoaded`.
  private final class Finished: Sendable {
    let results = Mutex<[Result]>([])
  }

  init(isOffline: Bool) { self.isOffline = isOffline }

  /// Loads under way.
  var loading: [FileLoad] { pending.map { Self.load($0.key, $0.value) }.sorted { $0.name < $1.name } }

  /// Progress of the load for a request, while it is under way.
  func load(for request: FileRequest) -> FileLoad? { pending[request].map { Self.load(request, $0) } }

  private static func load(_ request: FileRequest, _ progress: LoadProgress) -> FileLoad {
    FileLoad(name: PatchFile.split(request.path).name, fraction: progress.fraction)
  }

  /// Bytes in memory, in use or not.
  var bytes: Int { entries.values.reduce(0) { $0 + ($1.file.resource?.bytes ?? 0) } }
  var underruns: Int { entries.values.reduce(0) { $0 + ($1.file.resource?.underruns ?? 0) } }

  /// The loaded file, if it has not changed on disk since.
  func known(_ request: FileRequest) -> LoadedFile? {
    guard let entry = entries[request], entry.stamp == FileStamp(path: request.path) else { return nil }
    return entry.file
  }

  /// The file that was loaded last, even if others have written it since; nil: there is none.
  func loaded(_ request: FileRequest) -> LoadedFile? {
    entries[request].flatMap { $0.file.resource == nil ? nil : $0.file }
  }

  /// Loads it now. Worker; may take long.
  func load(_ request: FileRequest) -> LoadedFile {
    if let known = known(request) { return known }
    let stamp = FileStamp(path: request.path)
    let file = reader(request, options(LoadProgress()))
    store(file, stamp)
    return file
  }

  private func store(_ file: LoadedFile, _ stamp: FileStamp) {
    entries[file.request] = Entry(stamp: stamp, file: file, turn: turn)
    failures.note(file.request, file.resource == nil ? [file.request.path: stamp] : nil)
  }

  /// Begins failed loads anew: those whose file others have written since, or `all`.
  func retryFailures(all: Bool) { for request in failures.due(all: all) { begin(request) } }

  /// Loads it in the background; `collectLoaded` returns it later.
  func begin(_ request: FileRequest) {
    guard pending[request] == nil else { return }
    let options = options(LoadProgress())
    guard let progress = options.progress else { return }
    pending[request] = progress
    let (finished, reader) = (finished, reader)
    queue.async {
      guard !progress.isCancelled else { return }
      // Stamped before reading: a file that changes meanwhile is read again.
      let stamp = FileStamp(path: request.path)
      let file = reader(request, options)
      finished.results.withLock { $0.append(Result(stamp: stamp, file: file, progress: progress)) }
    }
  }

  private func options(_ progress: LoadProgress) -> LoadOptions {
    var options = LoadOptions()
    options.waits = isOffline
    options.isGentle = isGentle
    options.progress = progress
    return options
  }

  /// Runs the preparation of a node.
  nonisolated func run(_ preparation: @escaping @Sendable () -> Void) {
    preparations.async(execute: preparation)
  }

  /// Drops everything that is not in `requests`: loads at once, files when there are too many.
  func keep(_ requests: Set<FileRequest>) {
    turn += 1
    for (request, progress) in pending where !requests.contains(request) {
      progress.cancel()
      pending[request] = nil
    }
    failures.keep(requests)
    for request in requests {
      guard let entry = entries[request] else { continue }
      entries[request]?.turn = turn
      // An edit may lead back to a file that has failed before.
      if entry.file.resource == nil, !failures.contains(request) {
        failures.note(request, [request.path: entry.stamp])
      }
    }
    var spare = 0
    for (request, entry) in entries.sorted(by: { $0.value.turn > $1.value.turn }) where entry.turn < turn {
      spare += entry.file.resource?.bytes ?? 0
      if spare > Self.mostSpare { entries[request] = nil }
    }
  }

  /// Cancels all loads.
  func cancel() {
    for progress in pending.values { progress.cancel() }
    pending = [:]
  }

  /// Files loaded since the last call.
  func collectLoaded() -> [LoadedFile] {
    // Including cancelled ones, so that their memory is freed.
    let results = finished.results.withLock { results in
      defer { results = [] }
      return results
    }
    var files: [LoadedFile] = []
    for result in results where pending[result.file.request] === result.progress {
      pending[result.file.request] = nil
      store(result.file, result.stamp)
      files.append(result.file)
    }
    return files
  }

  nonisolated static func read(_ request: FileRequest, _ options: LoadOptions) -> LoadedFile {
    do throws(LoadError) {
      switch request.purpose {
      case .instrument:
        let (resource, report) = try InstrumentLoader.load(path: request.path, options: options)
        return LoadedFile(request: request, resource: resource, findings: report.findings.map(\.notice))
      case .audio(let rate):
        let (resource, report) = try AudioFileLoader.load(path: request.path, rate: rate, options: options)
        return LoadedFile(request: request, resource: resource, findings: report.findings.map(\.notice))
      case .impulse(let rate):
        let (resource, findings) = try ImpulseLoader.load(path: request.path, rate: rate, options: options)
        return LoadedFile(request: request, resource: resource, findings: findings.map(\.notice))
      case .sample(let rate):
        let (resource, findings) = try GrainSampleLoader.load(
          path: request.path, rate: rate, options: options)
        return LoadedFile(request: request, resource: resource, findings: findings.map(\.notice))
      case .wavetable(let frames):
        let (resource, findings) = try WavetableLoader.load(
          path: request.path, frames: frames, options: options)
        return LoadedFile(request: request, resource: resource, findings: findings.map(\.notice))
      }
    } catch {
      return LoadedFile(request: request, resource: nil, findings: [.warning(error.description)])
    }
  }
}

extension Finding {
  fileprivate var notice: Notice { kind == .note ? .news(description) : .warning(description) }
}

extension Session {
  /// Resolves a path relative to the patch's folder.
  func absolute(_ path: String) -> String { FilePath.resolved(path, from: file ?? "") }

  private func request(of node: Node) -> FileRequest? {
    if let path = path(of: .instrument, in: node) { return FileRequest(path: path, purpose: .instrument) }
    if let path = path(of: .impulse, in: node) {
      return FileRequest(path: path, purpose: .impulse(rate: engine.rate))
    }
    if let path = path(of: .sample, in: node) {
      return FileRequest(path: path, purpose: .sample(rate: engine.rate))
    }
    if let path = path(of: .wavetable, in: node) {
      let frames = node.settings[.init("frames")] ?? catalogue[node.kind]?[parameter: "frames"]?.defaultValue
      guard case .number(let count, _)? = frames else { return nil }
      return FileRequest(path: path, purpose: .wavetable(frames: Int(limited: count)))
    }
    return path(of: .audio, in: node).map { FileRequest(path: $0, purpose: .audio(rate: engine.rate)) }
  }

  private func tuning(of node: Node) -> TuningRequest? {
    let request = TuningRequest(scale: path(of: .scale, in: node), keyMap: path(of: .keyMap, in: node))
    return request.scale == nil && request.keyMap == nil ? nil : request
  }

  /// The file of this type that a node's settings name.
  private func path(of type: ParameterDescription.FileType, in node: Node) -> String? {
    guard let parameter = catalogue[node.kind]?.parameters.first(where: { $0.fileType == type }),
      case .text(let path) = node.settings[.init(parameter.name)], !path.isEmpty
    else { return nil }
    return absolute(path)
  }

  /// Requests the file of every node's settings.
  func requestFiles() { requestFiles(of: patch.nodes.keys + fileRequests.keys.filter { patch[$0] == nil }) }

  /// The same for nodes whose request may have changed.
  func requestFiles(of nodes: some Sequence<NodeID>) {
    var isOther = false
    for id in nodes {
      let node = patch[id]
      if let node { markDefinition(of: node) }
      let hasText = node?.settings.values.contains { if case .text = $0 { true } else { false } } == true
      let request = hasText ? node.flatMap { self.request(of: $0) } : nil
      let tuning = hasText ? node.flatMap { self.tuning(of: $0) } : nil
      guard request != fileRequests[id] || tuning != tunings[id] else { continue }
      tunings[id] = tuning
      if tuning == nil { tuningsInUse[id] = nil }
      if request == nil { instruments[id] = nil }
      isOther = true
      fileRequests[id] = request
      if let request {
        fulfil(request, for: id)
      } else if tuning != nil, let node, !playsFiles(node) {
        giveTuning(to: id)
      } else if node != nil {
        engine.use(nil, for: id)
      } else {
        engine.releaseResource(of: id)
      }
    }
    guard isOther else { return }
    library.keep(Set(fileRequests.values))
    library.failedTunings.keep(Set(tunings.values))
    showLoads()
  }

  /// Tries files and tunings again that have failed: those that others have written since, or `all`.
  func retryFailures(all: Bool = false) {
    library.retryFailures(all: all)
    let due = Set(library.failedTunings.due(all: all))
    if due.isEmpty { return }
    for (node, tuning) in tunings where due.contains(tuning) {
      guard let request = fileRequests[node] else {
        giveTuning(to: node)
        continue
      }
      // One that is still loading gets the tuning when it comes.
      if let file = library.loaded(request) { give(file, to: node) }
    }
  }

  /// Shows the nodes the progress of their files.
  func showLoads() {
    for (node, request) in fileRequests { engine.setLoading(library.load(for: request), for: node) }
  }

  private func fulfil(_ request: FileRequest, for node: NodeID) {
    if options.isOffline {
      // Reported once, however many nodes share the file.
      let isNew = library.known(request) == nil
      let file = library.load(request)
      give(file, to: node)
      if isNew { for finding in file.findings { notice(finding) } }
    } else if let known = library.known(request) {
      give(known, to: node)
    } else {
      engine.markPlaceholder(node, nil)
      library.begin(request)
    }
  }

  private func give(_ file: LoadedFile, to node: NodeID) {
    guard let resource = file.resource else {
      engine.markPlaceholder(node, file.findings.first?.text ?? "cannot be loaded")
      return
    }
    // If the tuning cannot be read, the node keeps its old one.
    let fault = readTuning(of: node)
    let tuned = tuningsInUse[node].map { InstrumentLoader.tuned(resource, $0) } ?? resource
    instruments[node] = InstrumentFacts(resource)
    if heldFiles == nil {
      taping(.file(node: patch[node]?.name ?? "")) { engine.use(tuned, for: node) }
    } else {
      heldFiles?[node] = tuned
    }
    guard let fault else { return }
    engine.markPlaceholder(node, fault)
    notice("\(fault); `\(patch[node]?.name ?? "")` keeps the tuning that it had")
  }

  /// True for nodes that have a tuning for what they play from a file.
  private func playsFiles(_ node: Node) -> Bool {
    catalogue[node.kind]?.parameters.contains { $0.fileType == .instrument } == true
  }

  /// Gives a node its tuning alone.
  private func giveTuning(to node: NodeID) {
    let fault = readTuning(of: node)
    let table = tuningsInUse[node]?.table
    if heldFiles == nil {
      taping(.file(node: patch[node]?.name ?? "")) { engine.use(table, for: node) }
    } else if let table {
      heldFiles?[node] = table
    }
    guard let fault else { return }
    engine.markPlaceholder(node, fault)
    notice("\(fault); `\(patch[node]?.name ?? "")` keeps the tuning that it had")
  }

  /// Gives a node the file that a replay has held back.
  func useHeldFile(of node: NodeID) { if let resource = heldFiles?[node] { engine.use(resource, for: node) } }

  /// Reads the tuning requested by a node; returns a message with file and line if that fails.
  private func readTuning(of node: NodeID) -> String? {
    guard let request = tunings[node] else { return nil }
    let versions = FailedFiles.versions(of: request)
    do {
      tuningsInUse[node] = try Tuning(scale: request.scale, keyMap: request.keyMap)
      library.failedTunings.note(request, nil)
      return nil
    } catch {
      library.failedTunings.note(request, versions)
      return error.description
    }
  }

  func useLoadedFiles() {
    let files = library.collectLoaded()
    for file in files { for finding in file.findings { notice(finding) } }
    if !files.isEmpty {
      // One pass over the nodes, of which thousands may have a file each.
      let loaded = Dictionary(files.map { ($0.request, $0) }) { $1 }
      for (node, request) in fileRequests { if let file = loaded[request] { give(file, to: node) } }
    }
    // The driver has another rate: files are converted again.
    var isOther = false
    for (node, request) in fileRequests {
      let purpose = request.purpose.converted(to: engine.rate)
      guard purpose != request.purpose else { continue }
      let other = FileRequest(path: request.path, purpose: purpose)
      fileRequests[node] = other
      fulfil(other, for: node)
      isOther = true
    }
    if isOther { library.keep(Set(fileRequests.values)) }
  }

  /// True when every file of the patch has been loaded or has failed.
  public var isLoaded: Bool { library.loading.isEmpty && !engine.isPreparing }
}
