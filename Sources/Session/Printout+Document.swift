import Engine
import Patch

// Data from the patch itself, for the printout as JSON.

extension Printout {
  /// Increased when a member of the JSON is removed or changes its meaning; new members leave it unchanged.
  public static let jsonVersion = 1

  /// The patch of a report, and the file that it was read from.
  public struct Document: Sendable {
    /// The patch.
    public var patch: Patch
    /// Path of its file; nil if it has none.
    public var file: String?
    /// The kinds of its nodes.
    public var catalogue: KindCatalogue

    /// A patch with its file.
    public init(
      patch: Patch, file: String?, catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
    ) {
      self.patch = patch
      self.file = file
      self.catalogue = catalogue
    }
  }

  static func members(of document: Document) -> [(String, JSON)] {
    [
      ("file", document.file.map { .string($0) } ?? .null),
      ("musicalTime", json(document.patch.settings)),
      ("controls", controls(of: document.patch.settings)),
      ("maps", maps(of: document.patch.settings)),
      ("scenes", scenes(of: document.patch, catalogue: document.catalogue)),
      ("header", .array(document.patch.header.map { .string($0) })),
      ("footer", .array(document.patch.footer.map { .string($0) })),
    ]
  }

  private static func json(_ time: PatchSettings) -> JSON {
    .object([
      ("tempo", .number(time.tempo)), ("meter", .string(time.meter.description)),
      ("transport", .string(time.mode.rawValue)),
      (
        "lines",
        .array(
          time.lines.filter(\.name.isOfTime).map {
            .object([
              ("line", .string($0.line)), ("comments", json(time.comments[$0.name] ?? Comments())),
            ])
          })
      ),
    ])
  }

  private static func controls(of settings: PatchSettings) -> JSON {
    .array(
      settings.lines.compactMap { setting in
        guard case .control(let number, let target) = setting else { return nil }
        return .object([
          ("number", .int(number)), ("target", target.map { .string($0.description) } ?? .null),
          ("comments", json(settings.comments[setting.name] ?? Comments())),
        ])
      })
  }

  private static func maps(of settings: PatchSettings) -> JSON {
    .array(
      settings.lines.compactMap { setting in
        guard case .map(let name, let course?) = setting else { return nil }
        func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
        return .object([
          ("source", .string(name.source.description)), ("target", .string(name.target.description)),
          ("low", text(course.ends?.low)), ("high", text(course.ends?.high)),
          ("curve", text(course.curve?.rawValue)), ("mode", text(course.mode?.rawValue)),
          ("takeover", text(course.takeover?.rawValue)), ("echo", text(course.echo)),
          ("comments", json(settings.comments[setting.name] ?? Comments())),
        ])
      })
  }

  private static func scenes(of patch: Patch, catalogue: KindCatalogue) -> JSON {
    .array(
      patch.scenes.sorted { $0.key < $1.key }.map { number, scene in
        let edits = (try? patch.edits(to: scene, catalogue: catalogue)) ?? []
        return .object([
          ("number", .int(number)), ("name", .string(scene.name)),
          ("edits", .array(edits.map { .string($0.line) })), ("comments", json(scene.comments)),
        ])
      })
  }

  /// The transport while a session runs.
  public static func json(_ status: TransportStatus) -> JSON {
    .object([
      ("rolling", .bool(status.isRolling)), ("bar", .int(status.bar)), ("beat", .int(status.beat)),
      ("seconds", .number(status.seconds)), ("tempo", .number(status.tempo)),
      ("meter", .string(status.meter.description)), ("role", .string(status.role.rawValue)),
    ])
  }

  /// "rolls at bar 5.3, 120 beats a minute, 4/4, its own"
  public static func words(_ status: TransportStatus) -> String {
    let role =
      switch status.role {
      case .own: "its own"
      case .follows: "the server's"
      case .leads: "the server's, led from here"
      case .waits: "the server's, led by another program until that leaves"
      case .clock: "a MIDI clock's"
      case .clockTempo: "its own, in the tempo of a MIDI clock"
      case .noClock: "its own until a MIDI clock comes"
      case .clockLost: "its own, as the MIDI clock was lost"
      }
    let tempo = Value.number(status.tempo, .none).line
    return "\(status.isRolling ? "rolls" : "stands") at bar \(status.place), \(tempo) beats a minute, "
      + "\(status.meter), \(role)"
  }

  /// Empty for a node that has left the patch and is still audible.
  static func members(of report: NodeReport, in document: Document) -> [(String, JSON)] {
    guard let node = document.patch[report.id] else { return [] }
    var members: [(String, JSON)] = [
      ("comments", json(node.comments)),
      ("parameters", .array(parameters(of: node, in: document))),
      ("files", .array(files(of: node, in: document))),
    ]
    if let place = node.place {
      members.append(
        (
          "place",
          .object([
            ("column", .int(place.column)), ("row", .int(place.row)),
            ("comments", json(node.lineComments[.layout] ?? Comments())),
          ])
        ))
    }
    return members
  }

  static func members(of report: CableReport, in document: Document) -> [(String, JSON)] {
    guard let source = document.patch.id(named: report.from),
      let destination = document.patch.id(named: report.to),
      let cable = document.patch.cables[
        Cable.Ends(PortReference(source, report.fromPort), PortReference(destination, report.toPort))]
    else { return [] }
    return [("decibels", .number(cable.gain))]
      + (cable.settings.modulation.map { [("by", .string($0.line))] } ?? []) + [
        ("comments", json(cable.comments))
      ]
  }

  /// Plain parameters with their values, defaults included, in the kind's order; of indexed ones the elements
  /// that are set. For an unknown kind: its settings.
  private static func parameters(of node: Node, in document: Document) -> [JSON] {
    let kind = document.catalogue[node.kind]
    var paths: [ParameterPath] = []
    for parameter in kind?.parameters ?? [] {
      if parameter.dimensions.isEmpty { paths.append(ParameterPath(parameter.name)) }
      paths += node.settings.keys.filter { $0.name == parameter.name && !$0.indices.isEmpty }.sorted()
    }
    if kind == nil { paths = node.settings.keys.sorted() }
    return paths.compactMap { path in
      let parameter = kind?[parameter: path.name]
      guard let value = node.settings[path] ?? parameter?.defaultValue(at: path) else { return nil }
      return .object([
        ("name", .string(path.name)), ("indices", .array(path.indices.map { .int($0) })),
        ("value", json(value)), ("unit", .string(parameter?.unit.rawValue ?? "")),
        ("text", .string(value.line)), ("isDefault", .bool(node.settings[path] == nil)),
        ("comments", json(node.lineComments[.setting(path)] ?? Comments())),
      ])
    }
  }

  /// The settings that name files.
  private static func files(of node: Node, in document: Document) -> [JSON] {
    (document.catalogue[node.kind]?.parameters ?? []).compactMap { parameter in
      guard parameter.fileType != nil,
        case .text(let written)? = node.settings[ParameterPath(parameter.name)],
        !written.isEmpty
      else { return nil }
      let found = FilePath.loaderPath(written, from: document.file ?? "")
      return .object([
        ("parameter", .string(parameter.name)), ("path", .string(written)), ("found", .string(found)),
        ("exists", .bool(FilePath.exists(found))),
      ])
    }
  }

  /// A number in the parameter's unit, a text, or a list of these.
  private static func json(_ value: Value) -> JSON {
    switch value {
    case .number(let number, _): .number(number)
    case .text(let text): .string(text)
    case .list(let values): .array(values.map(json))
    }
  }

  private static func json(_ comments: Comments) -> JSON {
    .object([
      ("before", .array(comments.before.map { .string($0) })),
      ("after", comments.after.map { .string($0) } ?? .null),
    ])
  }
}
