import Patch
import Recording
import Session

/// `sostenuto replay`: renders a take again from its journal.
struct ReplayCommand: Command {
  static let table = CommandTable<Self>(
    "replay", "Render a take again from its journal, to the same bits.",
    discussion:
      """
      The front end and `play` write a journal beside each take, and beside each file of `keep`: the patch as it was \
      opened, and every edit, note and message with its frame. The patch's files must be as they were. What came in through `input` nodes during the take \
      lies beside it (take.in.wav), unless `--no-inputs` left it out.
      """,
    [
      .argument("journal", \.journal, completion: .files(["journal"]), "The journal, take.journal."),
      .option(
        "output", short: "o", \.output, "file", completion: .files([]),
        "Where the sound goes (default: take-replay.wav, or as the take is called); a name that is taken gets a number."
      ),
      .group(\.rendering),
    ])

  var journal = ""
  var output: String?
  var rendering = ThreadArguments()

  func validate() throws {
    if let output, let ending = SampleFormat.unknownEnding(of: output) {
      throw UsageError("no sound file is called .\(ending)")
    }
  }

  func run() throws {
    Interruption.hold()
    try MainActor.assumeIsolated { try render() }
  }

  @MainActor private func render() throws {
    let replay = try Replay(path: journal)
    var options = SessionOptions()
    options.isOffline = true
    options.driver.rate = replay.rate
    options.driver.period = 1024
    options.quality = replay.quality
    options.threads = rendering.count
    let session = Session(options: options)
    let output = output ?? replay.output
    for doubt in replay.doubts + [replay.format(for: output).doubt].compactMap({ $0 }) {
      Console.warn("it may not be the same: \(doubt)")
    }
    let (path, seconds) = try session.render(
      replay, to: output, isInterrupted: { Interruption.hasCome })
    Console.tell(session.takeNotices())
    Console.result("\(path)  \(Take.length(seconds: seconds))\n")
  }
}
