import CVector
import Realtime

/// One channel of a looper.
struct LoopRow {
  /// The loop that is heard, and the same without the latest overdub.
  let loop, before: UnsafeMutablePointer<Float>
  /// The block's frames, with room for a vector behind them.
  let input, output: UnsafeMutablePointer<Float>
  /// The latest sound, and that before the recording began.
  let past: DelayLine
  let lead: UnsafeMutablePointer<Float>
}

/// Memory of a looper. The two copies of the loop may change places.
struct LoopMemory: BitwiseCopyable {
  private(set) var base: UnsafeMutableRawPointer
  private let channels: Int
  /// Longest loop, in frames.
  let capacity: Int
  private(set) var rate: Float
  /// Frames of a crossfade: 10 ms.
  private(set) var join: Int
  private let pastLength: Int
  private let rowSize: Int
  private var isSwapped = false
  private var head = 0

  init(_ channels: Int, _ seconds: Float, _ rate: Double, _ arena: inout Arena) {
    self.channels = channels
    self.rate = Float(rate)
    join = Int(rate * 0.01)
    capacity = max(Int(Double(seconds) * rate), 4 * join)
    var length = 128
    while length < join + 80 { length *= 2 }
    pastLength = length
    var row = Arena(measuring: ())
    Self.layOut(capacity, pastLength, join, &row)
    rowSize = row.bytes
    base = arena.reserve(channels * rowSize)
  }

  @discardableResult @inline(__always) @_noLocks private static func layOut(
    _ capacity: Int, _ pastLength: Int, _ join: Int, _ arena: inout Arena
  ) -> LoopRow {
    LoopRow(
      loop: arena.take(Float.self, capacity &+ 16), before: arena.take(Float.self, capacity &+ 16),
      input: arena.take(Float.self, 96), output: arena.take(Float.self, 96),
      past: DelayLine(arena.take(Float.self, pastLength &+ DelayLine.margin), length: pastLength),
      lead: arena.take(Float.self, join &+ 16))
  }

  @inline(__always) @_noLocks func row(_ channel: Int) -> LoopRow {
    var arena = Arena(base + channel &* rowSize)
    let row = Self.layOut(capacity, pastLength, join, &arena)
    guard isSwapped else { return row }
    return LoopRow(
      loop: row.before, before: row.loop, input: row.input, output: row.output, past: row.past, lead: row.lead
    )
  }

  @_noLocks mutating func swapCopies() { isSwapped = !isSwapped }
  @_noLocks mutating func move(to memory: UnsafeMutableRawPointer) { base = memory }

  /// Takes a block's sound.
  @_noLocks mutating func take(_ input: InputPort) {
    var channel = 0
    while channel < channels {
      let (to, from) = (row(channel).input, input[channel])
      var frame = 0
      while frame < blockCapacity {
        to.store(sostenuto_numbers(from.vector(frame)), frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// Writes a block's result.
  @_noLocks mutating func give(_ output: OutputPort) {
    var channel = 0
    while channel < channels {
      multiplyWhole(row(channel).output, 1, to: output[channel])
      channel &+= 1
    }
  }

  /// Keeps the frames that have passed for a recording that begins soon.
  @_noLocks mutating func remember(_ start: Int, _ frames: Int, _ room: UnsafeMutablePointer<Float>) {
    var channel = 0
    while channel < channels {
      let row = row(channel)
      var frame = 0
      while frame < frames {
        let count = frames &- frame < 16 ? frames &- frame : 16
        row.past.write(row.input.vector(start &+ frame), count, at: head &+ frame, room)
        frame &+= 16
      }
      channel &+= 1
    }
    head = (head &+ frames) & (pastLength &- 1)
  }

  /// Keeps what came last.
  @_noLocks mutating func keepPast() {
    var channel = 0
    while channel < channels {
      let row = row(channel)
      var frame = 0
      while frame < join {
        row.lead.store(row.past.vector(head &- join &+ frame), frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// Lets the end of a loop lead to its beginning.
  @_noLocks mutating func joinEnd(_ length: Int) {
    let first = length &- join
    var channel = 0
    while channel < channels {
      let row = row(channel)
      var frame = 0
      while frame < join {
        let t = (Float(frame) + 0.5) / Float(join)
        let share = t * t * (3 - 2 * t)
        let y = row.loop[first &+ frame] * (1 - share) + row.lead[frame] * share
        row.loop[first &+ frame] = y
        row.before[first &+ frame] = y
        frame &+= 1
      }
      channel &+= 1
    }
  }

  // MARK: Another rate

  mutating func retune(_ rate: Double) {
    self.rate = Float(rate)
  }

  /// Prepares the copies for another rate, whose filter would ring at a step. The one without the latest overdub becomes whole:
  /// `missing` frames from `place` on are still those of the loop. `isAdded`: sound is being written at `place`, and what was
  /// added fades to nothing before it and from it on. Worker.
  func settle(at place: Int, _ length: Int, missing: Int, isAdded: Bool) {
    guard length > 0 else { return }
    for channel in 0..<channels {
      let row = row(channel)
      for frame in 0..<missing {
        let at = (place + frame) % length
        row.before[at] = row.loop[at]
      }
      let reach = isAdded ? min(join, length / 2) : 0
      for frame in -reach..<reach {
        let at = (place + frame + length) % length
        let t = abs(Float(frame) + 0.5) / Float(reach)
        row.loop[at] = row.before[at] + (row.loop[at] - row.before[at]) * (t * t * (3 - 2 * t))
      }
    }
  }

  /// The copies of each channel at another rate, as far as there is room. Worker.
  func resampled(_ length: Int, from old: Double, to new: Double) -> [[Float]] {
    guard length > 0 else { return [] }
    let count = Int((Double(length) * new / old).rounded())
    return (0..<channels).flatMap { channel in
      let row = row(channel)
      return [row.loop, row.before].map { copy in
        // The loop goes on at both ends.
        let around = 64
        let frames = (0..<length + 2 * around).map { copy[($0 - around % length + 2 * length) % length] }
        let past = Past(frames.reversed(), step: old / new)
        return (0..<count).map { frame in
          past.value(Double(frames.count - around) - Double(frame) * Double(length) / Double(count))
        }
      }
    }
  }

  /// Takes such copies, and returns their length. Worker.
  func take(_ copies: [[Float]]) -> Int {
    guard let length = copies.first.map({ min($0.count, capacity) }) else { return 0 }
    for channel in 0..<channels {
      let row = row(channel)
      for frame in 0..<length {
        row.loop[frame] = copies[2 * channel][frame]
        row.before[frame] = copies[2 * channel + 1][frame]
      }
    }
    return length
  }
}
