import Instruments
import Patch
import Session

/// `sostenuto check instrument.sfz`: contents of an instrument, and unsupported parts.
struct InstrumentCheck {
  let path: String
  /// nil if nothing of it can be played; then `error` has the reason.
  private(set) var report: InstrumentReport?
  private(set) var error: LoadError?

  static func isInstrument(_ path: String) -> Bool {
    [".sfz", ".sf2", ".sf3"].contains { path.lowercased().hasSuffix($0) }
  }

  init(_ path: String) {
    self.path = path
    do throws(LoadError) {
      report = try InstrumentLoader.load(path: path).report
    } catch {
      self.error = error
    }
  }

  /// FILE:LINE: warning: …, then its contents, then each opcode with its first place.
  var text: String {
    guard let report else {
      guard let error else { return "" }
      return "\(error.path):\(error.line ?? 1): error: \(error.message)\n" + Self.lines(error.findings)
    }
    var text = Self.lines(report.findings)
    let megabytes = Printout.exact(Double(report.bytes) / 1_048_576, 1)
    text += "\(path): \(report.format), \(Self.count(report.regions, "region")), "
    text += "\(Self.count(report.samples, "sample")), "
    text += "\(megabytes) MB, keys \(report.keys.lowerBound) to \(report.keys.upperBound)\n"
    guard !report.opcodes.isEmpty else { return text }
    let ignored = report.opcodes.count { !$0.isUnderstood }
    text += "\(path): \(Self.count(report.opcodes.count, "opcode")): "
    text += "\(report.opcodes.count - ignored) understood, \(ignored) ignored\n"
    let width = report.opcodes.map { Printout.columns($0.name) }.max() ?? 0
    for opcode in report.opcodes {
      let name = Printout.pad(opcode.name, width)
      let word = opcode.isUnderstood ? "understood" : "ignored   "
      text += "  \(word)  \(name)  \(opcode.count) x  \(opcode.file):\(opcode.line)\n"
    }
    return text
  }

  private static func lines(_ findings: [Finding]) -> String {
    findings.map { "\($0.file):\(max(1, $0.line)): \(severity($0)): \(Visible.text($0.message))\n" }.joined()
  }

  private static func count(_ number: Int, _ thing: String) -> String {
    "\(number) \(thing)\(number == 1 ? "" : "s")"
  }

  private static func severity(_ finding: Finding) -> String { finding.kind == .note ? "note" : "warning" }

  private static func json(_ finding: Finding) -> JSON {
    .object([
      ("file", .string(finding.file)), ("line", .int(finding.line)), ("message", .string(finding.message)),
    ])
  }

  var json: JSON {
    guard let report else {
      return .object([
        ("file", .string(path)), ("error", .string(error?.message ?? "")),
        ("line", error?.line.map { .int($0) } ?? .null),
        ("findings", .array((error?.findings ?? []).map(Self.json))),
      ])
    }
    return .object([
      ("file", .string(path)), ("format", .string(report.format)), ("regions", .int(report.regions)),
      ("samples", .int(report.samples)), ("bytes", .int(report.bytes)),
      ("keys", .array([.int(report.keys.lowerBound), .int(report.keys.upperBound)])),
      ("missing", .array(report.missingSamples.map { .string($0) })),
      (
        "findings",
        .array(report.findings.map(Self.json))
      ),
      (
        "opcodes",
        .array(
          report.opcodes.map {
            .object([
              ("name", .string($0.name)), ("count", .int($0.count)), ("understood", .bool($0.isUnderstood)),
              ("file", .string($0.file)), ("line", .int($0.line)),
            ])
          })
      ),
    ])
  }
}
