/// What acts on a gain beside its value: toggles of the same dimensions, by their parameters' names.
/// The gain keeps its value; what is heard moves smoothly, through zero where the polarity turns.
public struct GainSwitches: Hashable, Sendable {
  /// Silences the element.
  public var mute: String
  /// In place: while anything of the sort is soloed, the others of the sort are silent.
  public var solo: String
  /// Turns the polarity.
  public var invert: String

  public init(mute: String, solo: String, invert: String) {
    self.mute = mute
    self.solo = solo
    self.invert = invert
  }

  public var names: [String] { [mute, solo, invert] }

  /// From what the gains say to what is heard, row by row. A mute is stronger than a solo.
  func act(on values: inout [Float], of node: Node, sizes: [Int]) {
    var muted: [Int] = []
    var soloed: [Int] = []
    for (path, value) in node.settings where value == .text("on") {
      guard path.name == mute || path.name == solo || path.name == invert,
        let place = EngineValues.place(of: path, sizes)
      else { continue }
      if path.name == mute {
        muted.append(place)
      } else if path.name == solo {
        soloed.append(place)
      } else {
        values[place] = 0 - values[place]
      }
    }
    if !soloed.isEmpty {
      var heard = [Float](repeating: 0, count: values.count)
      for place in soloed { heard[place] = values[place] }
      values = heard
    }
    for place in muted { values[place] = 0 }
  }
}

/// The gains of one sort of a node (`in`, `out`, crosspoints) with all that acts on them, for views.
public struct SwitchedGains: Sendable {
  public struct Element: Hashable, Sendable {
    /// As it is set, whatever acts on it; -inf is silence.
    public var decibels: Double
    /// Its own switches.
    public var isMuted = false
    public var isSoloed = false
    public var isInverted = false
    /// Neither muted nor silent because others are soloed.
    public var isHeard = true

    /// The linear factor that is heard, polarity included.
    public var factor: Float {
      isHeard ? EngineValues.gain(decibels: decibels) * (isInverted ? -1 : 1) : 0
    }
  }

  private let node: Node
  private let parameter: ParameterDescription
  /// Whether anything of the sort is soloed.
  public let hasSolo: Bool

  /// nil: the kind has no gain of that name.
  public init?(_ name: String, of node: Node, description: KindDescription) {
    guard let parameter = description[parameter: name], parameter.unit == .decibels else { return nil }
    self.node = node
    self.parameter = parameter
    hasSolo =
      parameter.switches.map { switches in
        node.settings.contains { $0.key.name == switches.solo && $0.value == .text("on") }
      } ?? false
  }

  /// The element at these indices, which are to be within bounds.
  public subscript(_ indices: Int...) -> Element {
    let value = node.settings[ParameterPath(parameter.name, indices)] ?? parameter.defaultValue(at: indices)
    var element = Element(decibels: -.infinity)
    if case .number(let decibels, _) = value { element.decibels = decibels }
    guard let switches = parameter.switches else { return element }
    func isOn(_ name: String) -> Bool { node.settings[ParameterPath(name, indices)] == .text("on") }
    element.isMuted = isOn(switches.mute)
    element.isSoloed = isOn(switches.solo)
    element.isInverted = isOn(switches.invert)
    element.isHeard = !element.isMuted && (!hasSolo || element.isSoloed)
    return element
  }
}

extension KindDescription {
  /// The crosspoints of a matrix: the gains without a name. nil: no matrix.
  public var crosspoints: ParameterDescription? {
    self[parameter: ""].flatMap { $0.dimensions.count == 2 ? $0 : nil }
  }

  /// The gains that a setting moves: those of a switch, else itself. A solo moves every gain of its sort.
  package func gains(movedBy path: ParameterPath) -> ParameterPath {
    guard self[parameter: path.name]?.smoothing == .gain else { return path }
    for parameter in parameters {
      guard let switches = parameter.switches, switches.names.contains(path.name) else { continue }
      return ParameterPath(parameter.name, path.name == switches.solo ? [] : path.indices)
    }
    return path
  }
}
