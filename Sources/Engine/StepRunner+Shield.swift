import Realtime
import Synchronization

// The blast shield and the meters: one look at what a node gave. Audio thread, all of it.

/// What no signal reaches that is meant: +100 dBFS. Frequencies travel on cables too, in Hz, and 20 kHz
/// is +86 dBFS. As a bit pattern, above which lie infinity and whatever is not a number.
private var blastLimit: UInt32 { @_noLocks get { 0x47C3_5000 } }
private var magnitudeMask: UInt32 { @_noLocks get { 0x7FFF_FFFF } }

extension StepRunner {
  /// Looks at what a node gave: for the meters, and whether it is fit to be passed on. Says whether the
  /// whole block is to count as silent.
  @_noLocks mutating func inspect(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    var slot = 0
    var port = 0
    while port < Int(step.pointee.outputCount) {
      let output = step.pointee.context.outputs[port]
      var channel = 0
      while channel < output.count {
        let peak = Self.peak(of: output[channel], frames)
        if peak > blastLimit { return mute(step, node) }
        if isMetering, slot < Int(node.pointee.peakCount) {
          if peak > node.pointee.peaks[slot].load(ordering: .relaxed) {
            node.pointee.peaks[slot].store(peak, ordering: .relaxed)
          }
          slot &+= 1
        }
        channel &+= 1
      }
      port &+= 1
    }
    return false
  }

  /// The largest magnitude, as a bit pattern: patterns of magnitudes are ordered as they are, and lie
  /// beyond infinity for what is not a number.
  @inline(__always) @_noLocks private static func peak(
    of samples: UnsafePointer<Float>, _ frames: Int
  ) -> UInt32 {
    let bytes = UnsafeRawPointer(samples)
    let mask = SIMD16<UInt32>(repeating: magnitudeMask)
    var lanes = SIMD16<UInt32>(repeating: 0)
    var frame = 0
    while frame &+ 16 <= frames {
      lanes = pointwiseMax(lanes, bytes.load(fromByteOffset: frame &* 4, as: SIMD16<UInt32>.self) & mask)
      frame &+= 16
    }
    var peak = lanes.max()
    while frame < frames {
      let size = samples[frame].bitPattern & magnitudeMask
      if size > peak { peak = size }
      frame &+= 1
    }
    return peak
  }

  /// Silences a node from the first unfit frame of any of its channels on, so that the split into blocks
  /// changes nothing. Its state may be spoilt: it is not run any more. Says whether that is the whole
  /// block.
  @_noLocks private mutating func mute(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    var first = frames
    var blast: UInt32 = 0
    var port = 0
    while port < Int(step.pointee.outputCount) {
      let output = step.pointee.context.outputs[port]
      var channel = 0
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
      var channel = 0
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

  /// A block of a muted node: silence; what is sent to it is lost.
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
