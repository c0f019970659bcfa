import Synchronization

// The escape hatches: everything here is called on the audio thread although the compiler cannot
// see that it neither locks nor allocates. Each stands here once, with the reason why it is safe.

// glibc's elementary functions: pure arithmetic on registers and constant tables. They may set
// errno, which is thread-local memory that exists since the thread began.
@_silgen_name("sinf") @_noLocks public func sine(_ x: Float) -> Float
@_silgen_name("cosf") @_noLocks public func cosine(_ x: Float) -> Float
@_silgen_name("tanf") @_noLocks public func tangent(_ x: Float) -> Float
@_silgen_name("expf") @_noLocks public func exponential(_ x: Float) -> Float
@_silgen_name("exp2f") @_noLocks public func exponential2(_ x: Float) -> Float
@_silgen_name("logf") @_noLocks public func logarithm(_ x: Float) -> Float
@_silgen_name("log2f") @_noLocks public func logarithm2(_ x: Float) -> Float
@_silgen_name("powf") @_noLocks public func power(_ x: Float, _ y: Float) -> Float
@_silgen_name("tanhf") @_noLocks public func hyperbolicTangent(_ x: Float) -> Float
@_silgen_name("sqrtf") @_noLocks public func squareRoot(_ x: Float) -> Float
@_silgen_name("exp2") @_noLocks public func exponential2(_ x: Double) -> Double
@_silgen_name("sin") @_noLocks public func sine(_ x: Double) -> Double
@_silgen_name("cos") @_noLocks public func cosine(_ x: Double) -> Double

// memcpy and memset on memory that the caller owns: no system call, no lock.
@_silgen_name("memcpy") @_noLocks @discardableResult
public func copyMemory(
  _ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ bytes: Int
) -> UnsafeMutableRawPointer
@_silgen_name("memset") @_noLocks @discardableResult
public func setMemory(
  _ to: UnsafeMutableRawPointer, _ byte: Int32, _ bytes: Int
) -> UnsafeMutableRawPointer

// Vectors of integers: an instruction that the language has no name for.
@_silgen_name("sostenuto_pick_words") @_noLocks
public func pickWords(
  _ numbers: UnsafeRawPointer, _ places: UnsafePointer<Int64>, _ indices: UnsafeRawPointer,
  _ picked: UnsafeMutableRawPointer, _ count: Int)

// A read of one control register of the processor, and a write.
@_silgen_name("sostenuto_flush_denormals") @_noLocks public func flushDenormals() -> UInt
@_silgen_name("sostenuto_restore_denormals") @_noLocks public func restoreDenormals(_ state: UInt)

// RealtimeSanitizer's own bookkeeping: a thread-local counter; nothing at all in other builds.
@_silgen_name("sostenuto_rtsan_enter") @_noLocks public func enterRealtimeContext()
@_silgen_name("sostenuto_rtsan_exit") @_noLocks public func leaveRealtimeContext()

// For threads that render together. One instruction that tells the processor that the thread turns in a
// loop; a call of the system that lets others of the same priority run and returns; one that wakes a
// thread and does not wait; and one that says which thread this is.
@_silgen_name("sostenuto_pause") @_noLocks public func pauseProcessor()
@_silgen_name("sched_yield") @_noLocks public func yieldProcessor() -> Int32
@_silgen_name("sem_post") @_noLocks public func postSemaphore(_ semaphore: UnsafeMutableRawPointer) -> Int32
@_silgen_name("gettid") @_noLocks public func threadNumber() -> Int32

// No hatches, but the way to C from here: the calling thread's name for debuggers, a first use of its
// stack before it counts, and a cache line that will be read soon. Worker.
@_silgen_name("sostenuto_name_thread") public func nameThread(_ name: UnsafePointer<CChar>)
@_silgen_name("sostenuto_touch_stack") public func touchStack()
@_silgen_name("sostenuto_prefetch") public func prefetch(_ address: UnsafeRawPointer)

extension ResourceHeader {
  /// Counts one use more, or one less. Nodes on several threads may play one resource: the counter is
  /// used as the atomic number whose layout it has, which nothing else does while it is played.
  @_noLocks public mutating func count(_ change: Int32) { Self.add(change, to: &uses) }

  /// Counts something that was not there in time. In the same way.
  @_noLocks public mutating func countUnderrun() { Self.add(1, to: &underruns) }

  @_noLocks private static func add(_ change: Int32, to counter: inout Int32) {
    withUnsafeMutablePointer(to: &counter) {
      _ = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Atomic<Int32>.self).pointee
        .wrappingAdd(change, ordering: .relaxed)
    }
  }
}
