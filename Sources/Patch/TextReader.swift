/// Makes numbers for a kernel of a text: of steps, a scale, a formula. A text that it cannot read is refused with the place
/// of the fault.
public struct TextReader: Sendable {
  /// An error in a text, with its place.
  public struct Fault: Error, Hashable, Sendable {
    /// Column of the text, from 1.
    public var column: Int
    /// The reason in words, such as `expects a number`.
    public var reason: String

    /// A fault at a column.
    public init(_ column: Int, _ reason: String) {
      self.column = column
      self.reason = reason
    }
  }

  private let reading: @Sendable (String) throws(Fault) -> [Float]

  /// A reader. Its results have the same number of elements for all texts, unless a change makes another kernel.
  public init(_ reading: @escaping @Sendable (String) throws(Fault) -> [Float]) { self.reading = reading }

  /// The numbers of a text.
  public func numbers(_ text: String) throws(Fault) -> [Float] { try reading(text) }
}
