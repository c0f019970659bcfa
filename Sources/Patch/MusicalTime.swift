/// Source of a patch's transport.
public enum TransportMode: String, Hashable, Sendable, CaseIterable {
  /// That of the JACK server, with tempo and meter of the program that leads it; without a server its own.
  case follow
  /// That of the JACK server, which gets tempo and meter from the patch.
  case lead
  /// A MIDI clock that comes in; its own until there is one, and when there is none any more.
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
