import Realtime

/// Commands that are executed together, and what may be freed once they have been.
final class Transaction {
  enum Garbage {
    case node(EngineNode)
    case cable(EngineCable)
    case memory(KernelMemory)
  }

  let serial: Int
  /// Engine frame at which it is due; in the past: at once.
  let time: Int64
  var commands: [Command] = []
  var garbage: [Garbage] = []
  var plan: CompiledPlan?
  /// It was in the queue before its frame.
  var isAhead = false
  /// New cables that are whole only after a while.
  var opening: [EngineCable] = []
  /// Cables whose fades begin with it.
  var fading: [EngineCable] = []
  var starting: [EngineNode] = []
  var leaving: [EngineNode] = []
  /// The edit that it carries out, as a line; nil for what is nobody's edit.
  var edit: String?
  /// Frames of its longest fade.
  var fade = 0
  private var storage: UnsafeMutablePointer<Command>?
  private let executed: UnsafeMutablePointer<Int64>

  init(serial: Int, time: Int64) {
    self.serial = serial
    self.time = time
    executed = .allocate(capacity: 1)
    executed.initialize(to: 0)
  }

  /// When it was executed; valid once the renderer has counted it.
  var executedAt: Int64 { executed.pointee }

  /// The longest of the fades that it starts. `crossfade`: the longest of those of parameters, each of which may have to
  /// wait for one under way.
  func fadeFrames(crossfade: Int) -> Int {
    commands.reduce(2 * crossfade) { longest, command in
      switch command {
      case .ramp(_, _, _, _, let frames), .kernel(_, _, _, _, let frames): max(longest, Int(frames))
      case .gain(_, _, let frames, let wait):
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

  /// What goes into the ring.
  func seal() -> Envelope {
    if storage == nil {
      let place = UnsafeMutablePointer<Command>.allocate(capacity: max(commands.count, 1))
      place.initialize(from: commands, count: commands.count)
      storage = place
    }
    return Envelope(time: time, commands: storage!, count: commands.count, executedAt: executed)
  }

  /// Frees what it carried and what it made superfluous.
  func dispose() {
    storage?.deallocate()
    storage = nil
    executed.deallocate()
    for item in garbage {
      switch item {
      case .node(let node): node.free()
      case .cable(let cable): cable.free()
      case .memory(let memory): memory.deallocate()
      }
    }
    garbage = []
  }
}
