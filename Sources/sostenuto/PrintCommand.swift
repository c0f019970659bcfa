import Engine
import PatchLanguage
import Session

/// `sostenuto print`: the graph printout, read from the running plan.
struct PrintCommand: Command {
  enum Form: String, ParameterValue, CaseIterable { case text, dot, json }

  static let table = CommandTable<Self>(
    "print", "Print the graph that the engine runs for a patch.",
    discussion: """
      As text it can be read back: the printout is comments, and the patch follows it. As JSON it has the patch's \
      parameters, files and comments, too; docs/json.md describes the members.
      """,
    [
      .argument("patch", \.patch, completion: .patches, "The patch."),
      .option("format", \.format, "format", "text, dot (for Graphviz) or json."),
      .flag("json", \.json, "The same as --format json."),
    ])

  var patch = ""
  var format = Form.text
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
