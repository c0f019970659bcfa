import Realtime
import Synchronization

/// A file that a port's sound is being written to. The recorder's thread writes; any thread may ask and end it.
public final class Take: Sendable {
  /// Port, file and format of a take.
  public struct Request: Sendable {
    /// Path of the file; a name that is taken gets a number.
    public var path: String
    /// Name of the port, for people.
    public var port: String
    /// Sample format of the file.
    public var format: SampleFormat
    /// Sample rate, Hz.
    public var rate: Double
    /// It stands beside another take, for its replay: what came in meanwhile.
    public var isInput: Bool

    /// A take of `port`.
    public init(
      path: String, port: String, format: SampleFormat = .float32, rate: Double, isInput: Bool = false
    ) {
      (self.path, self.port, self.format, self.rate) = (path, port, format, rate)
      self.isInput = isInput
    }
  }

  /// State of a take.
  public struct Status: Hashable, Sendable {
    /// Path of the file.
    public var path: String
    /// Name of the port.
    public var port: String
    /// Frames written.
    public var frames: Int64 = 0
    /// Sample rate, Hz.
    public var rate: Double
    /// Frames that the disk did not take in time, silent in the file.
    public var lost: Int64 = 0
    /// Bytes of the file.
    public var bytes: Int64 = 0
    /// Seconds until the disk is full, by the present rate; nil: unknown.
    public var secondsLeft: Double?
    /// Reason of its end; nil: it runs, or was ended by the user.
    public var fault: String?
    /// The file is complete.
    public var isFinished = false

    /// Length, in seconds.
    public var seconds: Double { Double(frames) / rate }
  }

  private struct State {
    var status: Status
    /// nil: the file is still being made.
    var writer: TakeWriter?
    /// Number of the disk.
    var device: UInt?
    /// Nobody wants it any more.
    var isUnwanted = false
    /// Engine time of the frame behind the last; nil: it goes on.
    var end: Int64?
    /// The audio thread has stopped.
    var isLast = false
  }

  /// The request that it fulfils.
  public let request: Request
  private let state: Mutex<State>
  let reader: FeedReader
  private let firstFrame: Int64?

  init(_ request: Request, _ reader: FeedReader, at start: Int64?) {
    (self.request, self.reader, firstFrame) = (request, reader, start)
    state = Mutex(State(status: Status(path: request.path, port: request.port, rate: request.rate)))
  }

  /// Makes its file. One that nobody wants any more by then is removed. Waits for the disk.
  func open(_ calls: DiskCalls, _ register: TakeRegister?) throws(RecordingError) {
    let note = register?.note(of: request.path)
    let file: any TakeFile
    do throws(RecordingError) {
      file = try TakeFiles.create(
        request.path, channels: reader.channels, rate: request.rate, format: request.format, calls: calls)
    } catch {
      note?.remove()
      throw error
    }
    note?.name(file.disk.path)
    let writer = TakeWriter(
      file, reader, rate: request.rate, start: firstFrame, note: note,
      hasCeiling: request.format.hasCeiling(in: request.path))
    let isWanted = state.withLock { state in
      guard !state.isUnwanted else { return false }
      (state.writer, state.device) = (writer, file.disk.device)
      state.status.path = file.disk.path
      return true
    }
    if !isWanted { writer.discard() }
  }

  /// Number of its disk; nil: the file is still being made.
  var device: UInt? { state.withLock { $0.device } }

  /// True as soon as there is a file, and `status` has its path. Any thread.
  public var hasFile: Bool { device != nil }

  /// Ends it without a file: with the next turn of the recorder's thread, or, where the file is still being made, at once.
  /// Any thread.
  func discard(because fault: RecordingError? = nil) {
    state.withLock {
      $0.isUnwanted = true
      guard $0.writer == nil else { return }
      $0.status.fault = fault?.description
      $0.status.isFinished = true
    }
  }

  /// Its present state. Any thread.
  public var status: Status { state.withLock { $0.status } }

  /// Engine time of its first frame; nil: not known yet. Any thread.
  public var start: Int64? { reader.start }

  /// Ends it before the frame at this engine time. Any thread.
  public func end(at time: Int64) { state.withLock { $0.end = min($0.end ?? time, time) } }

  /// Ends it with what is there. `isSilent`: no audio thread runs any more, so that this is all.
  func endNow(at time: Int64, isSilent: Bool) {
    // The last block seldom ends where a cell does.
    if isSilent { reader.close() }
    state.withLock {
      $0.end = min($0.end ?? time, time)
      $0.isLast = true
    }
  }

  /// Writes what is there before engine time `now`. Recorder's thread.
  func pump(now: Int64, wall: Int64, others: Int64) -> [Notice] {
    let (end, isLast, isUnwanted, writer) = state.withLock {
      ($0.end, $0.isLast, $0.isUnwanted, $0.status.isFinished ? nil : $0.writer)
    }
    guard let writer else { return [] }
    if isUnwanted { writer.discard() }
    let result = writer.pump(now: now, end: end, isLast: isLast, wall: wall, others: others)
    state.withLock {
      $0.status.frames = writer.written
      $0.status.lost = reader.lost
      $0.status.bytes = writer.bytes
      $0.status.secondsLeft = writer.secondsLeft
      $0.status.fault = writer.fault
      $0.status.isFinished = writer.isFinished
    }
    return result
  }

  /// Hours, minutes and seconds.
  public static func words(seconds: Double) -> String {
    let whole = seconds.isFinite ? Int(max(0, min(seconds, 1e9))) : 0
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
  }

  /// The length of a file: "1.8 s", from a minute on as above.
  public static func length(seconds: Double) -> String {
    guard seconds < 59.95 else { return words(seconds: seconds) }
    let tenths = Int((max(0, seconds) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
