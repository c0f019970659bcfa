import Realtime

/// One region, in the units that a starting voice needs.
package struct Region: BitwiseCopyable {
  // Fields that sounding voices read in each block are side by side, in three cache lines.

  /// The two channels; equal for a mono sample.
  package var left: SamplePlane
  package var right: SamplePlane
  package var isStereo = false
  /// It may send to reverb or chorus.
  package var hasSends = false
  /// Times are timecents, frequencies cents, and volumes attenuation, which never amplifies. Choking stays
  /// within a channel; offsets of a channel's parameters apply, and portamento.
  package var isLogarithmic = false
  /// Chunk table of a sample that streams from disk.
  package var stream: UnsafeMutablePointer<StreamTable>?
  /// End of the playback range, and the loop's range; ends are exclusive.
  package var end: Int = 0
  package var loopStart: Int = 0
  package var loopEnd: Int = 0
  /// Frames before the loop's end that are crossfaded with those before its start.
  package var crossfade: Int = 0
  /// The frames around the loop's end as they are heard.
  package var seam: LoopSeam
  package var routes: UnsafePointer<Route>
  package var units: UnsafePointer<FilterUnit>
  /// Smoothing time constants by slot, in seconds.
  package var smoothing: UnsafePointer<Float>
  package var routeCount: Int32 = 0
  package var lfoCount: Int32 = 0
  package var envelopeCount: Int32 = 0
  package var flexibleCount: Int32 = 0
  /// The flexible envelope that replaces the amplifier envelope (-1: none).
  package var amplifier: Int32 = -1
  /// Stages of its voices before their filters.
  package var stage = StagePlan()

  // Fields that a starting voice needs.

  /// First frame that is played.
  package var start: Int = 0
  package var loopMode = LoopMode.none
  /// Sample rate of the sample, Hz.
  package var rate: Double = 1
  /// Key at which it sounds at its own pitch, and cents per key.
  package var keyCenter: Float = 60
  package var keyTrack: Float = 100
  /// Cents: tune and transpose together; at full bend up; at full bend down (if logarithmic: by modulation).
  package var tune: Float = 0
  package var bendUp: Float = 0
  package var bendDown: Float = 0
  /// Delay before it starts, in seconds, and in frames of the engine.
  package var delay: Float = 0
  package var delayFrames: Float = 0
  /// Delay in beats before it starts, and beats after which it is released (0: never).
  package var delayBeats: Float = 0
  package var stopBeats: Float = 0
  /// Start is quantised to a multiple of this many beats (0: not), shifted by this many beats.
  package var syncBeats: Float = 0
  package var syncOffset: Float = 0
  /// Silent: it only ends other groups.
  package var isSilent = false
  /// Gain of volume and amplitude, and gains of the sides at the initial `pan` and `position`.
  package var gain: Float = 1
  package var pan: Float = 0
  package var position: Float = 0
  package var sideLeft: Float = 1
  package var sideRight: Float = 1
  /// Normalisation of the pan law: 1, or such that the centre is 0 dB.
  package var sideGain: Float = 1
  /// Output of the sampler.
  package var output: UInt8 = 0
  /// 128 gains by velocity, and their weight, -1...1.
  package var velocityGains: UnsafePointer<Float>
  package var velocityTracking: Float = 0
  package var envelope = EnvelopeSettings()
  package var fades = CrossfadeRanges()
  /// Controller ranges among the image's conditions whose messages start it, and end it.
  package var firstStart: Int32 = 0
  package var startCount: Int32 = 0
  package var firstStop: Int32 = 0
  package var stopCount: Int32 = 0
  /// Round robin: sounds at every note that is number `sequencePosition` (from 0) of `sequenceLength`, by the
  /// counter with this number.
  package var sequenceLength: Int32 = 1
  package var sequencePosition: Int32 = 0
  package var sequenceCounter: Int32 = 0
  /// Sounds when the note's random number 0..<1 lies within.
  package var randomLow: Float = 0
  package var randomHigh: Float = 1
  /// Choking: its group, the group whose start ends it (0: none), and the mode.
  package var group: Int32 = 0
  package var offBy: Int32 = 0
  package var offFast = false
  /// Seconds of the fade when `offFast`.
  package var offTime: Float = 0
  /// Shape of that fade (NaN: the engine's fades), or the offset of its curve among the image's (-1: none).
  package var offShape: Float = .nan
  package var offCurve: Int32 = -1
  /// A softer note does not end a louder one of the same key.
  package var selfMask = false
  /// Uses the velocity of the previous note.
  package var takesPreviousVelocity = false
  /// Controllers change its envelopes' times.
  package var hasMovedTimes = false
  /// Number of loop passes (0: unlimited).
  package var turns: Int32 = 0
  package var trigger = Trigger.attack
  /// Attenuation of a release sample, in decibels per second that the note was held, in parts of these
  /// durations in seconds.
  package var releaseDecays = SIMD4<Float>(repeating: 0)
  package var releaseTimes = SIMD4<Float>(repeating: 0)
  /// A release region that sounds even if the key's note has ended.
  package var playsDead = false
  /// Maximum voices of the group, and of one key (0: unlimited).
  package var polyphony: Int32 = 0
  package var notePolyphony: Int32 = 0
  package var priority = NotePriority.none
  package var firstCondition: Int32 = 0
  package var conditionCount: Int32 = 0
  package var switches = KeySwitches()
  package var pedals = Pedals()
  /// Index among the image's pedal sets.
  package var pedalSet: UInt8 = 0
  /// Fixed key and velocity instead of the note's (-1: the note's).
  package var fixedKey: Int16 = -1
  package var fixedVelocity: Int16 = -1
  /// Bend steps in cents.
  package var bendStepUp: Float = 1
  package var bendStepDown: Float = 1
  /// Maximum random offset of the start, in frames.
  package var randomOffset: Float = 0
  package var randomDelay: Float = 0
  package var randomPitch: Float = 0
  package var randomVolume: Float = 0
  /// Values by slot before modulation.
  package var base: UnsafePointer<Float>
  package var modulations: UnsafePointer<Modulation>
  package var modulationCount: Int32 = 0
  /// True when a modulation applies at note on only.
  package var hasNoteModulations = false
  /// Bit mask of the sources that modulate a sounding voice.
  package var sources = SIMD4<UInt64>(repeating: 0)
  package var unitCount: Int32 = 0
  /// Of the units, those that a voice has only where an offset of its channel's needs them.
  package var spareUnits: Int32 = 0
  package var firstLfo: Int32 = 0
  package var firstEnvelope: Int32 = 0
  package var firstFlexible: Int32 = 0

  /// A region of a sample, with tables that the image owns.
  package init(
    left: SamplePlane, right: SamplePlane, velocityGains: UnsafePointer<Float>,
    smoothing: UnsafePointer<Float>,
    base: UnsafePointer<Float>, modulations: UnsafePointer<Modulation>, routes: UnsafePointer<Route>,
    units: UnsafePointer<FilterUnit>
  ) {
    (self.left, self.right) = (left, right)
    (self.velocityGains, self.smoothing, self.base) = (velocityGains, smoothing, base)
    (self.modulations, self.routes, self.units) = (modulations, routes, units)
    seam = LoopSeam(none: base)
  }

  /// Bytes of the part that sounding voices read.
  static var soundingSize: Int { @_noLocks @inline(__always) get { 192 } }

  var loop: SampleLoop {
    @_noLocks @inline(__always) get { SampleLoop(start: loopStart, end: loopEnd, crossfade: crossfade) }
  }

  /// Attenuation in decibels of a release sample after a note of this length. Audio thread.
  @_noLocks func releaseLoss(after seconds: Float) -> Float {
    var loss: Float = 0
    var left = seconds
    for part in 0..<4 {
      let time = left < releaseTimes[part] ? left : releaseTimes[part]
      loss += releaseDecays[part] * time
      left -= time
    }
    return loss
  }

  /// True when a source modulates the region. Audio thread.
  @_noLocks func hears(_ source: UInt16) -> Bool {
    let bit = Source.bit(source)
    return bit >= 0 && sources[bit &>> 6] >> UInt64(bit & 63) & 1 == 1
  }
}
