import Glibc

extension RegionSettings {
  /// Derives units, values and modulations from the SFZ opcodes, once the region is complete. `curves`: those
  /// of its `<curve>` headers.
  mutating func finishShape(curves: [Int: [Float]]) {
    for variable in variables.values.sorted(by: { $0.number < $1.number }) {
      shape.modulations += variable.modulations { Self.curve($0, curves) }
    }
    findCurves(curves)
    for (slot, isProduct) in shape.products.sorted(by: { $0.key < $1.key }) { setProduct(slot, isProduct) }
    // A flexible amplifier envelope replaces the amplifier envelope completely.
    if shape.flexible.contains(where: \.settings.isAmplifier) {
      envelope = EnvelopeSettings()
      shape.modulations.removeAll { (Slot.stage..<Slot.stage + 8).contains(Int($0.slot)) }
    }
    for index in 0..<2 {
      let slot = Slot.cutoff + 2 * index
      let filter = filters[index]
      if filter.type == "pink" {
        addPink()
        continue
      }
      guard let cutoff = filter.cutoff else { continue }
      shape.base[slot] += Self.cents(cutoff)
      track(filter.keyTrack, filter.keyCenter, slot)
      for kind in SfzFilter.kinds[filter.type]! {
        if kind == .peak || kind == .lowShelf || kind == .highShelf {
          shape.base[slot + 1] = Float(filter.gain)
          shape.base[Slot.filterWidth] = 1
        }
        shape.units.append(
          FilterUnit(
            kind: kind, frequency: UInt8(slot), level: UInt8(slot + 1), width: UInt8(Slot.filterWidth)))
      }
    }
    for (index, band) in bands.enumerated() {
      let gain = Slot.bandGain + index
      let isMoved =
        shape.modulations.contains { Int($0.slot) == gain } || shape.routes.contains { Int($0.slot) == gain }
      guard band.isUsed || isMoved, shape.units.count < Most.units else { continue }
      let frequency = Slot.bandFrequency + index
      shape.base[frequency] = Self.cents(band.frequency)
      if shape.base[Slot.bandWidth + index] == 0 { shape.base[Slot.bandWidth + index] = 1 }
      shape.units.append(
        FilterUnit(
          kind: band.kind, frequency: UInt8(frequency), level: UInt8(gain),
          width: UInt8(Slot.bandWidth + index)))
      for number in shape.modulations.indices where Int(shape.modulations[number].slot) == frequency {
        // Modulation in hertz becomes cents relative to the band's frequency.
        shape.modulations[number].bend {
          Self.cents(max(1, band.frequency + $0)) - Self.cents(band.frequency)
        }
      }
    }
    finishStage()
    track(ampKeyTrack, ampKeyCenter, Slot.volume)
    track(panKeyTrack, panKeyCenter, Slot.pan)
    track(positionKeyTrack, positionKeyCenter, Slot.position)
    for (control, fade) in controlFades.sorted(by: { $0.key < $1.key }) {
      var modulation = ModulationSettings(
        source: UInt16(control), slot: UInt8(Slot.amplitude), isProduct: true, amount: 1)
      modulation.curve = .custom(fade.gains(isPower: controlPower))
      shape.modulations.append(modulation)
    }
  }

  /// The controllers that the region uses itself.
  var usedControllers: Set<Int> {
    var used = Set((conditions + starts + stops + reverses).map { Int($0.control) })
    used.formUnion(controlFades.keys)
    for modulation in shape.modulations { used.formUnion([Int(modulation.source), Int(modulation.by)]) }
    return used
  }

  /// Adds volume, pan and expression as in ARIA, except for controllers that the instrument uses itself.
  mutating func addUsualControllers(except used: Set<Int>) {
    func modulation(_ control: Int, _ slot: Int, _ amount: Float, _ curve: Curve) -> ModulationSettings {
      ModulationSettings(
        source: UInt16(control), slot: UInt8(slot), isProduct: slot == Slot.amplitude, amount: amount,
        curve: curve)
    }
    shape.modulations += [
      modulation(7, Slot.amplitude, 1, .square), modulation(10, Slot.pan, 100, .bipolar),
      modulation(11, Slot.amplitude, 1, .square),
    ].filter { !used.contains(Int($0.source)) }
  }

  /// Resolves curves given by number.
  private mutating func findCurves(_ curves: [Int: [Float]]) {
    for index in shape.modulations.indices {
      let isBipolar =
        shape.modulations[index].source == Source.bend
        || shape.modulations[index].source == Source.randomBipolar
      if let number = shape.modulations[index].curveNumber {
        shape.modulations[index].curve = Self.curve(number, curves)
        shape.modulations[index].curveNumber = nil
      } else if isBipolar {
        shape.modulations[index].curve = .bipolar
      }
    }
    for index in shape.flexible.indices {
      shape.flexible[index].settings.curves = shape.flexible[index].settings.curveNumbers.mapValues {
        Self.curve($0, curves)
      }
    }
    offCurve = offCurveNumber.map { Self.curve($0, curves) }
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
      shape.base[slot] = Float(amplitude / 100)
      amplitude = 100
    case Slot.volume:
      shape.base[slot] = Float(volume)
      volume = 0
    case Slot.pitch:
      shape.base[slot] = Float(tune)
      tune = 0
    case Slot.cutoff, Slot.cutoff + 2:
      // A factor of the frequency becomes cents.
      for index in shape.modulations.indices where isMeant(shape.modulations[index]) {
        shape.modulations[index].bend { Float(1200 * log2(max(0.001, $0))) }
      }
      return
    default: break
    }
    var products = shape.modulations.filter(isMeant)
    for index in products.indices { products[index].isProduct = isProduct }
    // First, so that only the value itself is multiplied.
    shape.modulations = products + shape.modulations.filter { !isMeant($0) }
  }

  /// Cents above 8.176 Hz.
  static func cents(_ hertz: Double) -> Float { Float(1200 * log2(max(hertz, 0.01) / 8.1757989156)) }

  private mutating func track(_ perKey: Double, _ center: Int, _ slot: Int) {
    guard perKey != 0 else { return }
    var modulation = ModulationSettings(source: Source.key, slot: UInt8(slot), amount: Float(perKey))
    modulation.curve = .custom((0..<128).map { Float($0 - center) })
    shape.modulations.append(modulation)
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
