import Glibc
import Realtime
import Synchronization

/// The work of one block.
struct RenderJob: BitwiseCopyable {
  var plan: UnsafeMutablePointer<Plan>
  var frames: Int
  var time: Int64
  var rate: Float
  var load: Float
  var isMetering: Bool
  /// Number of parameters and gains of cables that have begun to move since the start, or are to; from 1.
  var moves: UInt32
  /// Number of the block.
  var block: Int
  /// A transaction within the block; nil: none.
  var split: UnsafeMutablePointer<BlockSplit>?
}

/// Renders a plan's segments on several threads: the driver's, and helpers that live as long as the team. No
/// locks, and no segment is bound to a thread.
///
/// A segment may run when its predecessors are done, and a free thread takes the first such segment from the
/// board. A helper that sleeps or comes late delays nobody: the driver's thread does the work itself. Helpers are
/// called to periods in which that saves time (`Teamwork`), and leave when the last segments have been taken.
///
/// Helpers spin for some 20 microseconds while they wait for the next period, then wait on a semaphore.
struct RenderTeam: ~Copyable {
  static let mostThreads = 16

  /// Including the driver's thread, which is number 0.
  let threadCount: Int
  /// Helper threads that are called: no more than there are processors, where they would only wait for each other.
  private let calledCount: Int
  /// One per thread.
  let runners: UnsafeMutablePointer<StepRunner>
  private let helpers: UnsafeMutablePointer<Helper>
  /// Valid for a thread that has taken a segment, until the segment is done.
  private let job: UnsafeMutablePointer<RenderJob>
  private let board = SegmentBoard()
  /// Audio thread only.
  private let teamwork: UnsafeMutablePointer<Teamwork>
  private let isShared: UnsafeMutablePointer<Bool>

  /// Number of periods that helpers were called to.
  private let period = Atomic<UInt64>(0)
  /// Blocks of the period are still to come.
  private let isRendering = Atomic<Bool>(false)
  private let isOver = Atomic<Bool>(false)
  /// All helpers are called to every period: tests of threads want them whatever the processors do.
  let callsAlways = Atomic<Bool>(false)
  /// The driver's thread in this period, whose priority helpers take, and its denormal mode.
  private let driverThread = Atomic<Int32>(0)
  private let floatingPoint = Atomic<UInt>(0)

  private struct Helper: ~Copyable {
    let isAsleep = Atomic<Bool>(false)
    let semaphore: UnsafeMutablePointer<sem_t>
    var thread = pthread_t()
    var hasStarted = false

    init() {
      semaphore = .allocate(capacity: 1)
      semaphore.initialize(to: sem_t())
      sem_init(semaphore, 0, 0)
    }
  }

  /// Worker. `start` starts the helpers.
  init(
    threads: Int, driver: UnsafePointer<DriverChannels>, transport: UnsafePointer<Transport>,
    zeros: UnsafePointer<UnsafePointer<Float>>
  ) {
    threadCount = min(max(threads, 1), Self.mostThreads)
    calledCount = min(threadCount, max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1))
    runners = .allocate(capacity: threadCount)
    helpers = .allocate(capacity: threadCount)
    for index in 0..<threadCount {
      (runners + index).initialize(
        to: StepRunner(index: index, driver: driver, transport: transport, zeros: zeros))
      (helpers + index).initialize(to: Helper())
    }
    job = .allocate(capacity: 1)
    teamwork = .allocate(capacity: 1)
    teamwork.initialize(to: Teamwork(threads: calledCount))
    isShared = .allocate(capacity: 1)
    isShared.initialize(to: false)
  }

  /// Call this when no thread renders any more. Worker.
  func deallocate() {
    isOver.store(true, ordering: .sequentiallyConsistent)
    for index in 1..<max(threadCount, 1) where helpers[index].hasStarted {
      wake(index)
      pthread_join(helpers[index].thread, nil)
    }
    for index in 0..<threadCount {
      runners[index].deallocate()
      sem_destroy(helpers[index].semaphore)
      helpers[index].semaphore.deallocate()
    }
    runners.deinitialize(count: threadCount)
    runners.deallocate()
    helpers.deinitialize(count: threadCount)
    helpers.deallocate()
    job.deallocate()
    teamwork.pointee.deallocate()
    teamwork.deinitialize(count: 1)
    teamwork.deallocate()
    isShared.deallocate()
    board.deallocate()
  }

  // MARK: The driver's thread

  /// Begins a period. Calls the helpers if that saves time. Audio thread.
  @_noLocks func beginPeriod(_ plan: UnsafeMutablePointer<Plan>?) {
    isShared.pointee = false
    guard let plan, plan.pointee.segmentCount > 1 else { return }
    if callsAlways.load(ordering: .relaxed) {
      isShared.pointee = true
      callHelpers(threadCount)
    } else if calledCount > 1 {
      isShared.pointee = teamwork.pointee.begin(plan, at: nanoseconds())
      if isShared.pointee { callHelpers(calledCount) }
    }
  }

  /// Calls helpers until there are so many threads.
  @_noLocks private func callHelpers(_ count: Int) {
    let state = flushDenormals()
    restoreDenormals(state)
    floatingPoint.store(state, ordering: .relaxed)
    driverThread.store(threadNumber(), ordering: .relaxed)
    isRendering.store(true, ordering: .relaxed)
    period.store(period.load(ordering: .relaxed) &+ 1, ordering: .sequentiallyConsistent)
    var index = 1
    while index < count {
      wake(index)
      index &+= 1
    }
  }

  @_noLocks private func wake(_ index: Int) {
    guard helpers[index].isAsleep.load(ordering: .sequentiallyConsistent),
      helpers[index].isAsleep.exchange(false, ordering: .acquiringAndReleasing)
    else { return }
    _ = postSemaphore(helpers[index].semaphore)
  }

  /// Ends a period of `frames`. `load`: the driver's. Audio thread.
  @_noLocks func endPeriod(frames: Int, load: Float) {
    isRendering.store(false, ordering: .relaxed)
    guard teamwork.pointee.isTiming else { return }
    teamwork.pointee.end(frames: frames, at: nanoseconds(), load: load)
  }

  /// Renders one block. `isLast`: of the period. Audio thread.
  @_noLocks func render(_ next: RenderJob, isLast: Bool) {
    let plan = next.plan
    // A copy: ThreadSanitizer takes a write through a constant pointer for a write to the constant.
    let runners = runners
    runners.pointee.begin(next)
    let count = plan.pointee.segmentCount
    guard count > 1, isShared.pointee else {
      var index = 0
      while index < count {
        runners.pointee.run(plan.pointee.segments[index])
        index &+= 1
      }
      return
    }
    // No thread may use its knowledge of the old plan on the new one.
    let number = board.close()
    job.pointee = next
    var index = 0
    while index < count {
      board.setPredecessors(plan.pointee.segments[index].predecessors, of: index)
      index &+= 1
    }
    board.setCount(count)
    board.setUndone(number)
    board.open(number)
    // A helper that finds the board empty afterwards knows that nothing follows.
    if isLast { isRendering.store(false, ordering: .releasing) }
    var idle = 0
    while !board.isComplete(number, count) {
      if let segment = board.claimNext() {
        runners.pointee.run(plan.pointee.segments[segment])
        board.finish(segment)
        idle = 0
      } else {
        spin(&idle)
      }
    }
  }

  // MARK: All threads

  /// One round of a spin loop. Yields the processor now and then, in case there are more threads than
  /// processors. Audio thread.
  @_noLocks private func spin(_ idle: inout Int) {
    idle &+= 1
    if idle & 255 == 0 { yieldProcessor() } else { pauseProcessor() }
  }

  // MARK: Helpers

  /// Starts the helpers; works without those that the system refuses. `team` is its own address. Worker.
  static func start(_ team: UnsafeMutablePointer<RenderTeam>) {
    for index in 1..<max(team.pointee.threadCount, 1) {
      let start = UnsafeMutablePointer<HelperStart>.allocate(capacity: 1)
      start.initialize(to: HelperStart(team: team, index: index))
      let helper = team.pointee.helpers + index
      helper.pointee.hasStarted = pthread_create(&helper.pointee.thread, nil, helperThread, start) == 0
      if !helper.pointee.hasStarted { start.deallocate() }
    }
  }

  private struct HelperStart {
    let team: UnsafeMutablePointer<RenderTeam>
    let index: Int
  }

  private static let helperThread: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    guard let start = $0?.assumingMemoryBound(to: HelperStart.self) else { return nil }
    let (team, index) = (start.pointee.team, start.pointee.index)
    start.deallocate()
    // Signals go to the main thread only.
    var signals = sigset_t()
    sigfillset(&signals)
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    nameThread("sostenuto-\(index + 1)")
    touchStack()
    team.pointee.runHelper(index)
    return nil
  }

  private func runHelper(_ index: Int) {
    var seen: UInt64 = 0
    var followed: Int32 = 0
    while !isOver.load(ordering: .sequentiallyConsistent) {
      var turns = 0
      while period.load(ordering: .acquiring) == seen, turns < 500 {
        pauseProcessor()
        turns += 1
      }
      if period.load(ordering: .acquiring) == seen {
        sleep(index, seen)
        continue
      }
      seen = period.load(ordering: .acquiring)
      let thread = driverThread.load(ordering: .relaxed)
      // Without the same priority it could hold up a more important thread, so it stays out.
      if thread != followed, !Self.adoptPriority(of: thread) { continue }
      followed = thread
      restoreDenormals(floatingPoint.load(ordering: .relaxed))
      enterRealtimeContext()
      runSegments(runners + index, seen)
      leaveRealtimeContext()
    }
  }

  /// Runs segments until all of the period have been taken. Audio thread.
  @_noLocks private func runSegments(_ runner: UnsafeMutablePointer<StepRunner>, _ seen: UInt64) {
    var idle = 0
    while period.load(ordering: .relaxed) == seen {
      // In this order: once the last block's board is open, what has been taken stays taken.
      let isLast = !isRendering.load(ordering: .acquiring)
      if isLast, board.isTaken { return }
      if let segment = board.claimNext() {
        runner.pointee.begin(job.pointee)
        runner.pointee.run(job.pointee.plan.pointee.segments[segment])
        board.finish(segment)
        idle = 0
      } else {
        spin(&idle)
      }
    }
  }

  /// Waits for the next period or for the end.
  private func sleep(_ index: Int, _ seen: UInt64) {
    helpers[index].isAsleep.store(true, ordering: .sequentiallyConsistent)
    if period.load(ordering: .sequentiallyConsistent) != seen
      || isOver.load(ordering: .sequentiallyConsistent)
    {
      // The thread that resets the flag decides whether the semaphore will be posted.
      if helpers[index].isAsleep.exchange(false, ordering: .acquiringAndReleasing) { return }
    }
    while sem_wait(helpers[index].semaphore) != 0, errno == EINTR {}
  }

  private static func adoptPriority(of thread: Int32) -> Bool {
    var parameters = sched_param()
    let policy = sched_getscheduler(thread)
    guard policy >= 0, sched_getparam(thread, &parameters) == 0 else { return false }
    // The policy without SCHED_RESET_ON_FORK, which concerns child processes only.
    return pthread_setschedparam(pthread_self(), policy & 0xffff, &parameters) == 0
  }
}
