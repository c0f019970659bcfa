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

    func includes(_ take: Take) -> Bool { self == .disk(take.device) }
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
    run(.disk(take.device))
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
        // What comes next begins a thread again.
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
        if next.isEnding { sem_post(ended.pointer) }
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
    if threads == 0 { pump() }
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += Int(seconds)
    for _ in 0..<threads {
      while sem_timedwait(ended.pointer, &deadline) != 0 {
        guard errno == EINTR else { return }
      }
    }
    state.withLock { $0.isEnding = false }
  }

  // MARK: What was heard

  /// Holds so many seconds of what the outputs play.
  public func keep(seconds: Double, rate: Double) -> KeptSound {
    let kept = KeptSound(seconds: seconds, rate: rate)
    state.withLock { $0.kept = kept }
    run(.memory)
    return kept
  }

  /// Writes the last `seconds` of it. Returns the file's path; nil: nothing is held.
  public func writeKept(seconds: Double, to path: String, format: SampleFormat = .float32)
    throws(RecordingError) -> String?
  {
    guard let kept = state.withLock({ $0.kept }) else { return nil }
    defer { run(.keptFiles) }
    return try kept.write(seconds: seconds, to: path, format: format, until: clock(), calls: calls)
  }
}
