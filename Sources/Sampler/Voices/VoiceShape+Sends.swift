import Realtime

/// Reverb and chorus sends of a voice, for regions that have them. `sends` holds both levels at the control
/// period's start, 0...1; their change per frame; and their levels at the start of the next period.
extension VoiceShape {
  /// Sets the levels at the start of the next period, from percent. Audio thread.
  @_noLocks mutating func computeSends(_ reverb: Float, _ chorus: Float) {
    sends[4] = Self.share(reverb)
    sends[5] = Self.share(chorus)
    areSendsMoving = true
  }

  @_noLocks private static func share(_ percent: Float) -> Float {
    percent > 0 ? (percent < 100 ? percent * 0.01 : 1) : 0
  }

  /// Begins a period at its planned levels. Audio thread.
  @_noLocks mutating func takeSends() {
    sends[0] = sends[4]
    sends[1] = sends[5]
  }

  /// `share`: one frame as a fraction of the period. Audio thread.
  @_noLocks mutating func stepSends(_ share: Float) {
    sends[2] = (sends[4] - sends[0]) * share
    sends[3] = (sends[5] - sends[1]) * share
    areSendsMoving = sends[4] != sends[0] || sends[5] != sends[1]
  }
}
