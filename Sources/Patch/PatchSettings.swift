/// Settings of a patch as a whole, each a line at the head of its file: `tempo 120`, `meter 3/4`, `transport follow`,
/// `control 1 dist.drive`, `map in.cc74 -> filter.freq`.
public struct PatchSettings: Hashable, Sendable {
  /// Beats a minute.
  public internal(set) var tempo = 120.0
  /// Beats of a bar.
  public internal(set) var meter = Meter(beats: 4, unit: 4)
  /// Source of the transport that it goes by.
  public internal(set) var mode = TransportMode.follow
  /// The eight controls: what each of them turns.
  public internal(set) var controls: [Int: ControlTarget] = [:]
  /// The maps: controllers and what follows them.
  public internal(set) var maps: [MapName: MapCourse] = [:]
  /// Published parameters of sub-patches, by their paths: `size` of the patch itself, `verb/size` of a sub-patch in it.
  public internal(set) var publications: [String: ControlTarget] = [:]
  /// Comments of the lines; none is empty.
  public internal(set) var comments: [PatchSetting.Name: Comments] = [:]

  /// 120 beats a minute in 4/4, by the server's transport, without controls and maps.
  public init() {}

  /// The setting of that name.
  public subscript(_ name: PatchSetting.Name) -> PatchSetting {
    switch name {
    case .tempo: .tempo(tempo)
    case .meter: .meter(meter)
    case .transport: .transport(mode)
    case .control(let number): .control(number, controls[number])
    case .map(let name): .map(name, maps[name])
    case .publish(let name): .publish(name, publications[name])
    }
  }

  mutating func set(_ setting: PatchSetting) {
    switch setting {
    case .tempo(let tempo): self.tempo = tempo
    case .meter(let meter): self.meter = meter
    case .transport(let mode): self.mode = mode
    case .control(let number, let target): controls[number] = target
    case .map(let name, let course):
      maps[name] = course
      // A map that is gone has no line for a comment.
      if course == nil { comments[.map(name)] = nil }
    case .publish(let name, let target):
      publications[name] = target
      if target == nil { comments[.publish(name)] = nil }
    }
  }

  /// Names of all settings, of the maps those that are there, in the order of the file.
  public var names: [PatchSetting.Name] {
    PatchSetting.Name.fixed + maps.keys.sorted().map { .map($0) }
      + publications.keys.sorted().map { .publish($0) }
  }

  /// The same with the names that another patch has besides.
  func names(with other: PatchSettings) -> [PatchSetting.Name] {
    let more = Set(maps.keys).union(other.maps.keys)
    let published = Set(publications.keys).union(other.publications.keys)
    return PatchSetting.Name.fixed + more.sorted().map { .map($0) } + published.sorted().map { .publish($0) }
  }

  /// Settings that have a line in the file: those that differ from the default or have a comment.
  public var lines: [PatchSetting] {
    let plain = PatchSettings()
    return names.map { self[$0] }.filter {
      $0 != plain[$0.name] || comments[$0.name] != nil
    }
  }

  /// True when tempo, meter or transport is set.
  public var hasTime: Bool {
    let plain = PatchSettings()
    return tempo != plain.tempo || meter != plain.meter || mode != plain.mode
  }

  /// The same settings with other names of nodes. Of two maps that come to have one name, the first one stays.
  func renaming(_ newName: (String) -> String) -> Self {
    if controls.isEmpty, maps.isEmpty, publications.isEmpty { return self }
    var settings = self
    settings.publications = publications.mapValues { $0.renaming(newName) }
    settings.controls = controls.mapValues { $0.renaming(newName) }
    settings.maps = [:]
    for name in maps.keys { settings.comments[.map(name)] = nil }
    for (name, course) in maps.sorted(by: { $0.key < $1.key }) {
      let renamed = name.renaming(newName)
      if settings.maps[renamed] != nil { continue }
      settings.maps[renamed] = course.renaming(newName)
      settings.comments[.map(renamed)] = comments[.map(name)]
    }
    return settings
  }

  /// The edits of settings and comments that lead from these settings to others.
  func edits(to other: PatchSettings) -> [Edit] {
    var edits: [Edit] = []
    for name in names(with: other) {
      if self[name] != other[name] { edits.append(.setPatch(other[name])) }
      // The comment of a map goes with it.
      let mine = other[name].isGone ? nil : comments[name]
      if mine != other.comments[name] {
        edits.append(.comment(.patchSetting(name), other.comments[name] ?? Comments()))
      }
    }
    return edits
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
  /// Way from a controller to a value; nil: there is no such map.
  case map(MapName, MapCourse?)
  /// A published parameter of a sub-patch, by its path; nil: there is none of that name.
  case publish(String, ControlTarget?)

  /// The first word of a setting's line, with the control's number or what a map joins.
  public enum Name: Hashable, Sendable {
    /// A line `tempo 120`, `meter 3/4` or `transport lead`.
    case tempo, meter, transport
    /// A line `control 3 dist.drive`.
    case control(Int)
    /// A line `map in.cc74 -> filter.freq`.
    case map(MapName)
    /// A line `publish tank.time as size`.
    case publish(String)

    /// Names that every patch has, in the order of the file.
    public static let fixed: [Name] =
      [.tempo, .meter, .transport] + ControlTarget.numbers.map { .control($0) }

    /// The first word of its line.
    var word: String {
      switch self {
      case .tempo: "tempo"
      case .meter: "meter"
      case .transport: "transport"
      case .control: "control"
      case .map: "map"
      case .publish: "publish"
      }
    }

    /// The words at the beginning of its line.
    public var line: String {
      switch self {
      case .tempo, .meter, .transport: word
      case .control(let number): "\(word) \(number)"
      case .map(let name): "\(word) \(name)"
      case .publish(let name): "\(word) \(name)"
      }
    }

    /// True for tempo, meter and transport.
    public var isOfTime: Bool {
      switch self {
      case .tempo, .meter, .transport: true
      case .control, .map, .publish: false
      }
    }

    /// The number of a control.
    public var number: Int? {
      if case .control(let number) = self { number } else { nil }
    }

    /// The first words of all lines.
    static let words: Set<String> = ["tempo", "meter", "transport", "control", "map", "publish"]
  }

  /// The words at the beginning of its line.
  public var name: Name {
    switch self {
    case .tempo: .tempo
    case .meter: .meter
    case .transport: .transport
    case .control(let number, _): .control(number)
    case .map(let name, _): .map(name)
    case .publish(let name, _): .publish(name)
    }
  }

  /// True for a map or a published parameter that is not there.
  var isGone: Bool {
    switch self {
    case .map(_, nil), .publish(_, nil): true
    default: false
    }
  }

  /// Its line in the language.
  public var line: String {
    if case .publish(let name, let target?) = self { return "publish \(target) as \(name)" }
    return value.isEmpty ? name.line : "\(name.line) \(value)"
  }

  /// The words behind its name.
  var value: String {
    switch self {
    case .publish(_, let target): target?.description ?? "off"
    case .tempo(let tempo): Value.number(tempo, .none).line
    case .meter(let meter): meter.description
    case .transport(let mode): mode.rawValue
    case .control(_, let target): target?.description ?? "off"
    case .map(_, let course): course?.line ?? "off"
    }
  }

  /// Limits of a tempo, beats a minute.
  public static let tempos = 5.0...999.0
}
