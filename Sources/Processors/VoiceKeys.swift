import Realtime

/// Positions of MIDI's channels and keys, as `voices` hears them. A handle.
struct VoiceKeys: BitwiseCopyable {
  /// Values of a MIDI channel.
  struct Channel: BitwiseCopyable {
    /// -1...1 of `bendRange`, in semitones.
    var bend: Float = 0
    var bendRange: Float = 2
    /// Data of registered parameters: 0, the bend range, to the nearest cent; 1 and 2, the tuning, none in the middle.
    var range: Int32 = 256
    var fine: Int32 = 8192
    var coarse: Int32 = 8192
    /// Both as cents.
    var tuning: Float {
      @_noLocks get { Float(coarse &>> 7 &- 64) * 100 + Float(fine &- 8192) * (100 / 8192) }
    }
    /// 0...127.
    var pressure: Float = 0
    /// Controller 74; negative: it has not been moved.
    var timbre: Float = -1
    var isSustaining = false
    var isSostenuto = false
    /// The registered parameter that data entry sets; negative: none.
    var parameter: Int16 = -1
    /// Both halves of its number.
    var high: UInt8 = 127
    var low: UInt8 = 127

    @_noLocks init() {}
  }

  /// State that all channels share.
  struct Whole: BitwiseCopyable {
    var zones = MPEZones()
    /// Master tuning, in cents.
    var fine: Float = 0
    var coarse: Float = 0
    /// Turn of the last key.
    var turn: UInt32 = 0

    @_noLocks init() {}
  }

  static var count: Int { @_noLocks get { 16 } }

  let whole: UnsafeMutablePointer<Whole>
  let channels: UnsafeMutablePointer<Channel>
  /// Turns of the keys that are down, by channel and key; 0: it is up.
  let turns: UnsafeMutablePointer<UInt32>
  /// Their velocities.
  let velocities: UnsafeMutablePointer<UInt8>
  /// Pressures by channel and key, 0...127.
  let pressures: UnsafeMutablePointer<Float>
  /// Tunings by key and, within the octave, by channel: cents.
  let tunings: UnsafeMutablePointer<Float>
  let octaves: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    whole = arena.reserve(MemoryLayout<Whole>.stride).assumingMemoryBound(to: Whole.self)
    channels = arena.reserve(Self.count &* MemoryLayout<Channel>.stride).assumingMemoryBound(to: Channel.self)
    turns = arena.reserve(2048 &* 4).assumingMemoryBound(to: UInt32.self)
    velocities = arena.reserve(2048).assumingMemoryBound(to: UInt8.self)
    pressures = arena.take(Float.self, 2048)
    tunings = arena.take(Float.self, 128)
    octaves = arena.take(Float.self, Self.count &* 12)
  }

  @_noLocks func copy(_ other: VoiceKeys) {
    whole.pointee = other.whole.pointee
    copyMemory(channels, other.channels, Self.count &* MemoryLayout<Channel>.stride)
    copyMemory(turns, other.turns, 2048 &* 4)
    copyMemory(velocities, other.velocities, 2048)
    copyMemory(pressures, other.pressures, 2048 &* 4)
    copyMemory(tunings, other.tunings, 128 &* 4)
    copyMemory(octaves, other.octaves, Self.count &* 12 &* 4)
  }

  /// Everything as at first, with these zones.
  @_noLocks func begin(_ zones: MPEZones, bend: Float) {
    whole.pointee = Whole()
    whole.pointee.zones = zones
    var channel = 0
    while channel < Self.count {
      channels[channel] = Channel()
      channel &+= 1
    }
    setMemory(turns, 0, 2048 &* 4)
    setMemory(pressures, 0, 2048 &* 4)
    channel = 0
    while channel < Self.count {
      setRange(channel, bend: bend)
      channel &+= 1
    }
  }

  /// Equal temperament for all keys.
  @_noLocks func clearTunings() {
    setMemory(tunings, 0, 128 &* 4)
    setMemory(octaves, 0, Self.count &* 12 &* 4)
  }

  /// The bend range that a channel has where no message has set another, in semitones.
  @_noLocks func setRange(_ channel: Int, bend: Float) {
    let range = zones.isMember(channel) ? MPEZones.memberBend : bend
    channels[channel].bendRange = range
    channels[channel].range = RegisteredParameter.data(semitones: range)
  }

  var zones: MPEZones { @_noLocks get { whole.pointee.zones } }

  @_noLocks func press(_ channel: Int, _ key: Int, _ velocity: Int) {
    whole.pointee.turn &+= 1
    turns[channel &* 128 &+ key] = whole.pointee.turn
    velocities[channel &* 128 &+ key] = UInt8(truncatingIfNeeded: velocity)
    pressures[channel &* 128 &+ key] = 0
  }

  @_noLocks func lift(_ channel: Int, _ key: Int) { turns[channel &* 128 &+ key] = 0 }

  /// The key that went down last and is still down, with its channel times 128; -1: none.
  var last: Int {
    @_noLocks get {
      var (best, found): (UInt32, Int) = (0, -1)
      var place = 0
      while place < 2048 {
        if turns[place] > best { (best, found) = (turns[place], place) }
        place &+= 1
      }
      return found
    }
  }

  /// Bend and tuning of a key's notes, in octaves.
  @_noLocks func bend(_ channel: Int) -> Float {
    let (own, master) = (channels[channel], channels[zones.master(of: channel)])
    var semitones = master.bend * master.bendRange
    var cents = whole.pointee.coarse + whole.pointee.fine + master.tuning
    if zones.isMember(channel) {
      semitones += own.bend * own.bendRange
      cents += own.tuning
    }
    return (semitones + cents * 0.01) * (1 / 12)
  }

  /// 0...1.
  @_noLocks func pressure(_ channel: Int, _ key: Int) -> Float {
    let (own, all) = (channels[channel].pressure, channels[zones.master(of: channel)].pressure)
    let key = pressures[channel &* 128 &+ key]
    let most = own > all ? own : all
    return (key > most ? key : most) * (1 / 127)
  }

  /// -1...1.
  @_noLocks func timbre(_ channel: Int) -> Float {
    var value = channels[channel].timbre
    if value < 0 { value = channels[zones.master(of: channel)].timbre }
    return value < 0 ? 0 : value < 64 ? (value - 64) * (1 / 64) : (value - 64) * (1 / 63)
  }

  /// Octaves from A4; NaN: the key is silent.
  @_noLocks func pitch(_ channel: Int, _ key: Int, _ tuning: UnsafeMutablePointer<TuningTable>?) -> Float {
    var cents = tunings[key] + octaves[channel &* 12 &+ key % 12]
    if let tuning { cents += tuning.pointee.offsets[key] }
    return (Float(key &- 69) + cents * 0.01) * (1 / 12)
  }
}
