/// An LFO for the audio thread: its waves and steps are among the image's.
package struct LfoPlan: BitwiseCopyable {
  package var delay: Float
  package var fade: Float
  package var phase: Float
  package var turns: Float
  package var firstWave: Int32
  package var waveCount: Int32
  package var firstStep: Int32
  package var stepCount: Int32

  package init(
    delay: Float, fade: Float, phase: Float, turns: Float, firstWave: Int32, waveCount: Int32,
    firstStep: Int32,
    stepCount: Int32
  ) {
    (self.delay, self.fade, self.phase, self.turns) = (delay, fade, phase, turns)
    (self.firstWave, self.waveCount) = (firstWave, waveCount)
    (self.firstStep, self.stepCount) = (firstStep, stepCount)
  }
}

/// One waveform of an LFO: `offset + scale * shape`, at `ratio` cycles per cycle of the LFO.
package struct LfoWave: Hashable, BitwiseCopyable {
  /// Numbered as instruments state them.
  package enum Shape: UInt8, Hashable, BitwiseCopyable {
    case triangle, sine, pulse75, square, pulse25, pulse12, sawUp, sawDown
    case random = 12
  }

  package var shape: Shape
  package var offset: Float = 0
  package var scale: Float = 1
  package var ratio: Float = 1

  package init(shape: Shape) { self.shape = shape }
}
