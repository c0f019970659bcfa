import Realtime

/// Memory of an image. Worker.
extension InstrumentImage {
  /// An image with copies of these tables, which `free` deallocates, and with regions that stay the caller's.
  package init(
    regions: UnsafeMutableBufferPointer<Region>, programs: [ProgramNumber], keys: [UInt32], rows: [UInt32],
    lists: [UInt32], controlLists: [UInt32], conditions: [ControlRange], controls: [Float], pedals: [Pedals],
    curves: [Float], lfos: [LfoPlan], lfoWaves: [LfoWave], lfoSteps: [Float],
    envelopes: [EnvelopeSettings], flexible: [FlexibleSettings], points: [FlexiblePoint]
  ) {
    self.regions = regions.baseAddress!
    regionCount = regions.count
    self.programs = Self.copy(programs)
    programCount = programs.count
    self.keys = Self.copy(keys)
    self.rows = Self.copy(rows)
    self.lists = Self.copy(lists)
    self.controlLists = Self.copy(controlLists)
    self.conditions = Self.copy(conditions)
    self.controls = Self.copy(controls)
    self.pedals = Self.copy(pedals)
    pedalCount = pedals.count
    self.curves = Self.copy(curves)
    self.lfos = Self.copy(lfos)
    self.lfoWaves = Self.copy(lfoWaves)
    self.lfoSteps = Self.copy(lfoSteps)
    self.envelopes = Self.copy(envelopes)
    self.flexible = Self.copy(flexible)
    self.points = Self.copy(points)
  }

  /// Deallocates the tables.
  package func free() {
    programs.deallocate()
    keys.deallocate()
    rows.deallocate()
    lists.deallocate()
    controlLists.deallocate()
    conditions.deallocate()
    controls.deallocate()
    pedals.deallocate()
    curves.deallocate()
    lfos.deallocate()
    lfoWaves.deallocate()
    lfoSteps.deallocate()
    envelopes.deallocate()
    flexible.deallocate()
    points.deallocate()
  }

  /// Memory with a copy of the values, for the caller to deallocate.
  @inlinable package static func copy<T>(_ values: [T]) -> UnsafeMutablePointer<T> {
    let memory = UnsafeMutablePointer<T>.allocate(capacity: max(1, values.count))
    memory.initialize(from: values, count: values.count)
    return memory
  }
}
