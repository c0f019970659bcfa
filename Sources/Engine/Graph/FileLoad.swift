/// A file being loaded, or a node being prepared.
public struct FileLoad: Sendable, Hashable {
  /// Short name.
  public var name: String
  /// Progress, 0...1.
  public var fraction: Double

  /// A load of the file `name`, `fraction` done.
  public init(name: String, fraction: Double) {
    self.name = name
    self.fraction = fraction
  }

  /// Percentage, for example "45 %".
  public var percent: String { "\(Int(fraction * 100)) %" }
  /// Name and percentage, for example "grand.sf2 45 %".
  public var words: String { "\(name) \(percent)" }
}
