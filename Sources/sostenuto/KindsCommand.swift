import Engine
import Instruments
import Patch
import PatchLanguage
import Screen
import Session

/// `sostenuto kinds`: the reference of node kinds, generated from their descriptions.
struct KindsCommand: Command {
  static let table = CommandTable<Self>(
    "kinds", "List the kinds of nodes, their ports and parameters.",
    [
      .argument(
        "kind", \.kind, completion: .words(KindRegistry.builtIn.catalogue.kinds.map(\.name)),
        "One kind, in full."),
      .flag("json", \.json, "Everything about them as JSON."),
    ])

  var kind: String?
  var json = false

  func run() throws {
    let catalogue = DefinitionLibrary.catalogue(for: nil)
    let (all, library) = (catalogue.kinds, catalogue.definitions?.library ?? [])
    guard let kind else {
      let objects = all.map(KindReference.json) + library.map { KindReference.json($0, catalogue) }
      Console.result(
        json ? JSON.array(objects).text() + "\n" : KindReference.list(all) + KindReference.list(library))
      return
    }
    if let entry = library.first(where: { $0.name == kind }) {
      return Console.result(
        json
          ? KindReference.json(entry, catalogue).text() + "\n" : KindReference.page(entry, catalogue))
    }
    guard let found = catalogue[kind] else {
      let hint = Nearest.hint(for: kind, among: all.map(\.name)) ?? "`sostenuto kinds` lists them"
      throw CommandError("no kind `\(kind)`; \(hint)")
    }
    Console.result(
      json
        ? KindReference.json(found).text() + "\n"
        : KindReference.page(found) + presets(of: found) + opcodes(of: found))
  }
}

extension KindsCommand {
  /// Presets of a matrix: edits of many crosspoints.
  private func presets(of kind: KindDescription) -> String {
    guard kind.crosspoints != nil else { return "" }
    let lines = KindReference.table(KindReference.matrixPresets.map { ["  " + $0.line, $0.meaning] })
    return "\nedits of many settings at once (each one undo; `over 2s` where it is to take time)\n" + lines
  }

  /// Supported SFZ opcodes, for kinds that play instruments.
  private func opcodes(of kind: KindDescription) -> String {
    guard kind.parameters.contains(where: { $0.fileType == .instrument }) else { return "" }
    return "\nSFZ opcodes (N: a number; for _onccN also _ccN, _curveccN, _stepccN and _smoothccN)\n"
      + sfzOpcodes.map { "  \($0.topic): \($0.names.joined(separator: " "))\n" }.joined()
  }
}

/// Descriptions of kinds as text.
enum KindReference {
  /// Edits of many crosspoints of a matrix.
  static let matrixPresets: [(line: String, meaning: String)] =
    [
      ("set NODE[0..3,0] -6dB", "ranges, also in[2..], mute.out[..], solo[..,1]")
    ] + Verb.matrixReference

  static func list(_ kinds: [KindDescription]) -> String {
    var text = ""
    for category in KindDescription.Category.allCases {
      let members = kinds.filter { $0.category == category }
      if members.isEmpty { continue }
      if !text.isEmpty { text += "\n" }
      text += "\(category.rawValue)\n"
      text += table(members.map { ["  " + $0.name, ports($0), $0.summary] })
    }
    return text
  }

  /// Sub-patches of the libraries in the working folder and of the person.
  static func list(_ library: [LibrarySubPatch]) -> String {
    library.isEmpty ? "" : "\nlibrary\n" + table(library.map { ["  " + $0.name, $0.summary] })
  }

  static func page(_ entry: LibrarySubPatch, _ catalogue: KindCatalogue) -> String {
    var text = "\(entry.name) (library): \(entry.summary)\n\nfile\n  \(entry.file)\n"
    let edge = Edge(entry, catalogue)
    for (title, names) in [("inputs", edge.inputs), ("outputs", edge.outputs)] where !names.isEmpty {
      text += "\n\(title)\n" + table(names.map { ["  " + $0] })
    }
    if edge.parameters.isEmpty { return text }
    return text + "\nparameters\n" + table(edge.parameters.map { ["  " + $0.name, $0.target] })
  }

  static func json(_ entry: LibrarySubPatch, _ catalogue: KindCatalogue) -> JSON {
    let edge = Edge(entry, catalogue)
    func ports(_ names: [String]) -> JSON { .array(names.map { .object([("name", .string($0))]) }) }
    return .object([
      ("name", .string(entry.name)), ("category", .string("library")), ("summary", .string(entry.summary)),
      ("file", .string(entry.file)), ("inputs", ports(edge.inputs)), ("outputs", ports(edge.outputs)),
      (
        "parameters",
        .array(
          edge.parameters.map { .object([("name", .string($0.name)), ("publishes", .string($0.target))]) })
      ),
    ])
  }

  /// Inputs, outputs and parameters of a sub-patch of a library; nothing if its file cannot be read.
  private struct Edge {
    var inputs: [String] = []
    var outputs: [String] = []
    /// Each with the parameter inside that it is.
    var parameters: [(name: String, target: String)] = []

    init(_ entry: LibrarySubPatch, _ catalogue: KindCatalogue) {
      guard case .found(let patch)? = catalogue.definitions?.definition(of: entry.file) else { return }
      func names(_ side: KindDescription.Boundary.Side) -> [String] {
        let kinds = catalogue.kinds.compactMap(\.boundary).filter { $0.side == side }.map(\.alone)
        return patch.nodes.values.filter { kinds.contains($0.kind) }.map(\.name)
      }
      (inputs, outputs) = (names(.inlet), names(.outlet))
      parameters = patch.settings.publications.filter { NodePath.container(of: $0.key) == nil }
        .sorted { $0.key < $1.key }.map { (name: $0.key, target: $0.value.description) }
    }
  }

  static func page(_ kind: KindDescription) -> String {
    var text = "\(kind.name) (\(kind.category.rawValue)): \(kind.summary)\n"
    for (title, ports) in [("inputs", kind.inputs), ("outputs", kind.outputs)] where !ports.isEmpty {
      text += "\n\(title)\n" + table(ports.map { ["  " + $0.name, format($0.format), $0.summary] })
    }
    if !kind.parameters.isEmpty {
      text += "\nparameters\n"
      text += table(
        kind.parameters.map { parameter in
          [
            "  " + name(parameter), range(parameter), "default " + defaultText(parameter),
            parameter.summary + (Self.port(of: parameter).map { " (\($0))" } ?? ""),
          ]
        })
    }
    return text
  }

  private static func ports(_ kind: KindDescription) -> String {
    func side(_ ports: [PortDescription]) -> String {
      ports.isEmpty ? "–" : ports.map { format($0.format) }.joined(separator: ", ")
    }
    return "\(side(kind.inputs)) → \(side(kind.outputs.filter { !$0.isOptional }))"
  }

  /// `also an input port`; nil: it is none.
  static func port(of parameter: ParameterDescription) -> String? {
    if let glide = parameter.glide { return "an input port too, the same as `\(glide)`" }
    guard KindDescription.isPort(parameter) else { return nil }
    return parameter.dimensions.isEmpty ? "also an input port" : "each is also an input port"
  }

  static func format(_ format: PortDescription.Format) -> String {
    switch format {
    case .events: "events"
    case .channels(let count): "\(count) ch"
    case .parameter(let name): "`\(name)` ch"
    case .flexible: "any ch"
    }
  }

  /// `in[inputs]`, `[inputs,outputs]`, `drive`.
  static func name(_ parameter: ParameterDescription) -> String {
    if parameter.dimensions.isEmpty { return parameter.name }
    return parameter.name + "[" + parameter.dimensions.joined(separator: ",") + "]"
  }

  static func range(_ parameter: ParameterDescription) -> String {
    switch parameter.form {
    case .continuous, .integer: parameter.rangeWords
    case .toggle: "on, off"
    case .choice(let words): words.joined(separator: ", ")
    case .file: "a file"
    case .text: "text"
    }
  }

  static func defaultText(_ parameter: ParameterDescription) -> String {
    let text = parameter.defaultValue.line
    if let diagonal = parameter.diagonalValue {
      return "\(text), \(diagonal.line) where the indices are equal"
    }
    return text.isEmpty || text == "\"\"" ? "none" : text
  }

  /// Columns two spaces apart, without trailing blanks.
  static func table(_ rows: [[String]]) -> String {
    var widths: [Int] = []
    for row in rows {
      for (column, text) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], DisplayWidth.of(text))
      }
    }
    return rows.map { row in
      var line = ""
      for (column, text) in row.enumerated() {
        line += DisplayWidth.padded(text, to: widths[column] + 2)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }
    .joined()
  }

  static func json(_ kind: KindDescription) -> JSON {
    func swing(_ port: PortDescription) -> [(String, JSON)] {
      switch port.swing {
      case nil: []
      case .bipolar: [("swing", .string("bipolar"))]
      case .unipolar: [("swing", .string("unipolar"))]
      case .choice(let name): [("swing", .string(name))]
      }
    }
    func port(_ port: PortDescription) -> JSON {
      .object(
        [
          ("name", .string(port.name)), ("format", .string(format(port.format))),
          ("summary", .string(port.summary)), ("optional", .bool(port.isOptional)),
        ] + swing(port))
    }
    return .object([
      ("name", .string(kind.name)), ("category", .string(kind.category.rawValue)),
      ("summary", .string(kind.summary)), ("inputs", .array(kind.inputs.map(port))),
      ("outputs", .array(kind.outputs.map(port))), ("parameters", .array(kind.parameters.map(json))),
    ])
  }

  private static func json(_ parameter: ParameterDescription) -> JSON {
    var members: [(String, JSON)] = [
      ("name", .string(parameter.name)), ("summary", .string(parameter.summary)),
      ("unit", .string(parameter.unit.rawValue)), ("default", .string(parameter.defaultValue.line)),
    ]
    switch parameter.form {
    case .continuous, .integer:
      members += [
        ("form", .string(parameter.form == .integer ? "integer" : "continuous")),
        ("low", .number(parameter.range.lowerBound)), ("high", .number(parameter.range.upperBound)),
      ]
    case .toggle: members.append(("form", .string("toggle")))
    case .choice(let words):
      members += [("form", .string("choice")), ("choices", .array(words.map { .string($0) }))]
    case .file: members.append(("form", .string("file")))
    case .text: members.append(("form", .string("text")))
    }
    if let diagonal = parameter.diagonalValue { members.append(("diagonal", .string(diagonal.line))) }
    if let switches = parameter.switches {
      members.append(("switches", .array(switches.names.map { .string($0) })))
    }
    members += [
      ("dimensions", .array(parameter.dimensions.map { .string($0) })),
      ("perChannel", .bool(parameter.isPerChannel)), ("isPort", .bool(KindDescription.isPort(parameter))),
      ("takesNotes", .bool(parameter.takesNotes)),
    ]
    return .object(members)
  }
}
