import Glibc
import Sampler

/// The image's form of a region.
extension RegionSettings {
  /// The region for the audio thread; call it after `clamp(to:)`. `tables`: data shared by regions.
  func region(
    sample: AudioFile, velocityGains: UnsafePointer<Float>, firstCondition: Int, counter: Int, pedalSet: Int,
    tables: inout ShapeTables
  ) -> Region {
    var smoothing = [Float](repeating: 0.005, count: 64)
    for (slot, seconds) in self.smoothing where seconds > 0.005 { smoothing[slot] = Float(seconds) }
    var base = shape.base
    base[Slot.pan] = Float(pan)
    let hasSides = sample.channels > 1
    var region = Region(
      left: sample.plane(0), right: sample.plane(hasSides ? 1 : 0), velocityGains: velocityGains,
      smoothing: tables.smoothing(smoothing), base: tables.base(base),
      modulations: tables.modulations(shape.modulations), routes: tables.routes(shape.routes),
      units: tables.units(shape.units + shape.spareUnits))
    setPlayback(&region, sample)
    setLevels(&region, hasSides: hasSides)
    setConditions(&region, first: firstCondition)
    region.sequenceCounter = Int32(counter)
    region.pedalSet = UInt8(pedalSet)
    setChoking(&region, &tables)
    setShape(&region, &tables)
    return region
  }

  /// Range, loop, pitch and times.
  private func setPlayback(_ region: inout Region, _ sample: AudioFile) {
    region.stream = sample.stream?.table
    region.rate = sample.rate
    region.start = offset
    region.end = end.map { max(0, $0 + 1) } ?? sample.frames
    region.loopStart = loopStart ?? 0
    region.loopEnd = loopEnd.map { $0 + 1 } ?? sample.frames
    region.loopMode = loopMode ?? .none
    region.turns = Int32(clamping: playCount > 1 ? playCount - 1 : loopCount)
    let loopFrames = (loopEnd ?? 0) + 1 - (loopStart ?? 0)
    region.crossfade = min(
      Int(min(loopCrossfade, 3600) * sample.rate), max(0, loopStart ?? 0), max(0, loopFrames))
    region.keyCenter = Float(keyCenter ?? sample.key ?? 60)
    region.keyTrack = Float(keyTrack)
    region.tune = Float(tune + 100 * Double(transpose) + levelTune)
    region.bendUp = Float(bendUp)
    region.bendDown = Float(bendDown)
    region.bendStepUp = Float(bendStepUp)
    region.bendStepDown = Float(bendStepDown)
    region.delay = Float(delay)
    region.delayFrames = Float(delaySamples)
    region.delayBeats = Float(delayBeats)
    region.stopBeats = Float(stopBeats)
    region.syncBeats = Float(syncBeats)
    region.syncOffset = Float(syncOffset)
    region.randomOffset = Float(randomOffset)
    region.randomDelay = Float(randomDelay)
    region.randomPitch = Float(randomPitch)
  }

  /// `hasSides`: the sample is stereo.
  private func setLevels(_ region: inout Region, hasSides: Bool) {
    // Noise or oscillators may differ between the sides even if the sample does not.
    region.isStereo = hasSides || stage.hasSides
    let sides = sides(isStereo: region.isStereo)
    region.isSilent = isSilent
    region.gain = Float(gain * (hasSides ? 1 : stageGain))
    region.pan = Float(pan)
    region.position = shape.base[Slot.position]
    region.sideLeft = Float(sides.left)
    region.sideRight = Float(sides.right)
    region.sideGain = region.isStereo ? 2 : (isLogarithmic ? 1 : Float(2).squareRoot())
    region.output = UInt8(min(max(output, 0), Sum.outputs - 1))
    region.hasSends = shape.hasSends
    region.velocityTracking = Float(velocityCurve.tracking)
    region.envelope = envelope
    region.fades = fades
    region.randomVolume = Float(randomVolume)
    region.isLogarithmic = isLogarithmic
  }

  /// `first`: its first condition among the image's.
  private func setConditions(_ region: inout Region, first: Int) {
    region.firstCondition = Int32(first)
    region.conditionCount = Int32(conditions.count)
    region.firstStart = Int32(first + conditions.count)
    region.startCount = Int32(starts.count)
    region.firstStop = Int32(first + conditions.count + starts.count)
    region.stopCount = Int32(stops.count)
    region.sequenceLength = Int32(max(1, min(1000, sequenceLength)))
    region.sequencePosition = Int32(clamping: sequencePosition - 1)
    region.randomLow = Float(randomLow)
    region.randomHigh = Float(randomHigh)
    region.takesPreviousVelocity = takesPreviousVelocity
    region.trigger = trigger
    region.switches = switches
    region.pedals = pedals
    region.fixedKey = Int16(fixedKey)
    region.fixedVelocity = Int16(fixedVelocity)
  }

  private func setChoking(_ region: inout Region, _ tables: inout ShapeTables) {
    region.group = Int32(clamping: group)
    region.offBy = Int32(clamping: offBy)
    region.offFast = offFast
    region.offTime = Float(offTime)
    region.offShape = offShape.map { Float($0) } ?? .nan
    region.offCurve = offCurve.map { tables.curve($0) } ?? -1
    region.selfMask = selfMask
    (region.releaseDecays, region.releaseTimes) = releases()
    region.playsDead = playsDead
    region.polyphony = Int32(clamping: polyphony)
    region.notePolyphony = Int32(clamping: notePolyphony)
    region.priority = priority
  }

  private func setShape(_ region: inout Region, _ tables: inout ShapeTables) {
    region.hasMovedTimes = shape.modulations.contains { Slot.isTime(Int($0.slot)) }
    region.modulationCount = Int32(shape.modulations.count)
    region.hasNoteModulations = shape.modulations.contains { Int($0.slot) >= Slot.noteOn }
    region.sources = tables.sources(shape.modulations)
    region.routeCount = Int32(shape.routes.count)
    region.unitCount = Int32(shape.units.count)
    region.spareUnits = Int32(shape.spareUnits.count)
    region.firstLfo = tables.lfos(shape.lfos.map(\.settings))
    region.lfoCount = Int32(shape.lfos.count)
    region.firstEnvelope = tables.envelopes(shape.envelopes.map(\.settings))
    region.envelopeCount = Int32(shape.envelopes.count)
    region.firstFlexible = tables.flexible(shape.flexible.map(\.settings))
    region.flexibleCount = Int32(shape.flexible.count)
    region.amplifier = Int32(shape.flexible.firstIndex(where: \.settings.isAmplifier) ?? -1)
    region.stage = stage
  }

  /// Linear gain of volume and amplitude.
  var gain: Double {
    exp(log(10) * volume / 20) * amplitude / 100 * levelGain * (isInverted ? -1 : 1)
  }

  /// Gains of both sides: equal power, with unity in the centre, for mono as well as stereo (sfizz from 1.2.3
  /// on, and Sforzando: their issue 1086). Banks have -3 dB there.
  func sides(isStereo: Bool) -> (left: Double, right: Double) {
    func side(_ percent: Double) -> (Double, Double) {
      let angle = (max(-100, min(100, percent)) + 100) / 200 * Double.pi / 2
      return (cos(angle), sin(angle))
    }
    let pan = side(self.pan)
    let root = 2.0.squareRoot()
    guard isStereo else { return isLogarithmic ? pan : (pan.0 * root, pan.1 * root) }
    let position = side(Double(shape.base[Slot.position]))
    let isCentred = shape.base[Slot.position] == 0
    return (
      pan.0 * root * (isCentred ? 1 : position.0 * root), pan.1 * root * (isCentred ? 1 : position.1 * root)
    )
  }

  /// The parts of a release sample's decay; the last one is unlimited if it has no time.
  private func releases() -> (decays: SIMD4<Float>, times: SIMD4<Float>) {
    var decays = SIMD4<Float>(repeating: 0)
    var times = SIMD4<Float>(repeating: 0)
    decays[0] = Float(releaseDecay)
    times[0] = .infinity
    for (place, part) in releaseParts.sorted(by: { $0.key < $1.key }).prefix(4).enumerated() {
      decays[place] = Float(part.value.decay)
      times[place] = Float(part.value.seconds)
    }
    return (decays, times)
  }
}
