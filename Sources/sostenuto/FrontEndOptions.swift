import Drivers

/// Command line options of the front end.
struct FrontEndOptions: Sendable {
  /// nil: an empty patch.
  var patch: String?
  var driver: DriverOptions
  /// The tour, in a patch of its own.
  var isTour = false
  /// The connections of a JACK server, without sound.
  var isPatchbay = false
  /// Seconds of what is heard that are held.
  var heldSeconds: Double
  /// Input is recorded beside takes.
  var keepsInputs = true
  /// Rendering threads.
  var threads: Int
  /// The name of a built-in theme, or a TOML file.
  var theme: String?
  /// A TOML file of keys.
  var keys: String?
  /// Notes on the keys of play mode: a built-in layout by name, or a TOML file. nil: as the file of keys says.
  var layout: String?
  /// ASCII alone.
  var isPlain = false
  /// Told by lines, instead of a screen.
  var isLinear = false
  /// Meters and scopes move once a second.
  var isCalm = false
}
