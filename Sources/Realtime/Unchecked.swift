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
