import Realtime
import Testing

@Suite struct RingTests {
  @Test func elementsComeOutInOrderAndAFullRingRefuses() {
    let ring = Ring(capacity: 4, of: Int.self)
    defer { ring.deallocate() }
    for round in 0..<10 {
      for index in 0..<4 {
        var element = round * 10 + index
        let isTaken = ring.push(&element)
        #expect(isTaken)
      }
      var extra = -1
      let isTaken = ring.push(&extra)
      #expect(!isTaken)
      for index in 0..<4 {
        #expect(ring.peek()?.load(as: Int.self) == round * 10 + index)
        ring.pop()
      }
      #expect(ring.peek() == nil)
    }
  }

  @Test func twoThreadsSeeEveryElementOnce() async {
    let ring = Ring(capacity: 64, of: Int.self)
    let count = 200_000
    async let writer: Void = {
      var next = 0
      while next < count {
        if ring.push(&next) { next += 1 } else { await Task.yield() }
      }
    }()
    var expected = 0
    var isInOrder = true
    while expected < count {
      guard let place = ring.peek() else {
        await Task.yield()
        continue
      }
      if place.load(as: Int.self) != expected { isInOrder = false }
      ring.pop()
      expected += 1
    }
    await writer
    ring.deallocate()
    #expect(isInOrder)
  }

  @Test func eventsAreKeptInOrderOfTheirFrames() {
    var queue = EventQueue()
    defer { queue.deallocate() }
    for offset in [5, 1, 5, 3] as [Int32] {
      queue.append(Event(.noteOn, key: UInt8(queue.count), value: 1, offset: offset))
    }
    #expect((0..<4).map { queue[$0].offset } == [1, 3, 5, 5])
    #expect(queue[2].key == 0 && queue[3].key == 2, "events of one frame stay in the order of arrival")
    for _ in 0..<600 { queue.append(Event(.noteOn, key: 1, value: 1)) }
    #expect(queue.count == EventQueue.capacity)
    #expect(queue.dropped == 604 - EventQueue.capacity, "what did not fit is counted")
    let taken = (queue.takeDropped(), queue.takeDropped())
    #expect(taken == (604 - EventQueue.capacity, 0), "once")
  }
}
