import CVector
import Realtime
import Synchronization

// The blast shield and the meters: one pass over a node's output. Audio thread, all of it.

/// No legitimate signal exceeds this: +100 dBFS. Frequencies travel on cables too, in Hz, and 20 kHz is +86
/// dBFS. As a bit pattern; the patterns of infinity and NaN are greater.
private var blastLimit: UInt32 { @_noLocks get { 0x47C3_5000 } }
private var magnitudeMask: UInt32 { @_noLocks get { 0x7FFF_FFFF } }

extension StepRunner {
  /// Checks a node's output for validity, and measures its levels. Returns true when the whole block counts
  /// as silent.
  @_noLocks mutating func inspect(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    guard isMetering ? measure(step, node) : isAnyUnfit(step) else { return false }
    return mute(step, node)
  }

  @_noLocks private func isAnyUnfit(_ step: UnsafeMutablePointer<Step>) -> Bool {
    var port = 0
    while port < Int(step.pointee.outputCount) {
      let output = step.pointee.context.outputs[port]
      if output.isRead, isUnfit(output) { return true }
      port &+= 1
    }
    return false
  }

  /// True when a frame of an output that is read exceeds the limit. Whole vectors are tested, so stale samples past the
  /// block's end may fail the quick test; the exact test then decides.
  @inline(__always) @_noLocks func isUnfit(_ output: OutputPort) -> Bool {
    var bits = MagnitudeBits()
    bits.addWhole(output[0])
    var channel = 1
    while channel < output.count {
      bits.addWhole(output[channel])
      channel &+= 1
    }
    return bits.mayBeUnfit && isPartUnfit(output)
  }

  /// The same, frame by frame.
  @inline(never) @_noLocks func isPartUnfit(_ output: OutputPort) -> Bool {
    var magnitudes = Magnitudes()
    var channel = 0
    while channel < output.count {
      magnitudes.add(output[channel], frames)
      channel &+= 1
    }
    return magnitudes.areUnfit
  }

  /// The same, and updates the meter of each channel.
  @_noLocks private func measure(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    var isUnfit = false
    // One step of the indicator's exponential, which restarts after silence.
    let share = Float(frames) / (context.pointee.rate * ChannelMeter.time)
    let weight = share / (1 + share)
    let isFresh = node.pointee.isSilent.load(ordering: .relaxed)
    var slot = 0
    var port = 0
    while port < Int(step.pointee.outputCount) {
      let first = slot
      let output = step.pointee.context.outputs[port]
      var channel = output.isRead ? 0 : output.count
      // An output without readers has not been written.
      while slot < first &+ channel {
        if slot < Int(node.pointee.meterCount) {
          node.pointee.meters[slot].power.store(0, ordering: .relaxed)
        }
        slot &+= 1
      }
      while channel < output.count {
        var magnitudes = Magnitudes()
        magnitudes.add(output[channel], frames)
        if magnitudes.areUnfit {
          isUnfit = true
        } else if slot < Int(node.pointee.meterCount) {
          let meter = node.pointee.meters + slot
          let peak = magnitudes.largest
          if peak > meter.pointee.peak.load(ordering: .relaxed) {
            meter.pointee.peak.store(peak, ordering: .relaxed)
          }
          let old = isFresh ? 0 : Float(bitPattern: meter.pointee.power.load(ordering: .relaxed))
          let power = old + (Self.power(of: output[channel], frames) - old) * weight
          meter.pointee.power.store(power.bitPattern, ordering: .relaxed)
        }
        slot &+= 1
        channel &+= 1
      }
      port &+= 1
    }
    return isUnfit
  }

  /// Mean square of the samples.
  @inline(__always) @_noLocks private static func power(
    of samples: UnsafePointer<Float>, _ frames: Int
  ) -> Float {
    let bytes = UnsafeRawPointer(samples)
    var lanes = SIMD16<Float>(repeating: 0)
    var frame = 0
    while frame &+ 16 <= frames {
      let values = bytes.loadUnaligned(fromByteOffset: frame &* 4, as: SIMD16<Float>.self)
      lanes += values * values
      frame &+= 16
    }
    // Pairwise: `sum()` adds lane by lane, each step waiting for the one before.
    let eight = lanes.lowHalf + lanes.highHalf
    let four = eight.lowHalf + eight.highHalf
    let two = four.lowHalf + four.highHalf
    var sum = two[0] + two[1]
    while frame < frames {
      sum += samples[frame] * samples[frame]
      frame &+= 1
    }
    return sum / Float(frames)
  }

  /// Silences a node from the first invalid frame of any of its channels on, so that the split into blocks
  /// changes nothing. Its state may be corrupt, so it does not run again. Returns true if the whole block is
  /// silent.
  @_noLocks mutating func mute(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    var first = frames
    var blast: UInt32 = 0
    var port = 0
    while port < Int(step.pointee.outputCount) {
      let output = step.pointee.context.outputs[port]
      var channel = output.isRead ? 0 : output.count
      while channel < output.count {
        let frame = Self.firstBlast(in: output[channel], before: frames)
        if frame < first {
          first = frame
          blast = output[channel][frame].bitPattern & magnitudeMask
        }
        channel &+= 1
      }
      port &+= 1
    }
    port = 0
    while port < Int(step.pointee.outputCount) {
      let output = step.pointee.context.outputs[port]
      var channel = output.isRead ? 0 : output.count
      while channel < output.count {
        setMemory(output[channel] + first, 0, (frames &- first) &* 4)
        channel &+= 1
      }
      port &+= 1
    }
    node.pointee.blast.store(blast, ordering: .relaxed)
    node.pointee.isAsleep = true
    node.pointee.asleepSince.store(now &+ Int64(first), ordering: .relaxed)
    var record = TraceRecord(
      time: now &+ Int64(first), node: node.pointee.number, blast: Float(bitPattern: blast))
    if !trace.push(&record) {
      traceDropped.store(traceDropped.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
    return first == 0
  }

  /// A block of a muted node: silence. Events sent to it are lost.
  @_noLocks func stayMuted(_ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>) {
    var port = 0
    while port < Int(step.pointee.outputCount) {
      step.pointee.outputSilence[port] = true
      port &+= 1
    }
    node.pointee.voices.store(0, ordering: .relaxed)
    if step.pointee.takesEvents { node.pointee.events.pointee.removeAll() }
  }

  @_noLocks private static func firstBlast(in samples: UnsafePointer<Float>, before end: Int) -> Int {
    var frame = 0
    while frame < end, samples[frame].bitPattern & magnitudeMask <= blastLimit { frame &+= 1 }
    return frame
  }
}

/// Facts gathered from many magnitudes. Its methods are inlined, with the type known.
protocol MagnitudeSum {
  /// Adds the four vectors of a whole block.
  @_noLocks mutating func add(
    _ a: SIMD16<Float>, _ b: SIMD16<Float>, _ c: SIMD16<Float>, _ d: SIMD16<Float>)
}

/// Maximum of magnitudes, as bit patterns. These are ordered as the magnitudes are, with NaN above infinity.
struct Magnitudes: MagnitudeSum {
  private var lanes = SIMD16<UInt32>(repeating: 0)

  @inline(__always) @_noLocks init() {}

  @inline(__always) @_noLocks mutating func add(_ samples: UnsafePointer<Float>, _ frames: Int) {
    let bytes = UnsafeRawPointer(samples)
    let mask = SIMD16<UInt32>(repeating: magnitudeMask)
    var frame = 0
    while frame &+ 16 <= frames {
      let bits = bytes.loadUnaligned(fromByteOffset: frame &* 4, as: SIMD16<UInt32>.self)
      lanes = sostenuto_larger(lanes, bits & mask)
      frame &+= 16
    }
    while frame < frames {
      let size = samples[frame].bitPattern & magnitudeMask
      if size > lanes[0] { lanes[0] = size }
      frame &+= 1
    }
  }

  /// The same of the four vectors of a whole block, with two chains of maxima.
  @inline(__always) @_noLocks mutating func add(
    _ a: SIMD16<Float>, _ b: SIMD16<Float>, _ c: SIMD16<Float>, _ d: SIMD16<Float>
  ) {
    let front = sostenuto_larger(Self.magnitude(a), Self.magnitude(b))
    lanes = sostenuto_larger(
      lanes, sostenuto_larger(front, sostenuto_larger(Self.magnitude(c), Self.magnitude(d))))
  }

  @inline(__always) @_noLocks private static func magnitude(_ v: SIMD16<Float>) -> SIMD16<UInt32> {
    unsafeBitCast(v, to: SIMD16<UInt32>.self) & SIMD16(repeating: magnitudeMask)
  }

  /// True below -200 dB, what a kernel drops when it goes to sleep (`Kernel.isFinished`).
  var areInaudible: Bool {
    @inline(__always) @_noLocks get { largest < Float(1e-10).bitPattern }
  }

  var largest: UInt32 { @inline(__always) @_noLocks get { lanes.max() } }

  /// True when a magnitude exceeds the limit.
  var areUnfit: Bool {
    @inline(__always) @_noLocks get { sostenuto_exceed(lanes, blastLimit) }
  }
}

/// The bits that magnitudes have, all together: at least the largest of them, as a bit pattern. Sound below 2 is fit by these;
/// what they leave in doubt is looked at once more (`Magnitudes`). A block takes two instructions, its maximum eight.
struct MagnitudeBits: MagnitudeSum {
  private var lanes = SIMD16<UInt32>(repeating: 0)

  @inline(__always) @_noLocks init() {}

  /// Adds a whole block.
  @inline(__always) @_noLocks mutating func addWhole(_ samples: UnsafePointer<Float>) {
    add(samples.vector(0), samples.vector(16), samples.vector(32), samples.vector(48))
  }

  /// The same of its four vectors.
  @inline(__always) @_noLocks mutating func add(
    _ a: SIMD16<Float>, _ b: SIMD16<Float>, _ c: SIMD16<Float>, _ d: SIMD16<Float>
  ) {
    lanes = sostenuto_all_bits(lanes, a, b, c, d)
  }

  /// False: no magnitude exceeds the limit.
  var mayBeUnfit: Bool {
    @inline(__always) @_noLocks get { sostenuto_may_exceed(lanes, blastLimit) }
  }
}
