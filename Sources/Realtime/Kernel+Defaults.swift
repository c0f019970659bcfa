// What a kernel need not say.

extension Kernel {
  /// Default: a kernel without memory of its own, in bytes.
  public static func memorySize(_ configuration: KernelConfiguration) -> Int { 0 }
  /// Default: its memory is the same for any values.
  public static var memoryFollowsValues: Bool { false }
  /// Default: no latency, in frames.
  public static func latency(_ configuration: KernelConfiguration) -> Int { 0 }
  /// Default: never finished, so the renderer never skips it.
  @inlinable @_noLocks public mutating func isFinished() -> Bool { false }
  /// Default: no memory of its own, and no state per channel.
  @inlinable @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {}
  /// Independent of the document's channel count.
  public static var followsCount: Bool { false }
  /// In memory of its own.
  public static var worksInPlace: Bool { false }
  /// Always has something to do.
  public static var passesOn: Bool { false }
  /// Something other than factors and addends.
  public static var isAffine: Bool { false }
  /// As of several channels.
  public static var isAffineOfOneChannel: Bool { isAffine }
  /// No parameter is its factor.
  public static var factorParameter: Int? { nil }
  /// No parameter is its addend.
  public static var addendParameter: Int? { nil }
  /// No input is its factor.
  public static var factorInput: Int? { nil }
  /// No input is its addend.
  public static var addendInput: Int? { nil }
  /// Has no factors.
  @inlinable @_noLocks public mutating func affine(
    _ block: Block, _ channels: UnsafeMutablePointer<Affine>
  ) -> Bool { false }
  /// Without a hidden output.
  public static var hasAheadOutput: Bool { false }
  /// Nothing is ahead of time.
  public static func compensatesFeedback(_ values: [[Float]], rate: Double) -> Bool { false }
  /// Ignores the parameter.
  @inlinable @_noLocks public mutating func set(
    _ parameter: Int, element: Int, to value: Float, over frames: Int
  ) {}
  /// Ignores the resource.
  @inlinable @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {}
  /// Keeps no state that depends on the rate.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {}
  /// Nothing to release.
  public mutating func release() {}
  /// Default: a kernel without voices.
  @inlinable public var voices: Int { @_noLocks get { 0 } }
  /// Default: nothing to report.
  @inlinable @_noLocks public func reading(_ position: Int) -> Float { 0 }
}
