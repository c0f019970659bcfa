import Realtime

/// The loaded form of an instrument that the audio thread plays: plain memory owned by a `Resource`.
/// Immutable except for the header's use count.
package struct InstrumentImage {
  package static var type: Int32 { @_noLocks get { 1 } }
  /// Controllers that can have messages: those of MIDI and extended ones.
  package static var messages: Int { @_noLocks get { 160 } }

  /// First, so that a pointer to it is a pointer to the whole image.
  package var header = ResourceHeader(type: type)
  package var regions: UnsafeMutablePointer<Region>
  package var regionCount: Int
  /// The programs by bank and number; an instrument without programs has one.
  package var programs: UnsafeMutablePointer<ProgramNumber>
  package var programCount: Int
  /// Row with the velocities for each program, trigger (note on, note off) and key.
  package var keys: UnsafeMutablePointer<UInt32>
  /// Rows of 128 offsets into `lists`, one per velocity.
  package var rows: UnsafeMutablePointer<UInt32>
  /// Lists of region numbers in file order, each preceded by its length.
  package var lists: UnsafeMutablePointer<UInt32>
  /// List of regions that a controller may start, for each program and each of `messages` controllers.
  package var controlLists: UnsafeMutablePointer<UInt32>
  package var hasControlStarts = false
  package var hasControlStops = false
  /// CC conditions of all regions; a region holds the index of its first and their number.
  package var conditions: UnsafeMutablePointer<ControlRange>
  /// Initial controller values.
  package var controls: UnsafeMutablePointer<Float>
  /// The different pedal sets of the regions; and a bit mask of those that release regions wait for.
  package var pedals: UnsafeMutablePointer<Pedals>
  package var pedalCount: Int
  package var waitingPedals: UInt8 = 0
  /// Data shared by regions: curves of 128 values (plus one for interpolation), LFOs, envelopes, flexible
  /// envelopes and their points.
  package var curves: UnsafeMutablePointer<Float>
  package var lfos: UnsafeMutablePointer<LfoPlan>
  package var lfoWaves: UnsafeMutablePointer<LfoWave>
  package var lfoSteps: UnsafeMutablePointer<Float>
  package var envelopes: UnsafeMutablePointer<EnvelopeSettings>
  package var flexible: UnsafeMutablePointer<FlexibleSettings>
  package var points: UnsafeMutablePointer<FlexiblePoint>
  /// Bit mask of the key switches, and the initial one (-1: none).
  package var switchKeys = SIMD2<UInt64>(repeating: 0)
  package var switchDefault: Int32 = -1
  /// Effects on the sum of all voices.
  package var effects = EffectPlan()
  /// Some region is monophonic with a `Region.priority`.
  package var hasPriorities = false
  /// Offsets in cents for 128 keys (NaN: the key is silent), for a tuning other than equal temperament.
  package var tuning: UnsafePointer<Float>?

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

package struct ProgramNumber: BitwiseCopyable {
  package var bank: Int32
  package var program: Int32

  package init(bank: Int32, program: Int32) { (self.bank, self.program) = (bank, program) }
}
