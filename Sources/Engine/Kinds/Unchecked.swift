import CKind
import Realtime

// Functions of kinds that are only known at run time. The compiler cannot look into them; CKind.h asks of each
// that it neither locks nor allocates nor waits, as RealtimeSanitizer and the tests' audit check.

/// Renders a block; false: silence.
@_silgen_name("sostenuto_kind_process") @_noLocks
func callProcess(
  _ kind: UnsafePointer<sostenuto_kind>, _ instance: UnsafeMutableRawPointer,
  _ block: UnsafeMutablePointer<sostenuto_block>
) -> Bool
/// True when no tail is left.
@_silgen_name("sostenuto_kind_is_finished") @_noLocks
func callIsFinished(_ kind: UnsafePointer<sostenuto_kind>, _ instance: UnsafeMutableRawPointer) -> Bool
/// Moves a parameter.
@_silgen_name("sostenuto_kind_set") @_noLocks
func callSet(
  _ kind: UnsafePointer<sostenuto_kind>, _ instance: UnsafeMutableRawPointer, _ parameter: Int32,
  _ element: Int32, _ value: Float, _ frames: Int32)
/// Number of sounding voices.
@_silgen_name("sostenuto_kind_voices") @_noLocks
func callVoices(_ kind: UnsafePointer<sostenuto_kind>, _ instance: UnsafeMutableRawPointer) -> Int32
/// A figure for the views.
@_silgen_name("sostenuto_kind_reading") @_noLocks
func callReading(
  _ kind: UnsafePointer<sostenuto_kind>, _ instance: UnsafeMutableRawPointer, _ position: Int32
) -> Float

// An event's type as a number, and back: the raw values count the cases from 0, and so does memory. The
// initialiser and `rawValue` are the same, but another module's code.

/// The type's raw value.
@_noLocks func number(of kind: Event.Kind) -> UInt8 { unsafeBitCast(kind, to: UInt8.self) }

/// The type of this raw value; nil: there is none.
@_noLocks func eventKind(_ number: UInt8) -> Event.Kind? {
  number <= unsafeBitCast(Event.Kind.exclusive, to: UInt8.self)
    ? unsafeBitCast(number, to: Event.Kind.self) : nil
}
