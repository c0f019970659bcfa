import Realtime

/// Lays out what regions have beside their samples; equal lists are stored once. Worker.
struct ShapeTables {
  private(set) var curveValues: [Float] = []
  private(set) var allLfos: [LfoPlan] = []
  private(set) var lfoWaves: [LfoWave] = []
  private(set) var lfoSteps: [Float] = []
  private(set) var allEnvelopes: [EnvelopeSettings] = []
  private(set) var allFlexible: [FlexibleSettings] = []
  private(set) var points: [FlexiblePoint] = []
  private var curvePlaces: [Curve: Int32] = [:]
  private var lfoPlaces: [[LfoSettings]: Int32] = [:]
  private var bases: [[Float]: UnsafeMutablePointer<Float>] = [:]
  private var modulationLists: [[ModulationSettings]: UnsafeMutablePointer<Modulation>] = [:]
  private var routeLists: [[ShapeSettings.RouteSettings]: UnsafeMutablePointer<Route>] = [:]
  private var unitLists: [[FilterUnit]: UnsafeMutablePointer<FilterUnit>] = [:]

  func free() {
    for memory in bases.values { memory.deallocate() }
    for memory in modulationLists.values { memory.deallocate() }
    for memory in routeLists.values { memory.deallocate() }
    for memory in unitLists.values { memory.deallocate() }
  }

  mutating func base(_ values: [Float]) -> UnsafePointer<Float> {
    let memory = bases[values] ?? InstrumentBuilder.copy(values)
    bases[values] = memory
    return UnsafePointer(memory)
  }

  mutating func curve(_ curve: Curve) -> Int32 {
    if let place = curvePlaces[curve] { return place }
    let place = Int32(curveValues.count)
    let values = curve.values
    curveValues += values + [values[127]]
    curvePlaces[curve] = place
    return place
  }

  mutating func modulations(_ list: [ModulationSettings]) -> UnsafePointer<Modulation> {
    if let known = modulationLists[list] { return UnsafePointer(known) }
    let memory = InstrumentBuilder.copy(
      list.map {
        Modulation(
          source: $0.source, by: $0.by, slot: $0.slot, isAbsolute: $0.isAbsolute, isProduct: $0.isProduct,
          amount: $0.amount, curve: curve($0.curve), byCurve: curve($0.byCurve), step: $0.step)
      })
    modulationLists[list] = memory
    return UnsafePointer(memory)
  }

  /// A bit for each source that can change while a voice sounds.
  func sources(_ list: [ModulationSettings], isDynamic: Bool) -> SIMD4<UInt64> {
    var bits = SIMD4<UInt64>(repeating: 0)
    for modulation in list where isDynamic || Int(modulation.slot) < Slot.noteOn {
      for source in [modulation.source, modulation.by] { bits[Int(source >> 6)] |= 1 << UInt64(source & 63) }
    }
    return bits
  }

  mutating func routes(_ list: [ShapeSettings.RouteSettings]) -> UnsafePointer<Route> {
    if let known = routeLists[list] { return UnsafePointer(known) }
    let memory = InstrumentBuilder.copy(list.map { Route(generator: $0.generator, slot: $0.slot) })
    routeLists[list] = memory
    return UnsafePointer(memory)
  }

  mutating func units(_ list: [FilterUnit]) -> UnsafePointer<FilterUnit> {
    if let known = unitLists[list] { return UnsafePointer(known) }
    let memory = InstrumentBuilder.copy(list)
    unitLists[list] = memory
    return UnsafePointer(memory)
  }

  mutating func lfos(_ list: [LfoSettings]) -> Int32 {
    if let place = lfoPlaces[list] { return place }
    let place = Int32(allLfos.count)
    for lfo in list {
      allLfos.append(
        LfoPlan(
          delay: lfo.delay, fade: lfo.fade, phase: lfo.phase, turns: lfo.turns,
          firstWave: Int32(lfoWaves.count), waveCount: Int32(lfo.waves.count),
          firstStep: Int32(lfoSteps.count), stepCount: Int32(lfo.steps.count)))
      lfoWaves += lfo.waves
      lfoSteps += lfo.steps
    }
    lfoPlaces[list] = place
    return place
  }

  mutating func envelopes(_ list: [EnvelopeSettings]) -> Int32 {
    allEnvelopes += list
    return Int32(allEnvelopes.count - list.count)
  }

  mutating func flexible(_ list: [ShapeSettings.Flexible]) -> Int32 {
    for one in list {
      allFlexible.append(
        FlexibleSettings(
          firstPoint: Int32(points.count), pointCount: Int32(one.points.count),
          sustain: Int32(one.sustain), loop: Int32(one.loop), loopCount: Int32(one.loopCount),
          loopShape: one.loopShape, isDynamic: one.isDynamic))
      for (number, point) in one.points.enumerated() {
        var point = point
        if let shape = one.curves[number] { point.curve = curve(shape) }
        points.append(point)
      }
    }
    return Int32(allFlexible.count - list.count)
  }
}
