import Patch

/// Arguments of a statement, collected by the parts of its verb's form.
struct Arguments {
  /// The node that it is about, or the name of a new one.
  var name = ""
  /// A second name, as the form has it: a new name, or the node that follows.
  var other: String?
  /// Names of several nodes.
  var names: [String] = []
  /// A published parameter and what it stands for; no target: it is published no longer.
  var publication: (name: String, target: ControlTarget?)?
  var kind = ""
  var settings: [ParameterPath: Value] = [:]
  var cable = CableName("", "")
  var cableSettings = CableSettings()
  var map: ChannelMap?
  var range = ParameterRange("")
  var value: Value?
  /// True when the setting was written with `=`.
  var hasValue = false
  /// Duration of a change, or position in a file.
  var seconds: Double?
  var side = MatrixChange.Side.out
  /// Indices, MIDI numbers, or a key.
  var numbers: [Int] = []
  var span = ParameterRange.Span(0)
  var change = MatrixChange.identity
  var place: Place?
  var subjects: [Subject] = []
  var comments = Comments()
  var isOn = false
  var velocity = 100
  var bend = 0.0
  var port = PortName("")
  var file: String?
  var pedal = Performance.Pedal.sustain
  var tempo = 0.0
  var meter = Meter(beats: 4, unit: 4)
  var mode = TransportMode.follow
  var bar: BarPlace?
  /// A control of the patch, and what it is to turn.
  var control: (number: Int, target: ControlTarget?)?
  /// A map of a controller; no course: it is to go.
  var controllerMap: (name: MapName, course: MapCourse?)?
  /// Number of a scene.
  var scene = 0
  var sceneChange = SceneChange.drop
  var morph = Morph(0, 0)
  /// 0...100.
  var percent = 0.0
  private var options: [Word] = []

  init() {}

  /// The first name, or else the second one.
  mutating func take(name new: String) {
    if name.isEmpty { name = new } else { other = new }
  }

  mutating func take(option: Word) { options.append(option) }

  func has(_ option: Word) -> Bool { options.contains(option) }

  /// The new node.
  var node: Node { Node(name: name, kind: kind, settings: settings) }

  func perform(_ event: Performance.Event) -> Statement { .perform(Performance(name, event)) }
}
