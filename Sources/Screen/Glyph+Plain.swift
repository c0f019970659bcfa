extension Glyph {
  /// The nearest character of ASCII, for terminals without Unicode: lines as `-`, `|` and `+`, heavy ones as `=`, `#` and
  /// `#`, dotted ones as `.` and `:`, so that the focused box can still be told from the others; letters without
  /// their marks; `?` for all else.
  public var plain: Glyph {
    guard let scalar = scalars.first else { return " " }
    if scalar.isASCII { return Glyph(scalar) }
    if let shown = Self.table[scalar] { return Glyph(shown) }
    if let arms = Arms(Glyph(scalar)) { return arms.plain }
    // Braille shows curves.
    if (0x2800...0x28FF).contains(scalar.value) { return scalar.value == 0x2800 ? " " : "*" }
    return Self.letters[scalar].map { Glyph($0) } ?? "?"
  }

  /// Signs and blocks by what they mean.
  private static let table: [Unicode.Scalar: Unicode.Scalar] = pairs(
    "…~ ▸> ▶> ›> →> ◂< ←< ‹< ↑^ ↓v ▾v ●* ◉@ ○o •* ◆* ◇o ◌. ≠! ■# ·. ×x −- ⇄% ↺@ Ø! ▎| ▏| ▕| █# ▇# ▆# ▅= ▄= ▃- ▂- ▁. ░. ▒: ▓# "
      + "┈. ┊: ┄. ┆: ╌. ╎: ①1 ②2 ③3 ④4 ⑤5 ⑥6 ⑦7 ⑧8 ♩b ⇧^ ±+ °o µu μu “\" ”\" ‘' ’' –- —- €E £L §S")

  /// Letters of Latin, without their marks.
  private static let letters: [Unicode.Scalar: Unicode.Scalar] = pairs(
    "àa áa âa ãa äa åa āa ăa ąa çc ćc čc ċc ďd đd èe ée êe ëe ēe ęe ěe ėe ğg ģg ìi íi îi ïi īi įi ıi ķk ļl ľl łl ñn ńn ňn "
      + "ņn òo óo ôo õo öo øo ōo őo ŕr řr śs šs şs șs ßs ťt ţt țt ùu úu ûu üu ūu ůu űu ųu ýy ÿy źz żz žz æa œo ðd þt "
      + "ÀA ÁA ÂA ÃA ÄA ÅA ĀA ĄA ÇC ĆC ČC ĎD ĐD ÈE ÉE ÊE ËE ĒE ĘE ĚE ĞG ÌI ÍI ÎI ÏI ĪI İI ŁL ÑN ŃN ŇN ÒO ÓO ÔO ÕO ÖO ŌO ŐO "
      + "ŘR ŚS ŠS ŞS ȘS ŤT ŢT ȚT ÙU ÚU ÛU ÜU ŪU ŮU ŰU ÝY ŹZ ŻZ ŽZ ÆA ŒO ÐD ÞT")

  private static func pairs(_ text: String) -> [Unicode.Scalar: Unicode.Scalar] {
    Dictionary(
      text.split(separator: " ").map { pair in
        let scalars = Array(pair.unicodeScalars)
        return (scalars[0], scalars[1])
      }, uniquingKeysWith: { first, _ in first })
  }
}

extension String {
  /// The same text in ASCII.
  public var plain: String {
    map { $0 == "…" ? "..." : $0.isASCII ? String($0) : String(Glyph($0).plain.character) }.joined()
  }
}

extension Arms {
  /// The shape as a character of ASCII.
  fileprivate var plain: Glyph {
    let isHeavy = [up, right, down, left].contains { $0 == .heavy || $0 == .double }
    if up == .none, down == .none { return isHeavy ? "=" : "-" }
    if left == .none, right == .none { return isHeavy ? "#" : "|" }
    return isHeavy ? "#" : "+"
  }
}
