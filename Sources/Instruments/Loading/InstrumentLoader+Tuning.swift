import Realtime
import Sampler

extension InstrumentLoader {
  /// The same instrument with another tuning. It shares regions and samples with the base, which it keeps
  /// alive. Worker.
  public static func tuned(_ base: Resource, _ tuning: Tuning) -> Resource {
    guard base.header.pointee.type == InstrumentImage.type else { return base }
    let memory = TunedMemory(base, tuning)
    return Resource(
      header: UnsafeMutableRawPointer(memory.image).assumingMemoryBound(to: ResourceHeader.self),
      name: base.name, bytes: { memory.base.bytes }, release: { memory.free() })
  }
}

/// Memory of a tuned instrument besides its base.
private final class TunedMemory: @unchecked Sendable {
  let image: UnsafeMutablePointer<InstrumentImage>
  private let offsets: UnsafeMutablePointer<Float>
  let base: Resource

  init(_ base: Resource, _ tuning: Tuning) {
    self.base = base
    offsets = InstrumentImage.copy(tuning.offsets)
    image = .allocate(capacity: 1)
    image.initialize(
      to: UnsafeMutableRawPointer(base.header).assumingMemoryBound(to: InstrumentImage.self).pointee)
    image.pointee.header = ResourceHeader(type: InstrumentImage.type)
    image.pointee.tuning = UnsafePointer(offsets)
  }

  func free() {
    image.deallocate()
    offsets.deallocate()
  }
}
