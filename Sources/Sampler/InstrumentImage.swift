import Realtime

/// What the audio thread plays: the loaded form of an instrument, plain memory that a `Resource` owns.
/// Immutable but for the header's use count.
struct InstrumentImage {
  static var type: Int32 { @_noLocks get { 1 } }
  /// Controllers of which messages come: those of MIDI and ARIA's.
  static var messages: Int { @_noLocks get { 160 } }

  /// First, so that a pointer to it is a pointer to the whole.
  var header = ResourceHeader(type: type)
  var regions: UnsafeMutablePointer<Region>
  var regionCount: Int
  /// The programs, by bank and number; an instrument without programs has one.
  var programs: UnsafeMutablePointer<ProgramNumber>
  var programCount: Int
  /// For each program, trigger (note on, note off) and key the row that has its velocities.
  var keys: UnsafeMutablePointer<UInt32>
  /// Rows of 128 places in `lists`, one a velocity.
  var rows: UnsafeMutablePointer<UInt32>
  /// Lists of region numbers, each headed by its length, in the order of the file.
  var lists: UnsafeMutablePointer<UInt32>
  /// For each program and each of `messages` controllers the list of regions that the controller may start.
  var controlLists: UnsafeMutablePointer<UInt32>
  var hasControlStarts: Bool
  var hasControlStops: Bool
  /// CC conditions of all regions; a region holds its first and their number.
  var conditions: UnsafeMutablePointer<ControlRange>
  /// Where the controllers stand until one is moved.
  var controls: UnsafeMutablePointer<Float>
  /// The pedals that regions have, each once; and which of them release regions wait for, a bit each.
  var pedals: UnsafeMutablePointer<Pedals>
  var pedalCount: Int
  var waitingPedals: UInt8
  /// What regions share: 128 values a curve (and one more behind each, for interpolation), LFOs,
  /// envelopes, flexible envelopes and their points.
  var curves: UnsafeMutablePointer<Float>
  var lfos: UnsafeMutablePointer<LfoPlan>
  var lfoWaves: UnsafeMutablePointer<LfoWave>
  var lfoSteps: UnsafeMutablePointer<Float>
  var envelopes: UnsafeMutablePointer<EnvelopeSettings>
  var flexible: UnsafeMutablePointer<FlexibleSettings>
  var points: UnsafeMutablePointer<FlexiblePoint>
  /// The keys that choose an articulation, a bit each, and the one chosen at first (-1: none).
  var switchKeys: SIMD2<UInt64>
  var switchDefault: Int32
  /// Effects that all its voices go through together.
  var effects = EffectPlan()
  /// Some region sounds one note at a time, by `Region.priority`.
  var hasPriorities: Bool
  /// 128 cents by key (NaN: it does not sound), where it is tuned otherwise than by equal steps.
  var tuning: UnsafePointer<Float>?

  /// The list of regions to try for a note. Audio thread.
  @_noLocks func list(
    program: Int, release: Bool, key: Int, velocity: Int
  ) -> UnsafeMutablePointer<UInt32> {
    let row = Int(keys[program &* 256 &+ (release ? 128 : 0) &+ key])
    return lists + Int(rows[row &* 128 &+ velocity])
  }

  /// The place of a program: itself, else the same number in the first bank (for the drums' bank 128 its
  /// first program), else the first of all. Audio thread.
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

/// A controller must stand within `low...high` for a region to sound.
struct ControlRange {
  var control: UInt16
  var low: Float
  var high: Float

  /// True for a message of this controller and value. Audio thread.
  @_noLocks func takes(_ control: Int, _ value: Float) -> Bool {
    Int(self.control) == control && value >= low && value <= high
  }
}

/// Of notes that exclude each other, which one sounds (SFZ's `legato_high`, `legato_last`, `legato_low`).
enum NotePriority: UInt8 {
  case none, highest, last, lowest

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// A region's way of looping.
enum LoopMode: UInt8 {
  /// Plays to its end; a note off starts the release.
  case none
  /// Plays to its end whatever the key does.
  case oneShot
  /// Loops until the envelope has ended.
  case continuous
  /// Loops while the note is held, then plays on to the end.
  case sustain

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// Which way a loop goes.
enum LoopType: UInt8 {
  case forward, backward
  /// To and fro.
  case alternate
}

/// When a region starts.
enum Trigger: UInt8 {
  case attack
  /// On the note off, delayed by the pedal.
  case release
  /// On the note off, whatever the pedal does.
  case releaseKey
  /// Like `attack`, when no other key is held.
  case first
  /// Like `attack`, when another key is held.
  case legato

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// One region, in the units that a starting voice wants.
struct Region {
  /// The two channels; the same for a mono sample.
  var left: SamplePlane
  var right: SamplePlane
  var isStereo: Bool
  /// Of a sample that streams from disk: what of it is there.
  var stream: UnsafeMutablePointer<StreamTable>?
  /// Playback starts and ends here (end exclusive), loops between these (end exclusive).
  var start: Int
  var end: Int
  var loopStart: Int
  var loopEnd: Int
  var loopMode: LoopMode
  /// Frames a second of the sample.
  var rate: Double
  /// The key at which it sounds at its own pitch, and cents a key away from it.
  var keyCenter: Float
  var keyTrack: Float
  /// Cents: tune and transpose together; at full bend up, at full bend down (in a bank: by modulation).
  var tune: Float
  var bendUp: Float
  var bendDown: Float
  /// Seconds of silence before it starts, and frames of the engine.
  var delay: Float
  var delayFrames: Float
  /// Beats of silence before it starts, and after which it is released (0: never).
  var delayBeats: Float
  var stopBeats: Float
  /// Waits for the next multiple of so many beats (0: does not wait), which begin so many beats later.
  var syncBeats: Float
  var syncOffset: Float
  /// It only ends others: its group's.
  var isSilent: Bool
  /// The gain of volume and amplitude, and those of the sides where `pan` and `position` stand at first.
  var gain: Float
  var pan: Float
  var position: Float
  var sideLeft: Float
  var sideRight: Float
  /// What the law of panning is raised by: 1, or so that the middle is 0 dB.
  var sideGain: Float
  /// Which of the sampler's outputs it is for; and whether anything of it may go to a reverb or a chorus.
  var output: UInt8
  var hasSends: Bool
  /// 128 gains by velocity, and how much of them counts, -1...1.
  var velocityGains: UnsafePointer<Float>
  var velocityTracking: Float
  var envelope: EnvelopeSettings
  var fades: CrossfadeRanges
  /// Among the image's conditions, the ranges in which a controller's message starts it, and ends it.
  var firstStart: Int32
  var startCount: Int32
  var firstStop: Int32
  var stopCount: Int32
  /// Round robin: sounds at each note that is `sequencePosition` (from 0) of `sequenceLength`, counted
  /// by the counter with this number.
  var sequenceLength: Int32
  var sequencePosition: Int32
  var sequenceCounter: Int32
  /// Sounds when the note's random number 0..<1 lies within.
  var randomLow: Float
  var randomHigh: Float
  /// Choking: the group it belongs to, the group whose start ends it (0: none), and how.
  var group: Int32
  var offBy: Int32
  var offFast: Bool
  /// Seconds of the fade when `offFast`.
  var offTime: Float
  /// How that fade bends (NaN: as fades of the engine do), or its curve's place among the image's (-1: none).
  var offShape: Float
  var offCurve: Int32
  /// A softer note does not end a louder one of the same key.
  var selfMask: Bool
  /// The velocity is the one of the note before.
  var takesPreviousVelocity: Bool
  /// Controllers move its envelopes' times.
  var hasMovedTimes: Bool
  /// Frames before the loop's end that fade into those before its start.
  var crossfade: Int
  /// How often the loop comes round (0: for ever).
  var turns: Int32
  var trigger: Trigger
  /// By how many decibels a second a release sample is softer the longer the note was held, in parts of so
  /// many seconds.
  var releaseDecays: SIMD4<Float>
  var releaseTimes: SIMD4<Float>
  /// A release region sounds although what the key began has ended.
  var playsDead: Bool
  /// Most voices of the group, and of one key, at a time (0: any number).
  var polyphony: Int32
  var notePolyphony: Int32
  var priority: NotePriority
  var firstCondition: Int32
  var conditionCount: Int32
  var switches: KeySwitches
  var pedals: Pedals
  /// Which of the image's they are.
  var pedalSet: UInt8
  /// Times are timecents, frequencies cents, attenuation never amplifies.
  var isBank: Bool
  /// The key and the velocity that count instead of the note's (-1: the note's).
  var fixedKey: Int16
  var fixedVelocity: Int16
  /// Time constants of the values' glides by slot, in seconds; the steps of the bend in cents.
  var smoothing: UnsafePointer<Float>
  var bendStepUp: Float
  var bendStepDown: Float
  /// Up to so many frames are left out at the start, by chance.
  var randomOffset: Float
  var randomDelay: Float
  var randomPitch: Float
  var randomVolume: Float
  /// Values by slot before modulation.
  var base: UnsafePointer<Float>
  var modulations: UnsafePointer<Modulation>
  var modulationCount: Int32
  /// Whether any modulation is for the time of the note on.
  var hasNoteModulations: Bool
  /// A bit for each source that moves something while the voice sounds.
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
  /// The flexible envelope that takes the amplifier's place (-1: none).
  var amplifier: Int32
  /// Stages of its voices before their filters.
  var stage = StagePlan()

  /// The decibels that a release sample has lost after a note of so many seconds. Audio thread.
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

  /// Whether a source moves anything of it. Audio thread.
  @_noLocks func hears(_ source: UInt16) -> Bool {
    let bit = Source.bit(source)
    return bit >= 0 && sources[bit &>> 6] >> UInt64(bit & 63) & 1 == 1
  }
}

/// Which controllers are a region's pedals (255: none), and from where on they are down: in SFZ, where instruments
/// can be half-pedalled, as soon as they leave 0.
struct Pedals: Hashable {
  var sustain: UInt8 = 64
  var sustainLow: Float = 0.5
  var sostenuto: UInt8 = 66
  var sostenutoLow: Float = 0.5

  /// MIDI's: a switch, down from the middle on.
  static let switches = Pedals(sustainLow: 64, sostenutoLow: 64)
}

/// Keys that must have been pressed (-1: any): the last articulation key, one that is down, one that is
/// up, and the note before this one.
struct KeySwitches: Hashable {
  var last: Int32 = -1
  /// Articulation keys up to this choose the region as well.
  var lastHigh: Int32 = -1
  var down: Int32 = -1
  var up: Int32 = -1
  var previous: Int32 = -1

  static let none = KeySwitches()

  /// Whether there is no condition.
  var isAny: Bool { @_noLocks get { last & down & up & previous == -1 } }
}

/// Ranges over which a region fades in and out by key and by velocity; `low == high` is no fade.
struct CrossfadeRanges {
  var keyInLow: Float = 0
  var keyInHigh: Float = 0
  var keyOutLow: Float = 127
  var keyOutHigh: Float = 127
  var velocityInLow: Float = 0
  var velocityInHigh: Float = 0
  var velocityOutLow: Float = 127
  var velocityOutHigh: Float = 127
  /// Squares add up to one (`power`), or the gains do (`gain`).
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
