import CVector
import Patch
import Realtime

/// Records what comes, and plays it round and round, with more on top.
///
/// A loop's last 10 ms are crossfaded to what was heard before its beginning, so that its end leads to its beginning, whose
/// attack stays. There are two copies of it: what is heard, and what was before the latest overdub, brought up to date frame by
/// frame as the loop passes. Undo and redo fade from one to the other.
public struct Looper: Kernel {
  public static let description = KindDescription(
    name: "looper", summary: "Records a loop, plays it, and records more on top of it.", category: .effect,
    inputs: [
      PortDescription("in", .parameter("channels")),
      PortDescription(
        "pedal", .channels(1),
        "Each rise above 0 goes on: record, play, overdub, play, overdub and so on; from stop: play.",
        role: .gate),
      PortDescription(
        "undo", .channels(1), "Each rise takes away the latest overdub, or brings it back.", role: .gate),
      PortDescription("clear", .channels(1), "A rise empties the looper.", role: .gate),
    ],
    outputs: [PortDescription("out", .parameter("channels"), "The sound and the loop.")],
    parameters: [
      modeDescription,
      .count(
        "beats",
        "Length of a new loop in quarter notes of the tempo, as many as fit into `longest`, begun on one of them while the transport moves; 0: as the pedal says.",
        default: 0, range: 0...256, smoothing: .kernel),
      .number(
        "keep", "How much of the loop an overdub leaves; 0 % replaces it.", default: 100, range: 0...100,
        unit: .percent),
      .gain("level", "Loudness of the loop."),
      .gain("through", "Loudness of the sound itself."),
      .number(
        "longest", "Longest loop: memory is held for it. Another value empties the looper.", default: 16,
        range: 1...600, unit: .seconds, smoothing: .structural),
      .count("channels", "How many; another number empties the looper.", default: 2),
    ], amplification: .possible, cost: .init(60, perChannel: 120),
    readings: [
      ReadingDescription("length", "Of the loop.", unit: .seconds),
      ReadingDescription("position", "In the loop.", unit: .percent),
    ], goesByTransport: true)

  private static var modeDescription: ParameterDescription {
    var mode = ParameterDescription(
      "mode",
      "What it is to do; the pedal may go on from there. Record: a new loop, after the present one has faded. Undo, redo: without and with the latest overdub. Undo of the edit takes back what it began, unless something else has come since.",
      form: .choice(["stop", "play", "record", "overdub", "clear", "undo", "redo"]), range: 0...6,
      default: .text("stop"), smoothing: .kernel)
    mode.isOrder = true
    return mode
  }

  /// Positions in `description.parameters`.
  public static var mode: Int { @_noLocks get { 0 } }
  public static var beats: Int { @_noLocks get { 1 } }
  public static var keep: Int { @_noLocks get { 2 } }
  public static var level: Int { @_noLocks get { 3 } }
  public static var through: Int { @_noLocks get { 4 } }
  public static var longest: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  enum State: UInt8 {
    case empty, recording, playing, overdubbing, stopped
    /// Fades before it is empty.
    case leaving
  }

  private let channels: Int
  private let seconds: Float
  var memory: LoopMemory
  var state = State.empty
  /// Frames of the loop, or those recorded so far; frames after which a recording ends (0: none yet); position.
  var length = 0
  var goal = 0
  var place = 0
  /// Frames since the latest overdub began, up to the length: the other copy is up to date there.
  var passed = 0
  var isUndone = false
  var hasOverdub = false
  /// Gains of the loop, of what is added to it, and of the copy without the latest overdub.
  var heard = Ramp(0)
  var added = Ramp(0)
  var other = Ramp(0)
  /// The mode that was set since the last block, or `back`; negative: none.
  private var asked: Int
  /// The mode that was obeyed last, unless something else has come since, and what it found; negative: none.
  var obeyed = -1
  var found = State.empty
  var beats: Int
  /// A recording begins at this number of quarter notes.
  var start = 0.0
  var isWaiting = false
  var recordsNext = false
  var wantsOverdub = false
  /// A recording is not played when it ends.
  var stopsAtEnd = false
  private var wasOpen = (pedal: false, undo: false, clear: false)
  private var quiet = QuietCell()
  private var quietFrames = 0
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes {
      LoopMemory(configuration.inputs[0], configuration.value(longest), configuration.rate, &$0)
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    (channels, seconds) = (configuration.inputs[0], configuration.value(Self.longest))
    var arena = Arena(memory)
    self.memory = LoopMemory(channels, seconds, configuration.rate, &arena)
    let mode = Int(configuration.value(Self.mode))
    asked = mode > 0 ? mode : -1
    beats = Int(configuration.value(Self.beats))
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if parameter == Self.mode { asked = value < 0 ? Self.back : Int(limited(value, 0, 6)) }
    if parameter == Self.beats { beats = Int(limited(value, 0, 256)) }
  }

  /// Its memory does not depend on the cables.
  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    // The engine frees the old memory, also where as many channels stay.
    copyMemory(memory, self.memory.base, widening.bytes)
    self.memory.move(to: memory)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    guard quietFrames > memory.join &+ blockCapacity, state == .empty || state == .stopped, !runs, !isWaiting,
      asked < 0
    else { return false }
    isAsleep = true
    return true
  }

  @_noLocks public func reading(_ position: Int) -> Float {
    position == 0
      ? Float(length) / memory.rate : length > 0 ? 100 * Float(place) / Float(length) : 0
  }

  // MARK: Rendering

  /// The loop is read in the next frames.
  private var runs: Bool {
    @inline(__always) @_noLocks get {
      length > 0 && state != .recording && state != .empty && (heard.isMoving || heard.target > 0)
    }
  }

  /// Takes back the mode that was obeyed last.
  static var back: Int { @inline(__always) @_noLocks get { 7 } }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (inputs, frames) = (block.inputs, block.frames)
    let (pedal, undoes) = (Gates.open(inputs[1], 0, frames), Gates.open(inputs[2], 0, frames))
    let clears = Gates.open(inputs[3], 0, frames)
    var rises = (
      pedal: Gates.rises(pedal, wasOpen.pedal), undo: Gates.rises(undoes, wasOpen.undo),
      clear: Gates.rises(clears, wasOpen.clear)
    )
    wasOpen = (
      Gates.last(pedal, frames), Gates.last(undoes, frames), Gates.last(clears, frames)
    )
    let input = inputs[0]
    if isAsleep, input.isSilent, asked < 0, rises.pedal | rises.undo | rises.clear == 0 { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { quietFrames = 0 }
    memory.take(input)
    var frame = 0
    while frame < frames {
      if asked >= 0 {
        obey(asked, block, frame)
        asked = -1
      }
      let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: frame)
      if (rises.clear | rises.undo | rises.pedal) & bit != 0 { obeyed = -1 }
      if rises.clear & bit != 0 { clear() }
      if rises.undo & bit != 0 { undo(!isUndone) }
      if rises.pedal & bit != 0 { pressPedal(block, frame) }
      (rises.clear, rises.undo, rises.pedal) = (rises.clear & ~bit, rises.undo & ~bit, rises.pedal & ~bit)
      turn(block, frame)
      if wantsOverdub, state == .playing { beginOverdub() }
      let next = (rises.clear | rises.undo | rises.pedal).trailingZeroBitCount
      let end = bound(block, frame, next < frames ? next : frames)
      run(block, frame, end)
      frame = end
    }
    memory.give(block.outputs[0])
    return .sounding
  }

  /// Ends and begins what is due at a frame.
  @_noLocks private mutating func turn(_ block: Block, _ frame: Int) {
    if state == .recording, length >= (goal > 0 ? goal : memory.capacity) { endRecording() }
    if state == .leaving, !heard.isMoving {
      (state, length, place) = (.empty, 0, 0)
      if recordsNext { record(block) }
    }
    if isWaiting, state == .empty, due(block, frame) == frame { record(block) }
  }

  /// The frame at which a recording that waits begins, if the transport comes there in this block; at once if it stands.
  @_noLocks private mutating func due(_ block: Block, _ frame: Int) -> Int? {
    let now = block.time &+ Int64(frame)
    guard let transport = block.transport?.pointee, transport.isRolling,
      let found = transport.frame(ofQuarters: start, from: now)
    else { return frame }
    let distance = found &- block.time
    return distance < Int64(block.frames) ? Int(distance) : nil
  }

  /// The next frame, up to `end`, at which something ends or begins.
  @_noLocks private mutating func bound(_ block: Block, _ frame: Int, _ end: Int) -> Int {
    var left = end &- frame
    if state == .recording { left = least(left, (goal > 0 ? goal : memory.capacity) &- length) }
    if heard.isMoving { left = least(left, heard.framesLeft) }
    if other.isMoving, wantsOverdub { left = least(left, other.framesLeft) }
    if runs {
      left = least(left, length &- place)
      if passed < length { left = least(left, length &- passed) }
    }
    if isWaiting, state == .empty, let due = due(block, frame), due > frame {
      left = least(left, due &- frame)
    }
    return frame &+ (left > 1 ? left : 1)
  }

  @inline(__always) @_noLocks private func least(_ a: Int, _ b: Int) -> Int { a < b ? a : b }

  /// The frames from one place to another, in which nothing begins.
  @_noLocks private mutating func run(_ block: Block, _ start: Int, _ end: Int) {
    let (frames, parameters, rows) = (end &- start, block.parameters, Rows(block))
    let (level, through) = (
      Self.row(parameters[Self.level], rows[0]), Self.row(parameters[Self.through], rows[1])
    )
    let keep = Self.row(parameters[Self.keep], rows[2])
    let runs = self.runs
    let adds = added.isMoving || added.target > 0
    let isNew = passed < length
    // Gains that rest are no rows.
    let (heardMoves, addedMoves, otherMoves) = (heard.isMoving, added.isMoving, other.isMoving)
    let (heardRest, addedRest, otherRest) = (heard.target, added.target, other.target)
    // The other copy is neither heard nor made: most of a loop's life, in which half of its memory need not be read.
    let isAlone = !isNew && !otherMoves && otherRest == 0
    if heardMoves { heard.fill(rows[3], frames: frames) }
    if addedMoves { added.fill(rows[4], frames: frames) }
    if otherMoves { other.fill(rows[5], frames: frames) }
    var channel = 0
    while channel < channels {
      let row = memory.row(channel)
      let (x, y) = (row.input + start, row.output + start)
      var frame = 0
      while frame < frames {
        let count = Int32(truncatingIfNeeded: frames &- frame < 16 ? frames &- frame : 16)
        let sound = x.vector(frame)
        var out = sound * through.vector(start &+ frame)
        if state == .recording {
          let to = length &+ frame
          row.loop.store(sound, to)
          row.before.store(sound, to)
        } else if runs {
          let at = place &+ frame
          let loop = row.loop.vector(at)
          var now = loop
          if !isAlone {
            var old = row.before.vector(at)
            if isNew {
              row.before.store(sostenuto_join(loop, old, count), at)
              old = loop
            }
            let share = otherMoves ? rows[5].vector(frame) : Frames(repeating: otherRest)
            now = loop * (1 - share) + old * share
          }
          let gain = heardMoves ? rows[3].vector(frame) : Frames(repeating: heardRest)
          // Plus zero, as the sum with the other copy has it: minus zero would be another bit.
          out += (now + 0) * (gain * level.vector(start &+ frame))
          if adds {
            let gain = addedMoves ? rows[4].vector(frame) : Frames(repeating: addedRest)
            let left = 1 - (1 - limited(keep.vector(start &+ frame) * 0.01, 0, 1)) * gain
            row.loop.store(sostenuto_join(loop * left + sound * gain, loop, count), at)
          }
        }
        y.store(out, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    // The playing loop fades out over the length of the past before anything else is recorded.
    if state != .playing, state != .overdubbing { memory.remember(start, frames, rows[6]) }
    if state == .recording {
      length &+= frames
    } else if runs {
      place = place &+ frames < length ? place &+ frames : 0
      passed = passed &+ frames < length ? passed &+ frames : length
    }
  }

  /// A parameter from any frame of the block on.
  @inline(__always) @_noLocks private static func row(
    _ stream: ParameterStream, _ room: UnsafeMutablePointer<Float>
  ) -> Readable { Readable(stream, 0, room) }

  /// Resamples the loop. Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    let adds = added.isMoving || added.target > 0
    if state != .recording {
      self.memory.settle(at: place, length, missing: length - passed, isAdded: adds)
    }
    let resampled = self.memory.resampled(length, from: old, to: new)
    if let memory {
      var arena = Arena(memory)
      self.memory = LoopMemory(channels, seconds, new, &arena)
    } else {
      self.memory.retune(new)
    }
    let before = length
    length = self.memory.take(resampled)
    if before > 0 {
      place = min(Int(Double(place) * Double(length) / Double(before)), max(length - 1, 0))
      passed = length
    }
    if goal > 0 { goal = max(Int((Double(goal) * new / old).rounded()), length) }
    heard.stretch(by: new / old)
    if adds {
      // The sound that comes now is another one.
      let goal = added.target
      added = Ramp(0)
      added.move(to: goal, over: self.memory.join)
    }
    other.stretch(by: new / old)
  }
}
