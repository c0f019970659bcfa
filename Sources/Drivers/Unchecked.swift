// The escape hatches of the drivers: what an audio thread calls although the compiler cannot see that
// it neither locks nor allocates. Each stands here once, with the reason why it is safe.
import CJack

// A read of one control register of the processor, and a write.
@_silgen_name("sostenuto_flush_denormals") @_noLocks func flushDenormals() -> UInt
@_silgen_name("sostenuto_restore_denormals") @_noLocks func restoreDenormals(_ state: UInt)

// RealtimeSanitizer's own bookkeeping: a thread-local counter; nothing at all in other builds.
@_silgen_name("sostenuto_rtsan_enter") @_noLocks func enterRealtimeContext()
@_silgen_name("sostenuto_rtsan_exit") @_noLocks func leaveRealtimeContext()

// The monotonic clock, which Linux reads in user space (vDSO).
@_silgen_name("sostenuto_nanoseconds") @_noLocks func nanoseconds() -> Int64

// Looks an address up in memory that client and server share; documented as callable from the
// process callback, and from there alone.
@_silgen_name("jack_port_get_buffer") @_noLocks
func portBuffer(_ port: OpaquePointer, _ frames: UInt32) -> UnsafeMutableRawPointer?

// Sleeps, between renders: for threads that pace themselves.
@_silgen_name("sostenuto_sleep_until") @_noLocks func sleep(until nanoseconds: Int64)
