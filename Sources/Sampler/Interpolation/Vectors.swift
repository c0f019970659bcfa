import Realtime

// Sixteen floats at a time.

@_noLocks @inline(__always) func vector(_ memory: UnsafePointer<Float>) -> SIMD16<Float> {
  UnsafeRawPointer(memory).loadUnaligned(as: SIMD16<Float>.self)
}

@_noLocks @inline(__always) func store(_ value: SIMD16<Float>, _ memory: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(memory).storeBytes(of: value, as: SIMD16<Float>.self)
}

/// The numbers of the lanes.
var lanes16: SIMD16<Float> {
  @_noLocks @inline(__always) get { SIMD16<Float>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
}

/// Adds sixteen values to memory at any address. Audio thread.
@_noLocks @inline(__always) func add(_ values: SIMD16<Float>, to memory: UnsafeMutablePointer<Float>) {
  let raw = UnsafeMutableRawPointer(memory)
  raw.storeBytes(of: raw.loadUnaligned(as: SIMD16<Float>.self) + values, as: SIMD16<Float>.self)
}

/// Every second element of two vectors, from the first on. (The library's `evenHalf` is not always inlined.)
@_noLocks @inline(__always)
func evens(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
  SIMD16(
    a[0], a[2], a[4], a[6], a[8], a[10], a[12], a[14], b[0], b[2], b[4], b[6], b[8], b[10], b[12], b[14])
}

/// Every second element of two vectors, from the second on.
@_noLocks @inline(__always)
func odds(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
  SIMD16(
    a[1], a[3], a[5], a[7], a[9], a[11], a[13], a[15], b[1], b[3], b[5], b[7], b[9], b[11], b[13], b[15])
}
