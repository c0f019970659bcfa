// The drivers' escape hatches: functions called on the audio thread although the compiler cannot see that
// they neither lock nor allocate. Each stands here once, with the reason why it is safe.
import CJack

// Looks up an address in memory shared by client and server; documented as callable from the process callback
// only.
@_silgen_name("jack_port_get_buffer") @_noLocks
func portBuffer(_ port: OpaquePointer, _ frames: UInt32) -> UnsafeMutableRawPointer?

// Read the messages in the buffer of a MIDI port; documented as callable from the process callback.
@_silgen_name("jack_midi_get_event_count") @_noLocks
func midiEventCount(_ buffer: UnsafeMutableRawPointer) -> UInt32
@_silgen_name("jack_midi_event_get") @_noLocks
func midiEvent(
  _ event: UnsafeMutablePointer<jack_midi_event_t>, _ buffer: UnsafeMutableRawPointer, _ index: UInt32
) -> Int32
// Empty the buffer of a MIDI output, tell the largest message that it has room for, and make room for one; the same. None
// (nil) when it is full.
@_silgen_name("jack_midi_clear_buffer") @_noLocks func clearMidi(_ buffer: UnsafeMutableRawPointer)
@_silgen_name("jack_midi_max_event_size") @_noLocks func midiRoom(_ buffer: UnsafeMutableRawPointer) -> Int
@_silgen_name("jack_midi_event_reserve") @_noLocks
func reserveMidi(_ buffer: UnsafeMutableRawPointer, _ time: UInt32, _ count: Int) -> UnsafeMutablePointer<
  UInt8
>?

// Copies the transport's state from shared memory; documented as real-time safe, on any thread.
@_silgen_name("jack_transport_query") @_noLocks
func queryTransport(_ client: OpaquePointer, _ position: UnsafeMutablePointer<jack_position_t>) -> UInt32

// Sleeps between renders: for threads that pace themselves.
@_silgen_name("sostenuto_sleep_until") @_noLocks func sleep(until nanoseconds: Int64)
