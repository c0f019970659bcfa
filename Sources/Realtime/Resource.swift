/// Something loaded that kernels play: an instrument, an audio file. Owned by the worker; the audio
/// thread sees `header` only. Freed by its last reference, which the engine gives up on the worker
/// after the audio thread has stopped using it.
public final class Resource: @unchecked Sendable {
  public let header: UnsafeMutablePointer<ResourceHeader>
  /// Short name for the views.
  public let name: String
  private let size: @Sendable () -> Int
  private let release: @Sendable () -> Void

  public init(
    header: UnsafeMutablePointer<ResourceHeader>, name: String, bytes: @escaping @Sendable () -> Int,
    release: @escaping @Sendable () -> Void
  ) {
    self.header = header
    self.name = name
    size = bytes
    self.release = release
  }

  /// Memory that it holds now; of what streams from disk that is what was read ahead.
  public var bytes: Int { size() }

  /// How often something was not read from disk in time, and silence played instead.
  public var underruns: Int { Int(header.pointee.underruns) }

  deinit { release() }
}
