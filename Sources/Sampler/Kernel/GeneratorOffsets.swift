import Realtime

/// Offsets of the parameters of logarithmic regions (the specification's "generators"), channel by channel,
/// as unregistered parameters state them ("SoundFont Technical Specification" 2.01, chapter 9.6): controller
/// 99 at 120, controller 98 the generator's number, data entry the offset, of which 64 * 128 is the middle.
struct GeneratorOffsets: BitwiseCopyable {
  /// The number in `Sampler.parameterNumbers` of generator 0; those above follow.
  static var first: Int { @_noLocks get { 1 << 16 } }
  /// The number there while hundreds have come, to which the next number is added: there are no such
  /// generators.
  static var beyond: Int { @_noLocks get { -2 } }
  /// The value of controller 99 that speaks of generators.
  static var mark: Float { @_noLocks get { 120 } }

  /// 64 a channel, in units of data entry.
  private let data: UnsafeMutablePointer<Int16>
  /// By channel, a bit for each generator that has an offset.
  private let used: UnsafeMutablePointer<UInt64>
  /// By channel, the fine half that came last, and whether a coarse one has come for this generator.
  private let fine: UnsafeMutablePointer<UInt8>
  private let hasCoarse: UnsafeMutablePointer<UInt8>

  /// The memory is zeroed. Worker.
  init(channels: Int, _ arena: inout Arena) {
    used = arena.take(UInt64.self, channels)
    data = arena.take(Int16.self, channels * 64)
    fine = arena.take(UInt8.self, channels)
    hasCoarse = arena.take(UInt8.self, channels)
  }

  /// None of a number of channels has any. Audio thread.
  @_noLocks func clear(channels: Int) {
    setMemory(used, 0, channels &* 8)
    setMemory(data, 0, channels &* 128)
    setMemory(fine, 0, channels)
    setMemory(hasCoarse, 0, channels)
  }

  /// The parameter that a value of controller 98 chooses, behind the one that was chosen. Audio thread.
  @_noLocks static func parameter(_ value: Int, after chosen: Int) -> Int {
    if value < 100 { return chosen == beyond ? -1 : first &+ value }
    return value <= 102 ? beyond : chosen
  }

  /// Another generator is chosen. Audio thread.
  @_noLocks func choose(_ channel: Int) {
    fine[channel] = 0
    hasCoarse[channel] = 0
  }

  /// Data entry for a generator, of either half and in either order, and steps of one. False: nothing has changed.
  /// Audio thread.
  @_noLocks func enter(_ channel: Int, _ generator: Int, _ control: Int, _ value: Int) -> Bool {
    guard generator < 64 else { return false }
    let place = data + (channel &* 64 &+ generator)
    let before = Int(place.pointee)
    var entry = before &+ 8192
    switch control {
    case Sampler.Control.dataEntry:
      entry = value &* 128 &+ Int(fine[channel])
      hasCoarse[channel] = 1
    case Sampler.Control.dataEntryFine:
      fine[channel] = UInt8(truncatingIfNeeded: value)
      // The coarse half is still to come.
      guard hasCoarse[channel] == 1 else { return false }
      entry = entry & ~127 | value
    case Sampler.Control.dataIncrement: entry &+= 1
    default: entry &-= 1
    }
    entry = entry > 0 ? (entry < 16383 ? entry : 16383) : 0
    place.pointee = Int16(truncatingIfNeeded: entry &- 8192)
    let bit = UInt64(1) &<< UInt64(generator)
    if entry == 8192 { used[channel] &= ~bit } else { used[channel] |= bit }
    return entry &- 8192 != before
  }

  /// Any generator of the channel has an offset. Audio thread.
  @_noLocks func areUsed(_ channel: Int) -> Bool { used[channel] != 0 }

  /// A voice without a filter needs one: cutoff, resonance, or what leads to the cutoff has an offset. Audio thread.
  @_noLocks func needFilter(_ channel: Int) -> Bool { used[channel] & 0b1111_0000_0000 != 0 }

  /// Adds a channel's offsets to where a voice's values are to go. `keys`: above that at which the sample has its own
  /// pitch. Audio thread.
  @_noLocks func add(_ channel: Int, to goals: UnsafeMutablePointer<Float>, keys: Float) {
    guard areUsed(channel) else { return }
    var left = used[channel]
    while left != 0 {
      let generator = left.trailingZeroBitCount
      left &= left &- 1
      let value = Float(data[channel &* 64 &+ generator])
      let (slot, scale) = Self.destination(generator)
      if generator == 56 {
        goals[Slot.pitch] += value * keys
      } else if slot >= 0, slot < Slot.noteOn {
        goals[slot] += value * scale
      }
    }
    // As far as an instrument may state them; where the rest leads to nothing it is limited anyway.
    Self.limit(goals + Slot.reverb, 0, 100)
    Self.limit(goals + Slot.chorus, 0, 100)
    Self.limit(goals + Slot.resonance, 0, 96)
    for route in 0..<5 { Self.limit(goals + Slot.depth + route, -12000, 12000) }
    Self.limit(goals + Slot.depth + 5, -96, 96)
  }

  @_noLocks private static func limit(_ value: UnsafeMutablePointer<Float>, _ low: Float, _ high: Float) {
    if value.pointee < low { value.pointee = low }
    if value.pointee > high { value.pointee = high }
  }

  /// The same for the slots from `Slot.noteOn` on. Audio thread.
  @_noLocks func addNoteOn(_ channel: Int, to values: UnsafeMutablePointer<Float>, key: Int) {
    var left = used[channel]
    while left != 0 {
      let generator = left.trailingZeroBitCount
      left &= left &- 1
      let (slot, scale) = Self.destination(generator)
      guard slot >= Slot.noteOn else { continue }
      let isKeyed = generator == 31 || generator == 32 || generator == 39 || generator == 40
      let value = Float(data[channel &* 64 &+ generator])
      values[slot &- Slot.noteOn] += value * scale * (isKeyed ? Float(60 &- key) : 1)
    }
  }

  /// The slot that a generator states, and what a step of data entry is there: one of the generator's units, or, as the
  /// specification's table has it, two cents or timecents and four of a frequency. Routes stand as the reader makes
  /// them. -1: data entry does not reach it.
  @_noLocks private static func destination(_ generator: Int) -> (slot: Int, scale: Float) {
    switch generator {
    case 0: (Slot.offset, 1)
    case 4: (Slot.offset, 32768)
    case 5...7: (Slot.depth &+ generator &- 5, 2)
    case 8: (Slot.cutoff, 2)
    case 9: (Slot.resonance, 0.1)
    case 10, 11: (Slot.depth &+ generator &- 7, 2)
    case 13: (Slot.depth &+ 5, 0.1)
    case 15: (Slot.chorus, 0.1)
    case 16: (Slot.reverb, 0.1)
    case 17: (Slot.pan, 0.2)
    case 21, 23: (Slot.lfoDelay &+ (generator &- 21) / 2, 2)
    case 22, 24: (Slot.frequency &+ (generator &- 22) / 2, 4)
    case 29: (Slot.stage &+ 8 &+ 4, 1)
    case 25...30: (Slot.stage &+ 8 &+ generator &- 25, 2)
    case 31, 32: (Slot.stage &+ 8 &+ generator &- 29, 1)
    case 37: (Slot.stage &+ 4, 1)
    case 33...38: (Slot.stage &+ generator &- 33, 2)
    case 39, 40: (Slot.stage &+ generator &- 37, 1)
    // All of it counts, as of modulators.
    case 48: (Slot.volume, -0.1)
    case 51: (Slot.pitch, 100)
    case 52: (Slot.pitch, 1)
    default: (-1, 0)
    }
  }
}

extension Sampler {
  /// Data entry for a generator: notes that sound follow. Audio thread.
  @_noLocks mutating func enterOffset(_ channel: Int, _ generator: Int, _ control: Int, _ value: Float) {
    guard offsets.enter(channel, generator, control, Int(value)) else { return }
    var slot = nextActive(0)
    while slot >= 0 {
      if voicePool[slot].region.pointee.isLogarithmic, zones.reaches(channel, Int(voicePool[slot].channel)) {
        refresh(slot, isTimed: true)
      }
      slot = nextActive(slot &+ 1)
    }
  }
}
