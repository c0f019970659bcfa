import CVector
import Patch
import Realtime

/// Common part of chorus and flanger: a delay line for each channel, whose taps a slow sine moves.
///
/// A tap is never less than `nearest` frames late, so that sixteen frames of it do not read each other.
struct SweptDelay: BitwiseCopyable {
  static let rate = ParameterDescription.number(
    "rate", "How often it goes up and down.", default: 0.5, range: 0.01...20, unit: .hertz)
  static let spread = ParameterDescription.percent(
    "spread", "How far channels are apart in the cycle; 100 %: two go against each other.", default: 50)
  static let feedback = ParameterDescription.number(
    "feedback", "How much of it goes through again; below 0 turned over.", default: 0, range: -95...95,
    unit: .percent)

  private static var nearest: Float { @_noLocks get { 20 } }
  /// Longest delay in seconds.
  private static var longest: Double { 0.06 }

  private(set) var channels: Int
  private let length: Int
  private var head = 0
  private var entry = Entry()
  private var sweep: Sweep
  private var lines: UnsafeMutablePointer<Float>
  /// Gains of the input in a block.
  private var entries: UnsafeMutablePointer<Float>
  /// Places of a tap, and room for its products.
  private var wholes: UnsafeMutablePointer<Int32>
  private var parts: UnsafeMutablePointer<Float>
  private var products: UnsafeMutablePointer<Float>
  private var quiet = QuietCell()
  private var quietFrames = 0
  private(set) var isAsleep = true

  /// Positions of the parameters that both kinds have.
  enum Position {
    static var rate: Int { @_noLocks get { 0 } }
    static var depth: Int { @_noLocks get { 1 } }
    static var mix: Int { @_noLocks get { 2 } }
    static var feedback: Int { @_noLocks get { 3 } }
    static var delay: Int { @_noLocks get { 4 } }
    static var spread: Int { @_noLocks get { 5 } }
  }

  /// Values that move a block's taps.
  struct Motion {
    let rate, depth, delay, spread, feedback, mix: ParameterStream
    let voices: Int

    /// Values of a kind that has the parameters in the order of `Position`.
    @inline(__always) @_noLocks init(_ parameters: UnsafePointer<ParameterStream>, voices: Int) {
      rate = parameters[Position.rate]
      depth = parameters[Position.depth]
      mix = parameters[Position.mix]
      feedback = parameters[Position.feedback]
      delay = parameters[Position.delay]
      spread = parameters[Position.spread]
      self.voices = voices
    }
  }

  private static func length(_ rate: Double) -> Int {
    var length = 256
    while Double(length) < longest * rate + 128 { length *= 2 }
    return length
  }

  static func memorySize(_ channels: Int, rate: Double) -> Int {
    Arena.bytes { SweptDelay(channels, length: length(rate), &$0) }
  }

  /// Worker.
  init(_ channels: Int, rate: Double, _ memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    self.init(channels, length: Self.length(rate), &arena)
  }

  @_noLocks private init(_ channels: Int, length: Int, _ arena: inout Arena) {
    self.channels = channels
    self.length = length
    sweep = Sweep(&arena)
    entries = arena.take(Float.self, blockCapacity)
    wholes = arena.reserve(64).assumingMemoryBound(to: Int32.self)
    parts = arena.take(Float.self, 16)
    products = arena.take(Float.self, 128)
    lines = arena.take(Float.self, channels &* (length &+ DelayLine.margin))
  }

  @inline(__always) @_noLocks private func line(_ channel: Int) -> DelayLine {
    DelayLine(lines + channel &* (length &+ DelayLine.margin), length: length)
  }

  @_noLocks mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    var wide = SweptDelay(inputs, length: length, &arena)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      let size = length &+ DelayLine.margin
      if from >= 0 { copyMemory(wide.lines + channel &* size, lines + from &* size, size &* 4) }
      channel &+= 1
    }
    wide.sweep.go(on: sweep)
    (wide.head, wide.entry, wide.quiet, wide.quietFrames, wide.isAsleep) = (
      head, entry, quiet, quietFrames, isAsleep
    )
    self = wide
  }

  /// Resamples the lines to the new rate. Worker.
  mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    entry.stretch(by: new / old)
    let pasts = (0..<channels).map { channel in
      Past((1...length).map { line(channel)[head - $0] }, step: old / new)
    }
    if let memory {
      let sweep = self.sweep
      let (entry, quiet) = (self.entry, self.quiet)
      var other = SweptDelay(channels, rate: new, memory)
      other.sweep.go(on: sweep)
      (other.entry, other.quiet, other.isAsleep) = (entry, quiet, isAsleep)
      self = other
    }
    for (channel, past) in pasts.enumerated() {
      for age in 1...length { line(channel).write(past.value(Double(age) * old / new), at: head - age) }
    }
  }

  @_noLocks mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    guard quietFrames > length else { return false }
    isAsleep = true
    return true
  }

  @inline(__always) @_noLocks mutating func process(_ block: Block, _ motion: Motion) -> Activity {
    let input = block.inputs[0]
    let entry = entry.follow(block, entries)
    sweep.begin(motion.rate, block)
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    var hasFaded = input.isSilent
    var channel = 0
    while channel < channels {
      let line = line(channel)
      render(block, motion, channel, line, entry)
      if hasFaded { hasFaded = line.isFaded(head, block.frames) }
      channel &+= 1
    }
    quiet.update(block, silent: hasFaded)
    if !hasFaded { quietFrames = 0 }
    head = (head &+ block.frames) & (length &- 1)
    if quiet.isOver(block) { drop() }
    return .sounding
  }

  @inline(never) @_noLocks private mutating func drop() {
    var channel = 0
    while channel < channels {
      line(channel).drop(before: head)
      channel &+= 1
    }
  }

  /// One channel.
  @_noLocks private mutating func render(
    _ block: Block, _ motion: Motion, _ channel: Int, _ line: DelayLine, _ entry: UnsafePointer<Float>?
  ) {
    let (input, output) = (block.inputs[0][channel], block.outputs[0][channel])
    let share = 1 / squareRoot(Float(motion.voices))
    let (part, apart) = (Sweep.part(channel), 1 / Float(motion.voices))
    var frame = 0
    while frame < block.frames {
      let position = head &+ frame
      let count = block.frames &- frame < 16 ? block.frames &- frame : 16
      let x = input.vector(frame)
      var tap = Frames(repeating: 0)
      var later = limited(motion.spread.vector(0, frame) * 0.01, 0, 1) * part
      var voice = 0
      while voice < motion.voices {
        let sine = sweep.sines(frame, later)
        later += apart
        let depth = atLeast(0, motion.depth.vector(0, frame))
        let seconds = motion.delay.vector(0, frame) + depth * (0.5 + 0.5 * sine)
        place(seconds * block.rate)
        tap += line.taps(position, wholes, parts, products)
        voice &+= 1
      }
      tap *= share
      var inflow = x
      if let entry { inflow *= entry.vector(frame) }
      let amount = limited(motion.feedback.vector(0, frame) * 0.01, -0.95, 0.95)
      line.write(inflow + amount * tap * share, count, at: position, products)
      let m = limited(motion.mix.vector(0, frame) * 0.01, 0, 1)
      output.store(x * (1 - m) + tap * m + 0, frame)
      frame &+= 16
    }
  }

  /// Sets the places of sixteen frames from delays in frames.
  @inline(__always) @_noLocks private func place(_ delays: Frames) {
    let (whole, part) = DelayLine.split(limited(delays, Self.nearest, Float(length &- 80)))
    UnsafeMutableRawPointer(wholes).storeBytes(of: whole, as: SIMD16<Int32>.self)
    parts.store(part, 0)
  }
}
