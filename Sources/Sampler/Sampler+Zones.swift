import Realtime

/// MPE (MIDI Polyphonic Expression, M1-100-UM 1.1): a zone has a master channel, of which the messages are
/// for all its notes, and member channels, of which the bend, the pressure and controller 74 are for the
/// notes that sound on them.
struct Zones {
  /// Member channels of the lower zone (master 0) and of the upper one (master 15).
  private(set) var lower = 0
  private(set) var upper = 0

  /// Semitones that a member's bend reaches at first.
  static var memberBend: Float { @_noLocks get { 48 } }
  static var brightness: Int { @_noLocks get { 74 } }

  @_noLocks init() {}

  /// `mpe`: 0 off, 1 a lower zone of all channels, 2 an upper one. Audio thread.
  @_noLocks init(_ choice: Int) {
    lower = choice == 1 ? 15 : 0
    upper = choice == 2 ? 15 : 0
  }

  var isOn: Bool { @_noLocks get { lower > 0 || upper > 0 } }

  /// The MPE configuration message: so many members; a zone takes from the other what they would share.
  /// Audio thread.
  @_noLocks mutating func configure(master: Int, members: Int) {
    let count = members < 15 ? members : 15
    if master == 0 {
      lower = count
      if upper > 14 &- count { upper = count < 14 ? 14 &- count : 0 }
    } else {
      upper = count
      if lower > 14 &- count { lower = count < 14 ? 14 &- count : 0 }
    }
  }

  /// The channel of which the messages are for all notes of this one: itself, unless it is a member. Audio
  /// thread.
  @_noLocks func master(of channel: Int) -> Int {
    if channel > 0, channel <= lower { return 0 }
    if channel < 15, channel >= 15 &- upper { return 15 }
    return channel
  }

  @_noLocks func isMember(_ channel: Int) -> Bool { master(of: channel) != channel }

  /// Whether what is said on `channel` is for a note on `other`. Audio thread.
  @_noLocks func reaches(_ channel: Int, _ other: Int) -> Bool {
    channel == other || master(of: other) == channel
  }
}

extension Sampler {
  /// Zones are as `mpe` says: bends reach as far as they do at first. Audio thread.
  @_noLocks mutating func setZones(_ choice: Int) {
    zones = Zones(choice)
    resetBendRanges()
  }

  @_noLocks func resetBendRanges() {
    for channel in 0..<Self.channels {
      bendRanges[channel] = zones.isMember(channel) ? Zones.memberBend : 2
      parameters[channel &* Parameters.count] = Int32(bendRanges[channel]) &* 128
    }
  }

  /// The MPE configuration message, where MPE is on. Audio thread.
  @_noLocks mutating func configureZone(_ channel: Int, members: Float, time: Int64) {
    guard zones.isOn, channel == 0 || channel == 15 else { return }
    for channel in 0..<Self.channels { endNotes(channel, time: time) }
    zones.configure(master: channel, members: Int(members))
    resetBendRanges()
  }

  /// Semitones of bend; on a member channel they are for all of its zone. Audio thread.
  @_noLocks mutating func setBendRange(_ channel: Int, _ semitones: Float) {
    let master = zones.master(of: channel)
    for other in 0..<Self.channels {
      guard other == channel || (master != channel && other != master && zones.master(of: other) == master)
      else { continue }
      bendRanges[other] = semitones
      follow(other, Source.bendRange)
    }
  }

  /// Cents by which the note's own channel bends it, besides what its zone's master does. Audio thread.
  @_noLocks func memberBend(_ channel: Int) -> Float {
    zones.isMember(channel) ? bends[channel] * bendRanges[channel] * 100 : 0
  }
}
