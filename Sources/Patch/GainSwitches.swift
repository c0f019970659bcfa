/// Mute, solo and polarity toggles of a gain, with the same dimensions, by the names of their parameters. The
/// gain keeps its value; the audible gain moves smoothly, through zero for a change of polarity.
public struct GainSwitches: Hashable, Sendable {
  /// Silences the element.
  public var mute: String
  /// Solo in place: while any element of the group is soloed, the others of the group are silent.
  public var solo: String
  /// Inverts the polarity.
  public var invert: String

  /// Names of the three toggles.
  public init(mute: String, solo: String, invert: String) {
    self.mute = mute
    self.solo = solo
    self.invert = invert
  }

  /// Parameter names of the three switches.
  public var names: [String] { [mute, solo, invert] }

  /// The switches that are on, and their places, row by row.
  func on(of node: Node, sizes: [Int]) -> [(name: String, place: Int)] {
    node.settings.compactMap { path, value in
      guard value == .text("on"), path.name == mute || path.name == solo || path.name == invert,
        let place = EngineValues.place(of: path, sizes)
      else { return nil }
      return (path.name, place)
    }
  }

  /// Applies the switches to gains, row by row. Mute takes precedence over solo.
  func act(on values: inout [Float], of node: Node, sizes: [Int]) {
    var muted: [Int] = []
    var soloed: [Int] = []
    for (name, place) in on(of: node, sizes: sizes) {
      if name == mute {
        muted.append(place)
      } else if name == solo {
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

/// One group of gains of a node (`in`, `out`, crosspoints) with their switches, for views.
public struct SwitchedGains: Sendable {
  /// One gain.
  public struct Element: Hashable, Sendable {
    /// The gain setting itself, without its switches; -inf is silence.
    public var decibels: Double
    /// Its own mute switch.
    public var isMuted = false
    /// Its own solo switch.
    public var isSoloed = false
    /// Its own polarity switch.
    public var isInverted = false
    /// Neither muted nor silenced by the solo of another element.
    public var isHeard = true

    /// The effective linear factor, polarity included.
    public var factor: Float {
      isHeard ? EngineValues.gain(decibels: decibels) * (isInverted ? -1 : 1) : 0
    }
  }

  private let node: Node
  private let parameter: ParameterDescription
  /// True when any element of the group is soloed.
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

  /// The element at these indices, which must be within bounds.
  public subscript(_ indices: Int...) -> Element { self[indices] }

  /// The element at a list of indices, which must be within bounds.
  public subscript(_ indices: [Int]) -> Element {
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
  /// The crosspoints of a matrix: the gain with the empty name. nil: no matrix.
  public var crosspoints: ParameterDescription? {
    self[parameter: ""].flatMap { $0.dimensions.count == 2 ? $0 : nil }
  }

  /// The gains that a setting moves: a switch's gains, otherwise the setting itself. A solo moves every gain
  /// of its group.
  package func gains(movedBy path: ParameterPath) -> ParameterPath {
    guard self[parameter: path.name]?.smoothing == .gain else { return path }
    for parameter in parameters {
      guard let switches = parameter.switches, switches.names.contains(path.name) else { continue }
      return ParameterPath(parameter.name, path.name == switches.solo ? [] : path.indices)
    }
    return path
  }
}
