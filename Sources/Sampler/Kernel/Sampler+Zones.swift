import Realtime

/// MPE (MIDI Polyphonic Expression, M1-100-UM 1.1): a zone has a master channel, whose messages apply to all
/// its notes, and member channels, whose bend, pressure and controller 74 apply to their own notes.
struct MPEZones {
  /// Numbers of member channels of the lower zone (master 0) and of the upper one (master 15).
  private(set) var lower = 0
  private(set) var upper = 0

  /// Initial bend range of member channels, in semitones.
  static var memberBend: Float { @_noLocks get { 48 } }
  static var brightness: Int { @_noLocks get { 74 } }

  @_noLocks init() {}

  /// `mpe`: 0 off, 1 a lower zone of all channels, 2 an upper one. Audio thread.
  @_noLocks init(_ choice: Int) {
    lower = choice == 1 ? 15 : 0
    upper = choice == 2 ? 15 : 0
  }

  var isOn: Bool { @_noLocks get { lower > 0 || upper > 0 } }

  /// Applies an MPE configuration message; overlapping channels are taken from the other zone. Audio thread.
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

  /// The master channel of a member, otherwise the channel itself. Audio thread.
  @_noLocks func master(of channel: Int) -> Int {
    if channel > 0, channel <= lower { return 0 }
    if channel < 15, channel >= 15 &- upper { return 15 }
    return channel
  }

  @_noLocks func isMember(_ channel: Int) -> Bool { master(of: channel) != channel }

  /// True when messages on `channel` apply to notes on `other`. Audio thread.
  @_noLocks func reaches(_ channel: Int, _ other: Int) -> Bool {
    channel == other || master(of: other) == channel
  }
}

extension Sampler {
  /// Sets the zones by the parameter `mpe`, and resets the bend ranges. Audio thread.
  @_noLocks mutating func setZones(_ choice: Int) {
    zones = MPEZones(choice)
    resetBendRanges()
  }

  @_noLocks func resetBendRanges() {
    for channel in 0..<Self.channels {
      bendRanges[channel] = zones.isMember(channel) ? MPEZones.memberBend : 2
      parameters[channel &* Parameters.count] = Int32(bendRanges[channel]) &* 128
    }
  }

  /// Handles an MPE configuration message, if MPE is on. Audio thread.
  @_noLocks mutating func configureZone(_ channel: Int, members: Float, time: Int64) {
    guard zones.isOn, channel == 0 || channel == 15 else { return }
    for channel in 0..<Self.channels { endNotes(channel, time: time) }
    zones.configure(master: channel, members: Int(members))
    resetBendRanges()
  }

  /// Sets the bend range in semitones; on a member channel, for all members of its zone. Audio thread.
  @_noLocks mutating func setBendRange(_ channel: Int, _ semitones: Float) {
    let master = zones.master(of: channel)
    for other in 0..<Self.channels {
      guard other == channel || (master != channel && other != master && zones.master(of: other) == master)
      else { continue }
      bendRanges[other] = semitones
      follow(other, Source.bendRange)
    }
  }

  /// Bend by the note's own channel in cents, in addition to its zone master's. Audio thread.
  @_noLocks func memberBend(_ channel: Int) -> Float {
    zones.isMember(channel) ? bends[channel] * bendRanges[channel] * 100 : 0
  }
}
