import Patch
import Realtime

/// Echoes, from one delay line per channel.
///
/// The line is fed the input plus `feedback` times the tap. The output is the input times 1 - mix plus the
/// tap times mix. A change of `time` crossfades from the old tap to the new one. `shift` moves the tap like a
/// tape head, also to places between frames (`Interpolator`).
///
/// An optional second output runs 64 frames ahead of the first, for feedback cables that are delayed by as
/// many. With it, a round through the cycle takes exactly `time`. This works for the tap if `time` is at
/// least 64 frames; the dry part of the mix cannot be known in advance.
///
/// A delay that is created while its input sounds fades the input into the line over 10 ms. An echo is then
/// as smooth as its source, and the engine's fade of the new node is over when the echo begins.
public struct Delay: Kernel {
  public static let description = KindDescription(
    name: "delay", summary: "Echoes.", category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      timeDescription,
      .percent("feedback", "How much of an echo is echoed.", default: 35),
      .percent("mix", "How much of it is echo.", default: 35),
      .number(
        "shift", "Added to the time; glides like a tape, between frames too.", default: 0,
        range: -1...1, unit: .seconds),
    ])

  private static var timeDescription: ParameterDescription {
    var time = ParameterDescription.number(
      "time", "Between echoes, in whole frames; a change is crossfaded, cables glide.", default: 0.25,
      range: 0.0001...4, unit: .seconds, smoothing: .crossfade)
    time.glide = "shift"
    return time
  }

  /// Positions in `description.parameters`.
  public static var time: Int { @_noLocks get { 0 } }
  public static var feedback: Int { @_noLocks get { 1 } }
  public static var mix: Int { @_noLocks get { 2 } }
  public static var shift: Int { @_noLocks get { 3 } }

  /// Lead of the second output, in frames.
  private static var lead: Int { @_noLocks get { blockCapacity } }

  public static var hasAheadOutput: Bool { true }

  /// A tap of this time can be read ahead of time.
  public static func compensatesFeedback(_ values: [[Float]], rate: Double) -> Bool {
    Int(values[time][0] * Float(rate) + 0.5) >= lead
  }

  /// The values of `entry` in a block where it moves, memory of both taps, and the lines.
  private var memory: UnsafeMutablePointer<Float>
  private var channels: Int
  /// Frames of a line, a power of two.
  private var length: Int
  /// Position of the next frame to write.
  private var head = 0
  /// Largest delay read in the present 64-frame cell, in frames. (Where the last block in it began depends on the
  /// period.)
  private var reach = 0
  private var quietFrames = 0
  private var quiet = QuietCell()
  private let hasAhead: Bool
  private var isAsleep = true
  /// Gain of the input into the line.
  private var entry = Entry()
  /// Frames of the longest line at this rate.
  private var longest: Int

  /// Frames from one line to the next.
  private var stride: Int { @inline(__always) @_noLocks get { length &+ DelayLine.margin } }
  private var lines: UnsafeMutablePointer<Float> {
    @inline(__always) @_noLocks get { memory + Self.linesPlace }
  }
  private static var newTapPlace: Int { @inline(__always) @_noLocks get { blockCapacity } }
  private static var oldTapPlace: Int { @inline(__always) @_noLocks get { newTapPlace &+ DelayTap.size } }
  private static var linesPlace: Int { @inline(__always) @_noLocks get { oldTapPlace &+ DelayTap.size } }

  // MARK: Memory

  /// Frames of the longest line: a power of two, at least five seconds.
  private static func longest(_ rate: Double) -> Int {
    var length = 1024
    while Double(length) < 5 * max(rate, 48_000) + 128 { length *= 2 }
    return length
  }

  /// Seconds beyond those of the tap: what is read around it and written before it, and the edge of `widen`; and by how
  /// many powers of two a line may be shorter than the longest.
  private static var spare: (seconds: Float, halvings: Int) { (0.0134, 8) }

  /// Frames of a line: the longest one, halved as long as it reaches the tap. By seconds, so that it is the same share
  /// at any rate. A tap that moves may go anywhere.
  private static func length(_ configuration: KernelConfiguration) -> Int {
    let longest = longest(configuration.rate)
    guard configuration.moving.isDisjoint(with: [time, shift]) else { return longest }
    let needed = configuration.value(time) + max(0, configuration.value(shift)) + spare.seconds
    var (halvings, seconds) = (0, Float(2.5))
    while halvings < spare.halvings, seconds >= needed {
      halvings += 1
      seconds /= 2
    }
    return longest >> halvings
  }

  public static var memoryFollowsValues: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    bytes(lines: configuration.inputs[0], of: length(configuration))
  }

  @_noLocks private static func bytes(lines count: Int, of length: Int) -> Int {
    (linesPlace &+ count &* (length &+ DelayLine.margin)) &* 4
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    self.memory = memory.assumingMemoryBound(to: Float.self)
    channels = configuration.inputs[0]
    hasAhead = configuration.outputs.count > 1
    length = Self.length(configuration)
    longest = Self.longest(configuration.rate)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    let (old, oldStride) = (DelayLine(lines, length: length), stride)
    self.memory = memory.assumingMemoryBound(to: Float.self)
    // Copies what the taps can reach: copying long lines would take too long here. After a change of time, the tap
    // fades in beyond that reach.
    let edge = 512
    let isWhole = reach &+ 64 &+ edge >= length || inputs &* length <= 1 << 16
    let needed = isWhole ? length : reach &+ 64 &+ edge
    let isLonger = grow(to: widening.bytes, lines: inputs)
    let isFading = !isWhole || isLonger
    var channel = 0
    while channel < inputs {
      let source = widening.source(of: channel, from: channels, to: inputs)
      if source >= 0 {
        let line = DelayLine(lines + channel &* stride, length: length)
        line.copy(old.beside(source &* oldStride), from: head &- needed, to: head)
        var frame = 0
        while isFading, frame < edge {
          let t = Float(frame) / Float(edge)
          let place = head &- needed &+ frame
          line.write(line[place] * (t * t * t * (10 - t * (15 - 6 * t))), at: place)
          frame &+= 1
        }
        line.closeRing()
      }
      channel &+= 1
    }
    channels = inputs
  }

  /// Takes the longest lines that fit into so many bytes; true if they become longer.
  @_noLocks private mutating func grow(to bytes: Int, lines count: Int) -> Bool {
    let before = length
    while length < longest, Self.bytes(lines: count, of: 2 &* length) <= bytes { length &*= 2 }
    return length > before
  }

  /// Resamples the lines to the new rate, so that echoes keep pitch and time.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    let (oldLines, oldLength, oldHead) = (lines, length, head)
    let share = longest / length
    longest = Self.longest(new)
    let pasts = (0..<channels).map { channel in
      let line = oldLines + channel * (oldLength + DelayLine.margin)
      return Past((1...oldLength).map { line[(oldHead - $0) & (oldLength - 1)] }, step: old / new)
    }
    if let memory {
      length = longest / share
      head = 0
      self.memory = memory.assumingMemoryBound(to: Float.self)
    }
    for (channel, past) in pasts.enumerated() {
      let line = lines + channel * stride
      for age in 1...length { line[(head - age) & (length - 1)] = past.value(Double(age) * old / new) }
      DelayLine(line, length: length).closeRing()
    }
    reach = min(Int((Double(reach) * new / old).rounded(.up)), length - 64)
    entry.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ 64 : 0
    // The whole line is inaudible, including the part that a longer time would reach.
    guard quietFrames > length &+ 64 else { return false }
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    let entry = entry.follow(block, memory)
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    let time = block.crossfades[Self.time]
    let shift = block.parameters[Self.shift]
    let new = frames(time.new, block.rate)
    let old = time.blend == nil ? new : frames(time.old, block.rate)
    let moves = !shift.isSteady || shift.value(0) != 0
    var taps = aim(block, old, new, moves)
    let farthest = taps.new.farthest > taps.old.farthest ? taps.new.farthest : taps.old.farthest
    reach = block.time & 63 != 0 && reach > farthest ? reach : farthest
    var isInaudible = input.isSilent
    var channel = 0
    while channel < channels {
      if let past = past(block, channel, entry, taps) {
        renderWhole(block, channel, past)
      } else {
        render(block, channel, entry, taps)
      }
      if isInaudible {
        let line = DelayLine(lines + channel &* stride, length: length)
        isInaudible = line.isFaded(head, block.frames)
      }
      channel &+= 1
    }
    if hasAhead, block.outputs[1].isRead {
      taps = aim(block, Self.ahead(old), Self.ahead(new), moves)
      channel = 0
      while channel < channels {
        giveAhead(block, channel, taps)
        channel &+= 1
      }
    }
    quiet.update(block, silent: isInaudible)
    if !isInaudible { quietFrames = 0 }
    head = (head &+ block.frames) & (length &- 1)
    if quiet.isOver(block) { drop() }
    return .sounding
  }

  @inline(never) @_noLocks private mutating func drop() {
    var channel = 0
    while channel < channels {
      DelayLine(lines + channel &* stride, length: length).drop(before: head)
      channel &+= 1
    }
  }

  /// Delay of the ahead-of-time tap, in frames.
  @_noLocks private static func ahead(_ frames: Int) -> Int { frames >= lead ? frames &- lead : frames }

  @inline(__always) @_noLocks private mutating func frames(_ seconds: Float, _ rate: Float) -> Int {
    Int(limited(seconds * rate + 0.5, 1, Float(length &- 64)))
  }

  private typealias Taps = (new: DelayTap, old: DelayTap)

  /// The taps of this block; the old one is that which a change of time fades out.
  @inline(__always) @_noLocks private mutating func aim(_ block: Block, _ old: Int, _ new: Int, _ moves: Bool)
    -> Taps
  {
    var taps = (
      new: DelayTap(memory + Self.newTapPlace, new), old: DelayTap(memory + Self.oldTapPlace, old)
    )
    guard moves else { return taps }
    let shift = block.parameters[Self.shift]
    taps.new.follow(shift, block.rate, block.frames, within: length)
    if block.crossfades[Self.time].blend != nil {
      taps.old.follow(shift, block.rate, block.frames, within: length)
    }
    return taps
  }

  /// Where a whole block of a channel's tap is, if it is at rest and reads nothing of this block.
  @inline(__always) @_noLocks private func past(
    _ block: Block, _ channel: Int, _ entry: UnsafePointer<Float>?, _ taps: Taps
  ) -> UnsafePointer<Float>? {
    guard block.frames == blockCapacity, head & (blockCapacity &- 1) == 0, entry == nil,
      block.crossfades[Self.time].blend == nil
    else { return nil }
    return taps.new.whole(DelayLine(lines + channel &* stride, length: length), head)
  }

  /// One channel whose past is at `past`, to the bits that `render` makes.
  @_noLocks private mutating func renderWhole(_ block: Block, _ channel: Int, _ past: UnsafePointer<Float>) {
    let (input, output) = (block.inputs[0][channel], block.outputs[0][channel])
    let (feedback, mix) = (block.parameters[Self.feedback], block.parameters[Self.mix])
    let line = DelayLine(lines + channel &* stride, length: length)
    let room = line.room(head)
    let isOpen = feedback.isSteady && feedback.value(channel) == 0
    var amount = limited(feedback.vector(channel, 0) * 0.01, -1, 1)
    var m = limited(mix.vector(channel, 0) * 0.01, 0, 1)
    if feedback.isSteady, mix.isSteady {
      if isOpen {
        Self.renderResting(input, past, room, output, isOpen: true, amount, m)
      } else {
        Self.renderResting(input, past, room, output, isOpen: false, amount, m)
      }
      return line.close(room.vector(0), at: head)
    }
    var frame = 0
    repeat {
      let (x, t) = (input.vector(frame), past.vector(frame))
      if !feedback.isSteady { amount = limited(feedback.vector(channel, frame) * 0.01, -1, 1) }
      if !mix.isSteady { m = limited(mix.vector(channel, frame) * 0.01, 0, 1) }
      let inflow = Self.flushed(isOpen ? x : x + amount * t)
      room.store(inflow, frame)
      if frame == 0 { line.close(inflow, at: head) }
      output.store(x * (1 - m) + t * m + 0, frame)
      frame &+= 16
    } while frame < blockCapacity
  }

  /// The same with constant feedback and mix: no branch within the loop.
  @inline(__always) @_noLocks private static func renderResting(
    _ input: UnsafePointer<Float>, _ past: UnsafePointer<Float>, _ room: UnsafeMutablePointer<Float>,
    _ output: UnsafeMutablePointer<Float>, isOpen: Bool, _ amount: Frames, _ m: Frames
  ) {
    let rest = 1 - m
    var frame = 0
    repeat {
      let (x, t) = (input.vector(frame), past.vector(frame))
      room.store(flushed(isOpen ? x : x + amount * t), frame)
      output.store(x * rest + t * m + 0, frame)
      frame &+= 16
    } while frame < blockCapacity
  }

  /// One channel, sixteen frames at a time where its taps do not read any of them.
  @_noLocks private mutating func render(
    _ block: Block, _ channel: Int, _ entry: UnsafePointer<Float>?, _ taps: Taps
  ) {
    let input = block.inputs[0][channel]
    let output = block.outputs[0][channel]
    let feedback = block.parameters[Self.feedback]
    let mix = block.parameters[Self.mix]
    let blend = block.crossfades[Self.time].blend
    let line = DelayLine(lines + channel &* stride, length: length)
    let (new, old) = taps
    // Without feedback the line does not wait for the tap.
    let isOpen = feedback.isSteady && feedback.value(channel) == 0
    var amount = limited(feedback.vector(channel, 0) * 0.01, -1, 1)
    var m = limited(mix.vector(channel, 0) * 0.01, 0, 1)
    var frame = 0
    while frame < block.frames {
      let position = head &+ frame
      let count = block.frames &- frame < 16 ? block.frames &- frame : 16
      let x = input.vector(frame)
      var inflow = x
      if let entry { inflow *= entry.vector(frame) }
      if !feedback.isSteady { amount = limited(feedback.vector(channel, frame) * 0.01, -1, 1) }
      if !mix.isSteady { m = limited(mix.vector(channel, frame) * 0.01, 0, 1) }
      let reaches = new.isBehind(frame, isOpen) && (blend == nil || old.isBehind(frame, isOpen))
      if reaches {
        if isOpen { line.write(Self.flushed(inflow), count, at: position, new.scratch) }
        var t = new.vector(line, position, frame)
        if let blend {
          let b = blend.vector(frame)
          t = old.vector(line, position, frame) * (1 - b) + t * b
        }
        if !isOpen { line.write(Self.flushed(inflow + amount * t), count, at: position, new.scratch) }
        output.store(x * (1 - m) + t * m + 0, frame)
      } else {
        renderFrames(block, channel, line, frame, count, entry, taps)
      }
      frame &+= 16
    }
  }

  /// The same frame by frame, for taps that read frames just written, to the same bits.
  @inline(never) @_noLocks private mutating func renderFrames(
    _ block: Block, _ channel: Int, _ line: DelayLine, _ first: Int, _ count: Int,
    _ entry: UnsafePointer<Float>?, _ taps: Taps
  ) {
    let input = block.inputs[0][channel]
    let output = block.outputs[0][channel]
    let feedback = block.parameters[Self.feedback]
    let mix = block.parameters[Self.mix]
    let blend = block.crossfades[Self.time].blend
    let (new, old) = taps
    var frame = first
    while frame < first &+ count {
      let x = input[frame]
      var t = new.value(line, head &+ frame, frame)
      if let blend {
        let b = blend[frame]
        t = old.value(line, head &+ frame, frame) * (1 - b) + t * b
      }
      let amount = limited(feedback.value(channel, at: frame) * 0.01, -1, 1)
      var w = (entry.map { $0[frame] * x } ?? x) + amount * t
      if w < 1e-15 && w > -1e-15 { w = 0 }
      line.write(w, at: head &+ frame)
      let m = limited(mix.value(channel, at: frame) * 0.01, 0, 1)
      output[frame] = x * (1 - m) + t * m + 0
      frame &+= 1
    }
  }

  /// Echoes end at -300 dB instead of in denormals.
  @inline(__always) @_noLocks private static func flushed(_ w: Frames) -> Frames {
    w.replacing(with: 0, where: magnitude(w) .< 1e-15)
  }

  /// Writes the second output of a channel whose line has been written. It may read frames of this block.
  @_noLocks private mutating func giveAhead(_ block: Block, _ channel: Int, _ taps: Taps) {
    let blend = block.crossfades[Self.time].blend
    let input = block.inputs[0][channel]
    let output = block.outputs[1][channel]
    let mix = block.parameters[Self.mix]
    let line = DelayLine(lines + channel &* stride, length: length)
    var frame = 0
    while frame < block.frames {
      var t = taps.new.written(line, head &+ frame, frame, block.frames)
      if let blend {
        let b = blend.vector(frame)
        t = taps.old.written(line, head &+ frame, frame, block.frames) * (1 - b) + t * b
      }
      let m = limited(mix.vector(channel, frame) * 0.01, 0, 1)
      output.store(input.vector(frame) * (1 - m) + t * m + 0, frame)
      frame &+= 16
    }
  }
}
