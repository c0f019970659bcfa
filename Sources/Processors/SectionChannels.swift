import CVector
import Realtime

/// The frames that a section filters at once, counted from the start of a group: up to 64, of which `lane` were filtered
/// before, and are again.
struct SectionSpan: BitwiseCopyable {
  let lane: Int
  let end: Int
  /// Memory for work within the block, behind a row for the gains of an `Entry`.
  let room: UnsafeMutableRawPointer

  @inline(__always) @_noLocks init(_ block: Block) {
    lane = Int(block.time & 15)
    end = lane &+ block.frames
    room = block.scratch + blockCapacity &* 4
  }

  /// Whole groups: nothing of the past, nothing left over.
  var isWhole: Bool { @inline(__always) @_noLocks get { (lane | end) & 15 == 0 } }
}

extension SectionSpan {
  /// Brings together the four groups of a channel's frames, with zeros behind the end. `row` has those of the first group that
  /// were filtered before, and keeps those of one that the block does not finish. Vectors are turned in registers: a load across
  /// stores that were just made would wait for them.
  @inline(__always) @_noLocks func gather(
    _ from: UnsafePointer<Float>, _ row: UnsafeMutablePointer<Float>, to x: UnsafeMutablePointer<Float>
  ) {
    let first = Int32(truncatingIfNeeded: lane)
    let behind = from + (16 &- lane)
    let new = sostenuto_frames_from(from.vector(0), (16 &- first) & 15)
    x.store(sostenuto_join(row.vector(0), new, first), 0)
    x.store(behind.vector(0), 16)
    x.store(behind.vector(16), 32)
    x.store(behind.vector(32), 48)
    guard end & 15 != 0 else { return }
    let unfinished = sostenuto_join(
      x.vector(end & ~15), Frames(repeating: 0), Int32(truncatingIfNeeded: end & 15))
    x.store(unfinished, end & ~15)
    row.store(unfinished, 0)
  }

  /// Gives the groups back as the block's frames.
  @inline(__always) @_noLocks func scatter(_ x: UnsafePointer<Float>, to: UnsafeMutablePointer<Float>) {
    to.store(sostenuto_frames_from(x.vector(0), Int32(truncatingIfNeeded: lane)), 0)
    let behind = to + (16 &- lane)
    behind.store(x.vector(16), 0)
    behind.store(x.vector(32), 16)
    behind.store(x.vector(48), 32)
  }
}

/// Channels of which each has a state of its own.
struct SectionChannels: BitwiseCopyable {
  /// nil: the outputs are filtered in their place.
  let input: InputPort?
  let output: OutputPort
  let first: Int
  let count: Int
  private let states: UnsafeMutablePointer<SIMD2<Float>>
  private let stride: Int

  @inline(__always) @_noLocks init(
    _ input: InputPort?, _ output: OutputPort, first: Int, count: Int,
    _ states: UnsafeMutablePointer<SIMD2<Float>>, stride: Int
  ) {
    self.input = input
    self.output = output
    self.first = first
    self.count = count
    self.states = states
    self.stride = stride
  }

  /// Channels count from 0 here.
  @inline(__always) @_noLocks func from(_ channel: Int) -> UnsafePointer<Float> {
    guard let input else { return UnsafePointer(output[first &+ channel]) }
    return input[first &+ channel]
  }

  @inline(__always) @_noLocks func to(_ channel: Int) -> UnsafeMutablePointer<Float> {
    output[first &+ channel]
  }

  @inline(__always) @_noLocks func state(_ channel: Int) -> UnsafeMutablePointer<SIMD2<Float>> {
    states + channel &* stride
  }
}

/// Inputs of unfinished groups: sixteen frames a channel.
struct SectionInputs: BitwiseCopyable {
  private let rows: UnsafeMutablePointer<Float>
  private let channels: Int

  @_noLocks init(_ channels: Int, _ arena: inout Arena) {
    rows = arena.take(Float.self, channels &* 16)
    self.channels = channels
  }

  /// The frames of a channel.
  @inline(__always) @_noLocks func row(_ channel: Int) -> UnsafeMutablePointer<Float> { rows + channel &* 16 }

  /// The frames before the first block were silence.
  @_noLocks func clear() { setMemory(rows, 0, channels &* 64) }
  @_noLocks func clear(_ channel: Int) { setMemory(rows + channel &* 16, 0, 64) }

  @_noLocks func copy(_ channel: Int, _ other: Self, _ from: Int) {
    copyMemory(rows + channel &* 16, other.rows + from &* 16, 64)
  }

  /// Writes what a span filters to the outputs: the frames of its first group that were filtered before, those of the
  /// block, by their gains if there are some, and zeros to the end of its last group.
  @_noLocks func write(
    _ input: InputPort, _ output: OutputPort, _ span: SectionSpan, _ gains: UnsafePointer<Float>?
  ) {
    var channel = 0
    while channel < channels {
      let to = output[channel]
      copyMemory(to, rows + channel &* 16, span.lane &* 4)
      copyMemory(to + span.lane, input[channel], (span.end &- span.lane) &* 4)
      if let gains {
        var frame = span.lane
        while frame < span.end {
          to[frame] *= gains[frame &- span.lane]
          frame &+= 1
        }
      }
      var behind = span.end
      while behind & 15 != 0 {
        to[behind] = 0
        behind &+= 1
      }
      if span.end & 15 != 0 { (rows + channel &* 16).store(to.vector(span.end & ~15), 0) }
      channel &+= 1
    }
  }

  /// Moves the outputs of a span to the start of the block.
  @_noLocks func align(_ output: OutputPort, _ span: SectionSpan) {
    guard span.lane > 0 else { return }
    var channel = 0
    while channel < channels {
      let to = output[channel]
      var frame = span.lane
      while frame < span.end {
        to[frame &- span.lane] = to[frame]
        frame &+= 1
      }
      channel &+= 1
    }
  }
}
