import CVector
import Patch
import Realtime

/// The sound that a compressor or a gate goes by: its input, or what is connected to its `sidechain`.
struct Key: BitwiseCopyable {
  /// The port, the second input.
  static let port = PortDescription(
    "sidechain", .flexible,
    "Takes the input's place in what it goes by; its channels repeat where `in` has more.",
    role: .sidechain)

  private var own = Normalled()
  private var hasOwn = true
  private var fades = false

  @_noLocks init() {}

  /// Nothing changes while it is silent.
  var isSettled: Bool { @inline(__always) @_noLocks get { !own.isMoving } }

  /// Begins a block. `shares` is room for its frames, in use as long as the block.
  @inline(__always) @_noLocks mutating func follow(_ block: Block, _ shares: UnsafeMutablePointer<Float>) {
    own.follow(block.inputs[1].isConnected, block.rate)
    hasOwn = own.isHeard && !block.inputs[0].isSilent
    fades = own.isMoving
    if fades { own.fill(shares, frames: block.frames) }
  }

  /// True where nothing is heard in this block.
  @inline(__always) @_noLocks func isSilent(_ block: Block) -> Bool { !hasOwn && block.inputs[1].isSilent }

  /// The only channel that it goes by, as loud as it is; nil: there are more, or it fades.
  @inline(__always) @_noLocks func only(_ block: Block) -> UnsafePointer<Float>? {
    block.inputs[0].count == 1 ? only(block, 0) : nil
  }

  /// All that a channel by itself goes by, likewise.
  @inline(__always) @_noLocks func only(_ block: Block, _ channel: Int) -> UnsafePointer<Float>? {
    guard hasOwn, !fades, block.inputs[1].isSilent else { return nil }
    return block.inputs[0][channel]
  }

  /// Magnitudes of what one channel goes by, sixteen frames from `frame` on.
  @inline(__always) @_noLocks func heard(
    _ block: Block, _ channel: Int, _ frame: Int, _ shares: UnsafeMutablePointer<Float>
  ) -> Frames {
    let side = block.inputs[1]
    var own = Frames(repeating: 0)
    if hasOwn {
      own = magnitude(block.inputs[0][channel].vector(frame))
      if fades { own *= shares.vector(frame) }
    }
    guard !side.isSilent else { return own }
    return larger(own, magnitude(side[channel % side.count].vector(frame)))
  }

  /// The loudest of all channels, likewise.
  @inline(__always) @_noLocks func loudest(
    _ block: Block, _ frame: Int, _ shares: UnsafeMutablePointer<Float>
  ) -> Frames {
    let (input, side) = (block.inputs[0], block.inputs[1])
    var most = Frames(repeating: 0)
    if hasOwn {
      var channel = 0
      while channel < input.count {
        most = larger(most, magnitude(input[channel].vector(frame)))
        channel &+= 1
      }
      if fades { most *= shares.vector(frame) }
    }
    guard !side.isSilent else { return most }
    var channel = 0
    while channel < side.count {
      most = larger(most, magnitude(side[channel].vector(frame)))
      channel &+= 1
    }
    return most
  }

  /// Writes what the channels of a group go by into the room's rows.
  @inline(__always) @_noLocks func write(
    _ block: Block, _ room: DynamicsRoom, _ first: Int, _ count: Int, isLinked: Bool
  ) {
    var channel = 0
    while channel < count {
      let row = room.row(channel)
      var frame = 0
      while frame < block.frames {
        row.store(
          isLinked ? loudest(block, frame, room.shares) : heard(block, first &+ channel, frame, room.shares),
          frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// The same time at another rate. Worker.
  mutating func stretch(by factor: Double) { own.stretch(by: factor) }

  /// The larger of two numbers that are not negative.
  @inline(__always) @_noLocks private func larger(_ a: Frames, _ b: Frames) -> Frames {
    let bits = sostenuto_larger(
      unsafeBitCast(a, to: SIMD16<UInt32>.self), unsafeBitCast(b, to: SIMD16<UInt32>.self))
    return unsafeBitCast(bits, to: Frames.self)
  }
}
