import Glibc

/// Everything that can be said about a region, with SFZ's units and defaults.
struct RegionSettings {
  var sample: String?
  /// Of a wave that is generated.
  var harmonics = 1
  /// Its number among those of the file: what it is taken apart into counts as one.
  var origin: Int?
  var sampleLine = SourceLine(file: "", line: 0)
  /// Where its header stands.
  var line = SourceLine(file: "", line: 0)
  var lowKey = 0
  var highKey = 127
  var lowVelocity = 1
  var highVelocity = 127
  /// nil: as the sample says.
  var keyCenter: Int? = 60
  /// Cents a key.
  var keyTrack: Double = 100
  /// Cents; semitones.
  var tune: Double = 0
  var transpose = 0
  var bendUp: Double = 200
  var bendDown: Double = -200
  /// Decibels of the region, and what the levels above it add.
  var volume: Double = 0
  var groupVolume: Double = 0
  var masterVolume: Double = 0
  var globalVolume: Double = 0
  /// Percent.
  var amplitude: Double = 100
  /// What the levels above add to the tuning and multiply the amplitude by, by their opcodes.
  var levelTune: [String: Double] = [:]
  var levelAmplitude: [String: Double] = [:]
  /// -100 left ... 100 right.
  var pan: Double = 0
  /// The stereo output, from 0.
  var output = 0
  var velocityCurve = VelocityCurve()
  var delay: Double = 0
  /// Frames of the engine, besides.
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
  /// nil: as the sample says.
  var loopType: LoopType?
  var loopStart: Int?
  /// Inclusive.
  var loopEnd: Int?
  var envelope = EnvelopeSettings()
  var shape = ShapeSettings()
  /// What SFZ says of filters and bands, of which `finishShape` makes units and values.
  var filters = [SfzFilter(), SfzFilter()]
  var bands = [SfzBand(frequency: 50), SfzBand(frequency: 500), SfzBand(frequency: 5000)]
  /// Decibels and percent a key from the center.
  var ampKeyTrack: Double = 0
  var ampKeyCenter = 60
  var panKeyTrack: Double = 0
  var panKeyCenter = 60
  var positionKeyTrack: Double = 0
  var positionKeyCenter = 60
  var isInverted = false
  /// Fades by controllers, by their numbers.
  var controlFades: [Int: ControlFade] = [:]
  var controlPower = true
  /// A bank's region: see `Region`.
  var isBank = false
  var fixedKey = -1
  var fixedVelocity = -1
  /// Seconds that values take on their way, by slot, where it is not 5 ms; and the steps of the bend, in cents.
  var smoothing: [Int: Double] = [:]
  var bendStepUp: Double = 1
  var bendStepDown: Double = 1
  var variables: [Int: SfzVariable] = [:]
  /// Seconds over which a loop's end fades into what lies before its start.
  var loopCrossfade: Double = 0
  /// How often the sample is played, or its loop, and then on to the end (0: for ever).
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
  /// How the fade bends when `off_mode=time` (nil: fast), or its curve, by number and as it is.
  var offShape: Double?
  var offCurveNumber: Int?
  var offCurve: Curve?
  /// A softer note does not end a louder one of the same key.
  var selfMask = true
  /// Velocity is the one of the note before.
  var takesPreviousVelocity = false
  var trigger = Trigger.attack
  var releaseDecay: Double = 0
  /// By numbers, the decibels a second of a part of the time, and its seconds.
  var releaseParts: [Int: (decay: Double, seconds: Double)] = [:]
  var playsDead = false
  var isReversed = false
  var polyphony = 0
  var notePolyphony = 0
  var priority = NotePriority.none
  var conditions: [ControlRange] = []
  var switches = KeySwitches.none
  var pedals = Pedals()
  /// The controllers that start it, those that end it, and those with which it is played backwards.
  var starts: [ControlRange] = []
  var stops: [ControlRange] = []
  var reverses: [ControlRange] = []

  /// What takes the place of a sample, or is added to it: see `StagePlan`.
  var oscillator = OscillatorSettings()
  var noise = NoiseSettings()
  var stage = StagePlan()

  /// As they lie in the image.
  var allConditions: [ControlRange] { conditions + starts + stops }

  /// What volume and amplitude make of it.
  var gain: Double {
    exp(log(10) * (volume + groupVolume + masterVolume + globalVolume) / 20) * amplitude / 100
      * levelAmplitude.values.reduce(1) { $0 * $1 / 100 } * (isInverted ? -1 : 1)
  }

  /// A region that only ends others: `end=-1`.
  var isSilent: Bool { end == -1 && !isBank }

  /// Gains of both sides: equal power, and in the middle the sample as it is, mono as well as stereo (sfizz from
  /// 1.2.3 on, and Sforzando: their issue 1086). Banks have -3 dB there.
  func sides(isStereo: Bool) -> (left: Double, right: Double) {
    func side(_ percent: Double) -> (Double, Double) {
      let angle = (max(-100, min(100, percent)) + 100) / 200 * Double.pi / 2
      return (cos(angle), sin(angle))
    }
    let pan = side(self.pan)
    let root = 2.0.squareRoot()
    guard isStereo else { return isBank ? pan : (pan.0 * root, pan.1 * root) }
    let position = side(Double(shape.base[Slot.position]))
    let isCentred = shape.base[Slot.position] == 0
    return (
      pan.0 * root * (isCentred ? 1 : position.0 * root), pan.1 * root * (isCentred ? 1 : position.1 * root)
    )
  }

  /// Changes the range of a controller in one of the lists.
  static func range(_ control: Int, in list: inout [ControlRange], _ change: (inout ControlRange) -> Void) {
    if let index = list.firstIndex(where: { Int($0.control) == control }) {
      change(&list[index])
    } else {
      let isOpen = control == Source.bend || Source.isPlain(UInt16(control))
      var range = ControlRange(
        control: UInt16(control), low: isOpen ? -.infinity : 0, high: isOpen ? .infinity : 127)
      change(&range)
      list.append(range)
    }
  }

  /// Why no note would ever start it, in words.
  var neverSounds: String? {
    func words(_ low: String, _ high: String) -> String {
      "the region never sounds: \(low) lies above \(high)"
    }
    // A key of -1 is for regions that a controller starts.
    if lowKey > highKey, highKey >= 0 { return words("lokey \(lowKey)", "hikey \(highKey)") }
    if lowVelocity > highVelocity { return words("lovel \(lowVelocity)", "hivel \(highVelocity)") }
    if randomLow >= randomHigh {
      return "the region never sounds: lorand \(randomLow) is not below hirand \(randomHigh)"
    }
    if sequencePosition > sequenceLength {
      return words("seq_position \(sequencePosition)", "seq_length \(sequenceLength)")
    }
    return nil
  }

  /// Itself; where controllers choose the direction, once for each way to do so.
  var directions: [RegionSettings] {
    guard !reverses.isEmpty else { return [self] }
    var turned = self
    turned.conditions += reverses
    turned.isReversed.toggle()
    var result = [turned]
    for (index, range) in reverses.enumerated() {
      for (low, high) in [(-Float.infinity, range.low.nextDown), (range.high.nextUp, .infinity)]
      where low <= high {
        var other = self
        other.conditions += reverses[..<index]
        other.conditions.append(ControlRange(control: range.control, low: low, high: high))
        result.append(other)
      }
    }
    return result
  }

  /// The loop that the file states or `loop_type` asks for, where it does not just go forwards. `clamp(to:)`
  /// came before.
  func turningLoop(of sample: AudioFile) -> AudioFile.Loop? {
    guard loopMode == .continuous || loopMode == .sustain, playCount == 0, let loopStart, let loopEnd,
      loopEnd > loopStart
    else { return nil }
    let type = loopType ?? sample.loop?.type ?? .forward
    return type == .forward ? nil : AudioFile.Loop(start: loopStart, end: loopEnd + 1, type: type)
  }

  /// Whether it ever plays on behind its loop.
  var leavesLoop: Bool { loopMode == .sustain || loopCount > 0 }

  /// The sample's loop is laid out now: it lies at `place`, and there are so many more frames.
  mutating func take(_ place: AudioFile.Loop, added: Int) {
    if let end, let loopEnd, end >= loopEnd { self.end = end + added }
    (loopStart, loopEnd) = (place.start, place.end - 1)
  }

  /// Sets right what lies outside the sample, and says so in words.
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
      // Points that are stated move a loop, and make none.
      loopMode = sample.loop != nil ? .continuous : LoopMode.none
    }
    if trigger == .release || trigger == .releaseKey, loopMode != LoopMode.none, loopCount == 0 {
      // No note off would ever end the loop.
      loopMode = .oneShot
    }
    if playCount > 0 {
      // As often as it says, from its start to its end.
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
    // Nothing behind the end is heard.
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

  /// The region as the audio thread plays it; `clamp(to:)` came before. `tables` holds what regions
  /// share.
  func region(
    sample: AudioFile, velocityGains: UnsafePointer<Float>, firstCondition: Int, counter: Int, pedalSet: Int,
    tables: inout ShapeTables
  ) -> Region {
    let hasSides = sample.channels > 1
    // Noise or oscillators may differ from side to side where the sample does not.
    let isStereo = hasSides || stage.hasSides
    let sides = sides(isStereo: isStereo)
    let length = max(1, min(1000, sequenceLength))
    let hasMovedTimes = shape.modulations.contains { Slot.isTime(Int($0.slot)) }
    let (releaseDecays, releaseTimes) = releases()
    var smoothing = [Float](repeating: 0.005, count: 64)
    for (slot, seconds) in self.smoothing where seconds > 0.005 { smoothing[slot] = Float(seconds) }
    let loopFrames = (loopEnd ?? 0) + 1 - (loopStart ?? 0)
    let crossfade = min(
      Int(min(loopCrossfade, 3600) * sample.rate), max(0, loopStart ?? 0), max(0, loopFrames))
    var base = shape.base
    base[Slot.pan] = Float(pan)
    var region = Region(
      left: sample.plane(0), right: sample.plane(hasSides ? 1 : 0),
      isStereo: isStereo, stream: sample.stream?.table, start: offset,
      end: end.map { max(0, $0 + 1) } ?? sample.frames,
      loopStart: loopStart ?? 0, loopEnd: loopEnd.map { $0 + 1 } ?? sample.frames,
      loopMode: loopMode ?? .none, rate: sample.rate, keyCenter: Float(keyCenter ?? sample.key ?? 60),
      keyTrack: Float(keyTrack), tune: Float(tune + 100 * Double(transpose) + levelTune.values.reduce(0, +)),
      bendUp: Float(bendUp),
      bendDown: Float(bendDown), delay: Float(delay), delayFrames: Float(delaySamples),
      delayBeats: Float(delayBeats), stopBeats: Float(stopBeats), syncBeats: Float(syncBeats),
      syncOffset: Float(syncOffset),
      isSilent: isSilent, gain: Float(gain * (hasSides ? 1 : stageGain)), pan: Float(pan),
      position: shape.base[Slot.position], sideLeft: Float(sides.left), sideRight: Float(sides.right),
      sideGain: isStereo ? 2 : (isBank ? 1 : Float(2).squareRoot()),
      output: UInt8(min(max(output, 0), Sum.outputs - 1)), hasSends: shape.hasSends,
      velocityGains: velocityGains, velocityTracking: Float(velocityCurve.tracking), envelope: envelope,
      fades: fades,
      firstStart: Int32(firstCondition + conditions.count), startCount: Int32(starts.count),
      firstStop: Int32(firstCondition + conditions.count + starts.count), stopCount: Int32(stops.count),
      sequenceLength: Int32(length),
      sequencePosition: Int32(clamping: sequencePosition - 1),
      sequenceCounter: Int32(counter), randomLow: Float(randomLow), randomHigh: Float(randomHigh),
      group: Int32(clamping: group), offBy: Int32(clamping: offBy), offFast: offFast,
      offTime: Float(offTime), offShape: offShape.map { Float($0) } ?? .nan,
      offCurve: offCurve.map { tables.curve($0) } ?? -1, selfMask: selfMask,
      takesPreviousVelocity: takesPreviousVelocity, hasMovedTimes: hasMovedTimes, crossfade: crossfade,
      turns: Int32(clamping: playCount > 1 ? playCount - 1 : loopCount), trigger: trigger,
      releaseDecays: releaseDecays, releaseTimes: releaseTimes, playsDead: playsDead,
      polyphony: Int32(clamping: polyphony), notePolyphony: Int32(clamping: notePolyphony),
      priority: priority,
      firstCondition: Int32(firstCondition), conditionCount: Int32(conditions.count), switches: switches,
      pedals: pedals, pedalSet: UInt8(pedalSet),
      isBank: isBank, fixedKey: Int16(fixedKey), fixedVelocity: Int16(fixedVelocity),
      smoothing: tables.smoothing(smoothing), bendStepUp: Float(bendStepUp),
      bendStepDown: Float(bendStepDown), randomOffset: Float(randomOffset),
      randomDelay: Float(randomDelay), randomPitch: Float(randomPitch), randomVolume: Float(randomVolume),
      base: tables.base(base), modulations: tables.modulations(shape.modulations),
      modulationCount: Int32(shape.modulations.count),
      hasNoteModulations: shape.modulations.contains { Int($0.slot) >= Slot.noteOn },
      sources: tables.sources(shape.modulations), routes: tables.routes(shape.routes),
      routeCount: Int32(shape.routes.count), units: tables.units(shape.units + shape.spareUnits),
      unitCount: Int32(shape.units.count), spareUnits: Int32(shape.spareUnits.count),
      firstLfo: tables.lfos(shape.lfos.map(\.settings)),
      lfoCount: Int32(shape.lfos.count), firstEnvelope: tables.envelopes(shape.envelopes.map(\.settings)),
      envelopeCount: Int32(shape.envelopes.count),
      firstFlexible: tables.flexible(shape.flexible.map(\.settings)),
      flexibleCount: Int32(shape.flexible.count),
      amplifier: Int32(shape.flexible.firstIndex(where: \.settings.isAmplifier) ?? -1))
    region.stage = stage
    return region
  }

  /// The parts of a release sample's decay; the last of them goes on for ever where its time is not stated.
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

/// Ranges over which a controller fades a region in and out; `low == high` is no fade.
struct ControlFade: Hashable {
  var inLow = 0
  var inHigh = 0
  var outLow = 127
  var outHigh = 127

  /// 128 gains.
  func gains(isPower: Bool) -> [Float] {
    (0..<128).map { value in
      func rise(_ distance: Int, _ length: Int) -> Double {
        if distance < 0 { return 0 }
        if distance >= length { return 1 }
        let t = Double(distance) / Double(length)
        return isPower ? t.squareRoot() : t
      }
      return Float(rise(value - inLow, inHigh - inLow) * rise(outHigh - value, outHigh - outLow))
    }
  }
}

/// Where something was said.
struct SourceLine: Hashable {
  var file: String
  /// 1-based.
  var line: Int
}
