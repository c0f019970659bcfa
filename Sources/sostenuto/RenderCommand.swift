import ArgumentParser
import Drivers
import Midi
import Patch
import Realtime
import Session

/// `sostenuto render`: renders a patch into sound files, faster than real time.
struct RenderCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "render", abstract: "Render a patch into sound files, faster than real time.",
    discussion:
      """
      The same patch, script and MIDI file give the same bytes for every period, any number of threads and on \
      every run. A MIDI file (format 0 or 1) plays every `midi` node, each those of its channel, at exact \
      frames; without --seconds the render ends when all is silent after its end, a minute later at most.
      """
  )

  @Argument(help: "The patch.", completion: .patch)
  var patch: String
  @Option(
    help: ArgumentHelp("Edits and notes with their times.", valueName: "script"), completion: .file())
  var script: String?
  @Option(
    help: ArgumentHelp("A MIDI file for the `midi` nodes.", valueName: "file"),
    completion: .file(extensions: ["mid", "midi"]))
  var midi: String?
  @Option(help: ArgumentHelp("How long (default: the MIDI file and its tail).", valueName: "n"))
  var seconds: Double?
  @Option(
    name: .shortAndLong, help: ArgumentHelp("Where the output goes (.wav, .flac, .ogg).", valueName: "file"),
    completion: .file())
  var output: String?
  @Option(help: ArgumentHelp("Record a port, too; may be repeated.", valueName: "node[.port]=file"))
  var tap: [String] = []
  @Option(help: ArgumentHelp("Frames a second.", valueName: "rate"))
  var rate: Double = 48000
  @Option(
    help: ArgumentHelp("Frames a period, 1 to 8192; changes nothing but the speed.", valueName: "frames"))
  var period: Int = 1024
  @OptionGroup var rendering: ThreadArguments
  @Option(
    help: ArgumentHelp(
      "How samples are read where the patch leaves it open: 4-point, 8-point or sinc.", valueName: "points"))
  var quality: SampleQuality = .sinc
  @Option(help: "float32, pcm24 or pcm16.")
  var format: SampleFormat = .float32
  @OptionGroup var edits: EditLogArguments
  @Flag(help: "Say as JSON what was made.")
  var json = false

  func validate() throws {
    if let seconds { try Limits.check(seconds: seconds) }
    if seconds == nil, midi == nil { throw ValidationError("How long? Give --seconds or --midi") }
    try Limits.check(rate: rate)
    try Limits.check(period: period)
    for text in tap where TapRequest(text) == nil {
      throw ValidationError("--tap \(text): write NODE=FILE or NODE.PORT=FILE")
    }
    if output == nil && tap.isEmpty { throw ValidationError("Nothing to make: give --output or --tap") }
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
      let file = try MidiFile(bytes: PatchFile.read(path))
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
    for notice in later { Console.warn(notice) }
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
        ("warnings", .array((warnings + later).map { .string($0) })),
      ]).text() + "\n")
  }
}

extension SampleFormat: ExpressibleByArgument {}
extension SampleQuality: ExpressibleByArgument {}
