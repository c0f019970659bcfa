import Glibc
import Realtime
import Synchronization

/// The one thread that writes all takes and holds what was heard. Offline there is none: the render calls `pump`.
public final class Recorder: Sendable {
  private struct State {
    var takes: [Take] = []
    var kept: KeptSound?
    var notices: [Notice] = []
    var isEnding = false
    var hasThread = false
  }

  private let state = Mutex(State())
  /// Engine time up to which all has been rendered.
  private let clock: @Sendable () -> Int64
  private let calls: DiskCalls
  private let register: TakeRegister?
  private let isOffline: Bool
  private let ended: UncheckedSemaphore
  private struct UncheckedSemaphore: @unchecked Sendable { let pointer: UnsafeMutablePointer<sem_t> }
  /// Microseconds between two turns of the thread, while a take runs and otherwise.
  private static let interval: (busy: UInt32, idle: UInt32) = (20_000, 100_000)
  /// Seconds that a ring holds while the disk hangs.
  public static let patience = 5.0

  /// `clock`: engine time up to which all has been rendered, from any thread. `register`: notes of takes under way.
  public init(
    isOffline: Bool = false, register: TakeRegister? = nil, calls: DiskCalls = DiskCalls(),
    clock: @escaping @Sendable () -> Int64
  ) {
    self.isOffline = isOffline
    self.register = register
    self.calls = calls
    self.clock = clock
    ended = UncheckedSemaphore(pointer: .allocate(capacity: 1))
    sem_init(ended.pointer, 0, 0)
  }

  deinit {
    sem_destroy(ended.pointer)
    ended.pointer.deallocate()
  }

  /// A feed for a take or for what is kept.
  public static func feed(channels: Int, rate: Double, seconds: Double = patience) -> FeedReader {
    FeedReader(channels: channels, frames: Int(rate * seconds), name: "recorder", waits: true)
  }

  /// Begins a take of what arrives at `feed`, from engine time `start` on (nil: from its first frame on).
  public func begin(_ request: Take.Request, _ feed: FeedReader, at start: Int64? = nil)
    throws(RecordingError) -> Take
  {
    let take = try Take(request, feed, at: start, calls: calls, register: register)
    state.withLock { $0.takes.append(take) }
    run()
    return take
  }

  /// Takes that are not finished, and those that have finished since they were last removed.
  public var takes: [Take] { state.withLock { $0.takes } }

  /// Removes finished takes, and returns them.
  public func removeFinished() -> [Take] {
    state.withLock { state in
      let finished = state.takes.filter(\.status.isFinished)
      state.takes.removeAll { take in finished.contains { $0 === take } }
      return finished
    }
  }

  /// Notices for the user, oldest first.
  public func takeNotices() -> [Notice] {
    state.withLock { state in
      defer { state.notices = [] }
      return state.notices
    }
  }

  // MARK: Thread

  private func run() {
    guard !isOffline else { return }
    let isNew = state.withLock { state in
      defer { state.hasThread = true }
      return !state.hasThread
    }
    guard isNew else { return }
    var thread = pthread_t()
    let work = Unmanaged.passRetained(self)
    let failed = pthread_create(
      &thread, nil,
      {
        let recorder = Unmanaged<Recorder>.fromOpaque($0!).takeRetainedValue()
        nameThread("recorder")
        // A file at its largest size is an error, not the process's end.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        recorder.loop()
        return nil
      }, work.toOpaque())
    if failed == 0 {
      pthread_detach(thread)
    } else {
      work.release()
      state.withLock { $0.hasThread = false }
    }
  }

  private func loop() {
    while true {
      let isBusy = pump()
      if state.withLock({ $0.isEnding && $0.takes.allSatisfy(\.status.isFinished) }) { break }
      if !isBusy { usleep(state.withLock { $0.takes.isEmpty } ? Self.interval.idle : Self.interval.busy) }
    }
    sem_post(ended.pointer)
  }

  /// Writes what has arrived. True: there is more to do at once. Recorder's thread; offline the worker.
  @discardableResult public func pump() -> Bool {
    let (takes, kept) = state.withLock { ($0.takes, $0.kept) }
    let now = clock()
    let wall = nanoseconds()
    var said: [Notice] = []
    let sizes = takes.map { take in
      let status = take.status
      return status.isFinished ? 0 : status.bytes
    }
    for (index, take) in takes.enumerated() {
      let others = takes.indices.reduce(Int64(0)) { sum, other in
        sum + (other == index || takes[other].device != take.device ? 0 : sizes[other])
      }
      said += take.pump(now: now, wall: wall, others: others)
    }
    var isBusy = false
    if let kept {
      kept.pump(now: now)
      let (more, words) = kept.writeFiles()
      isBusy = more
      said += words
    }
    if !said.isEmpty { state.withLock { $0.notices += said } }
    return isBusy
  }

  /// Ends all takes: no audio thread runs any more. Waits until the files are complete, but not for a disk that hangs.
  public func close(within seconds: Double = 10) {
    let hadThread = state.withLock { state in
      for take in state.takes { take.endNow(at: clock()) }
      state.isEnding = true
      return state.hasThread
    }
    guard hadThread else {
      pump()
      return
    }
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += Int(seconds)
    while sem_timedwait(ended.pointer, &deadline) != 0 {
      guard errno == EINTR else { return }
    }
    state.withLock { ($0.isEnding, $0.hasThread) = (false, false) }
  }

  // MARK: What was heard

  /// Holds so many seconds of what the outputs play.
  public func keep(seconds: Double, rate: Double) -> KeptSound {
    let kept = KeptSound(seconds: seconds, rate: rate)
    state.withLock { $0.kept = kept }
    run()
    return kept
  }

  /// Writes the last `seconds` of it. Returns the file's path; nil: nothing is held.
  public func writeKept(seconds: Double, to path: String, format: SampleFormat = .float32)
    throws(RecordingError) -> String?
  {
    guard let kept = state.withLock({ $0.kept }) else { return nil }
    return try kept.write(seconds: seconds, to: path, format: format, until: clock(), calls: calls)
  }
}
