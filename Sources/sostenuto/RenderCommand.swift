import Drivers
import Midi
import Patch
import Realtime
import Recording
import Session

/// `sostenuto render`: renders a patch into sound files, faster than real time.
struct RenderCommand: Command {
  static let table = CommandTable<Self>(
    "render", "Render a patch into sound files, faster than real time.",
    discussion:
      """
      The same patch, script and MIDI file give the same bytes for every period, any number of threads and on \
      every run. A MIDI file (format 0 or 1) plays every `midi` node, each those of its channel, at exact \
      frames; without --seconds the render ends when all is silent after its end, a minute later at most.
      """,
    [
      .argument("patch", \.patch, completion: .patches, "The patch."),
      .option("script", \.script, "script", completion: .files([]), "Edits and notes with their times."),
      .option(
        "midi", \.midi, "file", completion: .files(["mid", "midi"]), "A MIDI file for the `midi` nodes."),
      .option(
        "seconds", \.seconds, "n", limit: Limits.seconds, "How long (default: the MIDI file and its tail)."),
      .option(
        "output", short: "o", \.output, "file", completion: .files([]),
        "Where the output goes (.wav, .flac, .ogg)."),
      .options(
        "tap", \.tap, "node[.port]=file",
        limit: Limit("written as NODE=FILE or NODE.PORT=FILE") { TapRequest($0) != nil },
        "Record a port, too; may be repeated."),
      .option("rate", \.rate, "rate", limit: Limits.rate, "Frames a second."),
      .option(
        "period", \.period, "frames", limit: Limits.period,
        "Frames a period, 1 to 8192; changes nothing but the speed."),
      .group(\.rendering),
      .option(
        "quality", \.quality, "points",
        "How samples and files are read where the patch leaves it open: 4-point, 8-point or sinc."),
      .option("format", \.format, "format", "float32, pcm24 or pcm16."),
      .group(\.edits),
      .flag("json", \.json, "Say as JSON what was made."),
    ])

  var patch = ""
  var script: String?
  var midi: String?
  var seconds: Double?
  var output: String?
  var tap: [String] = []
  var rate = 48000.0
  var period = 1024
  var rendering = ThreadArguments()
  var quality = SampleQuality.sinc
  var format = SampleFormat.float32
  var edits = EditLogArguments()
  var json = false

  func validate() throws {
    if seconds == nil, midi == nil { throw UsageError("How long? Give --seconds or --midi") }
    if output == nil && tap.isEmpty { throw UsageError("Nothing to make: give --output or --tap") }
    for (option, path) in recordings { try OutputGuard.checkSoundFile(option, path) }
    try inputs.check(outputs)
  }

  private var recordings: [(option: String, path: String)] {
    (output.map { [("--output", $0)] } ?? []) + taps.map { ("--tap", $0.path) }
  }
  private var outputs: [(option: String, path: String)] {
    recordings + (edits.path.map { [("--edits", $0)] } ?? [])
  }
  /// Input files named on the command line.
  private var inputs: OutputGuard {
    var inputs = OutputGuard()
    inputs.reads(patch, as: "the patch")
    if let script { inputs.reads(script, as: "the script") }
    if let midi { inputs.reads(midi, as: "the MIDI file") }
    return inputs
  }

  private var taps: [TapRequest] { tap.compactMap { TapRequest($0) } }

  func run() throws {
    Interruption.hold()
    try MainActor.assumeIsolated { try render() }
  }

  private func readMidi(_ path: String) throws -> MidiFile {
    do {
      let file = try MidiFile(bytes: PatchFile.readArgument(path))
      guard file.duration <= Limits.mostSeconds else {
        throw CommandError("\(path): lasts \(Int(limited: file.duration / 86400)) days; a week is the most")
      }
      return file
    } catch let error as MidiFileError {
      throw CommandError("\(path): \(error)")
    }
  }

  @MainActor private func render() throws {
    let (session, warnings) = try openPatch(
      patch, rate: rate, period: period, threads: rendering.count, quality: quality)
    var inputs = inputs
    inputs.reads(session.patch.references(from: patch))
    try inputs.check(outputs)
    var request = RenderRequest(seconds: seconds)
    request.midi = try midi.map { try readMidi($0) }
    if request.midi != nil,
      !session.patch.nodes.values.contains(where: { session.catalogue[$0.kind]?.endpoint == .midi })
    {
      Console.warn("\(patch): no `midi` node hears \(midi ?? "")")
    }
    let end = seconds ?? request.midi?.duration ?? 0
    request.output = output
    request.taps = taps
    request.format = format
    request.watchesEdits = edits.isWanted
    if let script {
      request.script = try readScript(script, for: session)
      request.scriptFile = script
      let late = request.script.filter { $0.time > end }.count
      if late > 0 { Console.warn("\(script): \(late) of its lines come after the end") }
    }
    var line = ProgressLine("rendering \(output ?? taps[0].path)", total: end)
    let frames = try session.render(request, isInterrupted: { Interruption.hasCome }) {
      line.show($0)
    }
    let later = session.takeNotices()
    Console.tell(later)
    try edits.write(session)
    guard json else { return }
    let files: [JSON] = taps.map {
      .object([
        ("node", .string($0.node)), ("port", $0.port.map { .string($0) } ?? .null),
        ("file", .string($0.path)),
      ])
    }
    Console.result(
      JSON.object([
        ("output", output.map { .string($0) } ?? .null), ("taps", .array(files)),
        ("frames", .int(Int(frames))),
        ("rate", .number(rate)), ("edits", .int(session.editCount)),
        ("longestEditSeconds", .number(session.longestEdit)),
        ("plansSent", .int(session.engine.plansSent)),
        ("plansReturned", .int(session.engine.plansReturned)),
        ("warnings", .array((warnings + later.filter(\.isWarning).words).map { .string($0) })),
      ]).text() + "\n")
  }
}

extension SampleFormat: ParameterValue {}
extension SampleQuality: ParameterValue {}
