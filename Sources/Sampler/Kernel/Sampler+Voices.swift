import CVector
import Realtime

/// A note event for which regions are searched.
struct Note {
  var channel: Int
  var key: Int
  /// 1...127.
  var velocity: Int
  /// Cause: `first` or `legato` for a note on, `release` or `releaseKey` for a note off.
  var cause: Trigger
  /// Seconds that it was held, for a note off.
  var seconds: Float

  /// Started by a controller: no note off will come.
  var isByControl: Bool
  /// Data of a note off: its velocity; bit mask of the instrument's pedal sets that do not hold the key; and
  /// whether all voices of the key have ended.
  var releaseVelocity = 64
  var pedals: UInt8 = .max
  var isDead = false
  /// The key is still down and sounds again, since another key went up.
  var isReturn = false

  @_noLocks init(
    channel: Int, key: Int, velocity: Int, cause: Trigger, seconds: Float, isByControl: Bool = false
  ) {
    self.channel = channel
    self.key = key
    self.velocity = velocity
    self.cause = cause
    self.seconds = seconds
    self.isByControl = isByControl
  }

  var isRelease: Bool { @_noLocks get { cause == .release || cause == .releaseKey } }
}

/// Start of voices, and their effect on others.
extension Sampler {
  /// Starts the regions of a note; returns true if any has begun.
  @discardableResult
  @_noLocks mutating func start(_ image: UnsafeMutablePointer<InstrumentImage>, _ note: Note) -> Bool {
    // A key that the tuning leaves out.
    if let tuning = image.pointee.tuning, tuning[note.key] != tuning[note.key] { return false }
    order &+= 1
    let chance = nextRandom()
    let list = image.pointee.list(
      program: choices[zones.master(of: note.channel)].place, release: note.isRelease, key: note.key,
      velocity: note.velocity)
    let count = Int(list[0])
    var hasBegun = false
    // The regions lie anywhere in memory: waiting for one line of each after the other is most of a note's start.
    var index = 1
    while index <= count, index < 8 {
      sostenuto_fetch(image.pointee.regions + Int(list[index]), Int64(MemoryLayout<Region>.stride))
      index &+= 1
    }
    index = 1
    while index <= count {
      let region = image.pointee.regions + Int(list[index])
      if fits(region, note, image, chance), sound(region, note, image) { hasBegun = true }
      index &+= 1
    }
    return hasBegun
  }

  /// Makes room for a region, starts it, and ends what it turns off; returns true if it sounds.
  @_noLocks private mutating func sound(
    _ region: UnsafeMutablePointer<Region>, _ note: Note, _ image: UnsafeMutablePointer<InstrumentImage>
  ) -> Bool {
    if !region.pointee.isSilent {
      limitPolyphony(region, note)
      begin(region, note, image)
    }
    choke(region, note.channel)
    return !region.pointee.isSilent
  }

  /// Uniform in 0..<1: a 64-bit linear congruential generator, PCG's predecessor, of which the top bits are
  /// used (multiplier from D. Knuth, "The Art of Computer Programming" 2, MMIX).
  @_noLocks mutating func nextRandom() -> Float {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Float(random &>> 40) / 16_777_216
  }

  @_noLocks private mutating func fits(
    _ region: UnsafeMutablePointer<Region>, _ note: Note, _ image: UnsafeMutablePointer<InstrumentImage>,
    _ chance: Float
  ) -> Bool {
    let trigger = region.pointee.trigger
    if note.isRelease ? !(trigger == note.cause) : !(trigger == .attack || trigger == note.cause) {
      return false
    }
    if note.isDead, !region.pointee.playsDead { return false }
    let isSingle = !(region.pointee.priority == .none)
    if isSingle ? !hasPriority(region, note) : note.isReturn { return false }
    if !(region.pointee.switches.isAny || fits(region.pointee.switches, note.channel)) { return false }
    var condition = Int(region.pointee.firstCondition)
    let end = condition &+ Int(region.pointee.conditionCount)
    while condition < end {
      let range = image.pointee.conditions[condition]
      let value = value(range.control, note, image)
      if value < range.low || value > range.high { return false }
      condition &+= 1
    }
    if note.cause == .release, note.pedals >> region.pointee.pedalSet & 1 == 0 { return false }
    if chance < region.pointee.randomLow || chance >= region.pointee.randomHigh { return false }
    if region.pointee.sequenceLength > 1 {
      let counter = sequence + Int(region.pointee.sequenceCounter) % Self.counters
      let turn = counter.pointee % UInt32(region.pointee.sequenceLength)
      counter.pointee &+= 1
      if turn != UInt32(region.pointee.sequencePosition) { return false }
    }
    return true
  }

  @_noLocks private func fits(_ switches: KeySwitches, _ channel: Int) -> Bool {
    if switches.last >= 0 {
      let high = switches.lastHigh >= 0 ? switches.lastHigh : switches.last
      if switchLast < switches.last || switchLast > high { return false }
    }
    if switches.down >= 0, downVelocity[channel &* 128 &+ Int(switches.down)] == 0 { return false }
    if switches.up >= 0, downVelocity[channel &* 128 &+ Int(switches.up)] > 0 { return false }
    return switches.previous < 0 || switches.previous == previousKey
  }

  /// True for a controller's message in one of these ranges. Audio thread.
  @_noLocks func takes(
    _ first: Int32, _ count: Int32, _ image: UnsafeMutablePointer<InstrumentImage>, _ control: Int,
    _ value: Float
  ) -> Bool {
    for index in 0..<Int(count)
    where image.pointee.conditions[Int(first) &+ index].takes(control, value) {
      return true
    }
    return false
  }

  /// Handles a controller's message: the regions that it triggers begin. Audio thread.
  @_noLocks mutating func startByControl(
    _ image: UnsafeMutablePointer<InstrumentImage>, _ channel: Int, _ control: Int, _ value: Float
  ) {
    guard control < InstrumentImage.messages else { return }
    let program = choices[zones.master(of: channel)].place
    let list =
      image.pointee.lists + Int(image.pointee.controlLists[program &* InstrumentImage.messages &+ control])
    guard list[0] > 0 else { return }
    order &+= 1
    let chance = nextRandom()
    for index in 1...Int(list[0]) {
      let region = image.pointee.regions + Int(list[index])
      guard takes(region.pointee.firstStart, region.pointee.startCount, image, control, value) else {
        continue
      }
      // It sounds at its own pitch.
      let key = Int(region.pointee.keyCenter)
      let note = Note(
        channel: channel, key: key > 0 ? (key < 127 ? key : 127) : 0, velocity: 127,
        cause: region.pointee.trigger, seconds: 0, isByControl: true)
      if fits(region, note, image, chance) { _ = sound(region, note, image) }
    }
  }

  @_noLocks private mutating func begin(
    _ region: UnsafeMutablePointer<Region>, _ note: Note, _ image: UnsafeMutablePointer<InstrumentImage>
  ) {
    let slot = allocate()
    guard slot >= 0 else { return }
    active[slot &>> 6] |= 1 &<< UInt64(slot & 63)
    used &+= 1
    live &+= 1
    image.pointee.header.count(1)
    var voice = Voice(image: image, region: region, rate: rate)
    let isLogarithmic = region.pointee.isLogarithmic
    voice.key = UInt8(note.key)
    voice.channel = UInt8(note.channel)
    voice.soundKey = region.pointee.fixedKey < 0 ? voice.key : UInt8(region.pointee.fixedKey)
    let velocity = region.pointee.takesPreviousVelocity ? previousVelocity : note.velocity
    voice.velocity = region.pointee.fixedVelocity < 0 ? UInt8(velocity) : UInt8(region.pointee.fixedVelocity)
    voice.random = nextRandom() * 127
    voice.isOdd = noteCount & 1 == 1
    voice.releaseVelocity = note.isRelease ? UInt8(note.releaseVelocity) : 0
    voice.order = order
    if !note.isRelease { voice.caught = pedals(note.channel, note.key, set: region.pointee.pedalSet) }
    facts[slot] = lastNote.facts(at: eventTime, since: loadTime, rate: rate)
    facts[slot].tuning =
      note.isByControl ? 0 : keyTuning(note.channel, note.key) * region.pointee.keyTrack * 0.01
    voice.output = isSeparate ? region.pointee.output : 0
    open(voice.output)
    voicePool[slot] = voice
    evaluate(slot)
    evaluateNoteOn(slot)
    let key = Float(voice.soundKey)
    var gain = region.pointee.gain * velocityGain(region, voice.velocity)
    gain *= region.pointee.fades.gain(key: Float(note.key), velocity: Float(note.velocity))
    if note.isRelease {
      let loss = region.pointee.releaseLoss(after: note.seconds)
      if loss != 0 { gain *= power(10, -loss / 20) }
    }
    if region.pointee.randomVolume != 0 {
      gain *= exponential2((2 * nextRandom() - 1) * region.pointee.randomVolume * 0.166_096_404)
    }
    if controlValue(note.channel, 67, image) >= 64, !region.pointee.hears(67) { gain *= Self.softPedal }
    voice.gain = gain
    if voice.unitCount == 0, offsets.needFilter(zones.master(of: note.channel)) {
      voice.unitCount = region.pointee.spareUnits
    }
    var cents = (key - region.pointee.keyCenter) * region.pointee.keyTrack + region.pointee.tune
    if let tuning = image.pointee.tuning, !note.isByControl {
      cents += tuning[note.key] * (region.pointee.keyTrack * 0.01)
    }
    if region.pointee.randomPitch != 0 { cents += (2 * nextRandom() - 1) * region.pointee.randomPitch }
    voice.pitch = exponential2(Double(cents) / 1200) * region.pointee.rate / Double(rate)
    voice.quality = quality.points(load: load)
    voice.kernel = SincKernels.kernel(voice.pitch)
    voice.position = Int64(start(of: region)) &<< 32
    voice.turns = region.pointee.turns > 0 ? region.pointee.turns : -1
    voice.isLooping =
      region.pointee.loopMode == .continuous || region.pointee.loopMode == .sustain
      || (region.pointee.loopMode == .oneShot && voice.turns > 0)
    voice.envelope = Envelope(region.pointee.envelope, added: noteValues, rate: rate)
    var delay = region.pointee.delay + noteValues[Slot.delay &- Slot.noteOn]
    if region.pointee.randomDelay > 0 { delay += nextRandom() * region.pointee.randomDelay }
    var wait = Double(
      delay * rate + region.pointee.delayFrames + noteValues[Slot.delayFrames &- Slot.noteOn])
    let beat = Double(rate * 60 / Self.tempo)
    wait += Double(region.pointee.delayBeats + noteValues[Slot.delayBeats &- Slot.noteOn]) * beat
    if region.pointee.syncBeats > 0 { wait += framesToBeat(region, from: Double(eventTime) + wait) }
    voice.wait = wait >= 1 ? (wait < 1e9 ? Int32(wait) : 1_000_000_000) : 0
    // A voice started by a note off, or a one-shot, ignores later note offs.
    voice.isHeld = !note.isRelease && !note.isByControl && !(region.pointee.loopMode == .oneShot)
    voice.isOfKeyDown = !note.isRelease && !note.isByControl
    let stop = Double(region.pointee.stopBeats + noteValues[Slot.stopBeats &- Slot.noteOn]) * beat
    if stop >= 1, stop < 1e15 {
      voice.stop = Int64(stop)
      hasStops = true
    }
    voice.startsStream = region.pointee.stream != nil
    voicePool[slot] = voice
    shapes[slot].begin(
      &voicePool[slot], noteValues, &bank, slot: slot, seed: UInt32(truncatingIfNeeded: random &>> 32),
      rate: rate, slide: note.isRelease || !isLogarithmic ? Slide() : slide(note.channel, to: note.key))
    if voice.envelope.isDone || (isLogarithmic && gain == 0) { free(slot) }
  }

  /// Frames that a region has to wait for its beat, from an engine frame on.
  @_noLocks private func framesToBeat(_ region: UnsafeMutablePointer<Region>, from time: Double) -> Double {
    let beat = Double(rate * 60 / Self.tempo)
    let interval = Double(region.pointee.syncBeats) * beat
    let since = (time - Double(region.pointee.syncOffset) * beat) / interval
    guard since > -9e18, since < 9e18 else { return 0 }
    let whole = Double(Int64(since))
    return (whole < since ? whole + 1 - since : whole - since) * interval
  }

  /// Gain for a velocity, with modulated tracking.
  @_noLocks private func velocityGain(_ region: UnsafeMutablePointer<Region>, _ velocity: UInt8) -> Float {
    let curve = region.pointee.velocityGains[Int(velocity)]
    let tracking = region.pointee.velocityTracking + noteValues[Slot.velocityTracking &- Slot.noteOn]
    if tracking >= 1 { return curve }
    if tracking >= 0 { return 1 - tracking + tracking * curve }
    return 1 + (tracking > -1 ? tracking : -1) * curve
  }

  /// Gain of notes that begin while the soft pedal is down, unless the instrument uses that controller
  /// itself: -4 dB.
  private static var softPedal: Float { @_noLocks get { 0.630_957_3 } }

  /// Start frame of a voice.
  @_noLocks private mutating func start(of region: UnsafeMutablePointer<Region>) -> Int {
    var added = noteValues[Slot.offset &- Slot.noteOn]
    if region.pointee.randomOffset > 0 { added += nextRandom() * region.pointee.randomOffset }
    guard added != 0, added > -1e9, added < 1e9 else { return region.pointee.start }
    let start = region.pointee.start &+ Int(added)
    return start > 0 ? (start < region.pointee.end ? start : region.pointee.end) : 0
  }
}
