import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// A plan that grows while helper threads still look at the previous one: each segment runs exactly once.
@Suite struct SegmentBoardTests {
  /// A step of the thread that publishes the segments of a block.
  private enum Move { case close, predecessors, count, undone, open }
  private static let order: [Move] = [.close, .predecessors, .count, .undone, .open]
  /// The order before boards were closed: the last word changed after the others.
  private static let oldOrder: [Move] = [.predecessors, .count, .undone, .open]

  /// Runs one interleaving: a block of `before` segments is done, one of `after` begins, and a helper looks
  /// for work meanwhile. `schedule` says whose turn it is. Returns how many segments run more than once, or
  /// not at all.
  private func faults(_ moves: [Move], from before: Int, to after: Int, _ schedule: [Bool]) -> Int {
    let board = SegmentBoard()
    defer { board.deallocate() }
    let first = board.close()
    board.setCount(before)
    board.setUndone(first)
    board.open(first)
    while let segment = board.claimNext() { board.finish(segment) }
    let isComplete = board.isComplete(first, before)
    #expect(isComplete)

    let number = first &+ (1 &<< 48)
    var runs = [Int](repeating: 0, count: SegmentBoard.capacity)
    var left = moves[...]
    func move() {
      switch left.popFirst() {
      case .close:
        let next = board.close()
        #expect(next == number)
      case .predecessors: for index in 0..<after { board.setPredecessors(0, of: index) }
      case .count: board.setCount(after)
      case .undone: board.setUndone(number)
      case .open: board.open(number)
      case nil: break
      }
    }
    var snapshot: SegmentBoard.Snapshot?
    var choice: Int?
    var step = 0
    func look() {
      switch step {
      case 0: snapshot = board.snapshot()
      case 1: choice = snapshot.flatMap { board.nextReady($0) }
      default:
        if let choice, let snapshot, board.claim(choice, snapshot) {
          runs[choice] += 1
          board.finish(choice)
        }
      }
      step += 1
    }
    for isHelper in schedule { if isHelper { look() } else { move() } }
    var rounds = 0
    while !board.isComplete(number, after), rounds < 100 {
      rounds += 1
      if let segment = board.claimNext() {
        runs[segment] += 1
        board.finish(segment)
      }
    }
    return runs.prefix(after).count { $0 != 1 }
  }

  /// Tries every interleaving of the moves and the three steps of a look.
  private func allFaults(_ moves: [Move]) -> Int {
    var count = 0
    for bits in 0..<(1 << (moves.count + 3)) where bits.nonzeroBitCount == 3 {
      let schedule = (0..<moves.count + 3).map { bits >> $0 & 1 == 1 }
      for before in 2...5 {
        for after in 2...9 { count += faults(moves, from: before, to: after, schedule) }
      }
    }
    return count
  }

  @Test func noOrderOfEventsRunsASegmentTwice() {
    #expect(allFaults(Self.order) == 0)
    #expect(allFaults(Self.oldOrder) > 0, "the check would see it")
  }

  /// Three threads on one board, as helpers and the driver's thread are. Counts segments that run more than
  /// once, not at all, or before their predecessors.
  private final class Rehearsal: @unchecked Sendable {
    let board = SegmentBoard()
    let closes: Bool
    let runs: UnsafeMutablePointer<Atomic<Int>>
    let isOver = Atomic<Bool>(false)
    let faults = Atomic<Int>(0)
    /// Work of a segment in non-atomic memory: written once, and read by its successors.
    var made = [Int](repeating: 0, count: SegmentBoard.capacity)
    var block = 0

    init(closes: Bool) {
      self.closes = closes
      runs = .allocate(capacity: SegmentBoard.capacity)
      for index in 0..<SegmentBoard.capacity { (runs + index).initialize(to: Atomic(0)) }
    }

    deinit {
      board.deallocate()
      runs.deallocate()
    }

    func run(_ segment: Int) {
      runs[segment].wrappingAdd(1, ordering: .relaxed)
      for _ in 0..<20 { pause() }
      board.finish(segment)
    }

    private func pause() { _ = isOver.load(ordering: .relaxed) }

    func help() {
      while !isOver.load(ordering: .relaxed) {
        if let segment = board.claimNext() { run(segment) }
      }
    }

    func conduct(growths: Int, seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      var number: UInt64 = 0
      for round in 0..<2 * growths {
        let isLarge = round % 2 == 1
        let count = Int.random(in: isLarge ? 12...SegmentBoard.capacity : 2...6, using: &random)
        for index in 0..<count { runs[index].store(0, ordering: .relaxed) }
        if closes { number = board.close() } else { number &+= 1 &<< 48 }
        for index in 0..<count {
          // Chains of four.
          board.setPredecessors(index % 4 == 0 ? 0 : 1 << UInt64(index - 1), of: index)
        }
        board.setCount(count)
        board.setUndone(number)
        board.open(number)
        while !board.isComplete(number, count) { if let segment = board.claimNext() { run(segment) } }
        for index in 0..<count where runs[index].load(ordering: .relaxed) != 1 {
          faults.wrappingAdd(1, ordering: .relaxed)
        }
      }
      isOver.store(true, ordering: .relaxed)
    }

    static func faults(closes: Bool, growths: Int, seed: UInt64) -> Int {
      let rehearsal = Rehearsal(closes: closes)
      DispatchQueue.concurrentPerform(iterations: 3) {
        if $0 == 0 { rehearsal.conduct(growths: growths, seed: seed) } else { rehearsal.help() }
      }
      return rehearsal.faults.load(ordering: .relaxed)
    }
  }

  @Test func helpersRunEachSegmentOfAPlanThatGrowsOnce() {
    let seed: UInt64 = 32
    let growths = 13_000
    let (faults, before) = (
      Rehearsal.faults(closes: true, growths: growths, seed: seed),
      Rehearsal.faults(closes: false, growths: growths, seed: seed)
    )
    print("seed \(seed): \(growths) growths: \(faults) double runs; \(before) without closing the board")
    #expect(faults == 0)
  }
}
