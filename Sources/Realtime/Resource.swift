/// Header of every resource that a worker loads and an audio thread plays (an instrument, a file). The data
/// follows in the same allocation or behind pointers; the resource's owner knows its layout.
public struct ResourceHeader {
  /// Number of kernels and voices that use it. The audio threads update it with `count`.
  public internal(set) var uses: Int32 = 0
  /// Uses by kernels that were freed while they sounded; updated by the worker.
  public var returned: Int32 = 0
  /// Number of reads that came too late and were replaced by silence. The audio threads update it with
  /// `countUnderrun`.
  public internal(set) var underruns: Int32 = 0
  /// Type of the data behind the header, as its owner defines it (1 instrument, 2 audio file).
  public var type: Int32

  /// A header without uses.
  public init(type: Int32) { self.type = type }

  /// The worker frees a replaced resource once this is false. Worker.
  public var isUsed: Bool { uses &- returned > 0 }
}

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
