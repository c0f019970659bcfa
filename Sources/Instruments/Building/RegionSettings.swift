import Glibc
import Sampler

/// All settings of a region, in the units of its readers: seconds, decibels, percent and cents.
struct RegionSettings {
  var sample: String?
  /// Number of harmonics of a generated wave.
  var harmonics = 1
  /// Its number among the regions of the file; parts split from it share the number.
  var origin: Int?
  var sampleLine = SourceLine(file: "", line: 0)
  /// Line of its header.
  var line = SourceLine(file: "", line: 0)
  var lowKey = 0
  var highKey = 127
  var lowVelocity = 1
  var highVelocity = 127
  /// nil: the sample's.
  var keyCenter: Int? = 60
  /// Cents per key.
  var keyTrack: Double = 100
  /// Cents; semitones.
  var tune: Double = 0
  var transpose = 0
  var bendUp: Double = 200
  var bendDown: Double = -200
  /// Decibels.
  var volume: Double = 0
  /// Percent.
  var amplitude: Double = 100
  /// Tuning in cents and gain of the levels above it.
  var levelTune: Double = 0
  var levelGain: Double = 1
  /// -100 left ... 100 right.
  var pan: Double = 0
  /// The stereo output, from 0.
  var output = 0
  var velocityCurve = VelocityCurve()
  var delay: Double = 0
  /// Frames of the engine, in addition.
  var delaySamples: Double = 0
  var delayBeats: Double = 0
  var stopBeats: Double = 0
  var syncBeats: Double = 0
  var syncOffset: Double = 0
  /// Frames.
  var offset = 0
  /// The last frame; nil: the sample's.
  var end: Int?
  var loopMode: LoopMode?
  /// nil: the sample's.
  var loopType: LoopType?
  var loopStart: Int?
  /// Inclusive.
  var loopEnd: Int?
  var envelope = EnvelopeSettings()
  var shape = ShapeSettings()
  var isInverted = false
  /// Logarithmic units: see `Region`.
  var isLogarithmic = false
  var fixedKey = -1
  var fixedVelocity = -1
  /// Smoothing times in seconds by slot, if not 5 ms; and the bend steps, in cents.
  var smoothing: [Int: Double] = [:]
  var bendStepUp: Double = 1
  var bendStepDown: Double = 1
  /// Seconds of crossfade from the loop's end to the frames before its start.
  var loopCrossfade: Double = 0
  /// Number of times that the sample, or its loop, plays before it goes on to the end (0: unlimited).
  var playCount = 0
  var loopCount = 0
  var randomOffset: Double = 0
  var randomDelay: Double = 0
  /// Cents; decibels.
  var randomPitch: Double = 0
  var randomVolume: Double = 0
  var fades = CrossfadeRanges()
  var sequenceLength = 1
  var sequencePosition = 1
  var randomLow: Double = 0
  var randomHigh: Double = 1
  var group = 0
  var offBy = 0
  var offFast = true
  var offTime: Double = 0.006
  /// Shape of the fade of choked voices (nil: fast), or its curve.
  var offShape: Double?
  var offCurve: Curve?
  /// A softer note does not end a louder one of the same key.
  var selfMask = true
  /// Uses the velocity of the previous note.
  var takesPreviousVelocity = false
  var trigger = Trigger.attack
  var releaseDecay: Double = 0
  /// Parts of the decay by number: decibels per second, and duration in seconds.
  var releaseParts: [Int: (decay: Double, seconds: Double)] = [:]
  var playsDead = false
  var isReversed = false
  var polyphony = 0
  var notePolyphony = 0
  var priority = NotePriority.none
  var conditions: [ControlRange] = []
  var switches = KeySwitches.none
  var pedals = Pedals()
  /// Controllers that start it, and controllers that end it.
  var starts: [ControlRange] = []
  var stops: [ControlRange] = []

  /// Replacements for or additions to a sample: see `StagePlan`.
  var oscillator = OscillatorSettings()
  var noise = NoiseSettings()
  var stage = StagePlan()

  /// All conditions, in the order of the image.
  var allConditions: [ControlRange] { conditions + starts + stops }

  /// A region that only ends others: its last frame is -1.
  var isSilent: Bool { end == -1 && !isLogarithmic }

  /// The loop of the file or of the region, if it is not a plain forward loop. Call it after
  /// `clamp(to:)`.
  func turningLoop(of sample: AudioFile) -> AudioFile.Loop? {
    guard loopMode == .continuous || loopMode == .sustain, playCount == 0, let loopStart, let loopEnd,
      loopEnd > loopStart
    else { return nil }
    let type = loopType ?? sample.loop?.type ?? .forward
    return type == .forward ? nil : AudioFile.Loop(start: loopStart, end: loopEnd + 1, type: type)
  }

  /// True when it ever plays on behind its loop.
  var leavesLoop: Bool { loopMode == .sustain || loopCount > 0 }

  /// Adapts to a sample whose loop was laid out: its new position, and the number of added frames.
  mutating func take(_ place: AudioFile.Loop, added: Int) {
    if let end, let loopEnd, end >= loopEnd { self.end = end + added }
    (loopStart, loopEnd) = (place.start, place.end - 1)
  }

  /// Corrects values outside the sample; returns a message for each.
  mutating func clamp(to sample: AudioFile) -> [String] {
    var faults: [String] = []
    let frames = sample.frames
    if offset < 0 || offset >= frames {
      faults.append("offset \(offset) lies outside the sample's \(frames) frames; 0 is used")
      offset = 0
    }
    if let last = end, last >= frames {
      faults.append("end \(last) lies behind the sample's last frame \(frames - 1); that is used")
      end = nil
    }
    if loopMode == nil {
      // Loop points in the file change a loop, but do not make one.
      loopMode = sample.loop != nil ? .continuous : LoopMode.none
    }
    if trigger == .release || trigger == .releaseKey, loopMode != LoopMode.none, loopCount == 0 {
      // No note off would ever end the loop.
      loopMode = .oneShot
    }
    if playCount > 0 {
      // Plays the whole sample this many times.
      loopMode = .oneShot
      loopStart = offset
      loopEnd = end ?? frames - 1
    }
    guard loopMode == .continuous || loopMode == .sustain || playCount > 1 else { return faults }
    if loopStart == nil { loopStart = sample.loop?.start ?? 0 }
    if loopEnd == nil { loopEnd = (sample.loop?.end ?? ((end ?? frames - 1) + 1)) - 1 }
    if loopEnd! >= frames {
      faults.append("loop_end \(loopEnd!) lies behind the sample's last frame \(frames - 1); that is used")
      loopEnd = frames - 1
    }
    // Nothing behind the end is audible.
    if let end, end < loopEnd!, end >= loopStart! { loopEnd = end }
    if let end, end < loopStart! {
      loopMode = LoopMode.none
    } else if loopStart! < 0 || loopStart! > loopEnd! {
      faults.append("the loop \(loopStart!)...\(loopEnd!) is empty; the sample plays without it")
      loopMode = LoopMode.none
    } else if offset > loopEnd! {
      faults.append("offset \(offset) lies behind the loop; the sample plays without it")
      loopMode = LoopMode.none
    }
    return faults
  }
}

/// Place of an opcode.
struct SourceLine: Hashable {
  var file: String
  /// Line number, from 1.
  var line: Int
}
