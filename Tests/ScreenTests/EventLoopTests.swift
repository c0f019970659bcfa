import Glibc
import Loop
import Testing

/// The loop of events.
@Suite struct EventLoopTests {
  @Test func timersCallInTheOrderOfTheirTimesOneThatGivesNoFurtherTimeCallsOnce() throws {
    let loop = EventLoop()
    let start = EventLoop.now()
    var calls: [String] = []
    loop.timer(due: start + 2) { _ in
      calls.append("second")
      return nil
    }
    loop.timer(due: start + 1) { _ in
      calls.append("first")
      return nil
    }
    var left = 3
    loop.timer(due: start + 3) { [unowned loop] now in
      calls.append("again")
      left -= 1
      if left == 0 { loop.end() }
      return now
    }
    try loop.run()
    #expect(calls == ["first", "second", "again", "again", "again"])
  }

  @Test func aTimerCanBeSetAndTakenBackFromOutside() throws {
    let loop = EventLoop()
    var count = 0
    let timer = loop.timer { _ in
      count += 1
      return nil
    }
    try loop.turn(atMost: 0)
    timer.due = EventLoop.now()
    try loop.turn(atMost: 0)
    timer.due = EventLoop.now()
    timer.due = nil
    try loop.turn(atMost: 0)
    #expect(count == 1)
  }

  @Test func aDescriptorCallsWhileItIsReadableAndWatchedBeforeTheTimers() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let loop = EventLoop()
    var calls: [String] = []
    loop.watch(ends[0]) { calls.append("readable") }
    try loop.turn(atMost: 0)
    write(ends[1], "x", 1)
    loop.timer(due: EventLoop.now()) { _ in
      calls.append("timer")
      return nil
    }
    try loop.turn()
    loop.forget(ends[0])
    try loop.turn(atMost: 0)
    #expect(calls == ["readable", "timer"])
  }

  @Test func theEndOrAnErrorLetsNothingElseBeCalled() throws {
    struct Failure: Error {}
    let loop = EventLoop()
    let start = EventLoop.now()
    var count = 0
    loop.timer(due: start) { [unowned loop] _ in
      loop.end()
      return nil
    }
    loop.timer(due: start + 1) { _ in
      count += 1
      throw Failure()
    }
    try loop.run()
    #expect(count == 0)
    #expect(throws: Failure.self) { try loop.run() }
    #expect(count == 1)
  }
}
