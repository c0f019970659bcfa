extension Theme {
  /// Dark: subdued on black-blue, except for the focus (gold), sounding nodes (green) and errors (red).
  public static let dark = colored(
    name: "dark",
    Palette(
      background: 0x14171C, raised: 0x1F242C, text: 0xC9CFD8, dim: 0x757E8C, faint: 0x4A5260,
      bright: 0xF2F4F8,
      accent: 0xE8B84A, sounding: 0x7FCB7A, trouble: 0xF0695F, warning: 0xE59A4F, blue: 0x78AEE0,
      violet: 0xB99BE0, cable: 0x5C6675, cables: [0x5F8A68, 0x6EAA70, 0x86CC80, 0xB5F0A0],
      selection: 0x2C3644,
      onStrong: 0x14171C, keyWhite: 0xE4E6EA, keyBlack: 0x101216))

  /// The same meanings on paper white.
  public static let light = colored(
    name: "light",
    Palette(
      background: 0xFAF8F3, raised: 0xEEEBE3, text: 0x2B3038, dim: 0x6F7683, faint: 0xA7ABB2,
      bright: 0x000000,
      accent: 0x9A5B00, sounding: 0x23793A, trouble: 0xB8261C, warning: 0x9A4A00, blue: 0x1F5C99,
      violet: 0x6B3FA0, cable: 0x8D939C, cables: [0x62946E, 0x40854F, 0x1F7537, 0x00591C],
      selection: 0xD9E3EF,
      onStrong: 0xFFFFFF, keyWhite: 0xFFFFFF, keyBlack: 0x2B3038))

  /// Without colours: bold, underlined, reversed and dim carry the meaning.
  public static let monochrome = Theme(
    name: "monochrome",
    paints: [
      .background: Paint(), .text: Paint(), .dim: Paint(nil, .dim), .header: Paint(nil, .bold),
      .title: Paint(nil, .bold), .value: Paint(), .unit: Paint(nil, .dim), .kind: Paint(),
      .hint: Paint(nil, .dim), .link: Paint(nil, .underline), .accent: Paint(nil, .bold),
      .sounding: Paint(nil, .bold), .trouble: Paint(nil, [.bold, .underline]),
      .warning: Paint(nil, .underline), .selection: Paint(nil, .reverse), .match: Paint(nil, .underline),
      .added: Paint(nil, .bold), .removed: Paint(nil, .dim), .changed: Paint(nil, .underline),
      .frame: Paint(), .frameFocused: Paint(nil, .bold), .frameSounding: Paint(),
      .frameLeaving: Paint(nil, .dim), .frameTrouble: Paint(nil, .underline), .port: Paint(),
      .portHint: Paint(nil, .reverse), .cable: Paint(nil, .dim), .cableActive1: Paint(),
      .cableActive2: Paint(), .cableActive3: Paint(nil, .bold), .cableActive4: Paint(nil, .bold),
      .cableEvents: Paint(), .cableFading: Paint(nil, .dim), .cableFeedback: Paint(),
      .cableFocused: Paint(nil, .bold), .meterLow: Paint(), .meterMid: Paint(),
      .meterHigh: Paint(nil, .bold), .meterClip: Paint(nil, .reverse), .meterEmpty: Paint(nil, .dim),
      .statusBar: Paint(), .statusValue: Paint(nil, .bold), .statusFault: Paint(nil, [.bold, .reverse]),
      .modePatch: Paint(nil, .bold), .modePlay: Paint(nil, .reverse), .rule: Paint(nil, .dim),
      .prompt: Paint(nil, .bold), .promptText: Paint(), .promptError: Paint(nil, [.bold, .underline]),
      .completion: Paint(), .completionSelected: Paint(nil, .reverse), .popup: Paint(),
      .popupFrame: Paint(), .keyName: Paint(nil, .bold), .keyWhite: Paint(), .keyBlack: Paint(),
      .keyDown: Paint(nil, .reverse),
    ])

  struct Palette {
    var background, raised, text, dim, faint, bright, accent, sounding, trouble, warning, blue, violet,
      cable: UInt32
    var cables: [UInt32]
    var selection, onStrong, keyWhite, keyBlack: UInt32
  }

  static func colored(name: String, _ p: Palette) -> Theme {
    func paint(_ foreground: UInt32?, on background: UInt32? = nil, _ attributes: Style.Attributes = [])
      -> Paint
    {
      Paint(foreground.map { Color($0) }, on: background.map { Color($0) }, attributes)
    }
    return Theme(
      name: name,
      paints: [
        .background: paint(p.text, on: p.background), .text: paint(p.text), .dim: paint(p.dim),
        .header: paint(p.bright, .bold), .title: paint(p.bright, .bold), .value: paint(p.bright),
        .unit: paint(p.dim), .kind: paint(p.blue), .hint: paint(p.dim), .link: paint(p.blue, .underline),
        .accent: paint(p.accent, .bold), .sounding: paint(p.sounding),
        .trouble: paint(p.trouble, .bold), .warning: paint(p.warning),
        .selection: paint(p.bright, on: p.selection, .bold), .match: paint(p.accent, .underline),
        .added: paint(p.sounding), .removed: paint(p.trouble), .changed: paint(p.warning),
        .frame: paint(p.dim), .frameFocused: paint(p.accent, .bold), .frameSounding: paint(p.sounding),
        .frameLeaving: paint(p.faint), .frameTrouble: paint(p.trouble), .port: paint(p.text),
        .portHint: paint(p.onStrong, on: p.accent, .bold), .cable: paint(p.cable),
        .cableActive1: paint(p.cables[0]), .cableActive2: paint(p.cables[1]),
        .cableActive3: paint(p.cables[2]), .cableActive4: paint(p.cables[3], .bold),
        .cableEvents: paint(p.blue), .cableFading: paint(p.faint), .cableFeedback: paint(p.violet),
        .cableFocused: paint(p.accent, .bold), .meterLow: paint(p.sounding),
        .meterMid: paint(p.accent), .meterHigh: paint(p.warning),
        .meterClip: paint(p.onStrong, on: p.trouble, .bold), .meterEmpty: paint(p.faint),
        .statusBar: paint(p.dim, on: p.raised), .statusValue: paint(p.text, on: p.raised),
        .statusFault: paint(p.onStrong, on: p.trouble, .bold),
        .modePatch: paint(p.onStrong, on: p.blue, .bold),
        .modePlay: paint(p.onStrong, on: p.sounding, .bold), .rule: paint(p.faint),
        .prompt: paint(p.accent, .bold), .promptText: paint(p.bright),
        .promptError: paint(p.trouble, .bold), .completion: paint(p.text, on: p.raised),
        .completionSelected: paint(p.onStrong, on: p.accent, .bold), .popup: paint(p.text, on: p.raised),
        .popupFrame: paint(p.dim, on: p.raised), .keyName: paint(p.accent, .bold),
        .keyWhite: paint(p.keyBlack, on: p.keyWhite), .keyBlack: paint(p.keyWhite, on: p.keyBlack),
        .keyDown: paint(p.onStrong, on: p.sounding, .bold),
      ])
  }
}
