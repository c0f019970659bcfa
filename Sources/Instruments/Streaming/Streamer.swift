import Glibc
import Realtime
import Synchronization

/// The thread that reads ahead for all streams of the process, the most urgent request first. It sleeps while
/// there are no requests, and looks for unused chunks once a second. Worker.
final class Streamer: Sendable {
  static let shared = Streamer()

  private final class Member {
    weak var stream: SampleStream?
    init(_ stream: SampleStream) { self.stream = stream }
  }
  private let members = Mutex<[Member]>([])
  private let hasThread = Atomic<Bool>(false)
  private let semaphore = Semaphore()

  /// Semaphore posted by audio threads.
  var bell: UnsafeMutableRawPointer { semaphore.bell }

  private init() {}

  func add(_ stream: SampleStream) {
    members.withLock { $0.append(Member(stream)) }
    guard !hasThread.exchange(true, ordering: .relaxed) else { return }
    var thread = pthread_t()
    if pthread_create(&thread, nil, { _ in Streamer.shared.run() }, nil) == 0 {
      pthread_detach(thread)
    } else {
      // The next stream tries again.
      hasThread.store(false, ordering: .relaxed)
    }
  }

  private func run() -> Never {
    nameThread("streamer")
    // Higher priority, where permitted, since sound waits for it. On Linux this affects the calling thread
    // only.
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -10)
    while true { turn() }
  }

  private func turn() {
    // Runs as long as there are streams, at least once a second.
    let end = nanoseconds() + 1_000_000_000
    repeat {
      if streams.isEmpty {
        semaphore.wait()
      } else if !semaphore.wait(seconds: Double(end - nanoseconds()) * 1e-9) {
        break
      }
      serve()
    } while nanoseconds() < end
    for stream in streams { stream.age() }
  }

  private var streams: [SampleStream] {
    members.withLock { members in
      members.removeAll { $0.stream == nil }
      return members.compactMap(\.stream)
    }
  }

  /// Fulfils all requests.
  private func serve() {
    while true {
      var most: (stream: SampleStream, urgency: UInt8)?
      for stream in streams {
        let urgency = stream.urgency
        if urgency > most?.urgency ?? 0 { most = (stream, urgency) }
      }
      guard let most else { return }
      most.stream.fulfil(most.urgency)
    }
  }
}
