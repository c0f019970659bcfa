/// A tuning in memory, for kernels that only need pitches: the deviation of each of 128 keys from twelve-tone equal
/// temperament.
public struct TuningTable {
  /// Type in `ResourceHeader.type`.
  public static var type: Int32 { @_noLocks get { 3 } }

  /// Stands first, since the table is handed over as a resource.
  public var header: ResourceHeader
  /// Cents by key; NaN for silent keys.
  public let offsets: UnsafePointer<Float>

  /// A table as a resource with memory of its own. `offsets`: 128 cents. Worker.
  public static func resource(_ offsets: [Float], name: String) -> Resource {
    let memory = Memory(offsets)
    return Resource(
      header: UnsafeMutableRawPointer(memory.table).assumingMemoryBound(to: ResourceHeader.self), name: name,
      bytes: { MemoryLayout<Self>.size + 128 * MemoryLayout<Float>.size }, release: { memory.free() })
  }

  private final class Memory: @unchecked Sendable {
    let table: UnsafeMutablePointer<TuningTable>
    private let offsets: UnsafeMutablePointer<Float>

    init(_ values: [Float]) {
      offsets = .allocate(capacity: 128)
      for key in 0..<128 { offsets[key] = key < values.count ? values[key] : 0 }
      table = .allocate(capacity: 1)
      table.initialize(to: TuningTable(header: ResourceHeader(type: TuningTable.type), offsets: offsets))
    }

    func free() {
      table.deallocate()
      offsets.deallocate()
    }
  }
}
