/// MPE (MIDI Polyphonic Expression, M1-100-UM 1.1): a zone has a master channel, whose messages apply to all
/// its notes, and member channels, whose bend, pressure and controller 74 apply to their own notes.
public struct MPEZones: BitwiseCopyable, Sendable {
  /// Numbers of member channels of the lower zone (master 0) and of the upper one (master 15).
  public private(set) var lower = 0
  /// Likewise.
  public private(set) var upper = 0

  /// Initial bend range of member channels, in semitones.
  public static var memberBend: Float { @_noLocks get { 48 } }
  /// The controller of a note's timbre.
  public static var brightness: Int { @_noLocks get { 74 } }

  /// Configuration messages are heard, also while no zone has members: another message may give it some.
  public private(set) var isOn = false

  /// Without any zone.
  @_noLocks public init() {}

  /// `mpe`: 0 off, 1 a lower zone of all channels, 2 an upper one. Audio thread.
  @_noLocks public init(_ choice: Int) {
    lower = choice == 1 ? 15 : 0
    upper = choice == 2 ? 15 : 0
    isOn = lower > 0 || upper > 0
  }

  /// Applies an MPE configuration message; overlapping channels are taken from the other zone. Audio thread.
  @_noLocks public mutating func configure(master: Int, members: Int) {
    let count = members < 15 ? members : 15
    if master == 0 { lower = count } else { upper = count }
    // A zone that ends needs no channel, not even for its master.
    guard count > 0 else { return }
    let rest = count < 14 ? 14 &- count : 0
    if master == 0 {
      if upper > rest { upper = rest }
    } else if lower > rest {
      lower = rest
    }
  }

  /// The master channel of a member, otherwise the channel itself. Audio thread.
  @_noLocks public func master(of channel: Int) -> Int {
    if channel > 0, channel <= lower { return 0 }
    if channel < 15, channel >= 15 &- upper { return 15 }
    return channel
  }

  /// True for a channel of a single note. Audio thread.
  @_noLocks public func isMember(_ channel: Int) -> Bool { master(of: channel) != channel }

  /// True for a channel that a configuration message of `master` concerned: it is in that zone now, or has left another one.
  /// Audio thread.
  @_noLocks public func isConcerned(_ channel: Int, master: Int, before: MPEZones) -> Bool {
    let own = self.master(of: channel)
    return own == master || own != before.master(of: channel)
  }

  /// True when messages on `channel` apply to notes on `other`. Audio thread.
  @_noLocks public func reaches(_ channel: Int, _ other: Int) -> Bool {
    channel == other || master(of: other) == channel
  }
}
