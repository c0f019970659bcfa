import Drivers
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
      .flag(
        "clients", \.clients,
        "With the programs of the JACK server and their connections; without a patch, these alone."),
      .option("jack-server", \.jackServer, "name", "The JACK server of this name, for --clients."),
    ])

  var patch: String?
  var format = Form.text
  var json = false
  var clients = false
  var jackServer: String?

  func validate() throws {
    guard patch != nil || clients else { throw UsageError("Missing expected argument '<patch>'") }
    guard jackServer == nil || clients else { throw UsageError("--jack-server is for --clients") }
  }

  func run() throws {
    if clients { return try MainActor.assumeIsolated { try printClients() } }
    guard let patch else { return }
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

extension PrintCommand {
  /// The printout with the programs of the server as they are now; nothing is connected.
  @MainActor private func printClients() throws {
    var options = DriverOptions()
    options.jack.server = jackServer
    let found: Patchbay.Picture
    do throws(DriverError) {
      found = try Patchbay.look(options.jack)
    } catch .silentServer {
      let name = jackServer.map { " `\($0)`" } ?? ""
      throw CommandError("the JACK server\(name) does not answer: it hangs, or another program holds it up")
    } catch {
      throw CommandError(error.message)
    }
    let (session, _) = try openPatch(patch)
    try session.renderOneBlock()
    let around = session.surroundings(found)
    switch json ? .json : format {
    case .text:
      let text = PatchWriter.write(session.patch, catalogue: session.catalogue)
      Console.result(Printout.executable(session.report, patch: text, around))
    case .dot: Console.result(Printout.dot(session.report, around: around))
    case .json:
      Console.result(
        Printout.json(session.report, document: .init(patch: session.patch, file: patch), around))
    }
  }
}
