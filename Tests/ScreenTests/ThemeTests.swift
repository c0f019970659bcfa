import Foundation
import Screen
import Testing

@Suite struct ThemeTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "themes")

  @Test(arguments: Theme.builtIn)
  func theShippedFilesAreTheBuiltInThemes(_ theme: Theme) throws {
    let file = Self.folder.appending(path: "\(theme.name).toml")
    let text = try String(contentsOf: file, encoding: .utf8)
    let (read, problems) = Theme.read(text, file: "\(theme.name).toml", name: theme.name)
    #expect(problems == [])
    for key in ThemeKey.allCases {
      #expect(read?[key] == theme[key], "\(theme.name).toml: \(key.rawValue)")
    }
  }

  /// Contrast of two colours by WCAG 2.1, 1 to 21.
  private func contrast(_ a: Color?, _ b: Color?) -> Double {
    func light(_ color: Color?) -> Double {
      guard let color else { return 0 }
      let parts = [color.red, color.green, color.blue].map { part -> Double in
        let share = Double(part) / 255
        return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
      }
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
    let (first, second) = (light(a), light(b))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }

  @Test(arguments: Theme.builtIn.filter { !$0.isMonochrome })
  func textStandsOutFromItsGround(_ theme: Theme) {
    for key in ThemeKey.allCases {
      let paint = theme.paint(for: Style(key))
      let found = contrast(paint.foreground, paint.background)
      let least: Double =
        switch key {
        case .text, .value, .title, .header, .promptText, .completion, .popup, .statusValue: 7
        case .accent, .sounding, .trouble, .warning, .kind, .completionSelected, .selection, .statusFault,
          .modePatch, .modePlay, .portHint, .meterClip, .keyWhite, .keyDown, .promptError:
          4.5
        case .frameLeaving, .cableFading, .rule, .meterEmpty: 1.6
        default: 2.4
        }
      #expect(found >= least, "\(theme.name): \(key.rawValue) has \(found)")
    }
  }

  @Test func everyShippedFileIsSound() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".toml") }
    #expect(files.count >= Theme.builtIn.count)
    for file in files {
      let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
      #expect(Theme.read(text, file: file, name: file).problems == [])
    }
  }

  @Test(arguments: Theme.builtIn)
  func aThemeWrittenReadsBack(_ theme: Theme) {
    let (read, problems) = Theme.read(theme.toml, file: "x.toml", name: theme.name)
    #expect(problems == [])
    #expect(read == theme)
  }

  @Test func problemsNameTheirLines() {
    let text = """
      inherits = "dark"
      colour = 1

      [palette]
      gold = "#e5c07b"
      bad = "yellow"

      [styles]
      value = "gold"
      framefocused = "gold"
      text = "silver"
      hint = { fg = "gold", blink = true }
      cable = 3
      """
    let (theme, problems) = Theme.read(text, file: "my.toml", name: "my")
    #expect(
      problems.map(\.description) == [
        "my.toml:2: error: unknown key `colour`; a theme has inherits, [palette] and [styles]",
        "my.toml:6: error: palette colour `bad` is not of the form \"#rrggbb\"",
        "my.toml:10: error: unknown theme key `framefocused`; did you mean `frame-focused`?",
        "my.toml:11: error: no colour `silver` in [palette]; a colour without a name is \"#rrggbb\"",
        "my.toml:12: error: unknown key `blink` in a style; it has fg, bg, bold, underline, reverse, dim",
        "my.toml:13: error: a style is a colour, or { fg, bg, bold, underline, reverse, dim }",
      ])
    #expect(theme?[.value] == Paint(Color(0xE5C07B)))
    #expect(theme?[.text] == Theme.dark[.text])
  }

  @Test func missingKeysAreErrorsWithoutInheritance() {
    let (_, problems) = Theme.read("# a theme\n[styles]\ntext = \"#ffffff\"\n", file: "t", name: "t")
    #expect(problems.count == ThemeKey.allCases.count - 1)
    #expect(problems.allSatisfy { $0.line == 2 && $0.message.hasPrefix("missing theme key `") })
    #expect(!problems.contains { $0.message.contains("`text`") })
  }

  @Test func brokenFilesSayWhere() {
    let (theme, problems) = Theme.read("[styles]\ntext = = 1\n", file: "t.toml", name: "t")
    #expect(theme == nil)
    #expect(problems.map(\.line) == [2])
    #expect(
      Theme.read("inherits = \"no\"", file: "t", name: "t").problems[0].message.contains("no theme `no`"))
  }

  @Test func aThemeMayInheritFromTheUsersOwn() {
    var base = Theme.light
    base[.hint] = Paint(Color(0x123456))
    let (theme, problems) = Theme.read("inherits = \"base\"", file: "t", name: "t") {
      $0 == "base" ? base : nil
    }
    #expect(problems == [])
    #expect(theme?[.hint] == Paint(Color(0x123456)))
  }

  /// In every theme, all distinctions are visible without colour.
  @Test(arguments: Theme.builtIn)
  func nothingIsSaidByColourAlone(_ theme: Theme) {
    func look(_ key: ThemeKey) -> Style.Attributes {
      theme.paint(for: Style(key), depth: .monochrome).attributes
    }
    let pairs: [(ThemeKey, ThemeKey)] = [
      (.frameFocused, .frame), (.selection, .text), (.statusFault, .statusBar), (.promptError, .promptText),
      (.trouble, .text), (.modePlay, .modePatch), (.completionSelected, .completion), (.keyDown, .keyWhite),
      (.keyDown, .keyBlack), (.meterClip, .meterHigh), (.cableFocused, .cable), (.portHint, .port),
      (.frameTrouble, .frame), (.dim, .text), (.accent, .text), (.warning, .text),
    ]
    for (a, b) in pairs { #expect(look(a) != look(b), "\(a) and \(b)") }
    for key in ThemeKey.allCases {
      let paint = theme.paint(for: Style(key), depth: .monochrome)
      #expect(paint.foreground == nil && paint.background == nil)
    }
  }

  /// Legibility: contrast by WCAG 2.1, 4.5 for text and 3 for receding elements.
  @Test(arguments: [Theme.dark, Theme.light])
  func textCanBeRead(_ theme: Theme) throws {
    let receding: Set<ThemeKey> = [
      .frameLeaving, .cableFading, .meterEmpty, .rule, .cable, .cableActive1, .cableActive2, .frame, .hint,
      .unit,
      .dim, .popupFrame, .statusBar,
    ]
    let faint: Set<ThemeKey> = [.frameLeaving, .cableFading, .meterEmpty, .rule, .cable]
    for key in ThemeKey.allCases where !faint.contains(key) {
      let paint = theme.paint(for: Style(key))
      let contrast = try contrast(#require(paint.foreground), #require(paint.background))
      #expect(contrast >= (receding.contains(key) ? 3 : 4.5), "\(theme.name) \(key.rawValue)")
    }
  }

  private func contrast(_ a: Color, _ b: Color) -> Double {
    func luminance(_ color: Color) -> Double {
      func linear(_ value: UInt8) -> Double {
        let s = Double(value) / 255
        return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4)
      }
      return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
    }
    let (light, dark) = (max(luminance(a), luminance(b)), min(luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)
  }

  @Test func aGroundLendsItsBackground() {
    let paint = Theme.dark.paint(for: Style(.cable, on: .selection, .bold))
    #expect(paint.foreground == Theme.dark[.cable].foreground)
    #expect(paint.background == Theme.dark[.selection].background)
    #expect(paint.attributes.contains(.bold))
    // Without colours the selected row is in reverse video, whatever its content.
    let plain = Theme.dark.paint(for: Style(.cable, on: .selection), depth: .monochrome)
    #expect(plain.attributes.contains(.reverse))
  }
}

@Suite struct ColorTests {
  @Test(
    arguments: [
      (0x000000, 16), (0xFFFFFF, 231), (0xFF0000, 196), (0x00FF00, 46), (0x0000FF, 21), (0x808080, 244),
      (0x14171C, 234), (0xE8B84A, 179),
    ] as [(UInt32, Int)])
  func nearestOf256(_ value: UInt32, _ index: Int) {
    #expect(Color(value).index256 == index)
  }

  @Test(
    arguments: [
      (0x000000, 0), (0x14171C, 0), (0xC9CFD8, 7), (0x757E8C, 7), (0xE8B84A, 3), (0x7FCB7A, 2), (0xF0695F, 1),
      (0x78AEE0, 6), (0xB99BE0, 4), (0xB8261C, 1), (0x00591C, 2), (0xFFFFFF, 7),
    ] as [(UInt32, Int)])
  func nearestOf8(_ value: UInt32, _ index: Int) {
    #expect(Color(value).index8 == index)
  }

  @Test func text() {
    #expect(Color("#0a0B0c") == Color(red: 10, green: 11, blue: 12))
    #expect(Color(0x0A0B0C).description == "#0a0b0c")
    for text in ["", "#", "0a0b0c", "#0a0b0", "#0a0b0c0", "#0a0b0g", "#+a0b0c", "#-1a0b0"] {
      #expect(Color(text) == nil)
    }
  }
}
