import Realtime

/// The sources of a sum of many cables as the latest plan has them. An edit writes again those that it touched, and copies
/// the others. All cables into the node lead to its first input. Worker.
final class WideSum {
  /// Fewest cables. Fewer are written sooner than looked up.
  static var leastCables: Int { 64 }

  /// All cables into the node, in summing order.
  private(set) var cables: [CableRow.Pointer] = []
  private var sources: [MixSource] = []
  /// It is to be written again: the cable is new, or it has changed, or what it reads has another address in each plan.
  private var isStale: [Bool] = []
  /// The cable brings its one channel to both channels of a stereo input.
  private var isSpread: [Bool] = []
  /// Channels for which the sources were written.
  private var width = 0

  private init(of row: NodeRow.Pointer, count: Int) {
    // With some room, as a list that grows is copied.
    let capacity = count + count / 8
    cables.reserveCapacity(capacity)
    sources.reserveCapacity(capacity)
    isStale.reserveCapacity(capacity)
    isSpread.reserveCapacity(capacity)
    var next = row.pointee.incoming
    while let cable = next {
      insert(cable, at: cables.count)
      next = cable.pointee.next
    }
  }

  /// The sum of a node's cables; nil: they are few, or some lead to another input.
  static func find(_ row: NodeRow.Pointer) -> WideSum? {
    var count = 0
    var next = row.pointee.incoming
    while let cable = next {
      if cable.pointee.input != 0 { return nil }
      count += 1
      next = cable.pointee.next
    }
    return count < leastCables ? nil : WideSum(of: row, count: count)
  }

  func insert(_ cable: CableRow.Pointer, at place: Int) {
    cables.insert(cable, at: place)
    sources.insert(Self.unwritten, at: place)
    isStale.insert(true, at: place)
    isSpread.insert(false, at: place)
  }

  func remove(at place: Int) {
    cables.remove(at: place)
    sources.remove(at: place)
    isStale.remove(at: place)
    isSpread.remove(at: place)
  }

  func touch(_ place: Int) { isStale[place] = true }

  /// The cables that are to be written again.
  var stale: [CableRow.Pointer] { cables.indices.filter { isStale[$0] }.map { cables[$0] } }

  /// The same, for an input with this many channels.
  func stale(channels: Int) -> [CableRow.Pointer] {
    var result: [CableRow.Pointer] = []
    for place in cables.indices where isStale[place] {
      isSpread[place] = cables[place].pointee.isSpread
      result.append(cables[place])
    }
    let width = isUniform(channels: channels) ? 1 : channels
    if width == self.width { return result }
    self.width = width
    for place in cables.indices { isStale[place] = true }
    return cables
  }

  /// See `Inlet.isUniform`.
  func isUniform(channels: Int) -> Bool { channels > 1 && isSpread.allSatisfy { $0 } }

  /// Copies the sources, once those of the stale cables have been written by `next`, in their order. It also tells whether what
  /// the cable reads has another address in each plan.
  func copy(
    to place: UnsafeMutablePointer<MixSource>, _ next: () -> (source: MixSource, isStale: Bool)
  ) {
    for index in cables.indices where isStale[index] { (sources[index], isStale[index]) = next() }
    place.initialize(from: sources, count: sources.count)
  }

  /// Stands for a source until a plan has it.
  private static var unwritten: MixSource {
    let nowhere: UnsafeMutablePointer<UInt8> = PieceMemory.none()
    return MixSource(
      base: UnsafePointer(PieceMemory.none()), silence: UnsafePointer(PieceMemory.none()),
      cable: UnsafeMutableRawPointer(nowhere).assumingMemoryBound(to: CableSlot.self),
      stride: 0, coefficient: 0, count: 0, isDelayed: false)
  }
}
