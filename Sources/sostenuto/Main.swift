import Glibc
import Session

/// The program: parses the command line, and turns errors into a message on standard error and an exit
/// status: 0 done, 1 the input is wrong, 2 the command line is wrong.
@main
enum Main {
  static func main() {
    Console.fillStandardDescriptors()
    Interruption.admit()
    // A file at the largest size that is allowed is an error, as a full disk is, not the process's end.
    signal(SIGXFSZ, SIG_IGN)
    // Messages that nobody reads any more (`2>&1 | head`) end no render.
    signal(SIGPIPE, SIG_IGN)
    var running: CommandDescription?
    do {
      switch try Sostenuto.commands.read(Array(CommandLine.arguments.dropFirst())) {
      case .text(let text): Console.result(text)
      case .command(let command):
        running = type(of: command).description
        try command.run()
      }
    } catch {
      exit(status(of: error, running))
    }
  }

  /// The exit status for an error, after its message.
  private static func status(of error: any Error, _ command: CommandDescription?) -> Int32 {
    switch error {
    case is CancellationError: return 130
    case let code as ExitCode: return code.status
    case let error as UsageError:
      Console.error(Sostenuto.commands.message(for: command.map(error.of) ?? error))
      return 2
    default:
      Console.complain("\(error)")
      return 1
    }
  }
}

enum Sostenuto {
  static let commands = CommandSet(
    name: "sostenuto",
    abstract: "A modular audio patching environment for the terminal: play, and rewire while it sounds.",
    discussion: """
      `sostenuto PATCH` opens the front end. Results go to standard output, messages to standard error; \
      the exit status is 0 when done, 1 when the input is wrong, 2 when the command line is.
      """,
    version: Version.number,
    commands: [
      EditCommand.self, TourCommand.self, PatchbayCommand.self, RenderCommand.self, PlayCommand.self,
      ReplayCommand.self,
      PrintCommand.self, CheckCommand.self,
      FormatCommand.self, KindsCommand.self, DiffCommand.self, ApplyCommand.self, MergeCommand.self,
      BundleCommand.self, GitSetupCommand.self, ManualCommand.self,
    ],
    standard: EditCommand.self,
    shell: getenv("SHELL").map { PatchFile.split(String(cString: $0)).name },
    isFile: { access($0, F_OK) == 0 })
}
