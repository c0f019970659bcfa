import Drivers
import Engine
import Midi
import Patch
import PatchLanguage
import Recording

/// A port to record to a file of its own.
public struct TapRequest: Hashable, Sendable {
  /// Name of the node.
  public var node: String
  /// Name of the port; nil: the node's first audio output.
  public var port: String?
  /// Path of the file.
  public var path: String

  /// Parses `NODE[.PORT]=FILE`; nil if the text has another form.
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

/// Settings of an offline render.
public struct RenderRequest: Sendable {
  /// Length; nil: to the end of the MIDI file, and on until everything is silent.
  public var seconds: Double?
  /// Played on every `midi` node.
  public var midi: MidiFile?
  /// Path of the output file; nil: only the taps are rendered.
  public var output: String?
  /// Ports to record beside the output.
  public var taps: [TapRequest] = []
  /// Lines of a script, in order of time.
  public var script: [ScriptLine] = []
  /// Name of the script's file, for errors.
  public var scriptFile = ""
  /// Sample format of all files.
  public var format = SampleFormat.float32
  /// Measures the effect of each edit on the sound.
  public var watchesEdits = false

  /// Maximum seconds after the end of a MIDI file, and seconds of silence that end a render.
  static let longestTail = 60.0
  static let silence = 0.5

  /// A render of this length, without any file yet.
  public init(seconds: Double?) { self.seconds = seconds }
}

extension Session {
  /// Renders the open patch into files, faster than real time; the script's lines take effect at their exact
  /// frames. For offline sessions, right after `open`. `isInterrupted` is called now and then. Returns the
  /// number of frames. Worker.
  ///
  /// Throws a `Diagnostic` for a line of the script, a `FileError` for a tap or a file.
  @discardableResult public func render(
    _ request: RenderRequest, isInterrupted: @escaping () -> Bool = { false },
    progress: (Double) -> Void = { _ in }
  ) throws -> Int64 {
    let rate = engine.rate
    func frame(_ seconds: Double) -> Int64 { Int64(limited: min(seconds, Script.longest) * rate) }
    // One frame after the last event, which may be at the file's end.
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
        throw FileError.noTap(tap.name, tapFault(tap))
      }
      tracks.append(.tap(endpoint, to: tap.path))
    }
    let cues = request.script.sorted { $0.line < $1.line }.map { line in
      Cue(line.place.map { .place($0) } ?? .frame(frame(line.time))) {
        if let place = line.place, let lateness = self.lateness(of: place) {
          self.notice("\(request.scriptFile):\(line.line): \(lateness)")
        }
        try self.perform(
          line.text, file: request.scriptFile, line: line.line, column: line.column,
          at: self.engine.renderer.time)
      }
    }
    let renderer = OfflineRenderer(
      engine: engine, rate: rate, period: engine.period, tracks: tracks, format: request.format)
    renderer.moved = { self.followMaps() }
    var nextLook: Int64 = 0
    let made: Int64
    do {
      made = try renderer.render(
        frames: frames, cues: cues, midi: midi,
        silence: request.seconds == nil ? (end, Int64(RenderRequest.silence * rate)) : nil
      ) { frame in
        progress(Double(frame) / rate)
        recorder.pump()
        // A few times per second of sound.
        guard frame >= nextLook else { return }
        nextLook = frame + Int64(rate / 4)
        if isInterrupted() { throw CancellationError() }
      }
    } catch {
      // A part of a render looks like the whole.
      discardTakes()
      throw error
    }
    finishTakes()
    noticeBlasts()
    noticeLosses()
    refreshReport()
    return made
  }

  /// Renders one block, so that there is a plan to report on.
  public func renderOneBlock() throws {
    try OfflineRenderer(engine: engine, rate: engine.rate, period: 64, tracks: []).render(frames: 64)
    refreshReport()
  }

  private func tapFault(_ tap: TapRequest) -> FileError.TapFault {
    guard let node = patch[named: tap.node] else {
      return .noNode(tap.node, near: Nearest.match(for: tap.node, among: patch.names))
    }
    let outlets = patch.outlets(of: node.name, catalogue).filter { !$0.isEvents }
    if !outlets.isEmpty { return .subPatch(node.name, ports: outlets.map { "\(node.name)/\($0.name)" }) }
    let ports = catalogue[node.kind]?.outputs.filter { !$0.isEvents }.map(\.name) ?? []
    if let first = ports.first, ports.contains(tap.port ?? first),
      let port = engine.capturePoint(of: node.id, port: tap.port)
    {
      return .noRoom(channels: port.channels)
    }
    return ports.isEmpty ? .noAudio(tap.node, kind: node.kind) : .noPort(tap.node, known: ports)
  }
}
