import CVector
import Patch
import Realtime

/// Shifts pitch by a tap that moves through the past, as a tape's does, and is put back where the sound is alike.
///
/// That is the overlap-add of W. Verhelst and M. Roelands, "An overlap-add technique based on waveform similarity (WSOLA) for high
/// quality time-scale modification of speech", 1993, on a delay line. The tap reads `latency` frames ago in the mean, and up to 15
/// ms less or more. All channels are put back together, by their sum (`sumWeight`), so that what is between them stays.
public struct Pitchshift: Kernel {
  public static let description = KindDescription(
    name: "pitchshift", summary: "Shifts pitch without changing time, best for single voices; 32 ms late.",
    category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .number("pitch", "How much higher.", default: 0, range: -24...24, unit: .semitones),
      .percent("mix", "How much of it is shifted; the rest is as late.", default: 100),
    ], cost: .init(700, perChannel: 350))

  /// Positions in `description.parameters`.
  public static var pitch: Int { @_noLocks get { 0 } }
  public static var mix: Int { @_noLocks get { 1 } }

  private var channels: Int
  private var length: Int
  private var head = 0
  private var lines: UnsafeMutablePointer<Float>
  /// Delays of the tap and of the one that it takes over from, in frames.
  private var delay: Double
  private var leaving = 0.0
  /// Frames of a crossfade, and those that are over.
  private var fadeLength = 0
  private var faded = 0
  private var times: ShiftTimes
  private var entry = Entry()
  private var quiet = QuietCell()
  private var quietFrames = 0
  private var isAsleep = true

  public static func latency(_ configuration: KernelConfiguration) -> Int {
    ShiftTimes(configuration.rate).middle
  }

  private static func length(_ rate: Double) -> Int {
    let times = ShiftTimes(rate)
    var length = 256
    while length < times.middle + 2 * times.range + times.window + 160 { length *= 2 }
    return length
  }

  private struct Layout {
    let lines: UnsafeMutablePointer<Float>

    /// A line for each channel, and one for their sum.
    @_noLocks init(_ channels: Int, _ length: Int, _ arena: inout Arena) {
      lines = arena.take(Float.self, (channels &+ 1) &* (length &+ DelayLine.margin))
    }
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(configuration.inputs[0], length(configuration.rate), &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    (channels, length) = (configuration.inputs[0], Self.length(configuration.rate))
    times = ShiftTimes(configuration.rate)
    delay = Double(times.middle)
    var arena = Arena(memory)
    lines = Layout(channels, length, &arena).lines
  }

  /// The line of a channel; behind the last one that of their sum.
  @inline(__always) @_noLocks private func line(_ channel: Int) -> DelayLine {
    DelayLine(lines + channel &* (length &+ DelayLine.margin), length: length)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let (old, count, stride) = (lines, channels, length &+ DelayLine.margin)
    var arena = Arena(memory)
    channels = widening.inputs[0]
    lines = Layout(channels, length, &arena).lines
    var channel = 0
    while channel < channels {
      let from = widening.source(of: channel, from: count, to: channels)
      if from >= 0, from < count {
        copyMemory(lines + channel &* stride, old + from &* stride, 4 &* stride)
      }
      channel &+= 1
    }
    copyMemory(lines + channels &* stride, old + (count > 1 ? count : 0) &* stride, 4 &* stride)
  }

  /// Resamples the lines. Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    let pasts = (0...channels).map { channel in
      Past((1...length).map { line(channel)[head - $0] }, step: old / new)
    }
    length = Self.length(new)
    times = ShiftTimes(new)
    if let memory {
      head = 0
      var arena = Arena(memory)
      lines = Layout(channels, length, &arena).lines
    }
    for (channel, past) in pasts.enumerated() {
      for age in 1...length { line(channel).write(past.value(Double(age) * old / new), at: head - age) }
    }
    (delay, leaving) = (delay * new / old, leaving * new / old)
    fadeLength = 0
    entry.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    guard quietFrames > length else { return false }
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, rows) = (block.inputs[0], Rows(block))
    let entry = entry.follow(block, rows[6])
    let sleeps = isAsleep && input.isSilent
    if !sleeps {
      isAsleep = false
      write(block, rows, entry)
    }
    aim(block, rows)
    if sleeps { return .silent }
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { quietFrames = 0 }
    let mix = block.parameters[Self.mix]
    let (wholes, parts) = (Self.wholes(rows[0]), rows[1])
    let (oldWholes, oldParts, blend) = (Self.wholes(rows[2]), rows[3], rows[4])
    var channel = 0
    while channel < channels {
      let (line, to) = (line(channel), block.outputs[0][channel])
      var frame = 0
      while frame < block.frames {
        let position = head &+ frame
        var y = line.taps(position, wholes + frame, parts + frame, rows[7])
        let b = blend.vector(frame)
        if sostenuto_has_below(b, 1) {
          y = line.taps(position, oldWholes + frame, oldParts + frame, rows[7]) * (1 - b) + y * b
        }
        let m = limited(mix.vector(0, frame) * 0.01, 0, 1)
        to.store(line.vector(position &- times.middle) * (1 - m) + y * m + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    head = (head &+ block.frames) & (length &- 1)
    return .sounding
  }

  @inline(__always) private static func wholes(_ row: UnsafeMutablePointer<Float>) -> UnsafeMutablePointer<
    Int32
  > {
    UnsafeMutableRawPointer(row).assumingMemoryBound(to: Int32.self)
  }

  /// Writes the block to the lines.
  @_noLocks private mutating func write(_ block: Block, _ rows: Rows, _ entry: UnsafePointer<Float>?) {
    let (edge, sum) = (rows[5], line(channels))
    var frame = 0
    while frame < block.frames {
      let count = block.frames &- frame < 16 ? block.frames &- frame : 16
      var (total, channel) = (Frames(repeating: 0), 0)
      while channel < channels {
        var x = sostenuto_numbers(block.inputs[0][channel].vector(frame))
        if let entry { x *= entry.vector(frame) }
        line(channel).write(x, count, at: head &+ frame, edge)
        total = addProduct(total, x, sumWeight(of: channel))
        channel &+= 1
      }
      if channels > 1 { sum.write(total, count, at: head &+ frame, edge) }
      frame &+= 16
    }
  }

  /// Moves the tap by a block, and puts it back where it has gone too far.
  @_noLocks private mutating func aim(_ block: Block, _ rows: Rows) {
    let pitch = block.parameters[Self.pitch]
    var frame = 0
    let ratios = rows[4]
    while frame < block.frames {
      let octaves = limited(pitch.vector(0, frame) * (1 / 12), -2, 2)
      ratios.store(sostenuto_powers_of_two(octaves), frame)
      frame &+= 16
    }
    let (wholes, parts) = (Self.wholes(rows[0]), rows[1])
    let (oldWholes, oldParts) = (Self.wholes(rows[2]), rows[3])
    let middle = Double(times.middle)
    frame = 0
    while frame < block.frames {
      let step = 1 - Double(ratios[frame])
      if faded >= fadeLength { turn(step, middle, head &+ frame) }
      place(delay, wholes + frame, parts + frame)
      if faded < fadeLength {
        place(leaving, oldWholes + frame, oldParts + frame)
        let t = Float(faded) / Float(fadeLength)
        ratios[frame] = t * t * (3 - 2 * t)
        faded &+= 1
      } else {
        // One that is not heard reads where the other one does.
        (oldWholes[frame], oldParts[frame]) = (wholes[frame], parts[frame])
        ratios[frame] = 1
      }
      delay += step
      leaving += step
      frame &+= 1
    }
    while frame & 15 != 0 {
      (wholes[frame], oldWholes[frame]) = (wholes[frame &- 1], oldWholes[frame &- 1])
      (parts[frame], oldParts[frame], ratios[frame]) = (0, 0, 1)
      frame &+= 1
    }
  }

  @inline(__always) @_noLocks private func place(
    _ delay: Double, _ whole: UnsafeMutablePointer<Int32>, _ part: UnsafeMutablePointer<Float>
  ) {
    let last = Double(length &- 100)
    let held = delay > 5 ? (delay < last ? delay : last) : 5
    whole.pointee = Int32(held)
    part.pointee = Float(held - Double(whole.pointee))
  }

  /// Begins a crossfade to another place where the tap is too far from the middle, or stands still elsewhere.
  @inline(__always) @_noLocks private mutating func turn(_ step: Double, _ middle: Double, _ position: Int) {
    let half = Double(times.range) * 0.5
    if step < 0, delay < middle - half {
      jump(step, position, 1)
    } else if step > 0, delay > middle + half {
      jump(step, position, -1)
    } else if step == 0, delay != middle {
      (leaving, delay) = (delay, middle)
      (faded, fadeLength) = (0, times.fade)
    }
  }

  @inline(never) @_noLocks private mutating func jump(_ step: Double, _ position: Int, _ sign: Int) {
    leaving = delay
    let far = likest(position &- Int(delay), sign)
    delay += far
    // Half of the time until the next jump at most.
    let time = far.magnitude / step.magnitude * 0.5
    faded = 0
    fadeLength = time < Double(times.fade) ? Int(time) &+ 1 : times.fade
  }

  /// By how many frames the delay changes, so that the sound before the new place is like that before the old one.
  @_noLocks private mutating func likest(_ place: Int, _ sign: Int) -> Double {
    let line = line(channels > 1 ? channels : 0)
    let start = place &- times.window
    var (squares, frame) = (Frames(repeating: 0), 0)
    while frame < times.window {
      let x = line.vector(start &+ frame)
      squares = addProduct(squares, x, x)
      frame &+= 16
    }
    let own = total(squares)
    var (best, highest) = (times.range, -Float.infinity)
    var lag = times.range
    while lag >= times.range &- times.search {
      let likeness = likeness(line, start, own, sign &* lag)
      if likeness > highest { (best, highest) = (lag, likeness) }
      lag &-= times.coarse
    }
    let middle = best
    lag = middle &- times.coarse
    while lag <= middle &+ times.coarse {
      let likeness = likeness(line, start, own, sign &* lag)
      if likeness > highest { (best, highest) = (lag, likeness) }
      lag &+= 1
    }
    let (a, c) = (
      likeness(line, start, own, sign &* (best &- 1)), likeness(line, start, own, sign &* (best &+ 1))
    )
    let bend = a - 2 * highest + c
    let shift = bend < 0 ? limited(0.5 * (a - c) / bend, -0.5, 0.5) : 0
    return Double(sign) * (Double(best) + Double(shift))
  }

  /// 2 sum(xy) / sum(x^2 + y^2) of two parts of the past, the second of them `lag` frames earlier.
  @_noLocks private mutating func likeness(_ line: DelayLine, _ start: Int, _ own: Float, _ lag: Int) -> Float
  {
    var (product, power) = (Frames(repeating: 0), Frames(repeating: 0))
    var frame = 0
    while frame < times.window {
      let (x, y) = (line.vector(start &+ frame), line.vector(start &- lag &+ frame))
      product = addProduct(product, x, y)
      power = addProduct(power, y, y)
      frame &+= 16
    }
    let all = own + total(power)
    return all > 1e-20 ? 2 * total(product) / all : 0
  }
}

/// Lengths in frames at a rate.
struct ShiftTimes: BitwiseCopyable {
  /// Delay of a tap in the middle: the latency.
  let middle: Int
  /// How far a tap goes before it is put back by about as much.
  let range: Int
  /// By how much less it may be put back.
  let search: Int
  /// Length that has to be alike: whole vectors.
  let window: Int
  let fade: Int
  /// Lags of the first search.
  let coarse: Int

  init(_ rate: Double) {
    middle = Int(0.032 * rate)
    range = Int(0.03 * rate)
    search = Int(0.02 * rate)
    window = (Int(0.016 * rate) / 16 + 1) * 16
    fade = Int(0.008 * rate)
    coarse = max(1, Int(rate / 6000))
  }
}
