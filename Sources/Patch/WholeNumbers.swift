/// The one way from a number that somebody wrote, or that was computed from one, to a whole number: the
/// language's own conversion ends the program where there is none.
extension FixedWidthInteger {
  /// The whole number nearest to `number`; nil for what is no number or beyond the type.
  public init?(nearest number: Double) { self.init(exactly: number.rounded()) }

  /// The whole number nearest to `number`, the type's own ends for what is beyond them, 0 for what is no number: for
  /// what is shown, and for times that nobody lives to see.
  public init(limited number: Double) {
    self = Self(nearest: number) ?? (number > 0 ? .max : number < 0 ? .min : 0)
  }
}
