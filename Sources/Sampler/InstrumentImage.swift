import Realtime

/// The loaded form of an instrument that the audio thread plays: plain memory owned by a `Resource`.
/// Immutable except for the header's use count.
struct InstrumentImage {
  static var type: Int32 { @_noLocks get { 1 } }
  /// Controllers that can have messages: those of MIDI and ARIA's.
  static var messages: Int { @_noLocks get { 160 } }

  /// First, so that a pointer to it is a pointer to the whole image.
  var header = ResourceHeader(type: type)
  var regions: UnsafeMutablePointer<Region>
  var regionCount: Int
  /// The programs by bank and number; an instrument without programs has one.
  var programs: UnsafeMutablePointer<ProgramNumber>
  var programCount: Int
  /// Row with the velocities for each program, trigger (note on, note off) and key.
  var keys: UnsafeMutablePointer<UInt32>
  /// Rows of 128 offsets into `lists`, one per velocity.
  var rows: UnsafeMutablePointer<UInt32>
  /// Lists of region numbers in file order, each preceded by its length.
  var lists: UnsafeMutablePointer<UInt32>
  /// List of regions that a controller may start, for each program and each of `messages` controllers.
  var controlLists: UnsafeMutablePointer<UInt32>
  var hasControlStarts: Bool
  var hasControlStops: Bool
  /// CC conditions of all regions; a region holds the index of its first and their number.
  var conditions: UnsafeMutablePointer<ControlRange>
  /// Initial controller values.
  var controls: UnsafeMutablePointer<Float>
  /// The different pedal sets of the regions; and a bit mask of those that release regions wait for.
  var pedals: UnsafeMutablePointer<Pedals>
  var pedalCount: Int
  var waitingPedals: UInt8
  /// Data shared by regions: curves of 128 values (plus one for interpolation), LFOs, envelopes, flexible
  /// envelopes and their points.
  var curves: UnsafeMutablePointer<Float>
  var lfos: UnsafeMutablePointer<LfoPlan>
  var lfoWaves: UnsafeMutablePointer<LfoWave>
  var lfoSteps: UnsafeMutablePointer<Float>
  var envelopes: UnsafeMutablePointer<EnvelopeSettings>
  var flexible: UnsafeMutablePointer<FlexibleSettings>
  var points: UnsafeMutablePointer<FlexiblePoint>
  /// Bit mask of the key switches, and the initial one (-1: none).
  var switchKeys: SIMD2<UInt64>
  var switchDefault: Int32
  /// Effects on the sum of all voices.
  var effects = EffectPlan()
  /// Some region is monophonic with a `Region.priority`.
  var hasPriorities: Bool
  /// Offsets in cents for 128 keys (NaN: the key is silent), for a tuning other than equal temperament.
  var tuning: UnsafePointer<Float>?

  /// The list of regions to try for a note. Audio thread.
  @_noLocks func list(
    program: Int, release: Bool, key: Int, velocity: Int
  ) -> UnsafeMutablePointer<UInt32> {
    let row = Int(keys[program &* 256 &+ (release ? 128 : 0) &+ key])
    return lists + Int(rows[row &* 128 &+ velocity])
  }

  /// Index of a program: the program itself; otherwise the same number in the first bank (for the drum bank
  /// 128 its first program); otherwise the first of all. Audio thread.
  @_noLocks func select(bank: Int, program: Int) -> Int {
    var fallback = 0
    var index = programCount &- 1
    while index >= 0 {
      let found = programs[index]
      if Int(found.bank) == bank, Int(found.program) == program { return index }
      if bank == 128 ? found.bank == 128 : (found.bank == 0 && Int(found.program) == program) {
        fallback = index
      }
      index &-= 1
    }
    return fallback
  }

  /// `program` -1: any. Audio thread.
  @_noLocks func has(bank: Int, program: Int = -1) -> Bool {
    var index = 0
    while index < programCount {
      if Int(programs[index].bank) == bank, program < 0 || Int(programs[index].program) == program {
        return true
      }
      index &+= 1
    }
    return false
  }
}

struct ProgramNumber {
  var bank: Int32
  var program: Int32
}

/// Condition: a controller must lie within `low...high` for a region to sound.
struct ControlRange {
  var control: UInt16
  var low: Float
  var high: Float

  /// True for a message of this controller and value. Audio thread.
  @_noLocks func takes(_ control: Int, _ value: Float) -> Bool {
    Int(self.control) == control && value >= low && value <= high
  }
}

/// Note priority of mutually exclusive notes (SFZ's `legato_high`, `legato_last`, `legato_low`).
enum NotePriority: UInt8 {
  case none, highest, last, lowest

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// Loop mode of a region.
enum LoopMode: UInt8 {
  /// Plays to its end; a note off starts the release.
  case none
  /// Plays to its end regardless of the key.
  case oneShot
  /// Loops until the envelope has ended.
  case continuous
  /// Loops while the note is held, then plays on to the end.
  case sustain

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// Direction of a loop.
enum LoopType: UInt8 {
  case forward, backward
  /// Forward and backward in turn.
  case alternate
}

/// Trigger of a region.
enum Trigger: UInt8 {
  case attack
  /// On the note off, delayed by the pedal.
  case release
  /// On the note off, regardless of the pedal.
  case releaseKey
  /// Like `attack`, when no other key is held.
  case first
  /// Like `attack`, when another key is held.
  case legato

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// One region, in the units that a starting voice needs.
struct Region {
  /// The two channels; equal for a mono sample.
  var left: SamplePlane
  var right: SamplePlane
  var isStereo: Bool
  /// Chunk table of a sample that streams from disk.
  var stream: UnsafeMutablePointer<StreamTable>?
  /// Playback range (end exclusive), and loop range (end exclusive).
  var start: Int
  var end: Int
  var loopStart: Int
  var loopEnd: Int
  var loopMode: LoopMode
  /// Sample rate of the sample, Hz.
  var rate: Double
  /// Key at which it sounds at its own pitch, and cents per key.
  var keyCenter: Float
  var keyTrack: Float
  /// Cents: tune and transpose together; at full bend up; at full bend down (in a bank: by modulation).
  var tune: Float
  var bendUp: Float
  var bendDown: Float
  /// Delay before it starts, in seconds, and in frames of the engine.
  var delay: Float
  var delayFrames: Float
  /// Delay in beats before it starts, and beats after which it is released (0: never).
  var delayBeats: Float
  var stopBeats: Float
  /// Start is quantised to a multiple of this many beats (0: not), shifted by this many beats.
  var syncBeats: Float
  var syncOffset: Float
  /// Silent: it only ends other groups.
  var isSilent: Bool
  /// Gain of volume and amplitude, and gains of the sides at the initial `pan` and `position`.
  var gain: Float
  var pan: Float
  var position: Float
  var sideLeft: Float
  var sideRight: Float
  /// Normalisation of the pan law: 1, or such that the centre is 0 dB.
  var sideGain: Float
  /// Output of the sampler; and whether it may send to reverb or chorus.
  var output: UInt8
  var hasSends: Bool
  /// 128 gains by velocity, and their weight, -1...1.
  var velocityGains: UnsafePointer<Float>
  var velocityTracking: Float
  var envelope: EnvelopeSettings
  var fades: CrossfadeRanges
  /// Controller ranges among the image's conditions whose messages start it, and end it.
  var firstStart: Int32
  var startCount: Int32
  var firstStop: Int32
  var stopCount: Int32
  /// Round robin: sounds at every note that is number `sequencePosition` (from 0) of `sequenceLength`, by the
  /// counter with this number.
  var sequenceLength: Int32
  var sequencePosition: Int32
  var sequenceCounter: Int32
  /// Sounds when the note's random number 0..<1 lies within.
  var randomLow: Float
  var randomHigh: Float
  /// Choking: its group, the group whose start ends it (0: none), and the mode.
  var group: Int32
  var offBy: Int32
  var offFast: Bool
  /// Seconds of the fade when `offFast`.
  var offTime: Float
  /// Shape of that fade (NaN: the engine's fades), or the offset of its curve among the image's (-1: none).
  var offShape: Float
  var offCurve: Int32
  /// A softer note does not end a louder one of the same key.
  var selfMask: Bool
  /// Uses the velocity of the previous note.
  var takesPreviousVelocity: Bool
  /// Controllers change its envelopes' times.
  var hasMovedTimes: Bool
  /// Frames before the loop's end that are crossfaded with those before its start.
  var crossfade: Int
  /// Number of loop passes (0: unlimited).
  var turns: Int32
  var trigger: Trigger
  /// Attenuation of a release sample, in decibels per second that the note was held, in parts of these
  /// durations in seconds.
  var releaseDecays: SIMD4<Float>
  var releaseTimes: SIMD4<Float>
  /// A release region that sounds even if the key's note has ended.
  var playsDead: Bool
  /// Maximum voices of the group, and of one key (0: unlimited).
  var polyphony: Int32
  var notePolyphony: Int32
  var priority: NotePriority
  var firstCondition: Int32
  var conditionCount: Int32
  var switches: KeySwitches
  var pedals: Pedals
  /// Index among the image's pedal sets.
  var pedalSet: UInt8
  /// Times are timecents, frequencies cents, attenuation never amplifies.
  var isBank: Bool
  /// Fixed key and velocity instead of the note's (-1: the note's).
  var fixedKey: Int16
  var fixedVelocity: Int16
  /// Smoothing time constants by slot, in seconds; bend steps in cents.
  var smoothing: UnsafePointer<Float>
  var bendStepUp: Float
  var bendStepDown: Float
  /// Maximum random offset of the start, in frames.
  var randomOffset: Float
  var randomDelay: Float
  var randomPitch: Float
  var randomVolume: Float
  /// Values by slot before modulation.
  var base: UnsafePointer<Float>
  var modulations: UnsafePointer<Modulation>
  var modulationCount: Int32
  /// True when a modulation applies at note on only.
  var hasNoteModulations: Bool
  /// Bit mask of the sources that modulate a sounding voice.
  var sources: SIMD4<UInt64>
  var routes: UnsafePointer<Route>
  var routeCount: Int32
  var units: UnsafePointer<FilterUnit>
  var unitCount: Int32
  /// Of the units, those that a voice has only where an offset of its channel's needs them.
  var spareUnits: Int32
  var firstLfo: Int32
  var lfoCount: Int32
  var firstEnvelope: Int32
  var envelopeCount: Int32
  var firstFlexible: Int32
  var flexibleCount: Int32
  /// The flexible envelope that replaces the amplifier envelope (-1: none).
  var amplifier: Int32
  /// Stages of its voices before their filters.
  var stage = StagePlan()

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

/// Controllers used as a region's pedals (255: none), and the values from which they are down. In SFZ, which
/// supports half-pedalling, any value above 0.
struct Pedals: Hashable {
  var sustain: UInt8 = 64
  var sustainLow: Float = 0.5
  var sostenuto: UInt8 = 66
  var sostenutoLow: Float = 0.5

  /// MIDI's: switches, down from the middle on.
  static let switches = Pedals(sustainLow: 64, sostenutoLow: 64)
}

/// Key switches, as conditions (-1: any): the last articulation key, a key that is down, a key that is up,
/// and the previous note.
struct KeySwitches: Hashable {
  var last: Int32 = -1
  /// Last of a range of articulation keys that select the region.
  var lastHigh: Int32 = -1
  var down: Int32 = -1
  var up: Int32 = -1
  var previous: Int32 = -1

  static let none = KeySwitches()

  /// True without any condition.
  var isAny: Bool { @_noLocks get { last & down & up & previous == -1 } }
}

/// Crossfade ranges of a region by key and by velocity; `low == high` is no fade.
struct CrossfadeRanges {
  var keyInLow: Float = 0
  var keyInHigh: Float = 0
  var keyOutLow: Float = 127
  var keyOutHigh: Float = 127
  var velocityInLow: Float = 0
  var velocityInHigh: Float = 0
  var velocityOutLow: Float = 127
  var velocityOutHigh: Float = 127
  /// Squares add up to one (equal power), otherwise the gains do.
  var keyPower = true
  var velocityPower = true

  /// The gain for a note. Audio thread.
  @_noLocks func gain(key: Float, velocity: Float) -> Float {
    Self.rise(key, keyInLow, keyInHigh, keyPower) * Self.fall(key, keyOutLow, keyOutHigh, keyPower)
      * Self.rise(velocity, velocityInLow, velocityInHigh, velocityPower)
      * Self.fall(velocity, velocityOutLow, velocityOutHigh, velocityPower)
  }

  @_noLocks private static func rise(_ x: Float, _ low: Float, _ high: Float, _ power: Bool) -> Float {
    if x < low { return 0 }
    if x >= high || high <= low { return 1 }
    let t = (x - low) / (high - low)
    return power ? squareRoot(t) : t
  }

  @_noLocks private static func fall(_ x: Float, _ low: Float, _ high: Float, _ power: Bool) -> Float {
    if x > high { return 0 }
    if x <= low || high <= low { return 1 }
    let t = (high - x) / (high - low)
    return power ? squareRoot(t) : t
  }
}
