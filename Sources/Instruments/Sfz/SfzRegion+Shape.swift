import Glibc
import Sampler

extension SfzRegion {
  /// Derives units, values and modulations, once the region is complete. `curves`: those of the `<curve>`
  /// headers.
  mutating func finish(curves: [Int: [Float]]) {
    for variable in variables.values.sorted(by: { $0.number < $1.number }) {
      settings.shape.modulations += variable.modulations { Self.curve($0, curves) }
    }
    findCurves(curves)
    for (slot, isProduct) in products.sorted(by: { $0.key < $1.key }) { setProduct(slot, isProduct) }
    // A flexible amplifier envelope replaces the amplifier envelope completely.
    if settings.shape.flexible.contains(where: \.settings.isAmplifier) {
      settings.envelope = EnvelopeSettings()
      settings.shape.modulations.removeAll { (Slot.stage..<Slot.stage + 8).contains(Int($0.slot)) }
    }
    for index in 0..<2 {
      let slot = Slot.cutoff + 2 * index
      let filter = filters[index]
      if filter.type == "pink" {
        settings.addPink()
        continue
      }
      guard let cutoff = filter.cutoff else { continue }
      settings.shape.base[slot] += RegionSettings.cents(cutoff)
      track(filter.keyTrack, filter.keyCenter, slot)
      for kind in SfzFilter.kinds[filter.type]! {
        if kind == .peak || kind == .lowShelf || kind == .highShelf {
          settings.shape.base[slot + 1] = Float(filter.gain)
          settings.shape.base[Slot.filterWidth] = 1
        }
        settings.shape.units.append(
          FilterUnit(
            kind: kind, frequency: UInt8(slot), level: UInt8(slot + 1), width: UInt8(Slot.filterWidth)))
      }
    }
    for (index, band) in bands.enumerated() {
      let gain = Slot.bandGain + index
      let isMoved =
        settings.shape.modulations.contains { Int($0.slot) == gain }
        || settings.shape.routes.contains { Int($0.slot) == gain }
      guard band.isUsed || isMoved, settings.shape.units.count < Most.units else { continue }
      let frequency = Slot.bandFrequency + index
      settings.shape.base[frequency] = RegionSettings.cents(band.frequency)
      if settings.shape.base[Slot.bandWidth + index] == 0 { settings.shape.base[Slot.bandWidth + index] = 1 }
      settings.shape.units.append(
        FilterUnit(
          kind: band.kind, frequency: UInt8(frequency), level: UInt8(gain),
          width: UInt8(Slot.bandWidth + index)))
      for number in settings.shape.modulations.indices
      where Int(settings.shape.modulations[number].slot) == frequency {
        // Modulation in hertz becomes cents relative to the band's frequency.
        settings.shape.modulations[number].bend {
          RegionSettings.cents(max(1, band.frequency + $0)) - RegionSettings.cents(band.frequency)
        }
      }
    }
    settings.volume = settings.volume + groupVolume + masterVolume + globalVolume
    settings.levelTune = levelTunes.values.reduce(0, +)
    settings.levelGain = levelAmplitudes.values.reduce(1) { $0 * $1 / 100 }
    settings.finishStage()
    track(ampKeyTrack, ampKeyCenter, Slot.volume)
    track(panKeyTrack, panKeyCenter, Slot.pan)
    track(positionKeyTrack, positionKeyCenter, Slot.position)
    for (control, fade) in controlFades.sorted(by: { $0.key < $1.key }) {
      var modulation = ModulationSettings(
        source: UInt16(control), slot: UInt8(Slot.amplitude), isProduct: true, amount: 1)
      modulation.curve = .custom(fade.gains(isPower: controlPower))
      settings.shape.modulations.append(modulation)
    }
  }

  /// The controllers that the region uses itself.
  var usedControllers: Set<Int> {
    var used = Set(
      (settings.conditions + settings.starts + settings.stops + reverses).map { Int($0.control) })
    used.formUnion(controlFades.keys)
    for modulation in settings.shape.modulations {
      used.formUnion([Int(modulation.source), Int(modulation.by)])
    }
    return used
  }

  /// Resolves curves given by number.
  private mutating func findCurves(_ curves: [Int: [Float]]) {
    for index in settings.shape.modulations.indices {
      let isBipolar =
        settings.shape.modulations[index].source == Source.bend
        || settings.shape.modulations[index].source == Source.randomBipolar
      if let number = settings.shape.modulations[index].curveNumber {
        settings.shape.modulations[index].curve = Self.curve(number, curves)
        settings.shape.modulations[index].curveNumber = nil
      } else if isBipolar {
        settings.shape.modulations[index].curve = .bipolar
      }
    }
    for index in settings.shape.flexible.indices {
      settings.shape.flexible[index].settings.curves = settings.shape.flexible[index].settings.curveNumbers
        .mapValues {
          Self.curve($0, curves)
        }
    }
    settings.offCurve = offCurveNumber.map { Self.curve($0, curves) }
  }

  /// Makes controllers multiply a value, or add to it, if that is not their default.
  private mutating func setProduct(_ slot: Int, _ isProduct: Bool) {
    guard isProduct != (slot == Slot.amplitude) else { return }
    // Only controllers, not other sources.
    func isMeant(_ modulation: ModulationSettings) -> Bool {
      Int(modulation.slot) == slot
        && (modulation.source < Source.velocity
          || modulation.source > Source.sinceNoteOff && modulation.source < Source.controllers)
    }
    switch slot {
    case Slot.amplitude:
      settings.shape.base[slot] = Float(settings.amplitude / 100)
      settings.amplitude = 100
    case Slot.volume:
      settings.shape.base[slot] = Float(settings.volume)
      settings.volume = 0
    case Slot.pitch:
      settings.shape.base[slot] = Float(settings.tune)
      settings.tune = 0
    case Slot.cutoff, Slot.cutoff + 2:
      // A factor of the frequency becomes cents.
      for index in settings.shape.modulations.indices where isMeant(settings.shape.modulations[index]) {
        settings.shape.modulations[index].bend { Float(1200 * log2(max(0.001, $0))) }
      }
      return
    default: break
    }
    var products = settings.shape.modulations.filter(isMeant)
    for index in products.indices { products[index].isProduct = isProduct }
    // First, so that only the value itself is multiplied.
    settings.shape.modulations = products + settings.shape.modulations.filter { !isMeant($0) }
  }

  private mutating func track(_ perKey: Double, _ center: Int, _ slot: Int) {
    guard perKey != 0 else { return }
    var modulation = ModulationSettings(source: Source.key, slot: UInt8(slot), amount: Float(perKey))
    modulation.curve = .custom((0..<128).map { Float($0 - center) })
    settings.shape.modulations.append(modulation)
  }

  /// The instrument's own curves, then ARIA's seven.
  private static func curve(_ number: Int, _ curves: [Int: [Float]]) -> Curve {
    if let own = curves[number] { return .custom(own) }
    let linear = Curve.linear.values
    return switch number {
    case 1: .custom(linear.map { 2 * $0 - 1 })
    case 2: .falling
    case 3: .custom(linear.map { 1 - 2 * $0 })
    case 4: .square
    case 5: .custom(linear.map { $0.squareRoot() })
    case 6: .custom(linear.map { (1 - $0).squareRoot() })
    default: .linear
    }
  }
}
