import Analysis
import Session

extension ViewName {
  static let scope = ViewName(rawValue: "scope")
}

/// State of the screen with scope, spectrum, tuner and loudness.
public struct SoundState: Sendable {
  /// One of the ways to look at a sound.
  enum Mode: String, Sendable, CaseIterable { case scope, spectrum, tuner, loudness }

  var mode = Mode.scope
  /// The port that is looked at; nil: the focused node has none.
  var port: ListenedPort?
  /// The channel that is looked at, from 0; nil: all.
  var channel: Int?
  /// The picture stands still; what is measured goes on.
  var isFrozen = false
  /// The latest picture, and one that was kept to compare with.
  var picture = SoundPicture()
  var kept: SoundPicture?

  // MARK: Scope

  /// Times that the scope shows, seconds.
  static let spans = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
  var span = 4
  /// Largest values that the scope shows, linear; nil: as the sound needs.
  static let scales: [Float] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100,
  ]
  var scale: Int?
  var trigger = ScopeTrace.Trigger.rising
  /// Level of the trigger in tenths of the scale.
  var triggerLevel = 0

  // MARK: The others

  /// Lowest level of the spectrum, dB.
  static let floors = [-48.0, -72, -96, -120, -144]
  var floor = 2
  var holdsPeaks = true
  /// Frequency of A4, Hz.
  static let references = 400.0...480.0
  var reference = 440.0
  /// Loudness to aim at, LUFS.
  static let targets = -36.0 ... -6.0
  var target = -23.0

  public init() {}
}

/// A sound as it looked at a time.
struct SoundPicture: Sendable, Equatable {
  /// The port's name: `dist.out`.
  var name = ""
  var channels = 0
  /// Sample rate, Hz; 0: nothing has been heard.
  var rate = 0.0
  /// Largest magnitude of the last half second, linear.
  var peak: Float = 0
  var trace = ScopeTrace()
  /// Largest value that the trace's picture shows.
  var scale: Float = 1
  var spectrum: Spectrum?
  /// The highest levels so far.
  var held: Spectrum?
  var pitch: Pitch?
  /// Pitches at each look, oldest first.
  var pitches: [Pitch?] = []
  var loudness = Loudness()
  /// Momentary and short-term loudness of each quarter of a second, oldest first, LUFS.
  var course: [LoudnessPoint] = []
}

/// Loudness at a time.
struct LoudnessPoint: Sendable, Equatable {
  var momentary: Double
  var shortTerm: Double
}
