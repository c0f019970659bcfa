import Realtime

/// Commands that are executed together, and the memory to free after their execution.
final class Transaction {
  enum Garbage {
    case node(EngineNode)
    case cable(EngineCable)
    case memory(KernelMemory)
    case crossings([Crossing], CrossingPool)
    /// Frees what maps, or lengths of notes, no longer use.
    case other(() -> Void)
  }

  let serial: Int
  /// Engine frame of execution; the next block if it is in the past.
  let time: Int64
  var commands: [Command] = []
  var garbage: [Garbage] = []
  var plan: CompiledPlan?
  /// It was queued before its frame.
  var isAhead = false
  /// New cables whose signal is complete only after some frames.
  var opening: [EngineCable] = []
  /// Cables whose fades begin with it.
  var fading: [EngineCable] = []
  var starting: [EngineNode] = []
  var leaving: [EngineNode] = []
  /// The edit that it realises, as a line; nil if it realises none.
  var edit: String?
  /// Frames of its longest fade.
  var fade = 0
  /// The frame before which all was known when it was decided; nil: it was made for its own frame.
  var known: Int64?
  /// Other fades were under way then.
  var isAmidFades = false
  /// It depends on what was known.
  var hasDecided: Bool { plan != nil || !fading.isEmpty }
  /// See `Engine.stamp`.
  var stamp = 0
  /// See `Reconciler.Work.isLocal`.
  var isLocal = false
  /// Most commands of one that is executed within a block: each node that they reach looks at all of them.
  private static let mostLocal = 128
  private var storage: UnsafeMutablePointer<Command>?
  private let executed: UnsafeMutablePointer<Int64>

  init(serial: Int, time: Int64) {
    self.serial = serial
    self.time = time
    executed = .allocate(capacity: 1)
    executed.initialize(to: 0)
  }

  /// Engine frame of its execution; valid once the renderer has counted it.
  var executedAt: Int64 { executed.pointee }

  /// Length in frames of the longest fade that it starts. `crossfade`: the longest crossfade of a parameter, which may
  /// have to wait for one under way.
  func fadeFrames(crossfade: Int) -> Int {
    commands.reduce(2 * crossfade) { longest, command in
      switch command {
      case .ramp(_, _, _, _, let frames, _), .kernel(_, _, _, _, let frames): max(longest, Int(frames))
      case .gain(_, _, let frames, let wait, _):
        max(longest, Int(frames) + (wait > 0 ? Int(wait) + 63 : 0))
      default: longest
      }
    }
  }

  /// Changes its commands while no audio thread runs.
  func change(_ body: (inout Command) -> Void) {
    for index in commands.indices {
      body(&commands[index])
      storage?[index] = commands[index]
    }
  }

  /// The transaction in the form for the ring.
  func seal() -> SealedTransaction {
    if storage == nil {
      let place = UnsafeMutablePointer<Command>.allocate(capacity: max(commands.count, 1))
      place.initialize(from: commands, count: commands.count)
      storage = place
    }
    return SealedTransaction(
      time: time, commands: storage!, count: commands.count, executedAt: executed,
      isLocal: isLocal && commands.count <= Self.mostLocal && commands.allSatisfy(\.isLocal),
      isEvents: commands.allSatisfy(\.isEvent))
  }

  /// Frees its own storage and the memory that it made unused.
  func dispose() {
    storage?.deallocate()
    storage = nil
    executed.deallocate()
    for item in garbage {
      switch item {
      case .node(let node): node.free()
      case .cable(let cable): cable.free()
      case .memory(let memory): memory.deallocate()
      case .crossings(let list, let pool): list.forEach(pool.recycle)
      case .other(let free): free()
      }
    }
    garbage = []
  }
}
