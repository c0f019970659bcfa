import Engine
import Patch
import TestSupport
import Testing

/// A new node's fade-in hides its onset, but its echo comes after that fade.
@Suite struct EchoTests {
  @Test(arguments: ["time=0.005", "time=0.05", "time=0.0005"])
  func theFirstEchoOfADelayThatComesInSteadySoundHasNoStep(
    time: String
  ) throws {
    let bench = Bench()
    bench.feed(1)
    try bench.begin([
      node("in", "input", "channels=1"), node("a", "gain"), node("out", "output", "channels=1"),
      cable("in", "a"), cable("a", "out"),
    ])
    bench.render(4800)
    let delay = makeNode("d", "delay", [time, "mix=50", "feedback=30"])
    bench.edit(.insert(delay, into: CableName("a", "out")))
    bench.render(9600)
    bench.edit(.replace("d", with: makeNode("d", "gain", [])))
    bench.render(480)
    bench.edit(.replace("d", with: delay))
    bench.render(9600)
    let sound = bench.heard[0]
    let step = zip(sound, sound.dropFirst()).map { abs($1 - $0) }.max() ?? 1
    // The slope of one fade is at most 1.875 / 480; a few fades overlap.
    #expect(step < 0.012, "\(time): \(step)")
  }

  @Test func aDelayThatBeginsWithTheEngineEchoesTheFirstFrame() throws {
    let bench = Bench()
    bench.feed(1)
    try bench.begin([
      node("in", "input", "channels=1"), node("d", "delay", "time=0.01", "mix=100"),
      node("out", "output", "channels=1"), cable("in", "d"), cable("d", "out"),
    ])
    bench.render(960)
    #expect(bench.heard[0][479] == 0)
    #expect(bench.heard[0][480] == 1)
  }
}
