import CVector
import Realtime

/// Work of one channel's operators in a block.
struct FmWork: BitwiseCopyable {
  private let rows: UnsafeMutablePointer<Float>
  private let product: UnsafeMutablePointer<Float>
  private let moving: (MovingPhases, MovingPhases, MovingPhases, MovingPhases)
  /// Phases of the operators in the block, from zero on.
  private(set) var courses: (PhaseCourse, PhaseCourse, PhaseCourse, PhaseCourse)
  /// The courses are those of all channels.
  private(set) var isForAll = false
  /// Operators that are not silent, one bit each.
  var sounding = 0
  /// Sines of operator 4 where it has a feedback.
  var fourth: UnsafePointer<Float>?

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    rows = room.take(Float.self, 8 &* blockCapacity)
    product = room.take(Float.self, blockCapacity)
    moving = (MovingPhases(&room), MovingPhases(&room), MovingPhases(&room), MovingPhases(&room))
    let none = PhaseCourse(0, 0, 0)
    courses = (none, none, none, none)
  }

  /// Phases of an operator of a channel.
  @inline(__always) @_noLocks static func course(
    _ block: Block, _ channel: Int, _ number: Int, _ room: MovingPhases,
    _ product: UnsafeMutablePointer<Float>
  ) -> PhaseCourse {
    let (freq, ratio) = (block.parameters[Fm.freq], block.parameters[Fm.ratio(number)])
    let scale = MovingPhases.scale(block.rate)
    if freq.isSteady, ratio.isSteady {
      return PhaseCourse(freq.value(channel) * ratio.value(channel), scale, block.frames)
    }
    var frame = 0
    while frame < block.frames {
      product.store(freq.vector(channel, frame) * ratio.vector(channel, frame), frame)
      frame &+= 16
    }
    return PhaseCourse(product, scale, block.frames, room)
  }

  /// An operator has one frequency in all channels.
  @inline(__always) @_noLocks static func isForAll(_ block: Block, _ number: Int) -> Bool {
    block.parameters[Fm.freq].elements == 1 && block.parameters[Fm.ratio(number)].elements == 1
  }

  /// Finds the courses of a channel's operators. Those that move alike are calculated once.
  @_noLocks mutating func findCourses(_ block: Block, _ channel: Int) {
    isForAll =
      Self.isForAll(block, 0) && Self.isForAll(block, 1) && Self.isForAll(block, 2)
      && Self.isForAll(block, 3)
    courses.0 = Self.course(block, channel, 0, moving.0, product)
    courses.1 =
      areAlike(block, channel, 1, 0) ? courses.0 : Self.course(block, channel, 1, moving.1, product)
    courses.2 =
      areAlike(block, channel, 2, 0)
      ? courses.0
      : areAlike(block, channel, 2, 1) ? courses.1 : Self.course(block, channel, 2, moving.2, product)
    courses.3 =
      areAlike(block, channel, 3, 0)
      ? courses.0
      : areAlike(block, channel, 3, 1)
        ? courses.1
        : areAlike(block, channel, 3, 2) ? courses.2 : Self.course(block, channel, 3, moving.3, product)
  }

  @inline(__always) @_noLocks private func areAlike(
    _ block: Block, _ channel: Int, _ one: Int, _ other: Int
  ) -> Bool {
    let (first, second) = (block.parameters[Fm.ratio(one)], block.parameters[Fm.ratio(other)])
    return first.isSteady && second.isSteady && first.value(channel) == second.value(channel)
  }

  @inline(__always) @_noLocks func phases(_ number: Int) -> UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(rows + number &* blockCapacity).assumingMemoryBound(to: Int32.self)
  }

  @inline(__always) @_noLocks func amplitudes(_ number: Int) -> UnsafeMutablePointer<Float> {
    rows + (4 &+ number) &* blockCapacity
  }

  @inline(__always) @_noLocks func phaseVector(_ number: Int, _ frame: Int) -> SIMD16<Int32> {
    UnsafeRawPointer(phases(number) + frame).loadUnaligned(as: SIMD16<Int32>.self)
  }

  /// Sixteen frames of an operator whose phases are moved by `turns`.
  @inline(__always) @_noLocks private func wave(_ number: Int, _ frame: Int, _ turns: Frames) -> Frames {
    Corners.sine(phaseVector(number, frame) &+ sostenuto_turns(turns)) * amplitudes(number).vector(frame)
  }

  /// Sixteen frames of what is heard. `targets`: of operators 4, 3 and 2 (`Fm.targets`).
  @inline(__always) @_noLocks func sum(_ targets: Int, _ frame: Int) -> Frames {
    var (one, two, three) = (Frames(repeating: 0), Frames(repeating: 0), Frames(repeating: 0))
    var heard = Frames(repeating: 0)
    if sounding & 8 != 0 {
      let y = (fourth?.vector(frame) ?? Corners.sine(phaseVector(3, frame))) * amplitudes(3).vector(frame)
      if targets & 1 != 0 { one += y }
      if targets & 2 != 0 { two += y }
      if targets & 4 != 0 { three += y }
      if targets & 8 != 0 { heard += y }
    }
    if sounding & 4 != 0 {
      let y = wave(2, frame, three)
      if targets & 0x10 != 0 { one += y }
      if targets & 0x20 != 0 { two += y }
      if targets & 0x80 != 0 { heard += y }
    }
    if sounding & 2 != 0 {
      let y = wave(1, frame, two)
      if targets & 0x100 != 0 { one += y }
      if targets & 0x800 != 0 { heard += y }
    }
    if sounding & 1 != 0 { heard += wave(0, frame, one) }
    return heard
  }
}
