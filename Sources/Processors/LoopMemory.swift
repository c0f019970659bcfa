import CVector
import Realtime

/// One channel of a looper.
struct LoopRow {
  /// The loop that is heard, and the same without the latest overdub.
  let loop, before: UnsafeMutablePointer<Float>
  /// The block's frames, with room for a vector behind them.
  let input, output: UnsafeMutablePointer<Float>
  /// The latest sound, and that before the recording began; later, while the loop goes to another place, what is to be added.
  let past: DelayLine
  let lead: UnsafeMutablePointer<Float>
}

/// Frames of a passage from one place of a loop to another, as long as a crossfade at most: how loud both places are in each, and
/// how much of what is there goes.
struct LoopPassage {
  let from, to, replaced: UnsafeMutablePointer<Float>
}

/// Memory of a looper. The two copies of the loop may change places.
///
/// The copy without the latest overdub is made piece by piece: before a piece is written to, and by and by.
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
  /// Number of the latest overdub. A piece that has it is in both copies.
  private var generation: Int32 = 0
  /// Frames of a piece.
  private static var piece: Int { @_noLocks get { 256 } }
  private var pieces: Int { @_noLocks get { capacity / Self.piece &+ 1 } }

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
    var rest = Arena(measuring: ())
    layOut(&rest)
    _ = arena.reserve(rest.bytes)
  }

  /// Memory that the channels share lies behind theirs.
  @discardableResult @inline(__always) @_noLocks private func layOut(
    _ arena: inout Arena
  ) -> (marks: UnsafeMutablePointer<Int32>, passage: LoopPassage) {
    (
      arena.take(Int32.self, pieces),
      LoopPassage(
        from: arena.take(Float.self, join &+ 32), to: arena.take(Float.self, join &+ 32),
        replaced: arena.take(Float.self, join &+ 32))
    )
  }

  private var marks: UnsafeMutablePointer<Int32> {
    @inline(__always) @_noLocks get {
      var arena = Arena(base + channels &* rowSize)
      return layOut(&arena).marks
    }
  }

  var passage: LoopPassage {
    @inline(__always) @_noLocks get {
      var arena = Arena(base + channels &* rowSize)
      return layOut(&arena).passage
    }
  }

  @discardableResult @inline(__always) @_noLocks private static func layOut(
    _ capacity: Int, _ pastLength: Int, _ join: Int, _ arena: inout Arena
  ) -> LoopRow {
    LoopRow(
      loop: arena.take(Float.self, capacity &+ 16), before: arena.take(Float.self, capacity &+ 16),
      input: arena.take(Float.self, 96), output: arena.take(Float.self, 96),
      past: DelayLine(arena.take(Float.self, pastLength &+ DelayLine.margin), length: pastLength),
      lead: arena.take(Float.self, join &+ 32))
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
        row.loop[first &+ frame] = row.loop[first &+ frame] * (1 - share) + row.lead[frame] * share
        frame &+= 1
      }
      channel &+= 1
    }
  }

  // MARK: The copy without the latest overdub

  /// From here on the other copy is to have what the loop has now.
  @_noLocks mutating func beginCopy() { generation &+= 1 }

  /// Copies the pieces of some frames that are not in the other copy yet.
  @_noLocks func copy(from first: Int, to end: Int) {
    guard end > first else { return }
    let marks = marks
    var piece = first / Self.piece
    let last = (end &- 1) / Self.piece
    while piece <= last {
      if piece < pieces, marks[piece] != generation {
        marks[piece] = generation
        let start = piece &* Self.piece
        let count = capacity &- start < Self.piece ? capacity &- start : Self.piece
        var channel = 0
        while channel < channels {
          let row = row(channel)
          copyMemory(row.before + start, row.loop + start, count &* 4)
          channel &+= 1
        }
      }
      piece &+= 1
    }
  }

  // MARK: Passages

  /// Writes what came in a passage of `count` frames. It began at two places of the loop, which may overlap.
  @_noLocks func add(_ count: Int, from first: Int, to second: Int, _ length: Int) {
    let passage = passage
    var place = 0
    while place < 2 &* count {
      let isFirst = place < count
      let frame = isFirst ? place : place &- count
      place &+= 1
      let at = ((isFirst ? first : second) &+ frame) % length
      // Frame of the passage in which the other place came here.
      let other = (at &- (isFirst ? second : first) &+ 2 &* length) % length
      let isShared = other < count
      if isShared, !isFirst { continue }
      let own = isFirst ? passage.from : passage.to
      var gone = passage.replaced[frame] * own[frame]
      if isShared { gone += passage.replaced[other] * passage.to[other] }
      copy(from: at, to: at &+ 1)
      var channel = 0
      while channel < channels {
        let row = row(channel)
        var sound = row.lead[frame] * own[frame]
        if isShared { sound += row.lead[other] * passage.to[other] }
        row.loop[at] = row.loop[at] * (1 - gone) + sound
        channel &+= 1
      }
    }
  }

  // MARK: Another rate

  mutating func retune(_ rate: Double) {
    self.rate = Float(rate)
  }

  /// Prepares the copies for another rate, whose filter would ring at a step. The one without the latest overdub becomes whole.
  /// `isAdded`: sound is being written at `place`, and what was added fades to nothing before it and from it on. Worker.
  func settle(at place: Int, _ length: Int, isAdded: Bool) {
    guard length > 0 else { return }
    copy(from: 0, to: length)
    for channel in 0..<channels {
      let row = row(channel)
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
    for piece in 0..<pieces { marks[piece] = generation }
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
