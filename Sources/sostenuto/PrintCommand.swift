import ArgumentParser
import Engine
import PatchLanguage
import Session

/// `sostenuto print`: the graph printout, read from the running plan.
struct PrintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "print", abstract: "Print the graph that the engine runs for a patch.",
    discussion: """
      As text it can be read back: the printout is comments, and the patch follows it. As JSON it has the patch's \
      parameters, files and comments, too; docs/json.md describes the members.
      """)

  enum Form: String, ExpressibleByArgument, CaseIterable { case text, dot, json }

  @Argument(help: "The patch.", completion: .patch)
  var patch: String
  @Option(help: "text, dot (for Graphviz) or json.")
  var format: Form = .text
  @Flag(help: "The same as --format json.")
  var json = false

  func run() throws {
    try MainActor.assumeIsolated {
      let (session, _) = try openPatch(patch)
      try session.renderOneBlock()
      switch json ? .json : format {
      case .text:
        let text = PatchWriter.write(session.patch, catalogue: KindRegistry.builtIn.catalogue)
        Console.result(Printout.executable(session.report, patch: text))
      case .dot: Console.result(Printout.dot(session.report))
      case .json:
        Console.result(Printout.json(session.report, document: .init(patch: session.patch, file: patch)))
      }
    }
  }
}
