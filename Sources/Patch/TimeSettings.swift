/// Musical time of a patch: its lines `tempo 120`, `meter 3/4` and `transport follow`.
public struct TimeSettings: Hashable, Sendable {
  /// Beats a minute.
  public internal(set) var tempo = 120.0
  /// Beats of a bar.
  public internal(set) var meter = Meter(beats: 4, unit: 4)
  /// Source of the transport that it goes by.
  public internal(set) var mode = TransportMode.follow
  /// Comments of the lines; none is empty.
  public internal(set) var comments: [TimeSetting.Name: Comments] = [:]

  /// 120 beats a minute in 4/4, by the server's transport.
  public init() {}

  /// The setting of that name.
  public subscript(_ name: TimeSetting.Name) -> TimeSetting {
    switch name {
    case .tempo: .tempo(tempo)
    case .meter: .meter(meter)
    case .transport: .transport(mode)
    }
  }

  mutating func set(_ setting: TimeSetting) {
    switch setting {
    case .tempo(let tempo): self.tempo = tempo
    case .meter(let meter): self.meter = meter
    case .transport(let mode): self.mode = mode
    }
  }

  /// Settings that have a line in the file: those that differ from the default or have a comment.
  public var lines: [TimeSetting] {
    let plain = TimeSettings()
    return TimeSetting.Name.allCases.map { self[$0] }.filter {
      $0 != plain[$0.name] || comments[$0.name] != nil
    }
  }
}

/// One of the settings of musical time.
public enum TimeSetting: Hashable, Sendable {
  /// Beats a minute, 5...999.
  case tempo(Double)
  /// Beats of a bar.
  case meter(Meter)
  /// Source of the patch's transport.
  case transport(TransportMode)

  /// First word of a setting's line.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    /// A line `tempo 120`, `meter 3/4` or `transport lead`.
    case tempo, meter, transport
  }

  /// First word of its line.
  public var name: Name {
    switch self {
    case .tempo: .tempo
    case .meter: .meter
    case .transport: .transport
    }
  }

  /// Its line in the language.
  public var line: String {
    switch self {
    case .tempo(let tempo): "tempo \(Value.number(tempo, .none).line)"
    case .meter(let meter): "meter \(meter)"
    case .transport(let mode): "transport \(mode.rawValue)"
    }
  }

  /// Limits of a tempo, beats a minute.
  public static let tempos = 5.0...999.0
}

/// Source of a patch's transport.
public enum TransportMode: String, Hashable, Sendable, CaseIterable {
  /// That of the JACK server, with tempo and meter of the program that leads it; without a server its own.
  case follow
  /// That of the JACK server, which gets tempo and meter from the patch.
  case lead
  /// That of a MIDI clock that comes in; its own until there is one, and when there is none any more.
  case midi
  /// Its own.
  case off
}

/// Beats of a bar, and their note value: `3/4`.
public struct Meter: Hashable, Sendable, CustomStringConvertible {
  /// Number of beats.
  public var beats: Int
  /// Note value of a beat: 4 is a quarter.
  public var unit: Int

  /// A meter of `beats` notes of a `unit`-th each.
  public init(beats: Int, unit: Int) {
    self.beats = beats
    self.unit = unit
  }

  /// The meter of `3/4`; nil if the text is none.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let beats = parts[0], let unit = parts[1] else { return nil }
    self.init(beats: beats, unit: unit)
  }

  /// True for 1...64 beats of a whole, a half, and so on to a 32nd.
  public var isLegal: Bool { (1...64).contains(beats) && [1, 2, 4, 8, 16, 32].contains(unit) }

  /// `3/4`
  public var description: String { "\(beats)/\(unit)" }
}

/// A bar, or a beat of one: `5`, `5.3`.
public struct BarPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Number of the bar, from 1.
  public var bar: Int
  /// Number of the beat, from 1.
  public var beat: Int

  /// The last bar that can be named.
  public static let last = 99_999

  /// The beginning of a beat.
  public init(bar: Int, beat: Int = 1) {
    self.bar = bar
    self.beat = beat
  }

  /// The place that `5` or `5.3` names; nil if the text is none.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count <= 2, let first = parts.first, let bar = first, (1...Self.last).contains(bar),
      let beat = parts.count > 1 ? parts[1] : 1, (1...64).contains(beat)
    else { return nil }
    self.init(bar: bar, beat: beat)
  }

  /// Earlier bars and beats come first.
  public static func < (a: Self, b: Self) -> Bool { (a.bar, a.beat) < (b.bar, b.beat) }

  /// `5`, or `5.3`
  public var description: String { beat == 1 ? "\(bar)" : "\(bar).\(beat)" }
}
