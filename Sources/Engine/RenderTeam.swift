import Glibc
import Realtime
import Synchronization

/// What is to be done in one block.
struct RenderJob: BitwiseCopyable {
  var plan: UnsafeMutablePointer<Plan>
  var frames: Int
  var time: Int64
  var rate: Float
  var isMetering: Bool
}

/// Renders a plan's segments on several threads: the driver's, and helpers that live as long as the
/// team. Nothing is locked, and no segment is bound to a thread.
///
/// A segment may run when all that it waits for are done; a thread that is free takes the first such from
/// the board. So a helper that sleeps or comes late delays nobody: the driver's thread does the work itself.
///
/// Helpers wait for the next period turning for some 20 microseconds, then on a semaphore.
struct RenderTeam: ~Copyable {
  static var mostSegments: Int { @_noLocks get { SegmentBoard.capacity } }
  static let mostThreads = 16

  /// The driver's thread is the first.
  let threadCount: Int
  /// One a thread.
  let runners: UnsafeMutablePointer<StepRunner>
  private let helpers: UnsafeMutablePointer<Helper>
  /// Valid for whoever has taken a segment, until that is done.
  private let job: UnsafeMutablePointer<RenderJob>
  private let board = SegmentBoard()

  /// Counts the periods that helpers were asked to.
  private let period = Atomic<UInt64>(0)
  private let isRendering = Atomic<Bool>(false)
  private let isOver = Atomic<Bool>(false)
  /// The driver's thread of this period, whose priority helpers take, and its rounding of denormals.
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

  /// Worker. Helpers start with `start`.
  init(
    threads: Int, driver: UnsafePointer<DriverChannels>, zeros: UnsafePointer<UnsafePointer<Float>>
  ) {
    threadCount = min(max(threads, 1), Self.mostThreads)
    runners = .allocate(capacity: threadCount)
    helpers = .allocate(capacity: threadCount)
    for index in 0..<threadCount {
      (runners + index).initialize(to: StepRunner(index: index, driver: driver, zeros: zeros))
      (helpers + index).initialize(to: Helper())
    }
    job = .allocate(capacity: 1)
  }

  /// Once no thread renders. Worker.
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
    board.deallocate()
  }

  // MARK: The driver's thread

  /// Calls the helpers to a period. Audio thread.
  @_noLocks func gather() {
    let state = flushDenormals()
    restoreDenormals(state)
    floatingPoint.store(state, ordering: .relaxed)
    driverThread.store(threadNumber(), ordering: .relaxed)
    isRendering.store(true, ordering: .relaxed)
    period.store(period.load(ordering: .relaxed) &+ 1, ordering: .sequentiallyConsistent)
    var index = 1
    while index < threadCount {
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

  /// Lets the helpers go until the next period. Audio thread.
  @_noLocks func dismiss() { isRendering.store(false, ordering: .relaxed) }

  /// Renders one block. Audio thread.
  @_noLocks func render(_ next: RenderJob) {
    let plan = next.plan
    // A copy: ThreadSanitizer takes a change of what a constant points to for one of the constant.
    let runners = runners
    runners.pointee.begin(next)
    let count = plan.pointee.segmentCount
    guard count > 1 else {
      runners.pointee.run(plan.pointee.steps, plan.pointee.stepCount)
      return
    }
    // Nobody may look at the new plan with what is known of the old.
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
    var idle = 0
    while !board.isWhole(number, count) {
      if let segment = board.take() {
        runners.pointee.run(plan.pointee.segments[segment])
        board.finish(segment)
        idle = 0
      } else {
        turn(&idle)
      }
    }
  }

  // MARK: All threads

  /// Waits a moment; lets others have the processor now and then, where there are more threads than
  /// processors. Audio thread.
  @_noLocks private func turn(_ idle: inout Int) {
    idle &+= 1
    if idle & 255 == 0 { _ = yieldProcessor() } else { pauseProcessor() }
  }

  // MARK: Helpers

  /// Starts the helpers; those that the system refuses are done without. `team` is its own address.
  /// Worker.
  static func start(_ team: UnsafeMutablePointer<RenderTeam>) {
    for index in 1..<max(team.pointee.threadCount, 1) {
      let place = UnsafeMutablePointer<Place>.allocate(capacity: 1)
      place.initialize(to: Place(team: team, index: index))
      let helper = team.pointee.helpers + index
      helper.pointee.hasStarted = pthread_create(&helper.pointee.thread, nil, runHelper, place) == 0
      if !helper.pointee.hasStarted { place.deallocate() }
    }
  }

  private struct Place {
    let team: UnsafeMutablePointer<RenderTeam>
    let index: Int
  }

  private static let runHelper: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    guard let place = $0?.assumingMemoryBound(to: Place.self) else { return nil }
    let (team, index) = (place.pointee.team, place.pointee.index)
    place.deallocate()
    // Signals are for the main thread.
    var signals = sigset_t()
    sigfillset(&signals)
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    nameThread("sostenuto-\(index + 1)")
    touchStack()
    team.pointee.help(index)
    return nil
  }

  private func help(_ index: Int) {
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
      // Without the same priority it could hold up a thread that is more important: it stays out.
      if thread != followed, !Self.takePriority(of: thread) { continue }
      followed = thread
      restoreDenormals(floatingPoint.load(ordering: .relaxed))
      enterRealtimeContext()
      helpOut(runners + index, seen)
      leaveRealtimeContext()
    }
  }

  /// Runs segments until the period is over. Audio thread.
  @_noLocks private func helpOut(_ runner: UnsafeMutablePointer<StepRunner>, _ seen: UInt64) {
    var idle = 0
    while isRendering.load(ordering: .relaxed), period.load(ordering: .relaxed) == seen {
      if let segment = board.take() {
        runner.pointee.begin(job.pointee)
        runner.pointee.run(job.pointee.plan.pointee.segments[segment])
        board.finish(segment)
        idle = 0
      } else {
        turn(&idle)
      }
    }
  }

  /// Until the next period, or the end.
  private func sleep(_ index: Int, _ seen: UInt64) {
    helpers[index].isAsleep.store(true, ordering: .sequentiallyConsistent)
    if period.load(ordering: .sequentiallyConsistent) != seen
      || isOver.load(ordering: .sequentiallyConsistent)
    {
      // Whoever takes the flag back first decides whether there is something to wait for.
      if helpers[index].isAsleep.exchange(false, ordering: .acquiringAndReleasing) { return }
    }
    while sem_wait(helpers[index].semaphore) != 0, errno == EINTR {}
  }

  private static func takePriority(of thread: Int32) -> Bool {
    var parameters = sched_param()
    let policy = sched_getscheduler(thread)
    guard policy >= 0, sched_getparam(thread, &parameters) == 0 else { return false }
    // Without the flag that only says what children get.
    return pthread_setschedparam(pthread_self(), policy & 0xffff, &parameters) == 0
  }
}
