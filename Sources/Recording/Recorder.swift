import Glibc
import Realtime
import Synchronization

/// The threads that write takes and hold what was heard: one for each disk, so that one that hangs delays no other. Offline
/// there is none: the render calls `pump`.
public final class Recorder: Sendable {
  private struct State {
    var takes: [Take] = []
    var kept: KeptSound?
    var notices: [Notice] = []
    var isEnding = false
    var threads: Set<Duty> = []
  }

  /// The work of a thread.
  private enum Duty: Hashable {
    /// The takes on a disk.
    case disk(UInt)
    /// The memory of what was heard, and the files of it.
    case memory, keptFiles

    func includes(_ take: Take) -> Bool { take.device.map { self == .disk($0) } ?? false }
  }

  private let state = Mutex(State())
  /// Engine time up to which all has been rendered.
  private let clock: @Sendable () -> Int64
  private let calls: DiskCalls
  private let register: TakeRegister?
  private let isOffline: Bool
  private let ended = Semaphore()
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
  }

  /// A feed for a take or for what is kept.
  public static func feed(channels: Int, rate: Double, seconds: Double = patience) -> FeedReader {
    FeedReader(channels: channels, frames: Int(rate * seconds), name: "recorder", waits: true)
  }

  /// Begins a take of what arrives at `feed`, from engine time `start` on (nil: from its first frame on). A disk that does not
  /// answer is not waited for: what arrives before its file is made goes into it, as far as the feed holds it.
  public func begin(_ request: Take.Request, _ feed: FeedReader, at start: Int64? = nil)
    throws(RecordingError) -> Take
  {
    let take = Take(request, feed, at: start)
    state.withLock { $0.takes.append(take) }
    let made = makeFile { [calls, register] () throws(RecordingError) in
      try take.open(calls, register)
    } late: { [self] fault in
      if let fault { take.discard(because: fault) } else { run(take) }
      guard fault != nil || take.hasFile else { return }
      state.withLock {
        $0.notices.append(
          fault.map { .warning("nothing could be recorded, and no file is left: \($0.description)") }
            ?? .news("the disk answers: recording \(request.port) to \(take.status.path)"))
      }
    }
    switch made {
    case .success: run(take)
    case .failure(let fault):
      discard([take])
      throw fault
    case nil:
      state.withLock { $0.notices.append(Self.unanswered(request.path)) }
    }
    return take
  }

  private static func unanswered(_ path: String) -> Notice {
    .warning("\(path): the disk does not answer; the file is made when it does")
  }

  /// Seconds that the making of a file is waited for.
  private static let longestWait = 0.2

  /// Makes a file on another thread. nil: the disk has not answered yet, and `late` will be called with what became of it.
  private func makeFile(
    _ make: @escaping @Sendable () throws(RecordingError) -> Void,
    late: @escaping @Sendable (RecordingError?) -> Void
  ) -> Result<Void, RecordingError>? {
    @Sendable func made() -> Result<Void, RecordingError> {
      do throws(RecordingError) { return .success(try make()) } catch { return .failure(error) }
    }
    if isOffline { return made() }
    return Watched.call(within: Self.longestWait, made) { result in
      if case .failure(let fault) = result { late(fault) } else { late(nil) }
    }
  }

  private func run(_ take: Take) { if let device = take.device { run(.disk(device)) } }

  /// Ends takes, and leaves nothing of them.
  public func discard(_ takes: [Take]) {
    for take in takes { take.discard() }
    state.withLock { state in
      state.takes.removeAll { take in take.status.isFinished && takes.contains { $0 === take } }
    }
    if isOffline { pump() }
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

  // MARK: Threads

  private final class Work {
    let recorder: Recorder
    let duty: Duty
    init(_ recorder: Recorder, _ duty: Duty) { (self.recorder, self.duty) = (recorder, duty) }
  }

  private func run(_ duty: Duty) {
    guard !isOffline, state.withLock({ $0.threads.insert(duty).inserted }) else { return }
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(self, duty))
    let failed = pthread_create(
      &thread, nil,
      {
        let work = Unmanaged<Work>.fromOpaque($0!).takeRetainedValue()
        nameThread("recorder")
        // A file at its largest size is an error, not the process's end.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        work.recorder.loop(work.duty)
        return nil
      }, work.toOpaque())
    if failed == 0 {
      pthread_detach(thread)
    } else {
      work.release()
      state.withLock { _ = $0.threads.remove(duty) }
    }
  }

  private func loop(_ duty: Duty) {
    while true {
      let isBusy = pump(duty)
      let next = state.withLock { state in
        let takes = state.takes.filter(duty.includes)
        let isEnding = state.isEnding && takes.allSatisfy(\.status.isFinished) && !isBusy
        // The next job begins a thread again.
        let isIdle =
          switch duty {
          case .disk: takes.isEmpty
          case .memory: false
          case .keptFiles: state.kept?.hasFiles != true
          }
        if isEnding || isIdle { state.threads.remove(duty) }
        return (isEnding: state.isEnding, isOver: isEnding || isIdle, isCalm: takes.isEmpty)
      }
      if next.isOver {
        if next.isEnding { ended.signal() }
        return
      }
      if !isBusy { usleep(next.isCalm ? Self.interval.idle : Self.interval.busy) }
    }
  }

  /// Writes what has arrived. True: there is more to do at once. The worker, offline.
  @discardableResult public func pump() -> Bool { pump(nil) }

  /// `duty`: only that part of the work. Recorder's threads.
  private func pump(_ duty: Duty?) -> Bool {
    let (takes, kept) = state.withLock { state in
      (duty.map { state.takes.filter($0.includes) } ?? state.takes, state.kept)
    }
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
    if duty == nil || duty == .memory { kept?.pump(now: now) }
    if let kept, duty == nil || duty == .keptFiles {
      let (more, words) = kept.writeFiles()
      isBusy = more
      said += words
    }
    if !said.isEmpty { state.withLock { $0.notices += said } }
    return isBusy
  }

  /// Ends all takes. `isSilent`: no audio thread runs any more. Waits until the files are complete, but not for a disk that
  /// hangs.
  public func close(isSilent: Bool = true, within seconds: Double = 10) {
    let threads = state.withLock { state in
      for take in state.takes { take.endNow(at: clock(), isSilent: isSilent) }
      state.isEnding = true
      return state.threads.count
    }
    giveUp()
    if threads == 0 { while pump() {} }
    let end = nanoseconds() + Int64(seconds * 1e9)
    for _ in 0..<threads {
      guard ended.wait(seconds: Double(end - nanoseconds()) * 1e-9) else { return }
    }
    state.withLock { $0.isEnding = false }
  }

  /// Gives up the takes and the files of what was heard that are still being made.
  private func giveUp() {
    let (takes, kept) = state.withLock { ($0.takes, $0.kept) }
    var paths = kept?.giveUp() ?? []
    for take in takes where !take.hasFile && !take.status.isFinished {
      take.discard(because: .system(path: take.request.path, code: ETIMEDOUT))
      paths.append(take.request.path)
    }
    let said = paths.map { Notice.warning("\($0): nothing was recorded, since the disk did not answer") }
    state.withLock { $0.notices += said }
  }

  // MARK: What was heard

  /// Holds so many seconds of what the outputs play.
  public func keep(seconds: Double, rate: Double) -> KeptSound {
    let kept = KeptSound(seconds: seconds, rate: rate)
    state.withLock { $0.kept = kept }
    run(.memory)
    return kept
  }

  /// Writes the last `seconds` of it. Returns the file's path, as far as it is known; nil: nothing is held.
  public func writeKept(seconds: Double, to path: String, format: SampleFormat = .float32)
    throws(RecordingError) -> String?
  {
    guard let kept = state.withLock({ $0.kept }) else { return nil }
    return try write(kept, kept.begin(path, seconds: seconds, until: clock()), format)
  }

  /// Writes what was held of the frames between two engine times.
  public func writeKept(from start: Int64, to end: Int64, to path: String, format: SampleFormat)
    throws(RecordingError) -> String?
  {
    guard let kept = state.withLock({ $0.kept }) else { return nil }
    return try write(kept, kept.begin(path, from: start, to: end), format)
  }

  private func write(_ kept: KeptSound, _ job: KeptSound.Job, _ format: SampleFormat)
    throws(RecordingError) -> String
  {
    let made = makeFile { [calls] () throws(RecordingError) in
      try kept.open(job, format, calls)
    } late: { [self] fault in
      guard let fault else { return run(.keptFiles) }
      kept.remove(job)
      state.withLock {
        $0.notices.append(.warning("what was heard could not be kept: \(fault.description)"))
      }
    }
    switch made {
    case .success: run(.keptFiles)
    case .failure(let fault):
      kept.remove(job)
      throw fault
    case nil: state.withLock { $0.notices.append(Self.unanswered(job.path)) }
    }
    return kept.path(of: job) ?? job.path
  }

  /// Files of what was heard that are complete, since the last call.
  public func takeKept() -> [KeptFile] { state.withLock { $0.kept }?.takeFinished() ?? [] }
}
