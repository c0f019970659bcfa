import CVector
import Patch
import Realtime

/// Records what comes, and plays it round and round, with more on top.
///
/// A loop's last 10 ms are crossfaded to what was heard before its beginning, so that its end leads to its beginning, whose
/// attack stays. There are two copies of it: what is heard, and what was before the latest overdub, brought up to date piece by
/// piece. Undo and redo fade from one to the other.
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
        "Length of a new loop in quarter notes of the tempo, as many as fit into `longest`, begun on one of them while the transport moves; 0: as the pedal says. Such a loop stays on the beat: each round begins in its frame, and a jump of the transport leads into the loop. A faster tempo cuts its end, a slower one leaves a silence behind it. 0 lets it go round freely.",
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

  let channels: Int
  private let seconds: Float
  var memory: LoopMemory
  var state = State.empty
  /// Frames of the loop, or those recorded so far; frames after which a recording ends (0: none yet); position.
  var length = 0
  var goal = 0
  var place = 0
  /// Frames of the other copy that are up to date, from the loop's first one on, without pieces that are so before their turn.
  var passed = 0
  var isUndone = false
  var hasOverdub = false
  /// Gains of the loop, of what is added to it, and of the copy without the latest overdub.
  var heard = Ramp(0)
  var added = Ramp(0)
  var other = Ramp(0)
  /// Beats that the loop keeps to.
  var beat = LoopBeat()
  /// Gain of the place that the loop passes to, and that place; gain of the loop before its beat.
  var cross = Ramp(0)
  var second = 0
  var rest = Ramp(1)
  /// Frames of a passage that wait to be written, and the places of the first one; sound is among them.
  var passageFrames = 0
  var passageStart = 0
  var passageGoal = 0
  var passageAdds = false
  /// The mode that was set since the last block, or `back`; negative: none.
  private var asked: Int
  /// The mode that was obeyed last, unless something else has come since, and what it found; negative: none.
  var obeyed = -1
  var found = State.empty
  var beats: Int
  /// A recording begins at this number of quarter notes.
  var start = 0.0
  /// Jumps of the transport when that was found.
  var waitJumps: Int32 = 0
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
  var runs: Bool {
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
      let asks = runs ? followBeat(block, frame) : Int.max
      let end = bound(block, frame, next < frames ? next : frames, asks)
      run(block, frame, end)
      frame = end
    }
    memory.give(block.outputs[0])
    return .sounding
  }

  /// Ends and begins what is due at a frame.
  @_noLocks private mutating func turn(_ block: Block, _ frame: Int) {
    if state == .recording {
      followRecording(block, frame)
      if length >= (goal > 0 ? goal : memory.capacity) { endRecording(block, frame) }
    }
    if state == .leaving, !heard.isMoving {
      (state, length, place) = (.empty, 0, 0)
      if recordsNext { record(block, frame) }
    }
    if isWaiting, state == .empty, due(block, frame) == frame { record(block, frame) }
  }

  /// The frame at which a recording that waits begins, if the transport comes there in this block; at once if it stands.
  @_noLocks private mutating func due(_ block: Block, _ frame: Int) -> Int? {
    let now = block.time &+ Int64(frame)
    guard let transport = block.transport?.pointee, transport.isRolling else { return frame }
    if waitJumps != transport.jumps { findStart(transport, now) }
    guard let found = transport.frame(ofQuarters: start, from: now) else { return nil }
    let distance = found &- block.time
    return distance < Int64(block.frames) ? Int(distance) : nil
  }

  /// The next frame, up to `end`, at which something ends or begins.
  @_noLocks private mutating func bound(_ block: Block, _ frame: Int, _ end: Int, _ asks: Int) -> Int {
    var left = least(end &- frame, asks)
    if state == .recording { left = least(left, (goal > 0 ? goal : memory.capacity) &- length) }
    if heard.isMoving { left = least(left, heard.framesLeft) }
    if other.isMoving, wantsOverdub { left = least(left, other.framesLeft) }
    if runs {
      if !beat.isOver { left = least(left, length &- place) }
      if rest.isMoving { left = least(left, rest.framesLeft) }
      if cross.isMoving { left = least(left, least(cross.framesLeft, length &- second)) }
      if wantsOverdub, passed < length {
        left = least(left, (length &- passed &+ Self.haste &- 1) / Self.haste)
      }
    }
    if isWaiting, state == .empty, let due = due(block, frame), due > frame {
      left = least(left, due &- frame)
    }
    return frame &+ (left > 1 ? left : 1)
  }

  @inline(__always) @_noLocks func least(_ a: Int, _ b: Int) -> Int { a < b ? a : b }

  /// Resamples the loop. Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    let adds = added.isMoving || added.target > 0
    if state != .recording {
      addPassage()
      self.memory.settle(at: place, length, isAdded: adds)
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
      second = min(Int(Double(second) * Double(length) / Double(before)), max(length - 1, 0))
      (passageStart, passageGoal) = (place, second)
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
    cross.stretch(by: new / old)
    rest.stretch(by: new / old)
    // The place may be a frame off.
    (beat.isKnown, beat.isOnTime) = (beat.isKnown && state == .recording, false)
  }
}
