import CVector
import Realtime

/// Places in the cycle, at the channel's own rate, after resets and under a transport's lead.
extension Lfo {
  /// Seconds in which a distance from the transport's place becomes a third.
  private static var glide: Double { @inline(__always) @_noLocks get { 0.1 } }

  /// Whole notes of a note's length: a triplet's is no number of 24 bits, and hours later its cycles would have gone astray.
  @inline(__always) @_noLocks static func length(of note: Float) -> Double {
    let exact = Double(whole(Double(note) * 3072)) / 3072
    return (exact - Double(note)).magnitude < 1e-6 * Double(note) ? exact : Double(note)
  }

  /// Finds how fast the places have to glide to be the transport's. At the beginning they are there at once.
  @inline(never) @_noLocks mutating func follow(_ block: Block) {
    isLed = false
    var channel = 0
    while channel < count {
      let voice = voices + channel
      voice.pointee.lean = 0
      if voice.pointee.cycle > 0, !voice.pointee.isFree {
        isLed = true
        lead(voice, block, block.parameters[Self.rate].value(channel))
      }
      channel &+= 1
    }
  }

  @inline(__always) @_noLocks private func lead(
    _ voice: UnsafeMutablePointer<Voice>, _ block: Block, _ rate: Float
  ) {
    guard let transport = block.transport?.pointee, transport.isRolling else { return }
    // A rate that a cable moves, or that is on its way to another tempo, is not the notes' own: nothing to be in phase with.
    let own = 1 / (transport.pulse.wholeNote * voice.pointee.cycle)
    guard (Double(rate) - own).magnitude <= own * 0.001 else { return }
    let cycles = transport.quarters(at: block.time) / (4 * voice.pointee.cycle)
    let wanted = Self.whole((cycles - Transport.floor(cycles)) * Self.parts)
    // The nearest such place, whatever the cycle's number.
    let distance = ((wanted &- voice.pointee.place) &<< 24) &>> 24
    if hasBegun {
      voice.pointee.lean = Self.whole(Double(distance) / (Self.glide * Double(block.rate)))
    } else {
      voice.pointee.place &+= distance
    }
  }

  /// The frames in which a channel is reset.
  @inline(__always) @_noLocks func rises(_ channel: Int, _ block: Block) -> UInt64 {
    let voice = voices + channel
    if block.inputs[0].isSilent {
      voice.pointee.wasOpen = false
      return 0
    }
    let open = Gates.open(block.inputs[0], channel, block.frames)
    let rises = Gates.rises(open, voice.pointee.wasOpen)
    voice.pointee.wasOpen = Gates.last(open, block.frames)
    return rises
  }

  /// The places of a block's frames, which channels share as long as nothing tells them apart.
  struct Row {
    let places: UnsafeMutablePointer<Int64>
    var isKnown = false
    /// Where they begin and end, and how they lean.
    var start: Int64 = 0
    var end: Int64 = 0
    var lean: Int64 = 0

    @inline(__always) @_noLocks init(_ block: Block) {
      places = block.scratch.assumingMemoryBound(to: Int64.self)
    }
  }

  /// Writes the places of a channel, and advances it. `rises`: the frames in which it is reset.
  @inline(__always) @_noLocks mutating func write(
    _ row: inout Row, _ channel: Int, _ block: Block, _ rises: UInt64
  ) {
    let voice = voices + channel
    if !row.isKnown || row.start != voice.pointee.place || row.lean != voice.pointee.lean
      || block.parameters[Self.rate].elements > 1
    {
      (row.isKnown, row.start, row.lean) = (true, voice.pointee.place, voice.pointee.lean)
      row.end = write(row, channel, block)
    }
    voice.pointee.place = row.end
    if rises != 0 {
      row.isKnown = false
      begin(channel, row.places, rises, block)
    }
  }

  /// Lets a channel begin a new cycle in some frames.
  @inline(never) @_noLocks private mutating func begin(
    _ channel: Int, _ places: UnsafeMutablePointer<Int64>, _ rises: UInt64, _ block: Block
  ) {
    let voice = voices + channel
    var rises = rises
    while rises != 0 {
      var frame = rises.trailingZeroBitCount
      rises &= rises &- 1
      // The rest of the cycle: random values are those of the next one. From here on nothing leans.
      var left = (0 &- places[frame]) & 0xFF_FFFF_FFFF
      // Where the phase is ahead, the next one may have begun before.
      let here = places[frame] &+ ahead(channel, frame, block)
      if left > 0, (here &+ left) &>> 40 == here &>> 40 { left &+= 1 &<< 40 }
      while frame < block.frames {
        places[frame] &+= left
        left &-= voice.pointee.lean
        frame &+= 1
      }
      voice.pointee.place &+= left
      (voice.pointee.isFree, voice.pointee.lean) = (true, 0)
    }
  }

  /// How far a channel is ahead in one frame.
  @inline(__always) @_noLocks private func ahead(_ channel: Int, _ frame: Int, _ block: Block) -> Int64 {
    let (phase, spread) = (block.parameters[Self.phase], block.parameters[Self.spread])
    return Self.ahead(
      phase.frames(0)?[frame] ?? phase.value(0), spread.frames(0)?[frame] ?? spread.value(0), channel)
  }

  /// Added to a double, it leaves the nearest whole number in the low bits.
  private static var rounding: Double { @inline(__always) @_noLocks get { 6_755_399_441_055_744 } }

  /// The nearest whole number, below 2^51.
  @inline(__always) @_noLocks static func whole(_ x: Double) -> Int64 {
    Int64(bitPattern: (x + rounding).bitPattern) &- Int64(bitPattern: rounding.bitPattern)
  }

  /// The parts of a frame; nil: the rate moves.
  @inline(__always) @_noLocks mutating func restingStep(_ channel: Int, _ block: Block) -> Int64? {
    block.parameters[Self.rate].frames(channel) == nil ? step(channel, block) : nil
  }

  /// The parts of a frame at a rate that stays.
  @inline(__always) @_noLocks mutating func step(_ channel: Int, _ block: Block) -> Int64 {
    let rate = block.parameters[Self.rate].value(channel)
    if known[0] != rate || known[1] != block.rate {
      let limit = block.rate * 0.5
      let frequency = limited(rate, 0 - limit, limit)
      known = SIMD2(rate, block.rate)
      knownStep = Self.whole(Double(frequency) * (Self.parts / Double(block.rate)))
    }
    return knownStep &+ voices[channel].lean
  }

  /// Writes the places of the block's frames, from the row's start on. Returns its end.
  @inline(__always) @_noLocks private mutating func write(_ row: Row, _ channel: Int, _ block: Block) -> Int64
  {
    if let rates = block.parameters[Self.rate].frames(channel) {
      return write(row, rates, Self.parts / Double(block.rate), block.rate * 0.5, block.frames)
    }
    let step = step(channel, block)
    sostenuto_write_places(
      row.start, step, 0, Int64(truncatingIfNeeded: (block.frames &+ 15) & ~15), row.places)
    return row.start &+ step &* Int64(truncatingIfNeeded: block.frames)
  }

  /// The same for a rate that moves.
  @inline(never) @_noLocks private func write(
    _ row: Row, _ rates: UnsafePointer<Float>, _ scale: Double, _ limit: Float, _ frames: Int
  ) -> Int64 {
    // The lean as at rest: where a block ends decides when a move that is over counts as rest.
    let next = sostenuto_write_swept_places(
      rates, limit, scale, row.lean, row.start, Int64(truncatingIfNeeded: frames), row.places)
    return frames & 15 == 0 ? next : row.places[frames]
  }
}
