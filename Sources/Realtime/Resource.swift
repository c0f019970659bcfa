/// Loaded data that kernels play: an instrument or an audio file. Owned by the worker; the audio thread sees
/// `header` only. The engine gives up the last reference on the worker, after the audio thread has stopped
/// using it.
public final class Resource: @unchecked Sendable {
  /// The part that the audio thread sees.
  public let header: UnsafeMutablePointer<ResourceHeader>
  /// Short name for the views.
  public let name: String
  private let size: @Sendable () -> Int
  private let release: @Sendable () -> Void

  /// `bytes`: memory in use now; `release`: frees everything.
  public init(
    header: UnsafeMutablePointer<ResourceHeader>, name: String, bytes: @escaping @Sendable () -> Int,
    release: @escaping @Sendable () -> Void
  ) {
    self.header = header
    self.name = name
    size = bytes
    self.release = release
  }

  /// Memory in use now; for a stream, the chunks read ahead.
  public var bytes: Int { size() }

  /// Number of reads that came too late and were replaced by silence.
  public var underruns: Int { Int(header.pointee.underruns) }

  deinit { release() }
}
