/// Positions of a pitch wheel: 0...16383 with 8192 in the middle. Each half is a whole way, though the upper one has a step
/// less.
public enum PitchWheel {
  /// -1...1, for steps from the middle. Audio thread.
  @inlinable @_noLocks public static func value(steps: Float) -> Float {
    // Divided, not multiplied by an inverse: the stop is 1 exactly.
    steps < 0 ? steps * (1 / 8192) : steps < 8191 ? steps / 8191 : 1
  }

  /// The nearest position to a value of -1...1. Audio thread.
  @_noLocks public static func position(_ value: Float) -> Int {
    let place = value * (value < 0 ? 8192 : 8191) + 8192.5
    return place > 0 ? (place < 16383 ? Int(place) : 16383) : 0
  }
}
