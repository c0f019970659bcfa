import Realtime
import Sampler

/// Lays out data shared by regions besides samples; equal lists are stored once. Worker.
struct ShapeTables {
  private(set) var curveValues: [Float] = []
  private(set) var allLfos: [LfoPlan] = []
  private(set) var lfoWaves: [LfoWave] = []
  private(set) var lfoSteps: [Float] = []
  private(set) var allEnvelopes: [EnvelopeSettings] = []
  private(set) var allFlexible: [FlexibleSettings] = []
  private(set) var points: [FlexiblePoint] = []
  private var curvePlaces: [Curve: Int32] = [:]
  private var lfoPlaces = Known<LfoSettings, Int32>()
  private var bases = Known<Float, UnsafeMutablePointer<Float>>()
  private var smoothings = Known<Float, UnsafeMutablePointer<Float>>()
  private var modulationLists = Known<ModulationSettings, UnsafeMutablePointer<Modulation>>()
  private var routeLists = Known<ShapeSettings.RouteSettings, UnsafeMutablePointer<Route>>()
  private var unitLists = Known<FilterUnit, UnsafeMutablePointer<FilterUnit>>()

  /// Places of known lists. Most regions repeat the list of the region before, and comparing two lists is
  /// faster than hashing one.
  private struct Known<Element: Hashable, Place> {
    private var places: [[Element]: Place] = [:]
    private var last: (list: [Element], place: Place)?

    var all: some Collection<Place> { places.values }

    subscript(list: [Element]) -> Place? {
      mutating get {
        if let last, last.list == list { return last.place }
        guard let place = places[list] else { return nil }
        last = (list, place)
        return place
      }
      set {
        places[list] = newValue
        last = newValue.map { (list, $0) }
      }
    }
  }

  func free() {
    for memory in bases.all { memory.deallocate() }
    for memory in smoothings.all { memory.deallocate() }
    for memory in modulationLists.all { memory.deallocate() }
    for memory in routeLists.all { memory.deallocate() }
    for memory in unitLists.all { memory.deallocate() }
  }

  /// Values by slot before modulation.
  mutating func base(_ values: [Float]) -> UnsafePointer<Float> { Self.row(values, &bases) }

  /// Time constants by slot.
  mutating func smoothing(_ values: [Float]) -> UnsafePointer<Float> { Self.row(values, &smoothings) }

  private static func row(
    _ values: [Float], _ known: inout Known<Float, UnsafeMutablePointer<Float>>
  ) -> UnsafePointer<Float> {
    if let place = known[values] { return UnsafePointer(place) }
    let memory = InstrumentImage.copy(values)
    known[values] = memory
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
    let memory = InstrumentImage.copy(
      list.map {
        Modulation(
          source: $0.source, by: $0.by, slot: $0.slot, isAbsolute: $0.isAbsolute, isProduct: $0.isProduct,
          amount: $0.amount, curve: curve($0.curve), byCurve: curve($0.byCurve), step: $0.step)
      })
    modulationLists[list] = memory
    return UnsafePointer(memory)
  }

  /// Bit mask of the sources that can change while a voice sounds. It includes sources of the times of later
  /// envelope stages, which are updated at once, not when the stage begins.
  func sources(_ list: [ModulationSettings]) -> SIMD4<UInt64> {
    var bits = SIMD4<UInt64>(repeating: 0)
    for modulation in list
    where Int(modulation.slot) < Slot.noteOn || Slot.isTime(Int(modulation.slot)) {
      for source in [modulation.source, modulation.by] {
        let bit = Source.bit(source)
        if bit >= 0 { bits[bit >> 6] |= 1 << UInt64(bit & 63) }
      }
    }
    return bits
  }

  mutating func routes(_ list: [ShapeSettings.RouteSettings]) -> UnsafePointer<Route> {
    if let known = routeLists[list] { return UnsafePointer(known) }
    let memory = InstrumentImage.copy(list.map { Route(generator: $0.generator, slot: $0.slot) })
    routeLists[list] = memory
    return UnsafePointer(memory)
  }

  mutating func units(_ list: [FilterUnit]) -> UnsafePointer<FilterUnit> {
    if let known = unitLists[list] { return UnsafePointer(known) }
    let memory = InstrumentImage.copy(list)
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
      var settings = FlexibleSettings()
      settings.firstPoint = Int32(points.count)
      settings.pointCount = Int32(one.points.count)
      settings.sustain = Int32(one.sustain)
      settings.loop = Int32(one.loop)
      settings.loopCount = Int32(one.loopCount)
      settings.loopShape = one.loopShape
      settings.isDynamic = one.isDynamic
      allFlexible.append(settings)
      for (number, point) in one.points.enumerated() {
        var point = point
        if let shape = one.curves[number] { point.curve = curve(shape) }
        points.append(point)
      }
    }
    return Int32(allFlexible.count - list.count)
  }
}
