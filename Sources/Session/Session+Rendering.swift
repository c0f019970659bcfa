import Drivers
import Engine
import Patch
import PatchLanguage

/// A port to record beside the output.
public struct TapRequest: Hashable, Sendable {
  public var node: String
  /// nil: its first audio output.
  public var port: String?
  public var path: String

  /// `NODE[.PORT]=FILE`; nil when it is not of that form.
  public init?(_ text: String) {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    path = String(text[text.index(after: equals)...])
    let parts = text[..<equals].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    node = String(parts[0])
    port = parts.count > 1 ? String(parts[1]) : nil
    guard !path.isEmpty, !node.isEmpty, port != "" else { return nil }
  }

  var name: String { port.map { "\(node).\($0)" } ?? node }
}

/// What the offline renderer is to make of a patch.
public struct RenderRequest: Sendable {
  public var seconds: Double
  /// nil: only the taps are wanted.
  public var output: String?
  public var taps: [TapRequest] = []
  public var script: [ScriptLine] = []
  public var scriptFile = ""
  public var format = SampleFormat.float32
  /// Measure what each edit does to the sound.
  public var watchesEdits = false

  public init(seconds: Double) { self.seconds = seconds }
}

extension Session {
  /// Renders the open patch into files, faster than real time; the script's lines take effect at their
  /// exact frames. For sessions that are offline, right after `open`. `isInterrupted` is asked now and
  /// then. Returns the frames made. Worker.
  ///
  /// Throws a `Diagnostic` for a line of the script, a `FileError` for a tap or a file.
  @discardableResult public func render(
    _ request: RenderRequest, isInterrupted: @escaping () -> Bool = { false },
    progress: (Double) -> Void = { _ in }
  ) throws -> Int64 {
    let rate = engine.rate
    let frames = Int64((request.seconds * rate).rounded())
    engine.isWatching = request.watchesEdits
    var tracks: [Track] = request.output.map { [.outputs(to: $0)] } ?? []
    for tap in request.taps {
      guard let endpoint = engine.addTap(node: tap.node, port: tap.port) else {
        throw FileError(tapFault(tap))
      }
      tracks.append(.tap(endpoint, to: tap.path))
    }
    var cues = request.script.map { line in
      Cue(frame: Int64((line.time * rate).rounded())) {
        try self.perform(
          line.text, file: request.scriptFile, line: line.line, column: line.column,
          at: self.engine.renderer.time)
      }
    }
    // Looking for Ctrl-C, a few times a second of sound.
    for frame in stride(from: 0, to: frames, by: max(1, Int(rate / 4))) {
      cues.append(Cue(frame: frame) { if isInterrupted() { throw CancellationError() } })
    }
    let renderer = OfflineRenderer(
      engine: engine, rate: rate, period: engine.period, tracks: tracks, format: request.format)
    try renderer.render(frames: frames, cues: cues) { progress(Double($0) / rate) }
    noticeBlasts()
    refreshReport()
    return frames
  }

  /// Runs the plan for one block, so that there is something to report on.
  public func renderOneBlock() throws {
    try OfflineRenderer(engine: engine, rate: engine.rate, period: 64, tracks: []).render(frames: 64)
    refreshReport()
  }

  private func tapFault(_ tap: TapRequest) -> String {
    guard let node = patch[named: tap.node] else {
      let hint = Nearest.hint(for: tap.node, among: patch.names).map { "; \($0)" } ?? ""
      return "--tap \(tap.name): no node `\(tap.node)`\(hint)"
    }
    let ports = Engine.catalogue[node.kind]?.outputs.filter { !$0.isEvents }.map(\.name) ?? []
    if ports.isEmpty { return "--tap \(tap.name): `\(tap.node)` (\(node.kind)) has no audio output" }
    return "--tap \(tap.name): `\(tap.node)` has the audio outputs \(ports.joined(separator: ", "))"
  }
}
