/// Settings of a patch as a whole, each a line at the head of its file: `tempo 120`, `meter 3/4`, `transport follow`,
/// `control 1 dist.drive`.
public struct PatchSettings: Hashable, Sendable {
  /// Beats a minute.
  public internal(set) var tempo = 120.0
  /// Beats of a bar.
  public internal(set) var meter = Meter(beats: 4, unit: 4)
  /// Source of the transport that it goes by.
  public internal(set) var mode = TransportMode.follow
  /// The eight controls: what each of them turns.
  public internal(set) var controls: [Int: ControlTarget] = [:]
  /// Comments of the lines; none is empty.
  public internal(set) var comments: [PatchSetting.Name: Comments] = [:]

  /// 120 beats a minute in 4/4, by the server's transport, without controls.
  public init() {}

  /// The setting of that name.
  public subscript(_ name: PatchSetting.Name) -> PatchSetting {
    switch name {
    case .tempo: .tempo(tempo)
    case .meter: .meter(meter)
    case .transport: .transport(mode)
    case .control(let number): .control(number, controls[number])
    }
  }

  mutating func set(_ setting: PatchSetting) {
    switch setting {
    case .tempo(let tempo): self.tempo = tempo
    case .meter(let meter): self.meter = meter
    case .transport(let mode): self.mode = mode
    case .control(let number, let target): controls[number] = target
    }
  }

  /// Settings that have a line in the file: those that differ from the default or have a comment.
  public var lines: [PatchSetting] {
    let plain = PatchSettings()
    return PatchSetting.Name.all.map { self[$0] }.filter {
      $0 != plain[$0.name] || comments[$0.name] != nil
    }
  }

  /// True when tempo, meter or transport is set.
  public var hasTime: Bool {
    let plain = PatchSettings()
    return tempo != plain.tempo || meter != plain.meter || mode != plain.mode
  }

  /// The same settings with other names of nodes.
  func renaming(_ newName: (String) -> String) -> Self {
    if controls.isEmpty { return self }
    var settings = self
    settings.controls = controls.mapValues { $0.renaming(newName) }
    return settings
  }
}

/// One of the settings of a patch as a whole.
public enum PatchSetting: Hashable, Sendable {
  /// Beats a minute, 5...999.
  case tempo(Double)
  /// Beats of a bar.
  case meter(Meter)
  /// Source of the patch's transport.
  case transport(TransportMode)
  /// Target of a control, 1...8; nil: none.
  case control(Int, ControlTarget?)

  /// The first word of a setting's line, with the control's number.
  public enum Name: Hashable, Sendable {
    /// A line `tempo 120`, `meter 3/4` or `transport lead`.
    case tempo, meter, transport
    /// A line `control 3 dist.drive`.
    case control(Int)

    /// In the order of the file.
    public static let all: [Name] = [.tempo, .meter, .transport] + ControlTarget.numbers.map { .control($0) }

    /// The words at the beginning of its line.
    public var line: String {
      switch self {
      case .tempo: "tempo"
      case .meter: "meter"
      case .transport: "transport"
      case .control(let number): "control \(number)"
      }
    }

    /// The number of a control.
    public var number: Int? {
      if case .control(let number) = self { number } else { nil }
    }

    /// The first word of its line.
    public var word: String { String(line.prefix { $0 != " " }) }
  }

  /// The words at the beginning of its line.
  public var name: Name {
    switch self {
    case .tempo: .tempo
    case .meter: .meter
    case .transport: .transport
    case .control(let number, _): .control(number)
    }
  }

  /// Its line in the language.
  public var line: String {
    let value =
      switch self {
      case .tempo(let tempo): Value.number(tempo, .none).line
      case .meter(let meter): meter.description
      case .transport(let mode): mode.rawValue
      case .control(_, let target): target?.description ?? "off"
      }
    return "\(name.line) \(value)"
  }

  /// Limits of a tempo, beats a minute.
  public static let tempos = 5.0...999.0
}
