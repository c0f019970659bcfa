import Glibc

/// All settings of a region, with SFZ's units and defaults.
struct RegionSettings {
  var sample: String?
  /// Number of harmonics of a generated wave.
  var harmonics = 1
  /// Its number among the regions of the file; parts split from it share the number.
  var origin: Int?
  var sampleLine = SourceLine(file: "", line: 0)
  /// Line of its header.
  var line = SourceLine(file: "", line: 0)
  var lowKey = 0
  var highKey = 127
  var lowVelocity = 1
  var highVelocity = 127
  /// nil: the sample's.
  var keyCenter: Int? = 60
  /// Cents per key.
  var keyTrack: Double = 100
  /// Cents; semitones.
  var tune: Double = 0
  var transpose = 0
  var bendUp: Double = 200
  var bendDown: Double = -200
  /// Decibels of the region, and those added by the levels above it.
  var volume: Double = 0
  var groupVolume: Double = 0
  var masterVolume: Double = 0
  var globalVolume: Double = 0
  /// Percent.
  var amplitude: Double = 100
  /// Tuning added and amplitude multiplied by the levels above, by opcode.
  var levelTune: [String: Double] = [:]
  var levelAmplitude: [String: Double] = [:]
  /// -100 left ... 100 right.
  var pan: Double = 0
  /// The stereo output, from 0.
  var output = 0
  var velocityCurve = VelocityCurve()
  var delay: Double = 0
  /// Frames of the engine, in addition.
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
  /// nil: the sample's.
  var loopType: LoopType?
  var loopStart: Int?
  /// Inclusive.
  var loopEnd: Int?
  var envelope = EnvelopeSettings()
  var shape = ShapeSettings()
  /// SFZ's filter and band opcodes, from which `finishShape` makes units and values.
  var filters = [SfzFilter(), SfzFilter()]
  var bands = [SfzBand(frequency: 50), SfzBand(frequency: 500), SfzBand(frequency: 5000)]
  /// Decibels and percent per key from the center.
  var ampKeyTrack: Double = 0
  var ampKeyCenter = 60
  var panKeyTrack: Double = 0
  var panKeyCenter = 60
  var positionKeyTrack: Double = 0
  var positionKeyCenter = 60
  var isInverted = false
  /// Crossfades by controllers, by their numbers.
  var controlFades: [Int: ControlFade] = [:]
  var controlPower = true
  /// A bank's region: see `Region`.
  var isBank = false
  var fixedKey = -1
  var fixedVelocity = -1
  /// Smoothing times in seconds by slot, if not 5 ms; and the bend steps, in cents.
  var smoothing: [Int: Double] = [:]
  var bendStepUp: Double = 1
  var bendStepDown: Double = 1
  var variables: [Int: SfzVariable] = [:]
  /// Seconds of crossfade from the loop's end to the frames before its start.
  var loopCrossfade: Double = 0
  /// Number of times that the sample, or its loop, plays before it goes on to the end (0: unlimited).
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
  /// Shape of the fade for `off_mode=time` (nil: fast), or its curve, by number and by value.
  var offShape: Double?
  var offCurveNumber: Int?
  var offCurve: Curve?
  /// A softer note does not end a louder one of the same key.
  var selfMask = true
  /// Uses the velocity of the previous note.
  var takesPreviousVelocity = false
  var trigger = Trigger.attack
  var releaseDecay: Double = 0
  /// Parts of the decay by number: decibels per second, and duration in seconds.
  var releaseParts: [Int: (decay: Double, seconds: Double)] = [:]
  var playsDead = false
  var isReversed = false
  var polyphony = 0
  var notePolyphony = 0
  var priority = NotePriority.none
  var conditions: [ControlRange] = []
  var switches = KeySwitches.none
  var pedals = Pedals()
  /// Controllers that start it, controllers that end it, and controllers that reverse playback.
  var starts: [ControlRange] = []
  var stops: [ControlRange] = []
  var reverses: [ControlRange] = []

  /// Replacements for or additions to a sample: see `StagePlan`.
  var oscillator = OscillatorSettings()
  var noise = NoiseSettings()
  var stage = StagePlan()

  /// All conditions, in the order of the image.
  var allConditions: [ControlRange] { conditions + starts + stops }

  /// Linear gain of volume and amplitude.
  var gain: Double {
    exp(log(10) * (volume + groupVolume + masterVolume + globalVolume) / 20) * amplitude / 100
      * levelAmplitude.values.reduce(1) { $0 * $1 / 100 } * (isInverted ? -1 : 1)
  }

  /// A region that only ends others: `end=-1`.
  var isSilent: Bool { end == -1 && !isBank }

  /// Gains of both sides: equal power, with unity in the centre, for mono as well as stereo (sfizz from 1.2.3
  /// on, and Sforzando: their issue 1086). Banks have -3 dB there.
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

  /// Reason why no note can start it; nil if one can.
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

  /// The region itself; if controllers choose the direction, a region for each way to do so.
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

  /// The loop stated in the file or by `loop_type`, if it is not a plain forward loop. Call it after
  /// `clamp(to:)`.
  func turningLoop(of sample: AudioFile) -> AudioFile.Loop? {
    guard loopMode == .continuous || loopMode == .sustain, playCount == 0, let loopStart, let loopEnd,
      loopEnd > loopStart
    else { return nil }
    let type = loopType ?? sample.loop?.type ?? .forward
    return type == .forward ? nil : AudioFile.Loop(start: loopStart, end: loopEnd + 1, type: type)
  }

  /// True when it ever plays on behind its loop.
  var leavesLoop: Bool { loopMode == .sustain || loopCount > 0 }

  /// Adapts to a sample whose loop was laid out: its new position, and the number of added frames.
  mutating func take(_ place: AudioFile.Loop, added: Int) {
    if let end, let loopEnd, end >= loopEnd { self.end = end + added }
    (loopStart, loopEnd) = (place.start, place.end - 1)
  }

  /// Corrects values outside the sample; returns a message for each.
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
      // Loop points in the file change a loop, but do not make one.
      loopMode = sample.loop != nil ? .continuous : LoopMode.none
    }
    if trigger == .release || trigger == .releaseKey, loopMode != LoopMode.none, loopCount == 0 {
      // No note off would ever end the loop.
      loopMode = .oneShot
    }
    if playCount > 0 {
      // Plays the whole sample this many times.
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
    // Nothing behind the end is audible.
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

  /// The region for the audio thread; call it after `clamp(to:)`. `tables`: data shared by regions.
  func region(
    sample: AudioFile, velocityGains: UnsafePointer<Float>, firstCondition: Int, counter: Int, pedalSet: Int,
    tables: inout ShapeTables
  ) -> Region {
    let hasSides = sample.channels > 1
    // Noise or oscillators may differ between the sides even if the sample does not.
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

/// Crossfade ranges of a region by a controller; `low == high` is no fade.
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

/// Place of an opcode.
struct SourceLine: Hashable {
  var file: String
  /// Line number, from 1.
  var line: Int
}
