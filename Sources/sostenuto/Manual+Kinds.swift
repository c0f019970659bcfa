import Engine
import Instruments
import Patch

extension ManualPage {
  /// `sostenuto-kinds(7)`: the kinds of nodes with their ports and parameters.
  static var kinds: ManualPage {
    let all = KindRegistry.builtIn.catalogue.kinds
    var page = ManualPage(
      "sostenuto-kinds", section: 7, of: "Miscellaneous Information Manual",
      summary: "kinds of nodes in sostenuto patches")
    page.section("Description")
    page.paragraph(
      """
      A node of a patch has a kind, which gives it its ports and parameters. `sostenuto kinds` prints the same \
      reference, as JSON too. Audio ports have channels, event ports carry notes, pedals and controllers. A \
      parameter with a port of its own also takes a cable, which is added to its value.
      """)
    for category in KindDescription.Category.allCases {
      let members = all.filter { $0.category == category }
      if members.isEmpty { continue }
      page.section("Kinds: \(category.rawValue)")
      for kind in members { page.describe(kind) }
    }
    page.section("SFZ opcodes")
    page.paragraph(
      """
      Opcodes that the kind `sampler` understands. `N` is a number; for `_onccN` there are also `_ccN`, `_curveccN`, \
      `_stepccN` and `_smoothccN`. `sostenuto check` lists those of an instrument.
      """)
    for group in sfzOpcodes { page.entry(group.topic, group.names.joined(separator: " ")) }
    page.references([("sostenuto", 1), ("sostenuto-patch", 5)])
    return page
  }

  private mutating func describe(_ kind: KindDescription) {
    subsection(kind.name)
    paragraph(kind.summary)
    for (title, ports) in [("input", kind.inputs), ("output", kind.outputs)] {
      for port in ports {
        entry(
          "\(port.name) (\(title), \(KindReference.format(port.format).filter { $0 != "`" }))",
          Self.sentence(port.summary))
      }
    }
    for parameter in kind.parameters {
      let facts = "\(KindReference.range(parameter)); default \(KindReference.defaultText(parameter))"
      entry(
        KindReference.name(parameter),
        "\(Self.sentence(parameter.summary)) (\(facts)\(KindReference.port(of: parameter).map { "; " + $0 } ?? ""))"
      )
    }
  }

  /// The text with a capital and a full stop.
  private static func sentence(_ text: String) -> String {
    guard let first = text.first else { return "" }
    return first.uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
  }
}
