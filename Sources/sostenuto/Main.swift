import ArgumentParser
import Session

/// The program: parses the command line, and turns errors into a message on standard error and an exit
/// status: 0 done, 1 the input is wrong, 2 the command line is wrong.
@main
enum Main {
  static func main() {
    Interruption.admit()
    do {
      var command = try Sostenuto.parseAsRoot()
      try command.run()
    } catch {
      finish(error)
    }
  }

  private static func finish(_ error: any Error) -> Never {
    if error is CancellationError { Sostenuto.exit(withError: ExitCode(130)) }
    if let code = error as? ExitCode { Sostenuto.exit(withError: code) }
    if Sostenuto.exitCode(for: error) == .validationFailure {
      Console.error(Sostenuto.fullMessage(for: error))
      Sostenuto.exit(withError: ExitCode(2))
    }
    if Sostenuto.exitCode(for: error) == .success { Sostenuto.exit(withError: error) }
    Console.complain("\(error)")
    Sostenuto.exit(withError: ExitCode(1))
  }
}

struct Sostenuto: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sostenuto",
    abstract: "A modular audio patching environment for the terminal: play, and rewire while it sounds.",
    discussion: """
      `sostenuto PATCH` opens the front end. Results go to standard output, messages to standard error; \
      the exit status is 0 when done, 1 when the input is wrong, 2 when the command line is.
      """,
    version: Version.number,
    subcommands: [
      EditCommand.self, RenderCommand.self, PlayCommand.self, PrintCommand.self, CheckCommand.self,
      FormatCommand.self, KindsCommand.self, DiffCommand.self, ApplyCommand.self, MergeCommand.self,
      BundleCommand.self, GitSetupCommand.self, ManualCommand.self,
    ],
    defaultSubcommand: EditCommand.self)
}
