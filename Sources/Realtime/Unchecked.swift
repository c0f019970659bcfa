import Synchronization

// The escape hatches: functions called on the audio thread although the compiler cannot see that they neither
// lock nor allocate. Each stands here once, with the reason why it is safe.

// glibc's elementary functions: pure arithmetic on registers and constant tables. They may set errno, which
// is thread-local memory that exists since the thread began.
/// Sine; radians.
@_silgen_name("sinf") @_noLocks public func sine(_ x: Float) -> Float
/// Cosine; radians.
@_silgen_name("cosf") @_noLocks public func cosine(_ x: Float) -> Float
/// Tangent; radians.
@_silgen_name("tanf") @_noLocks public func tangent(_ x: Float) -> Float
/// e to the power of x.
@_silgen_name("expf") @_noLocks public func exponential(_ x: Float) -> Float
/// 2 to the power of x.
@_silgen_name("exp2f") @_noLocks public func exponential2(_ x: Float) -> Float
/// Natural logarithm.
@_silgen_name("logf") @_noLocks public func logarithm(_ x: Float) -> Float
/// Logarithm to base 2.
@_silgen_name("log2f") @_noLocks public func logarithm2(_ x: Float) -> Float
/// x to the power of y.
@_silgen_name("powf") @_noLocks public func power(_ x: Float, _ y: Float) -> Float
/// Hyperbolic tangent.
@_silgen_name("tanhf") @_noLocks public func hyperbolicTangent(_ x: Float) -> Float
/// Square root.
@_silgen_name("sqrtf") @_noLocks public func squareRoot(_ x: Float) -> Float
/// 2 to the power of x, double precision.
@_silgen_name("exp2") @_noLocks public func exponential2(_ x: Double) -> Double
/// Sine, double precision; radians.
@_silgen_name("sin") @_noLocks public func sine(_ x: Double) -> Double
/// Cosine, double precision; radians.
@_silgen_name("cos") @_noLocks public func cosine(_ x: Double) -> Double

// memcpy and memset on memory that the caller owns: no system call, no lock.
/// Copies bytes between areas that do not overlap.
@_silgen_name("memcpy") @_noLocks @discardableResult
public func copyMemory(
  _ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ bytes: Int
) -> UnsafeMutableRawPointer
/// Fills bytes with a value.
@_silgen_name("memset") @_noLocks @discardableResult
public func setMemory(
  _ to: UnsafeMutableRawPointer, _ byte: Int32, _ bytes: Int
) -> UnsafeMutableRawPointer

// A read and a write of the processor's floating-point control register.
/// Switches denormals off (flush to zero). Returns the state before.
@_silgen_name("sostenuto_flush_denormals") @_noLocks public func flushDenormals() -> UInt
/// Restores the denormal mode.
@_silgen_name("sostenuto_restore_denormals") @_noLocks public func restoreDenormals(_ state: UInt)

// RealtimeSanitizer's bookkeeping: a thread-local counter; empty in other builds.
/// Marks the thread as running real-time code.
@_silgen_name("sostenuto_rtsan_enter") @_noLocks public func enterRealtimeContext()
/// Ends the real-time code.
@_silgen_name("sostenuto_rtsan_exit") @_noLocks public func leaveRealtimeContext()

// The monotonic clock, which Linux reads in user space (vDSO).
/// Time of the monotonic clock.
@_silgen_name("sostenuto_nanoseconds") @_noLocks public func nanoseconds() -> Int64

// For the threads of a render team: a hint to the processor that the thread spins; a system call that lets
// threads of the same priority run and returns; one that wakes a thread and does not wait; one that returns
// the thread's number.
/// Hint to the processor in a spin loop.
@_silgen_name("sostenuto_pause") @_noLocks public func pauseProcessor()
/// Lets other threads of the same priority run.
@_silgen_name("sostenuto_yield") @_noLocks public func yieldProcessor()
/// Wakes a thread that waits on the semaphore.
@_silgen_name("sem_post") @_noLocks public func postSemaphore(_ semaphore: UnsafeMutableRawPointer) -> Int32
/// The thread's number in the kernel.
@_silgen_name("gettid") @_noLocks public func threadNumber() -> Int32

// Not used on the audio thread; declared here because this file has the C functions. They wait for a semaphore, set the
// calling thread's name for debuggers, touch its stack in advance, and prefetch a cache line. Worker.
/// Waits for a semaphore, so many nanoseconds at most; 0: it was signalled, otherwise an `errno`.
@_silgen_name("sostenuto_wait_for_semaphore")
func waitForSemaphore(_ semaphore: UnsafeMutableRawPointer, _ patience: Int64) -> Int32
/// Sets the thread's name for debuggers.
@_silgen_name("sostenuto_name_thread") public func nameThread(_ name: UnsafePointer<CChar>)
/// Touches the stack, so that its first use costs no page fault later.
@_silgen_name("sostenuto_touch_stack") public func touchStack()
/// Prefetches a cache line.
@_silgen_name("sostenuto_prefetch") public func prefetch(_ address: UnsafeRawPointer)

extension ResourceHeader {
  /// Changes the use count. Nodes on several threads may play one resource, so the counter is accessed as the
  /// atomic number whose layout it has. Nothing accesses it otherwise while the resource is played.
  @_noLocks public mutating func count(_ change: Int32) { Self.add(change, to: &uses) }

  /// Counts a read that came too late; atomic as well.
  @_noLocks public mutating func countUnderrun() { Self.add(1, to: &underruns) }

  @_noLocks private static func add(_ change: Int32, to counter: inout Int32) {
    withUnsafeMutablePointer(to: &counter) {
      _ = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Atomic<Int32>.self).pointee
        .wrappingAdd(change, ordering: .relaxed)
    }
  }
}
