// More themes: the same meanings in other colours.
extension Theme {
  /// The cool greys and blues of the far north.
  public static let nord = colored(
    name: "nord",
    Palette(
      background: 0x2E3440, raised: 0x3B4252, text: 0xD8DEE9, dim: 0x98A3B8, faint: 0x5F6B80,
      bright: 0xECEFF4,
      accent: 0xEBCB8B, sounding: 0xA3BE8C, trouble: 0xE8838B, warning: 0xE0976F, blue: 0x88C0D0,
      violet: 0xC3A0BD,
      cable: 0x667084, cables: [0x7C9A75, 0x8FB27F, 0xA3C08C, 0xC8E3AE], selection: 0x434C5E,
      onStrong: 0x2E3440, keyWhite: 0xE5E9F0, keyBlack: 0x1E222A))

  /// Warm, retro, and of strong contrast.
  public static let gruvbox = colored(
    name: "gruvbox",
    Palette(
      background: 0x282828, raised: 0x3C3836, text: 0xEBDBB2, dim: 0xA89984, faint: 0x665C54,
      bright: 0xFBF1C7,
      accent: 0xFABD2F, sounding: 0xB8BB26, trouble: 0xFB5B47, warning: 0xFE8019, blue: 0x83A598,
      violet: 0xD3869B,
      cable: 0x7C6F64, cables: [0x7E8A3A, 0x98A02F, 0xB8BB26, 0xDDE05A], selection: 0x504945,
      onStrong: 0x282828, keyWhite: 0xEBDBB2, keyBlack: 0x1D2021))

  /// Blue-green depths of even lightness.
  public static let solarized = colored(
    name: "solarized",
    Palette(
      background: 0x002B36, raised: 0x073642, text: 0xBECACA, dim: 0x758C94, faint: 0x3F5F6A,
      bright: 0xEEE8D5,
      accent: 0xD6A516, sounding: 0x9DB012, trouble: 0xF2605D, warning: 0xE87A3E, blue: 0x4AA3E0,
      violet: 0x9A9DE4,
      cable: 0x52707A, cables: [0x5F7A2A, 0x76901E, 0x93A81A, 0xC3D84A], selection: 0x0F4554,
      onStrong: 0x002B36, keyWhite: 0xEEE8D5, keyBlack: 0x00161C))

  /// A warm morning: dark ink on rose paper.
  public static let dawn = colored(
    name: "dawn",
    Palette(
      background: 0xFAF4ED, raised: 0xF2E9E1, text: 0x464261, dim: 0x726B88, faint: 0xAFA8BA,
      bright: 0x1F1D33,
      accent: 0x8F5700, sounding: 0x2C7562, trouble: 0xA82848, warning: 0x9E470E, blue: 0x1F6A87,
      violet: 0x6F5099,
      cable: 0x9893A5, cables: [0x6F9E8E, 0x4A8B79, 0x2F7A68, 0x0B5F4B], selection: 0xE6DBD6,
      onStrong: 0xFFFFFF, keyWhite: 0xFFFFFF, keyBlack: 0x3A3654))

  /// An old tube: light of one colour, brighter where it matters.
  public static let amber = colored(
    name: "amber",
    Palette(
      background: 0x120C02, raised: 0x231806, text: 0xE0A040, dim: 0xB0782A, faint: 0x67481A,
      bright: 0xFFD080,
      accent: 0xFFE6B0, sounding: 0xFFC24A, trouble: 0xFF7350, warning: 0xFF9A3A, blue: 0xD8B070,
      violet: 0xC89860,
      cable: 0x7A521E, cables: [0x8A5F22, 0xAE7A2C, 0xD49A38, 0xFFC860], selection: 0x3D2A0A,
      onStrong: 0x120C02, keyWhite: 0xFFD9A0, keyBlack: 0x0A0601))

  /// Pure colours on black, for poor screens, bright stages and tired eyes.
  public static let contrast = colored(
    name: "contrast",
    Palette(
      background: 0x000000, raised: 0x1A1A1A, text: 0xFFFFFF, dim: 0xC8C8C8, faint: 0x8A8A8A,
      bright: 0xFFFFFF,
      accent: 0xFFFF00, sounding: 0x00FF5F, trouble: 0xFF6B6B, warning: 0xFFA500, blue: 0x66CCFF,
      violet: 0xE0A0FF,
      cable: 0xA0A0A0, cables: [0x6FCF7F, 0x55E070, 0x2CF25F, 0xA8FFB8], selection: 0x004080,
      onStrong: 0x000000, keyWhite: 0xFFFFFF, keyBlack: 0x000000))
}
