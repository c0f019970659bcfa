import Engine
import Instruments
import Patch
import PatchLanguage
import Session

/// `sostenuto check`: reports errors of patch files, and unsupported parts of instruments.
struct CheckCommand: Command {
  static let table = CommandTable<Self>(
    "check", "Say what is wrong with patches and instruments, line by line.",
    discussion: """
      Prints FILE:LINE:COLUMN: error: … for each mistake; the exit status is 1 when there is one. Unknown \
      kinds and missing files are warnings, since such nodes stay in the patch as placeholders.

      Of an instrument (.sfz, .sf2) it says what is missing or not understood, and lists the opcodes; of a \
      sound file (.wav, .flac, .ogg …) what it is, and whether it is whole.
      """,
    [
      .arguments("patches", \.patches, completion: .files([]), "The patches, instruments and sound files."),
      .flag("json", \.json, "A JSON array with a member for each mistake."),
    ])

  var patches: [String] = []
  var json = false

  func run() throws {
    var diagnostics: [Diagnostic] = []
    var isUnreadable = false
    var instruments: [InstrumentCheck] = []
    var sounds: [SoundFileCheck] = []
    for path in patches {
      if InstrumentCheck.isInstrument(path) {
        instruments.append(InstrumentCheck(path))
        continue
      }
      if SoundFileCheck.isSoundFile(path) {
        sounds.append(SoundFileCheck(path))
        continue
      }
      do {
        let bytes = try PatchFile.readArgument(path)
        let text = String(decoding: bytes, as: UTF8.self)
        let (patch, found) = PatchReader.read(
          text, file: path, catalogue: DefinitionLibrary.catalogue(for: path))
        diagnostics += found + PatchInput.badBytes(bytes, path) + fileFaults(of: patch, text, path)
        var seen = [DefinitionLibrary.place(of: path)] as Set
        diagnostics += Self.definitionFaults(of: patch, path, &seen)
      } catch {
        Console.complain("\(error)")
        isUnreadable = true
      }
    }
    if json {
      Console.result(
        JSON.array(diagnostics.map(Self.json) + instruments.map(\.json) + sounds.map(\.json)).text() + "\n")
    } else {
      Console.show(
        diagnostics.map { $0.description + "\n" }.joined() + instruments.map(\.text).joined()
          + sounds.map(\.text).joined())
    }
    let isBroken = instruments.contains { $0.error != nil } || sounds.contains { $0.error != nil }
    if isBroken { isUnreadable = true }
    if isUnreadable || diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
  }

  /// Errors in the files of sub-patches, and of those inside them.
  private static func definitionFaults(
    of patch: Patch, _ path: String, _ seen: inout Set<String>
  ) -> [Diagnostic] {
    let kinds = KindRegistry.builtIn.catalogue
    let library = DefinitionLibrary(for: path, kinds: kinds)
    var found: [Diagnostic] = []
    for node in patch.nodes.values where NodePath.container(of: node.name) == nil {
      guard let written = kinds.definitionFile(of: node) else { continue }
      let full = FilePath.resolved(written, from: path)
      // Where that fails the node's line says why.
      guard seen.insert(library.place(of: written)).inserted, let bytes = try? PatchFile.read(full) else {
        continue
      }
      let (inner, faults) = PatchReader.read(
        bytes: bytes, file: full, catalogue: DefinitionLibrary.catalogue(for: full))
      found += faults + PatchInput.badBytes(bytes, full) + definitionFaults(of: inner, full, &seen)
    }
    return found
  }

  /// Files that are missing or can't be read, at the place of the node's line, and faults of tunings.
  private func fileFaults(of patch: Patch, _ text: String, _ path: String) -> [Diagnostic] {
    var found: [Diagnostic] = []
    lazy var places = PatchReader.places(in: text)
    for node in patch.nodes.values {
      for parameter in KindRegistry.builtIn.catalogue[node.kind]?.parameters ?? [] {
        guard let type = parameter.fileType,
          case .text(let file)? = node.settings[ParameterPath(parameter.name)], !file.isEmpty
        else { continue }
        let full = FilePath.resolved(file, from: path)
        let fault = type == .patch ? PatchFile.fault(of: full) : PlainFile.fault(of: full)
        if fault == nil, let fault = Self.tuningFault(type, full) {
          found.append(
            Diagnostic(
              file: fault.path, line: fault.line ?? 1, column: 1, severity: .error, message: fault.message))
        }
        guard let fault else { continue }
        let place = places[SettingName(node.name, ParameterPath(parameter.name))]
        let isMissing = !FilePath.exists(full)
        found.append(
          Diagnostic(
            file: path, line: place?.line ?? 1, column: place?.column ?? 1,
            severity: isMissing ? .warning : .error,
            message:
              "\(isMissing ? "no file `\(full)`" : fault.description): `\(node.name)` is a placeholder"))
      }
    }
    return found
  }

  /// Error of a scale or key map that can be read.
  private static func tuningFault(_ type: ParameterDescription.FileType, _ path: String) -> LoadError? {
    do {
      switch type {
      case .scale: _ = try Scale(path: path)
      case .keyMap: _ = try KeyMap(path: path)
      case .instrument, .audio, .impulse, .sample, .wavetable, .patch: break
      }
      return nil
    } catch {
      return error
    }
  }

  private static func json(_ diagnostic: Diagnostic) -> JSON {
    .object([
      ("file", .string(diagnostic.file)), ("line", .int(diagnostic.line)),
      ("column", .int(diagnostic.column)),
      ("severity", .string(diagnostic.severity.rawValue)), ("message", .string(diagnostic.message)),
      ("hint", diagnostic.hint.map { .string($0) } ?? .null),
    ])
  }
}
