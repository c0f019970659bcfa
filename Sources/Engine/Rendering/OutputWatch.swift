import Glibc
import Realtime
import Synchronization

/// Measures the driver's outputs on request. For each channel and each 64-frame cell of engine time it finds
/// the largest sample-to-sample difference and the peak above 5 kHz. It only reads: no bit of the sound
/// depends on it.
struct OutputWatch {
  /// Enables the measurement.
  let isOn: UnsafeMutablePointer<Atomic<Bool>>
  /// Cells, audio thread to worker; silent channels are left out.
  let cells = Ring(capacity: 16384, of: Cell.self)
  /// Cells lost because the ring was full.
  let dropped: UnsafeMutablePointer<Atomic<Int>>
  private let state: UnsafeMutablePointer<State>
  private let channels: UnsafeMutablePointer<Channel>

  /// Measurement of one channel in one cell.
  struct Cell: BitwiseCopyable {
    /// Engine time of its first frame.
    var time: Int64
    /// Driver channel.
    var channel: Int32
    /// Largest sample-to-sample difference, the step from the previous cell included; linear.
    var step: Float
    /// Peak above 5 kHz; linear.
    var residue: Float
  }

  private struct State: BitwiseCopyable {
    var filter: HighPass
    var isRunning = false
  }

  fileprivate struct Channel: BitwiseCopyable {
    var memory = HighPass.Memory()
    var isPresent = false
    var last: Float = 0
    var step: Float = 0
    var residue: Float = 0
    /// Frames until the filter has forgotten that the measurement began in mid-sound.
    var settling = 0
  }

  /// Worker.
  init(rate: Double) {
    isOn = .allocate(capacity: 1)
    isOn.initialize(to: Atomic(false))
    dropped = .allocate(capacity: 1)
    dropped.initialize(to: Atomic(0))
    state = .allocate(capacity: 1)
    state.initialize(to: State(filter: HighPass(rate: rate)))
    channels = .allocate(capacity: DriverChannels.capacity)
    channels.initialize(repeating: Channel(), count: DriverChannels.capacity)
  }

  /// Worker, once no audio thread runs.
  func deallocate() {
    cells.deallocate()
    isOn.deinitialize(count: 1)
    isOn.deallocate()
    dropped.deinitialize(count: 1)
    dropped.deallocate()
    state.deallocate()
    channels.deallocate()
  }

  /// Worker, while no audio thread runs.
  func setRate(_ rate: Double) { state.pointee = State(filter: HighPass(rate: rate)) }

  /// Call this for each block, after the plan has run. Audio thread.
  @_noLocks func measure(_ driver: DriverChannels, frames: Int, time: Int64) {
    guard isOn.pointee.load(ordering: .relaxed) else {
      if state.pointee.isRunning { state.pointee.isRunning = false }
      return
    }
    let begins = !state.pointee.isRunning
    state.pointee.isRunning = true
    let endsCell = (time &+ Int64(frames)) & 63 == 0
    var index = 0
    while index < DriverChannels.capacity {
      let channel = channels + index
      if let output = driver.outputs[index] {
        if begins { channel.pointee.begin(at: output[driver.offset], state.pointee.filter) }
        channel.pointee.isPresent = true
        channel.pointee.measure(output + driver.offset, frames, state.pointee.filter)
        if endsCell { finish(channel, Int32(truncatingIfNeeded: index), cell: time & ~63) }
      } else if channel.pointee.isPresent {
        // A channel that comes back begins after silence.
        channel.pointee = Channel()
      }
      index &+= 1
    }
  }

  @_noLocks private func finish(_ channel: UnsafeMutablePointer<Channel>, _ number: Int32, cell time: Int64) {
    // -180 dB: anything below is the filter's own noise.
    let isHeard = channel.pointee.step > 0 || channel.pointee.residue > 1e-9
    if isHeard, channel.pointee.settling <= 0 {
      var cell = Cell(
        time: time, channel: number, step: channel.pointee.step, residue: channel.pointee.residue)
      if !cells.push(&cell) {
        dropped.pointee.store(dropped.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      }
    }
    channel.pointee.step = 0
    channel.pointee.residue = 0
  }
}

extension OutputWatch.Channel {
  /// Starts in the steady state of a constant `sample`. Audio thread.
  @_noLocks fileprivate mutating func begin(at sample: Float, _ filter: HighPass) {
    self = OutputWatch.Channel()
    last = sample
    memory = filter.rest(at: Double(sample))
    settling = 192
  }

  /// Audio thread.
  @_noLocks fileprivate mutating func measure(
    _ samples: UnsafePointer<Float>, _ frames: Int, _ filter: HighPass
  ) {
    var frame = 0
    while frame < frames {
      var sample = samples[frame]
      // Limits to +120 dBFS. Also replaces NaN, which would stay in the filter for ever.
      if !(sample.magnitude < 1e6) { sample = 1e6 }
      let difference = (sample - last).magnitude
      if difference > step { step = difference }
      last = sample
      let above = Float(filter.process(Double(sample), &memory).magnitude)
      if above > residue { residue = above }
      frame &+= 1
    }
    if settling > 0 { settling &-= frames }
  }
}

/// High-pass above 5 kHz (or 0.4 of a rate below 12.5 kHz): an eighth-order Butterworth filter (S.
/// Butterworth, "On the theory of filter amplifiers", 1930), by the bilinear transform with prewarped corner.
///
/// At 48 kHz it attenuates by 3 dB at 5 kHz, 66 dB at 2 kHz and 114 dB at 1 kHz. A full-scale constant that
/// fades in 10 ms along a minimum-jerk curve leaves a residue of -132 dBFS (-65 along a straight line). A
/// jump leaves -7.5, since part of it lies below 5 kHz. The four second-order sections are the lanes of one
/// vector, each a frame behind the one before.
struct HighPass: BitwiseCopyable {
  private let gain: SIMD4<Double>
  private let a1: SIMD4<Double>
  private let a2: SIMD4<Double>

  struct Memory: BitwiseCopyable {
    var first = SIMD4<Double>(repeating: 0)
    var second = SIMD4<Double>(repeating: 0)
    /// Last output of each section.
    var output = SIMD4<Double>(repeating: 0)
  }

  /// Frames after which the step response has decayed below -120 dB, at 48 kHz; in proportion at other rates.
  static let tail = 128

  /// Worker.
  init(rate: Double) {
    let corner = min(5000, 0.4 * rate)
    let k = tan(.pi * corner / rate)
    var (gain, a1, a2) = (SIMD4<Double>(), SIMD4<Double>(), SIMD4<Double>())
    for section in 0..<4 {
      let damping = 2 * cos(.pi * Double(2 * section + 1) / 16)
      let scale = 1 / (1 + damping * k + k * k)
      gain[section] = scale
      a1[section] = 2 * (k * k - 1) * scale
      a2[section] = (1 - damping * k + k * k) * scale
    }
    (self.gain, self.a1, self.a2) = (gain, a1, a2)
  }

  /// State after a constant of this level. Audio thread.
  @_noLocks func rest(at level: Double) -> Memory {
    var memory = Memory()
    memory.first[0] = -gain[0] * level
    memory.second[0] = gain[0] * level
    return memory
  }

  /// Filters one sample. The output is three frames late. Audio thread.
  @inline(__always) @_noLocks func process(_ x: Double, _ memory: inout Memory) -> Double {
    let before = memory.output
    let input = gain * SIMD4(x, before.x, before.y, before.z)
    let output = input + memory.first
    memory.first = memory.second - (input + input) - a1 * output
    memory.second = input - a2 * output
    memory.output = output
    return output.w
  }
}
