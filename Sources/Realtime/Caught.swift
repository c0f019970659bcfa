/// Sostenuto pedals that have caught a note: its channel's own, and its MPE zone's. Either holds it alone.
public struct Caught: BitwiseCopyable, Sendable {
  private var bits: UInt8 = 0

  /// None.
  @_noLocks public init() {}

  /// The pedal of the master channel, or else the note's own. Audio thread.
  @_noLocks public init(isMaster: Bool) { bits = isMaster ? 2 : 1 }

  /// Some pedal has caught it. Audio thread.
  public var isAny: Bool { @_noLocks get { bits != 0 } }

  /// Adds pedals. Audio thread.
  @_noLocks public mutating func insert(_ other: Caught) { bits |= other.bits }

  /// Takes pedals away, which have risen. Audio thread.
  @_noLocks public mutating func remove(_ other: Caught) { bits &= ~other.bits }
}
