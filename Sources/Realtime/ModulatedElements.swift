/// Modulation of one block, by element, of parameters that the kernel smooths itself: the gains of a matrix.
///
/// It has the elements that have a non-silent modulation cable, in the order of the parameters and of their elements.
/// All others have their own values, which are also what nothing but zeros gives.
public struct ModulatedElements: BitwiseCopyable {
  /// The elements, of which `count` are valid.
  public let list: UnsafeMutablePointer<ModulatedElement>
  /// Number of elements in this block.
  public var count = 0

  /// None so far; `list` has room for all that are connected.
  public init(_ list: UnsafeMutablePointer<ModulatedElement>) { self.list = list }
}

/// An element's modulation in one block: its value is to be (own + addend) * factor.
public struct ModulatedElement: BitwiseCopyable {
  /// Position of the parameter in the kind's description.
  public var parameter: Int32
  /// Number of the element, row by row as in `KernelConfiguration.values`.
  public var element: Int32
  /// Frames that are added to the element's own value, with room for a whole block; nil: nothing is.
  public var addend: UnsafePointer<Float>?
  /// Frames by which the sum is multiplied, likewise.
  public var factor: UnsafePointer<Float>?
  /// Neither of them moves in this block.
  public var isStill: Bool
  /// For the kernel's own use within the block.
  public var note: Int32 = 0

  /// An element without a modulation so far.
  @_noLocks public init(parameter: Int32, element: Int32) {
    (self.parameter, self.element, isStill) = (parameter, element, true)
  }

  /// The value of the first frame.
  @inlinable @_noLocks public func value(of own: Float) -> Float {
    var value = own
    if let addend { value += addend.pointee }
    if let factor { value *= factor.pointee }
    return value
  }
}
