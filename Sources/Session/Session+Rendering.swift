import Drivers
import Engine
import Midi
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
  /// nil: to the end of the MIDI file, and on until all is silent.
  public var seconds: Double?
  /// What every `midi` node hears.
  public var midi: MidiFile?
  /// nil: only the taps are wanted.
  public var output: String?
  public var taps: [TapRequest] = []
  public var script: [ScriptLine] = []
  public var scriptFile = ""
  public var format = SampleFormat.float32
  /// Measure what each edit does to the sound.
  public var watchesEdits = false

  /// Seconds that a render goes on after the end of a MIDI file at most, and of silence that end it.
  static let longestTail = 60.0
  static let silence = 0.5

  public init(seconds: Double?) { self.seconds = seconds }
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
    func frame(_ seconds: Double) -> Int64 { Int64(limited: min(seconds, Script.longest) * rate) }
    // Behind its last event, which may stand at its end.
    let end =
      request.midi.map { Int64(limited: (min($0.duration, Script.longest) * rate).rounded(.up)) + 1 } ?? 0
    let frames =
      request.seconds.map { frame($0) }
      ?? end + Int64(RenderRequest.longestTail * rate)
    let midi = MidiPerformance(
      events: request.midi?.events.map { (frame($0.seconds), $0.event) } ?? [], end: end)
    engine.isWatching = request.watchesEdits
    var tracks: [Track] = request.output.map { [.outputs(to: $0)] } ?? []
    for tap in request.taps {
      guard let endpoint = engine.addTap(node: tap.node, port: tap.port) else {
        throw FileError(tapFault(tap))
      }
      tracks.append(.tap(endpoint, to: tap.path))
    }
    let cues = request.script.map { line in
      Cue(frame: frame(line.time)) {
        try self.perform(
          line.text, file: request.scriptFile, line: line.line, column: line.column,
          at: self.engine.renderer.time)
      }
    }
    let renderer = OfflineRenderer(
      engine: engine, rate: rate, period: engine.period, tracks: tracks, format: request.format)
    var nextLook: Int64 = 0
    let made = try renderer.render(
      frames: frames, cues: cues, midi: midi,
      silence: request.seconds == nil ? (end, Int64(RenderRequest.silence * rate)) : nil
    ) { frame in
      progress(Double(frame) / rate)
      // A few times a second of sound.
      guard frame >= nextLook else { return }
      nextLook = frame + Int64(rate / 4)
      if isInterrupted() { throw CancellationError() }
    }
    noticeBlasts()
    noticeLosses()
    refreshReport()
    return made
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
