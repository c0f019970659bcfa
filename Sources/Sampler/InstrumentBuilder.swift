import Glibc
import Realtime

/// Lays an instrument out in the memory that the audio thread plays from. Worker.
struct InstrumentBuilder {
  /// A region and the sample that it plays, before it becomes an image.
  struct Entry {
    var settings: RegionSettings
    var sample: AudioFile
    /// Its place in `programs`.
    var program = 0
  }

  struct Program {
    var bank: Int
    var program: Int
  }

  /// In the order of bank and number; empty for an instrument without programs.
  var programs: [Program] = []

  var entries: [Entry] = []
  /// Where controllers stand at first (`set_ccN`).
  var controls: [Int: Float] = [:]
  /// Which keys switch articulations.
  var switchKeys: ClosedRange<Int>?
  var switchDefault: Int?

  /// All memory of an instrument, freed with the last reference to its resource.
  private final class Owner: @unchecked Sendable {
    var image: UnsafeMutablePointer<InstrumentImage>
    var samples: [AudioFile]
    var velocityGains: [UnsafeMutablePointer<Float>] = []
    var tables = ShapeTables()
    init(image: UnsafeMutablePointer<InstrumentImage>, samples: [AudioFile]) {
      self.image = image
      self.samples = samples
    }
    func free() {
      image.pointee.regions.deallocate()
      image.pointee.programs.deallocate()
      image.pointee.keys.deallocate()
      image.pointee.rows.deallocate()
      image.pointee.lists.deallocate()
      image.pointee.controlLists.deallocate()
      image.pointee.conditions.deallocate()
      image.pointee.controls.deallocate()
      image.pointee.curves.deallocate()
      image.pointee.lfos.deallocate()
      image.pointee.lfoWaves.deallocate()
      image.pointee.lfoSteps.deallocate()
      image.pointee.envelopes.deallocate()
      image.pointee.flexible.deallocate()
      image.pointee.points.deallocate()
      image.deallocate()
      for table in velocityGains { table.deallocate() }
      tables.free()
    }
  }

  /// The lowest and the highest key of all regions.
  var keys: ClosedRange<Int> {
    guard !entries.isEmpty else { return 0...127 }
    var (low, high) = (Int.max, Int.min)
    for number in entries.indices {
      low = min(low, entries[number].settings.lowKey)
      high = max(high, entries[number].settings.highKey)
    }
    return max(0, low)...max(0, low, high)
  }

  /// The image, and the bytes that it and its samples hold.
  func build(name: String) -> Resource {
    var samples: [ObjectIdentifier: AudioFile] = [:]
    var conditions: [ControlRange] = []
    // By number, here and below: regions are large, and a copy of one counts many references.
    for number in entries.indices {
      let sample = entries[number].sample
      samples[ObjectIdentifier(sample)] = sample
      // What a note begins with is there when it begins.
      sample.stream?.pin(entries[number].settings.offset)
      conditions += entries[number].settings.allConditions
    }
    let (keys, rows, noteLists) = index()
    var lists = noteLists
    let controlLists = controlIndex(&lists)
    let image = UnsafeMutablePointer<InstrumentImage>.allocate(capacity: 1)
    let owner = Owner(image: image, samples: Array(samples.values))
    let regions = UnsafeMutablePointer<Region>.allocate(capacity: entries.count)
    var tables: [[Int: Double]: UnsafeMutablePointer<Float>] = [:]
    var firstCondition = 0
    var counter = 0
    for number in entries.indices {
      let curve = entries[number].settings.velocityCurve
      let gains = tables[curve.points] ?? Self.copy(curve.gains)
      if tables.updateValue(gains, forKey: curve.points) == nil { owner.velocityGains.append(gains) }
      (regions + number).initialize(
        to: entries[number].settings.region(
          sample: entries[number].sample, velocityGains: gains, firstCondition: firstCondition,
          counter: counter,
          tables: &owner.tables))
      firstCondition += entries[number].settings.allConditions.count
      if entries[number].settings.sequenceLength > 1 { counter += 1 }
    }
    var standing = [Float](repeating: 0, count: 128)
    for (control, value) in controls where standing.indices.contains(control) { standing[control] = value }
    image.initialize(
      to: InstrumentImage(
        regions: regions, regionCount: entries.count,
        programs: Self.copy(programs.map { ProgramNumber(bank: Int32($0.bank), program: Int32($0.program)) }),
        programCount: programs.count, keys: Self.copy(keys), rows: Self.copy(rows), lists: Self.copy(lists),
        controlLists: Self.copy(controlLists),
        hasControlStarts: entries.indices.contains { !entries[$0].settings.starts.isEmpty },
        conditions: Self.copy(conditions), controls: Self.copy(standing),
        curves: Self.copy(owner.tables.curveValues), lfos: Self.copy(owner.tables.allLfos),
        lfoWaves: Self.copy(owner.tables.lfoWaves), lfoSteps: Self.copy(owner.tables.lfoSteps),
        envelopes: Self.copy(owner.tables.allEnvelopes), flexible: Self.copy(owner.tables.allFlexible),
        points: Self.copy(owner.tables.points),
        switchLow: Int32(switchKeys?.lowerBound ?? 1), switchHigh: Int32(switchKeys?.upperBound ?? 0),
        switchDefault: Int32(switchDefault ?? -1), tuning: nil))
    let tableBytes =
      entries.count * MemoryLayout<Region>.stride + (keys.count + rows.count + lists.count) * 4
    let wholeBytes = owner.samples.reduce(tableBytes) { $0 + ($1.stream == nil ? $1.bytes : 0) }
    let streamed = owner.samples.filter { $0.stream != nil }
    return Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self), name: name,
      bytes: { streamed.reduce(wholeBytes) { $0 + $1.bytes } }, release: { owner.free() })
  }

  static func copy<T>(_ values: [T]) -> UnsafeMutablePointer<T> {
    let memory = UnsafeMutablePointer<T>.allocate(capacity: max(1, values.count))
    memory.initialize(from: values, count: values.count)
    return memory
  }

  /// Where a region sounds; regions themselves are too large to be looked at so often.
  private struct Extent {
    var keys: (low: Int, high: Int)
    var velocities: (low: Int, high: Int)
  }

  /// The regions for every program, trigger, key and velocity: for each key a row, for each velocity of
  /// a row a place in one array of lists, each list headed by its length. Equal rows and equal lists are
  /// stored once.
  private func index() -> (keys: [UInt32], rows: [UInt32], lists: [UInt32]) {
    var byKey = [[UInt32]](repeating: [], count: max(1, programs.count) * 256)
    let extents = entries.indices.map { number in
      Extent(
        keys: (max(0, entries[number].settings.lowKey), min(127, entries[number].settings.highKey)),
        velocities: (entries[number].settings.lowVelocity, entries[number].settings.highVelocity))
    }
    for number in entries.indices {
      let trigger = entries[number].settings.trigger
      let isRelease = trigger == .release || trigger == .releaseKey
      let first = entries[number].program * 256 + (isRelease ? 128 : 0)
      let (low, high) = extents[number].keys
      // No key at all (-1) is for regions that only a controller starts.
      guard low <= high else { continue }
      for key in low...high { byKey[first + key].append(UInt32(number)) }
    }
    var keys = [UInt32](repeating: 0, count: byKey.count)
    var rows = [UInt32](repeating: 0, count: 128)
    var lists: [UInt32] = [0]
    var places: [[UInt32]: UInt32] = [[]: 0]
    // Keys with the same candidates have the same row.
    var rowsByCandidates: [[UInt32]: UInt32] = [[]: 0]
    for key in byKey.indices {
      let candidates = byKey[key]
      if let known = rowsByCandidates[candidates] {
        keys[key] = known
        continue
      }
      keys[key] = UInt32(rows.count / 128)
      rowsByCandidates[candidates] = keys[key]
      rows += row(of: candidates, extents, &lists, &places)
    }
    return (keys, rows, lists)
  }

  /// For each program and controller the place of the list of regions that it starts.
  private func controlIndex(_ lists: inout [UInt32]) -> [UInt32] {
    var result = [UInt32](repeating: 0, count: max(1, programs.count) * 128)
    var regions: [Int: [UInt32]] = [:]
    for number in entries.indices {
      for range in entries[number].settings.starts {
        regions[entries[number].program * 128 + Int(range.control), default: []].append(UInt32(number))
      }
    }
    for (place, list) in regions {
      result[place] = UInt32(lists.count)
      lists.append(UInt32(list.count))
      lists.append(contentsOf: list)
    }
    return result
  }

  private func row(
    of candidates: [UInt32], _ extents: [Extent], _ lists: inout [UInt32], _ places: inout [[UInt32]: UInt32]
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
