/// Version of the program. The newest numbered entry of CHANGELOG.md has the same number and date.
enum Version {
  static let number = "0.1.0"
  /// Day of the version, shown at the foot of the manual pages.
  static let date = "2026-11-22"
}
