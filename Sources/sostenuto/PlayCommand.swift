import Drivers
import Engine
import Loop
import Patch
import PatchLanguage
import Session

/// `sostenuto play --headless`: real time without a terminal, for services, soaks and measurements.
struct PlayCommand: Command {
  static let table = CommandTable<Self>(
    "play", "Play a patch without the front end, and say how it went.",
    discussion:
      """
      Ends after --seconds, or when it gets SIGINT or SIGTERM. The script starts when all files are loaded. A line that is \
      refused when its time comes is told, and the others go on; the exit status is 1 then.
      """,
    [
      .argument("patch", \.patch, completion: .patches, "The patch."),
      .option("script", \.script, "script", completion: .files([]), "Edits and notes with their times."),
      .option(
        "seconds", \.seconds, "n", limit: Limits.seconds, "How long (default: until it is interrupted)."),
      .group(\.driver),
      .group(\.edits),
      .flag("headless", \.headless, "Without the front end."),
      .flag(
        "loose", \.loose,
        """
        Each line takes effect in the block after its time, as a live edit does, not at its exact frame; the \
        sound then differs from a file's by fractions of a block.
        """),
      .flag("json", \.json, "The summary as JSON."),
    ])

  var patch = ""
  var script: String?
  var seconds: Double?
  var driver = DriverArguments()
  var edits = EditLogArguments()
  var headless = false
  var loose = false
  var json = false

  func validate() throws {
    guard headless else {
      throw UsageError("`play` needs --headless; the front end is `sostenuto \(patch)`")
    }
    try inputs.check(outputs)
  }

  private var outputs: [(option: String, path: String)] { edits.path.map { [("--edits", $0)] } ?? [] }
  private var inputs: OutputGuard {
    var inputs = OutputGuard()
    inputs.reads(patch, as: "the patch")
    if let script { inputs.reads(script, as: "the script") }
    return inputs
  }

  func run() throws {
    Interruption.hold(withStop: true)
    try MainActor.assumeIsolated { try play() }
  }

  @MainActor private func play() throws {
    var options = SessionOptions()
    options.driver = driver.options
    options.threads = driver.rendering.count
    options.quality = nil
    options.keepsJournal = false
    options.heldSeconds = (driver.keep ?? 0) * 60
    options.keepsTape = true
    options.keepsInputs = !driver.leavesOutInputs
    let session = Session(options: options)
    // The front end makes a patch of a missing file; there is nothing to play.
    if PatchFile.descriptor(of: patch) == nil, !PatchFile.exists(patch) { _ = try PatchFile.read(patch) }
    try session.open(patch)
    session.tellOfMissingDefinitions()
    for diagnostic in session.diagnostics { Console.error(diagnostic.description) }
    if session.diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    var inputs = inputs
    inputs.reads(session.patch.references(from: patch))
    try inputs.check(outputs)
    let lines = try script.map { try readScript($0, for: session) } ?? []
    session.start()
    defer { session.stop() }
    let performance = LivePerformance(
      session: session, lines: lines, file: script ?? "", seconds: seconds, isLoose: loose)
    try performance.run()
    // Takes are complete then.
    session.stop()
    Console.tell(session.takeNotices())
    try edits.write(session)
    Console.result(json ? performance.summary.text() + "\n" : performance.words)
    if performance.refused > 0 { throw ExitCode(1) }
  }
}

/// Performance of a script in real time, with its measurements.
@MainActor private final class LivePerformance {
  let session: Session
  /// Lines by their frames from the start of the script on, and by the transport's place.
  private var agenda: Agenda<ScriptLine>
  let file: String
  let seconds: Double?
  let isLoose: Bool
  private var elapsed = 0.0
  /// Seconds that a line is prepared ahead of its frame.
  private static let lead = 0.2
  private var loads = 0.0
  private var samples = 0
  /// Duration of each line, and the largest delay behind its time, in seconds.
  private var taken: [Double] = []
  private var lag = 0.0
  /// Number of lines that were refused.
  private(set) var refused = 0
  private var status = SessionStatus()
  private var message = ""
  /// When the script started, and the engine's frame then.
  private var start: Int64?
  private var origin: Int64 = 0
  /// The engine's rate when the session opened.
  private let rate: Double
  private var nextTick = Int64.min

  init(session: Session, lines: [ScriptLine], file: String, seconds: Double?, isLoose: Bool) {
    self.session = session
    let rate = session.engine.rate
    agenda = Agenda(lines, rate: rate)
    self.file = file
    self.seconds = seconds
    self.isLoose = isLoose
    self.rate = rate
  }

  func run() throws {
    // No view shows levels.
    session.engine.isMetering = false
    let loop = EventLoop()
    Interruption.end(loop)
    Interruption.stop(
      loop, before: { [session] in session.withdraw() }, after: { [session] in session.rejoin() })
    loop.timer(due: EventLoop.now()) { [self, unowned loop] now in
      if let wait = step(now) { return EventLoop.now() + wait }
      loop.end()
      return nil
    }
    try loop.run()
    status = session.status
  }

  /// Lets the session work and performs a line that is due: one a turn, so that an interruption takes effect
  /// between lines even if many are due. Returns the nanoseconds until the next turn; nil at the end.
  private func step(_ now: Int64) -> Int64? {
    if let start { elapsed = Double(now - start) * 1e-9 }
    // After a change of the driver's rate, lines are performed as soon as they are due.
    let isExact = start != nil && session.engine.rate == rate && !isLoose
    let next = agenda.next { [engine = session.engine, origin] in engine.frame(of: $0).map { $0 - origin } }
    let nextTime = next.map { seconds(until: $0.frame, of: $0.item) } ?? .infinity
    session.followOrders()
    if now >= nextTick {
      tick()
      nextTick = now + 16_000_000
    } else {
      session.engine.collect(
        expectingNothingBefore: isExact
          ? origin + Int64(limited: (min(elapsed, nextTime) * rate).rounded(.down)) : nil)
    }
    if start == nil, session.isLoaded {
      start = now
      origin = session.engine.renderer.time + Int64(Self.lead * rate)
    }
    if let start, let next, nextTime <= elapsed {
      let line = agenda.removeNext()
      let began = EventLoop.now()
      if let place = line.place, let lateness = session.lateness(of: place) {
        Console.warn("\(file):\(line.line): \(lateness)")
      }
      do throws(Diagnostic) {
        try session.perform(
          line.text, file: file, line: line.line, column: line.column, at: isExact ? origin + next.frame : nil
        )
      } catch {
        // Nobody is there to mend it, and who listens hears the rest.
        Console.error(error.description)
        refused += 1
      }
      let done = EventLoop.now()
      taken.append(Double(done - began) * 1e-9)
      if line.place == nil { lag = max(lag, Double(done - start) * 1e-9 - line.time) }
    }
    if let seconds, elapsed >= seconds {
      tick()
      return nil
    }
    // Until the next line is due, for 5 ms at most.
    return Int64(max(0, min(0.005, nextTime - elapsed)) * 1e9)
  }

  /// Seconds from the script's start until a line is to be performed: ahead of its frame. The engine's frames decide for
  /// a line at a bar, since its transport does; without an exact frame it is performed when the transport is there.
  private func seconds(until frame: Int64, of line: ScriptLine) -> Double {
    guard line.place != nil else { return line.time }
    guard start != nil else { return .infinity }
    let ahead = Double(origin + frame - session.engine.renderer.time) / session.engine.rate
    let isExact = session.engine.rate == rate && !isLoose
    return elapsed + ahead - (isExact ? Self.lead : 0)
  }

  private func tick() {
    session.tick()
    show()
    loads += session.load
    samples += 1
  }

  private func show() {
    Console.tell(session.takeNotices())
    let now = session.supervisor.message
    if now != message {
      Console.error(now)
      message = now
    }
  }

  private var median: Double { taken.isEmpty ? 0 : taken.sorted()[taken.count / 2] }
  private var meanLoad: Double { samples > 0 ? loads / Double(samples) : 0 }

  var summary: JSON {
    .object([
      ("driver", .string(status.driver)), ("rate", .number(status.rate)), ("period", .int(status.period)),
      ("seconds", .number(elapsed)), ("xruns", .int(status.xruns)), ("underruns", .int(status.underruns)),
      ("lostMidi", .int(status.lostMidi)), ("lostEvents", .int(status.lostEvents)),
      ("lostTraceEntries", .int(status.lostTraceEntries)),
      ("memory", .int(status.memory)), ("load", .number(meanLoad)),
      ("peakLoad", .number(status.peakLoad)), ("edits", .int(session.editCount)), ("refused", .int(refused)),
      ("longestEditSeconds", .number(session.longestEdit)), ("medianLineSeconds", .number(median)),
      ("lagSeconds", .number(lag)),
      ("residue", worst.map { .number($0.residueLevel) } ?? .null), ("voices", .int(status.voices)),
      ("transport", Printout.json(status.transport)),
      ("disturbed", .bool(status.isDisturbed)), ("message", .string(status.driverMessage)),
      ("cards", .object(status.cards.sorted { $0.key < $1.key }.map { ($0.key, Printout.json($0.value)) })),
    ])
  }

  /// The edit with the largest residue.
  private var worst: EditEntry? {
    session.finishedEditLog().filter(\.isMeasured).max { $0.residue < $1.residue }
  }

  var words: String {
    let worst = worst.map { "\(Printout.figures(of: $0))  \($0.line)" } ?? "none"
    func percent(_ value: Double) -> String { Printout.fixed(value * 100, 1) + " %" }
    let cards = status.cards.sorted { $0.key < $1.key }.map {
      "card          \($0.key) on \(Printout.cardText($0.value))\n"
    }
    return """
      driver        \(status.driver), \(Int(status.rate)) Hz, period \(status.period)
      played        \(Printout.fixed(elapsed, 1)) s
      xruns         \(status.xruns), under-runs \(status.underruns), MIDI lost \(status.lostMidi), \
      events lost \(status.lostEvents)
      load          \(percent(meanLoad)), peak \(percent(status.peakLoad))
      files         \(Printout.megabytes(status.memory))
      transport     \(Printout.words(status.transport))
      edits         \(session.editCount)\(refused == 0 ? "" : ", \(refused) line\(refused == 1 ? "" : "s") refused")
      longest edit  \(Printout.milliseconds(session.longestEdit)), median line \(Printout.milliseconds(median)), \
      at most \(Printout.milliseconds(lag)) late
      loudest edit  \(worst)
      \(cards.joined())
      """
  }
}
