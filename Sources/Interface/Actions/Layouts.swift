/// Layouts of the piano's keys from files.
extension KeyboardLayout {
  /// Reads a layout from a file's text. All errors are returned, as `FILE: error: …`; with any of them there is no layout.
  public static func read(
    _ text: String, name: String, file: String
  ) -> (layout: KeyboardLayout?, problems: [String]) {
    read(text, name: name, file: file) { ActionTable[$0] != nil }
  }
}
