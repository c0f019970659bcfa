import Realtime

/// How much of a voice goes to the reverb and to the chorus. `sends` has both at the control period's start, 0...1;
/// by how much they change a frame; and where the next period starts: only of regions that send.
extension VoiceShape {
  /// Where the next period starts, from percent. Audio thread.
  @_noLocks mutating func computeSends(_ reverb: Float, _ chorus: Float) {
    sends[4] = Self.share(reverb)
    sends[5] = Self.share(chorus)
    areSendsMoving = true
  }

  @_noLocks private static func share(_ percent: Float) -> Float {
    percent > 0 ? (percent < 100 ? percent * 0.01 : 1) : 0
  }

  /// A period begins where it was to. Audio thread.
  @_noLocks mutating func takeSends() {
    sends[0] = sends[4]
    sends[1] = sends[5]
  }

  /// `share`: of the whole way, what one frame is. Audio thread.
  @_noLocks mutating func stepSends(_ share: Float) {
    sends[2] = (sends[4] - sends[0]) * share
    sends[3] = (sends[5] - sends[1]) * share
    areSendsMoving = sends[4] != sends[0] || sends[5] != sends[1]
  }
}
