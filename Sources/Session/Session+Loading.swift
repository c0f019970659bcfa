import Engine
import Instruments
import Patch
import Realtime
import Recording

/// Files and tunings that nodes name: their requests, and what comes of them.
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

  /// Requests the file of every node's settings. Of a large patch's nodes few are of kinds with files.
  func requestFiles() {
    let kinds = Set(
      catalogue.kinds.lazy.filter { $0.isContainer || $0.parameters.contains { $0.fileType != nil } }
        .map(\.name))
    let readers = patch.nodes.values.lazy.filter { kinds.contains($0.kind) }.map(\.id)
    requestFiles(of: Set(fileRequests.keys).union(tunings.keys).union(readers).sorted())
  }

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
