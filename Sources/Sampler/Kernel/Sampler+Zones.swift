import Realtime

extension Sampler {
  /// Sets the zones by the parameter `mpe`, and resets the bend ranges. Audio thread.
  @_noLocks mutating func setZones(_ choice: Int) {
    // As for a message: notes end in the zones in which they began, with the pedals that hold them.
    for channel in 0..<Self.channels { endNotes(channel, time: eventTime) }
    zones = MPEZones(choice)
    resetBendRanges()
  }

  @_noLocks func resetBendRanges() { for channel in 0..<Self.channels { resetBendRange(channel) } }

  @_noLocks private func resetBendRange(_ channel: Int) {
    bendRanges[channel] = zones.isMember(channel) ? MPEZones.memberBend : 2
    parameters[channel &* Parameters.count] = Int32(bendRanges[channel]) &* 128
  }

  /// Handles an MPE configuration message, if MPE is on. Audio thread.
  @_noLocks mutating func configureZone(_ master: Int, members: Float, time: Int64) {
    guard zones.isOn, master == 0 || master == 15 else { return }
    let before = zones
    var after = zones
    after.configure(master: master, members: Int(members))
    // Notes end in the zones in which they began.
    for channel in 0..<Self.channels where after.isConcerned(channel, master: master, before: before) {
      endNotes(channel, time: time)
    }
    zones = after
    for channel in 0..<Self.channels where after.isConcerned(channel, master: master, before: before) {
      resetBendRange(channel)
    }
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
