import Realtime
import Sampler

/// Facts about a loaded instrument, for views.
public struct InstrumentFacts: Sendable, Hashable {
  /// Number of regions.
  public var regions: Int
  /// Number of programs; an instrument without programs has one.
  public var programs: Int
  /// The lowest and the highest key that starts a region; nil: none does.
  public var keys: ClosedRange<Int>?

  /// Facts as given.
  public init(regions: Int, programs: Int, keys: ClosedRange<Int>?) {
    (self.regions, self.programs, self.keys) = (regions, programs, keys)
  }

  /// The facts of an instrument; nil: the resource is none. Worker.
  public init?(_ resource: Resource) {
    guard resource.header.pointee.type == InstrumentImage.type else { return nil }
    let image = UnsafeMutableRawPointer(resource.header).assumingMemoryBound(to: InstrumentImage.self)
    regions = image.pointee.regionCount
    programs = image.pointee.programCount
    let index = image.pointee
    let playable = (0..<128).filter { key in
      (0..<max(index.programCount, 1)).contains { program in
        let row = Int(index.keys[program * 256 + key])
        return (0..<128).contains { index.lists[Int(index.rows[row * 128 + $0])] > 0 }
      }
    }
    keys = playable.first.flatMap { first in playable.last.map { first...$0 } }
  }
}
