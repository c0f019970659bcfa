import Sampler

/// Parameters of a low-frequency oscillator; its frequency is one of the voice's values.
struct LfoSettings: Hashable {
  /// Seconds (if logarithmic: timecents) until it begins, and seconds of its fade-in.
  var delay: Float = 0
  var fade: Float = 0
  /// 0..<1 of a cycle.
  var phase: Float = 0
  /// Cycles after which it rests (0: never).
  var turns: Float = 0
  /// Waveforms to be summed; at least one.
  var waves: [LfoWave]
  /// Levels -1...1, one after the other within a cycle, instead of the waveforms.
  var steps: [Float] = []

  init(_ shape: LfoWave.Shape) { waves = [LfoWave(shape: shape)] }

  static let mostWaves = 8
  static let mostSteps = 128
}
