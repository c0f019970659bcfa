import Dispatch
import Engine
import Instruments
import Realtime
import Recording
import Synchronization

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
