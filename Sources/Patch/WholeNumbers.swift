/// Safe conversions from floating-point numbers of outside origin to integers: Swift's own conversion traps
/// when there is no result.
extension FixedWidthInteger {
  /// The integer nearest to `number`; nil for NaN or out of range.
  public init?(nearest number: Double) { self.init(exactly: number.rounded()) }

  /// The integer nearest to `number`, clamped to the type's range, 0 for NaN: for display, and for times in
  /// the far future.
  @inlinable public init(limited number: Double) {
    // The exact conversion below is slow, and meters convert thousands of numbers a second.
    let whole = number.rounded()
    if whole.magnitude < 0x1p62 {
      self = Self(clamping: Int64(whole))
      return
    }
    self = Self(nearest: number) ?? (number > 0 ? .max : number < 0 ? .min : 0)
  }
}
