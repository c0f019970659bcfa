/// Something loaded that kernels play: an instrument, an audio file. Owned by the worker; the audio
/// thread sees `header` only. Freed by its last reference, which the engine gives up on the worker
/// after the audio thread has stopped using it.
public final class Resource: @unchecked Sendable {
  public let header: UnsafeMutablePointer<ResourceHeader>
  /// Short name for the views.
  public let name: String
  /// Memory that it holds.
  public let bytes: Int
  private let release: @Sendable () -> Void

  public init(
    header: UnsafeMutablePointer<ResourceHeader>, name: String, bytes: Int,
    release: @escaping @Sendable () -> Void
  ) {
    self.header = header
    self.name = name
    self.bytes = bytes
    self.release = release
  }

  deinit { release() }
}
