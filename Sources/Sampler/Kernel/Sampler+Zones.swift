import Realtime

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
