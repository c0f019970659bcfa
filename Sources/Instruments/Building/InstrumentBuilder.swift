import Glibc
import Realtime
import Sampler

/// Lays out an instrument in the memory that the audio thread plays from, region by region. A region's
/// settings are discarded once it is part of the image, since a bank has tens of thousands. Worker.
struct InstrumentBuilder {
  /// Regions of an instrument; a file may ask for more.
  static let mostRegions = 200_000
  /// Entries of all lists for keys and velocities, far more than the largest banks have.
  var mostEntries = 1 << 24

  struct Program {
    var bank: Int
    var program: Int
  }

  /// Ordered by bank and number; empty for an instrument without programs.
  var programs: [Program] = []
  /// Initial controller values: General MIDI's for volume, pan and expression, or those of the instrument.
  var controls: [Int: Float] = [7: 100, 10: 64, 11: 127]
  var switchDefault: Int?
  /// Effects on the sum of all voices.
  var effects = EffectPlan()

  /// Number of regions.
  private(set) var count = 0
  /// Parts that `build` left out; nil: none.
  private(set) var fault: String?
  private let regions: UnsafeMutableBufferPointer<Region>
  private var extents: [Extent] = []
  private var conditions: [ControlRange] = []
  private var pedals: [Pedals] = []
  private var waitingPedals: UInt8 = 0
  private var velocityGains: [[Int: Double]: UnsafeMutablePointer<Float>] = [:]
  private var sequences = 0
  private var sequencesByOrigin: [Int: Int] = [:]
  private let owner: Owner

  /// `capacity`: maximum number of regions.
  init(capacity: Int) {
    regions = .allocate(capacity: max(1, capacity))
    owner = Owner(regions)
  }

  /// Conditions of a region that the index needs; regions themselves are too large to be scanned so often.
  private struct Extent {
    /// Index in `programs`.
    var program: Int
    var keys: (low: Int, high: Int)
    var velocities: (low: Int, high: Int)
    var isRelease: Bool
    /// Controllers that start it.
    var startControls: [Int]
  }

  /// All memory of an instrument, freed with the last reference.
  private final class Owner: @unchecked Sendable {
    let regions: UnsafeMutableBufferPointer<Region>
    var image: UnsafeMutablePointer<InstrumentImage>?
    var samples: [ObjectIdentifier: AudioFile] = [:]
    var velocityGains: [UnsafeMutablePointer<Float>] = []
    var tables = ShapeTables()
    var seams = LoopSeams()

    init(_ regions: UnsafeMutableBufferPointer<Region>) { self.regions = regions }

    deinit {
      regions.deallocate()
      for table in velocityGains { table.deallocate() }
      tables.free()
      seams.free()
      guard let image else { return }
      image.pointee.free()
      image.deallocate()
    }
  }

  /// The lowest and the highest key of all regions.
  var keys: ClosedRange<Int> {
    guard let low = extents.map(\.keys.low).min(), let high = extents.map(\.keys.high).max() else {
      return 0...127
    }
    return max(0, low)...max(0, low, high)
  }

  /// Adds a region of `programs[program]` at the end. `settings.clamp(to: sample)` must have been called.
  mutating func add(_ settings: RegionSettings, _ sample: AudioFile, program: Int = 0) {
    owner.samples[ObjectIdentifier(sample)] = sample
    // The start of a note must be in memory when the note begins.
    sample.stream?.pin(settings.offset)
    let curve = settings.velocityCurve
    let gains = velocityGains[curve.points] ?? InstrumentImage.copy(curve.gains)
    if velocityGains.updateValue(gains, forKey: curve.points) == nil { owner.velocityGains.append(gains) }
    let pedalSet = pedalSet(settings.pedals)
    if settings.trigger == .release { waitingPedals |= 1 << UInt8(pedalSet) }
    regions.initializeElement(
      at: count,
      to: settings.region(
        sample: sample, velocityGains: gains, firstCondition: conditions.count,
        counter: settings.sequenceLength > 1 ? sequence(of: settings.origin) : 0, pedalSet: pedalSet,
        tables: &owner.tables))
    owner.seams.close(&regions[count], isStereo: sample.channels > 1)
    count += 1
    conditions += settings.allConditions
    let isRelease = settings.trigger == .release || settings.trigger == .releaseKey
    extents.append(
      Extent(
        program: program, keys: (settings.lowKey, settings.highKey),
        velocities: (settings.lowVelocity, settings.highVelocity), isRelease: isRelease,
        // A controller does not start release regions.
        startControls: isRelease ? [] : settings.starts.map { Int($0.control) }))
  }

  /// Index of these among all pedals. Beyond eight sets, the last one stands for the others.
  private mutating func pedalSet(_ own: Pedals) -> Int {
    if let known = pedals.firstIndex(of: own) { return known }
    if pedals.count < 8 { pedals.append(own) }
    return pedals.count - 1
  }

  /// Round robin counter of a region: parts of one region in the file share a counter.
  private mutating func sequence(of origin: Int?) -> Int {
    if let origin, let known = sequencesByOrigin[origin] { return known }
    if let origin { sequencesByOrigin[origin] = sequences }
    sequences += 1
    return sequences - 1
  }

  /// The image with the memory that it and its samples use.
  mutating func build(name: String) -> Resource {
    let (keys, rows, noteLists, isCut) = index()
    if isCut { fault = "too many regions overlap; some keys are silent at some velocities" }
    var lists = noteLists
    let controlLists = controlIndex(&lists)
    var standing = [Float](repeating: 0, count: Source.controllers)
    for (control, value) in controls where standing.indices.contains(control) { standing[control] = value }
    let image = UnsafeMutablePointer<InstrumentImage>.allocate(capacity: 1)
    image.initialize(
      to: InstrumentImage(
        regions: UnsafeMutableBufferPointer(rebasing: regions[..<count]),
        programs: programs.map { ProgramNumber(bank: Int32($0.bank), program: Int32($0.program)) },
        keys: keys, rows: rows, lists: lists, controlLists: controlLists, conditions: conditions,
        controls: standing, pedals: pedals, curves: owner.tables.curveValues, lfos: owner.tables.allLfos,
        lfoWaves: owner.tables.lfoWaves, lfoSteps: owner.tables.lfoSteps,
        envelopes: owner.tables.allEnvelopes, flexible: owner.tables.allFlexible,
        points: owner.tables.points))
    image.pointee.hasControlStarts = extents.contains { !$0.startControls.isEmpty }
    image.pointee.hasControlStops = regions.prefix(count).contains { $0.stopCount > 0 }
    image.pointee.waitingPedals = waitingPedals
    image.pointee.switchKeys = switchKeys
    image.pointee.switchDefault = Int32(switchDefault ?? -1)
    image.pointee.hasPriorities = regions.prefix(count).contains { $0.priority != .none }
    image.pointee.effects = effects
    owner.image = image
    let tableBytes =
      count * MemoryLayout<Region>.stride + (keys.count + rows.count + lists.count) * 4 + owner.seams.bytes
    let wholeBytes = owner.samples.values.reduce(tableBytes) { $0 + ($1.stream == nil ? $1.bytes : 0) }
    let streamed = owner.samples.values.filter { $0.stream != nil }
    return Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self), name: name,
      bytes: { streamed.reduce(wholeBytes) { $0 + $1.bytes } },
      release: { [owner] in withExtendedLifetime(owner) {} })
  }

  /// Keys that a region waits for. Other keys select nothing, wherever `sw_lokey` and `sw_hikey` are.
  private var switchKeys: SIMD2<UInt64> {
    var keys = SIMD2<UInt64>(repeating: 0)
    for region in regions.prefix(count) where region.switches.last >= 0 {
      let last = region.switches.last
      for key in last...max(last, region.switches.lastHigh) { keys[Int(key) >> 6] |= 1 << UInt64(key & 63) }
    }
    return keys
  }

  /// Index of regions by program, trigger, key and velocity: a row for each key, and for each velocity of a
  /// row an offset into one array of lists, each preceded by its length. Equal rows and equal lists are
  /// stored once. `isCut`: the lists would have had too many entries, and some are empty.
  private func index() -> (keys: [UInt32], rows: [UInt32], lists: [UInt32], isCut: Bool) {
    var byKey = [[UInt32]](repeating: [], count: max(1, programs.count) * 256)
    for (number, extent) in extents.enumerated() {
      let first = extent.program * 256 + (extent.isRelease ? 128 : 0)
      let (low, high) = (max(0, extent.keys.low), min(127, extent.keys.high))
      // A key of -1 is for regions that only a controller starts.
      guard low <= high else { continue }
      for key in low...high { byKey[first + key].append(UInt32(number)) }
    }
    var keys = [UInt32](repeating: 0, count: byKey.count)
    var rows = [UInt32](repeating: 0, count: 128)
    var lists: [UInt32] = [0]
    var isCut = false
    var places: [[UInt32]: UInt32] = [[]: 0]
    // Keys with the same candidates share a row.
    var rowsByCandidates: [[UInt32]: UInt32] = [[]: 0]
    for key in byKey.indices {
      let candidates = byKey[key]
      if let known = rowsByCandidates[candidates] {
        keys[key] = known
        continue
      }
      keys[key] = UInt32(rows.count / 128)
      rowsByCandidates[candidates] = keys[key]
      rows += row(of: candidates, &lists, &places, &isCut)
    }
    return (keys, rows, lists, isCut)
  }

  /// Offset of the list of regions that a controller starts, for each program and controller.
  private func controlIndex(_ lists: inout [UInt32]) -> [UInt32] {
    var result = [UInt32](repeating: 0, count: max(1, programs.count) * InstrumentImage.messages)
    var started: [Int: [UInt32]] = [:]
    for (number, extent) in extents.enumerated() {
      for control in extent.startControls where control < InstrumentImage.messages {
        started[extent.program * InstrumentImage.messages + control, default: []].append(UInt32(number))
      }
    }
    for (place, list) in started {
      result[place] = UInt32(lists.count)
      lists.append(UInt32(list.count))
      lists.append(contentsOf: list)
    }
    return result
  }

  private func row(
    of candidates: [UInt32], _ lists: inout [UInt32], _ places: inout [[UInt32]: UInt32],
    _ isCut: inout Bool
  ) -> [UInt32] {
    // Velocities at which the list changes.
    var edges: Set<Int> = [0]
    for number in candidates {
      edges.insert(extents[Int(number)].velocities.low)
      edges.insert(extents[Int(number)].velocities.high + 1)
    }
    var place: UInt32 = 0
    return (0..<128).map { velocity in
      guard edges.contains(velocity) else { return place }
      let list = candidates.filter {
        extents[Int($0)].velocities.low <= velocity && velocity <= extents[Int($0)].velocities.high
      }
      if let known = places[list] {
        place = known
      } else if lists.count + list.count >= mostEntries {
        isCut = true
        place = 0
      } else {
        place = UInt32(lists.count)
        places[list] = place
        lists.append(UInt32(list.count))
        lists.append(contentsOf: list)
      }
      return place
    }
  }
}
