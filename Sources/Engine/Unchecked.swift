import CKind

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
