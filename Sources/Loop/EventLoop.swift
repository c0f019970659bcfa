import CLoop
import Glibc

/// A thread's only wait: for descriptors to become readable and for times to come. Signals arrive as
/// descriptors, too. The thread that makes it adds to it and runs it.
///
/// ```swift
/// let loop = EventLoop()
/// loop.watch(socket) { accept() }
/// loop.timer(due: EventLoop.now()) { now in
///   session.tick()
///   return now + 33_000_000
/// }
/// try loop.run()
/// ```
public final class EventLoop {
  /// A call at a time.
  public final class Timer {
    /// Time of the next call, in nanoseconds of the monotonic clock; nil: none.
    public var due: Int64?
    fileprivate let call: (Int64) throws -> Int64?

    fileprivate init(due: Int64?, _ call: @escaping (Int64) throws -> Int64?) {
      self.due = due
      self.call = call
    }
  }

  private var readers: [(descriptor: Int32, call: () throws -> Void)] = []
  private var timers: [Timer] = []
  private var isEnded = false

  /// An empty loop.
  public init() {}

  /// Nanoseconds of the monotonic clock.
  public static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Calls whenever the descriptor is readable or at its end, until `forget`.
  public func watch(_ descriptor: Int32, _ call: @escaping () throws -> Void) {
    readers.append((descriptor, call))
  }

  /// Watches the descriptor no longer.
  public func forget(_ descriptor: Int32) { readers.removeAll { $0.descriptor == descriptor } }

  /// Adds a timer. It calls with the present time; the result is when it is due again, nil for not.
  @discardableResult
  public func timer(due: Int64? = nil, _ call: @escaping (Int64) throws -> Int64?) -> Timer {
    let timer = Timer(due: due, call)
    timers.append(timer)
    return timer
  }

  /// Waits and calls until `end`. An error of a call ends it.
  public func run() throws {
    isEnded = false
    while !isEnded { try turn() }
  }

  /// Makes `run` return after the present call.
  public func end() { isEnded = true }

  /// One wait, of at most `nanoseconds`, and the calls for what came: descriptors first, then timers by their
  /// times.
  public func turn(atMost nanoseconds: Int64? = nil) throws {
    let present = EventLoop.now()
    let due = [timers.compactMap(\.due).min(), nanoseconds.map { present + $0 }].compactMap(\.self).min()
    for descriptor in wait(due.map { max(0, $0 - present) }) {
      // An earlier call may have dropped it.
      guard let reader = readers.first(where: { $0.descriptor == descriptor }), !isEnded else { continue }
      try reader.call()
    }
    let now = EventLoop.now()
    let waiting = timers.filter { $0.due.map { $0 <= now } ?? false }
    for timer in waiting.sorted(by: { ($0.due ?? 0) < ($1.due ?? 0) }) where !isEnded {
      guard timer.due.map({ $0 <= now }) ?? false else { continue }
      timer.due = nil
      timer.due = try timer.call(EventLoop.now())
    }
  }

  /// The descriptors that are ready after at most `nanoseconds`; nil: whenever one is.
  private func wait(_ nanoseconds: Int64?) -> [Int32] {
    var entries = readers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    let count = cloop_poll(&entries, UInt(entries.count), nanoseconds ?? -1)
    return count > 0 ? entries.filter { $0.revents != 0 }.map(\.fd) : []
  }
}
