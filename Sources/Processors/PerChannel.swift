import Realtime

/// State of each channel of the first input, in a kernel's memory. Its functions are checked for locks where they are used: as such,
/// generic ones may lock.
struct PerChannel<State: BitwiseCopyable>: BitwiseCopyable {
  let count: Int
  private let states: UnsafeMutablePointer<State>

  static func size(_ count: Int) -> Int { count * MemoryLayout<State>.stride }

  /// All channels begin with `start`. Audio thread.
  @inline(__always) init(_ count: Int, _ start: State, _ memory: UnsafeMutableRawPointer) {
    self.count = count
    states = memory.assumingMemoryBound(to: State.self)
    var channel = 0
    while channel < count {
      states[channel] = start
      channel &+= 1
    }
  }

  /// The same states in memory for more channels, of which new ones begin with `start`. Audio thread.
  @inline(__always) func widened(
    _ widening: Widening, _ start: State, _ memory: UnsafeMutableRawPointer
  ) -> Self {
    let wide = Self(widening.inputs[0], start, memory)
    var channel = 0
    while channel < wide.count {
      let from = widening.source(of: channel, from: count, to: wide.count)
      if from >= 0, from < count { wide.states[channel] = states[from] }
      channel &+= 1
    }
    return wide
  }

  @inline(__always) subscript(_ channel: Int) -> UnsafeMutablePointer<State> { states + channel }
}
