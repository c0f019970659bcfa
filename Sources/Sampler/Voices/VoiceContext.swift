import Realtime

/// The sums of a sampler's voices, by number: its stereo outputs, then the reverb and the chorus send. Each
/// has two sides.
package enum Sum {
  package static var outputs: Int { @_noLocks @inline(__always) get { 4 } }
  static var reverb: Int { @_noLocks @inline(__always) get { 4 } }
  static var chorus: Int { @_noLocks @inline(__always) get { 5 } }
  static var count: Int { @_noLocks @inline(__always) get { 6 } }
  /// Floats per side: a block, plus room for whole vectors.
  static var side: Int { @_noLocks @inline(__always) get { 80 } }

  /// Start of a sum's left side; the right side follows.
  @_noLocks @inline(__always) static func place(_ number: Int) -> Int { number &* 2 &* side }
}

/// Output memory and shared data of a sampler's voices, for one run of frames.
struct VoiceContext {
  /// Laid out as in `Sum`.
  var sums: UnsafeMutablePointer<Float>
  /// The reverb or chorus output is read.
  var isSending = false
  /// Signal rows and gain rows of both sides for the sixteen voices of a group, each of `FilterBank.stride`
  /// floats.
  var rows: UnsafeMutablePointer<Float>
  var rightRows: UnsafeMutablePointer<Float>
  var gainRows: UnsafeMutablePointer<Float>
  var rightGainRows: UnsafeMutablePointer<Float>
  /// Levels of the reverb send and of the chorus send.
  var reverbRows: UnsafeMutablePointer<Float>
  var chorusRows: UnsafeMutablePointer<Float>
  /// Numbers from 0 to 15, in memory, since the compiler handles known constants worse.
  var numbers: UnsafeMutablePointer<Float>
  /// Tables for interpolation by more than four points.
  var kernels: SincKernels.Tables
  /// Partial sums of sixteen frames; and a strip of successive frames for each side, near a loop's seam.
  var partials: UnsafeMutablePointer<Float>
  var strips: UnsafeMutablePointer<Float>
  /// Scratch of the slow path: 16 x 4 taps of each side, and 16 low halves of positions.
  var gathered: UnsafeMutablePointer<Float>
  var low: UnsafeMutablePointer<UInt32>
  var fade: UnsafeMutablePointer<Float>
  /// The envelope's values of sixteen frames.
  var levels: UnsafeMutablePointer<Float>
  /// The increments of sixteen frames, or the positions of a block's.
  var steps: UnsafeMutablePointer<Int64>
  /// Pitch factor of the sampler's tuning: one for all frames, or one per frame.
  var factor: Double = 1
  var factors: UnsafePointer<Double>?

  /// Floats of a strip.
  static var strip: Int { @_noLocks @inline(__always) get { 256 } }

  /// `open` completes it. Worker.
  init(_ arena: inout Arena) {
    func row() -> UnsafeMutablePointer<Float> { arena.take(Float.self, 16 * FilterBank.stride + 16) }
    sums = arena.take(Float.self, Sum.place(Sum.count))
    rows = row()
    rightRows = row()
    gainRows = row()
    rightGainRows = row()
    reverbRows = row()
    chorusRows = row()
    gathered = arena.take(Float.self, 128)
    low = arena.take(UInt32.self, 64)
    fade = arena.take(Float.self, 64)
    levels = arena.take(Float.self, 16)
    steps = arena.take(Int64.self, blockCapacity)
    numbers = arena.take(Float.self, 16)
    partials = arena.take(Float.self, SincTable.partials)
    strips = arena.take(Float.self, 2 * Self.strip)
    kernels = SincKernels.shared.tables
  }

  /// Writes the constants. Worker.
  func open() {
    for number in 0..<16 { numbers[number] = Float(number) }
  }

  /// The first and the last eight of `steps`. Audio thread.
  @_noLocks @inline(__always) func loadSteps() -> (SIMD8<Int64>, SIMD8<Int64>) {
    let raw = UnsafeRawPointer(steps)
    return (
      raw.loadUnaligned(as: SIMD8<Int64>.self), raw.loadUnaligned(fromByteOffset: 64, as: SIMD8<Int64>.self)
    )
  }

  @_noLocks @inline(__always) func setSteps(_ low: SIMD8<Int64>, _ high: SIMD8<Int64>) {
    let raw = UnsafeMutableRawPointer(steps)
    raw.storeBytes(of: low, as: SIMD8<Int64>.self)
    raw.storeBytes(of: high, toByteOffset: 64, as: SIMD8<Int64>.self)
  }
}
