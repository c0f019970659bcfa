// Defaults for kernels.

extension Kernel {
  /// Default: a kernel without memory of its own, in bytes.
  public static func memorySize(_ configuration: KernelConfiguration) -> Int { 0 }
  /// Default: its memory is the same for any values.
  public static var memoryFollowsValues: Bool { false }
  /// Default: no latency, in frames.
  public static func latency(_ configuration: KernelConfiguration) -> Int { 0 }
  /// Default: never finished, so the renderer never skips it.
  @inlinable @_noLocks public mutating func isFinished() -> Bool { false }
  /// Default: it may be finished some time.
  public static var isEndless: Bool { false }
  /// Default: no memory of its own, and no state per channel.
  @inlinable @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {}
  /// Default: the same algorithm for any number of channels of the document.
  public static var followsCount: Bool { false }
  /// Default: an output has memory of its own.
  public static var worksInPlace: Bool { false }
  /// Default: the output is not simply the sum of the cables.
  public static var passesOn: Bool { false }
  /// Default: it does more than multiply and add.
  public static var isAffine: Bool { false }
  /// Default: as with several input channels.
  public static var isAffineOfOneChannel: Bool { isAffine }
  /// Default: no parameter is the factor.
  public static var factorParameter: Int? { nil }
  /// Default: no parameter is the addend.
  public static var addendParameter: Int? { nil }
  /// Default: no input is the factor.
  public static var factorInput: Int? { nil }
  /// Default: no input is the addend.
  public static var addendInput: Int? { nil }
  /// Default: there are no factors, and it is run by `process`.
  @inlinable @_noLocks public mutating func affine(
    _ block: Block, _ channels: UnsafeMutablePointer<Affine>
  ) -> Bool { false }
  /// Default: no hidden output.
  public static var hasAheadOutput: Bool { false }
  /// Default: nothing is ahead of time.
  public static func compensatesFeedback(_ values: [[Float]], rate: Double) -> Bool { false }
  /// Default: the parameter is ignored.
  @inlinable @_noLocks public mutating func set(
    _ parameter: Int, element: Int, to value: Float, over frames: Int
  ) {}
  /// Default: the resource is ignored.
  @inlinable @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {}
  /// Default: no state depends on the rate.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {}
  /// Default: nothing to release.
  public mutating func release() {}
  /// Default: a kernel without voices.
  @inlinable public var voices: Int { @_noLocks get { 0 } }
  /// Default: nothing to report.
  @inlinable @_noLocks public func reading(_ position: Int) -> Float { 0 }
}
