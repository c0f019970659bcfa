import Realtime

/// A plan and everything it points to. The worker frees it after the audio thread has switched to the next
/// one.
final class CompiledPlan {
  let serial: Int
  let plan: UnsafeMutablePointer<Plan>
  /// Its pieces, which other plans have too.
  let pieces: [PlanPiece]
  private let runs: UnsafeMutablePointer<StepRun>
  private let scratch: ParameterScratch
  var stepCount: Int { pieces.reduce(0) { $0 + $1.run.count } }
  /// Nodes in execution order.
  var nodes: [EngineNode] { pieces.flatMap { $0.nodes.map { $0.pointee.node.takeUnretainedValue() } } }
  /// Grouped by destination node.
  var cables: [EngineCable] { pieces.flatMap { $0.cables.map { $0.pointee.cable.takeUnretainedValue() } } }
  /// Latency in frames at each node's outputs, by node number; empty when none has any. Feedback cables and
  /// leaving cables do not count.
  private(set) lazy var latencies: [Int32: Int] = findLatencies()

  /// `predecessors`: of each segment. There is one segment, or one for each piece.
  init(serial: Int, _ pieces: [PlanPiece], predecessors: [UInt64], _ scratch: ParameterScratch) {
    self.serial = serial
    self.pieces = pieces
    self.scratch = scratch
    runs = .allocate(capacity: max(pieces.count, 1))
    for (index, piece) in pieces.enumerated() { (runs + index).initialize(to: piece.run) }
    let segments = UnsafeMutablePointer<Segment>.allocate(capacity: predecessors.count)
    for (index, bits) in predecessors.enumerated() {
      let isWhole = predecessors.count == 1
      (segments + index).initialize(
        to: Segment(
          runs: isWhole ? runs : runs + index, count: isWhole ? pieces.count : 1, predecessors: bits))
    }
    plan = .allocate(capacity: 1)
    plan.initialize(
      to: Plan(
        serial: serial, segments: segments, segmentCount: predecessors.count,
        parameterScratch: scratch.base, scratchSize: scratch.size))
  }

  deinit {
    plan.pointee.segments.deallocate()
    plan.deallocate()
    runs.deallocate()
  }
}

/// Scratch for the moving parameters of one node, for each thread. Nothing persists in it, so plans share it.
final class ParameterScratch {
  let base: UnsafeMutablePointer<Float>
  /// Floats for each thread.
  let size: Int

  init(size: Int, threads: Int) {
    self.size = size
    base = .zeroed(size * threads)
  }

  deinit { base.deallocate() }
}

extension CompiledPlan {
  private func findLatencies() -> [Int32: Int] {
    let nodes = nodes
    guard nodes.contains(where: { $0.latency > 0 }) else { return [:] }
    var result: [Int32: Int] = [:]
    var rest = cables[...]
    for node in nodes {
      var latest = 0
      while let cable = rest.first, cable.destination === node {
        rest.removeFirst()
        guard case .audio = cable.input, !cable.key.isFeedback, !cable.isLeaving else { continue }
        latest = max(latest, (result[cable.source.number] ?? 0) + Int(cable.key.delay))
      }
      result[node.number] = latest + Int(node.latency)
    }
    return result
  }
}

/// Allocates runs of channel buffers, and reclaims each after its last reader has run.
struct BufferAllocator {
  private(set) var size = 0
  /// Free lists. `last`: the run freed last, by channel count. `before`: for each run, by its first channel, the
  /// one freed before it. -1: none.
  private var last: [Int32] = []
  private var before: [Int32] = []

  mutating func allocate(_ count: Int) -> Int {
    guard count > 0 else { return 0 }
    if count < last.count, last[count] >= 0 {
      let run = Int(last[count])
      last[count] = before[run]
      return run
    }
    size += count
    return size - count
  }

  mutating func recycle(_ run: Int, _ count: Int) {
    guard count > 0 else { return }
    while last.count <= count { last.append(-1) }
    while before.count <= run { before.append(-1) }
    before[run] = last[count]
    last[count] = Int32(run)
  }
}
