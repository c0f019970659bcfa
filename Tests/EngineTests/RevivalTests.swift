import Patch
import TestSupport
import Testing

@testable import Engine

/// Counts of revivals last no longer than what they count.
@Suite struct RevivalTests {
  @Test func revivalsOfANodeAreForgottenWithItsLastNode() throws {
    let bench = Bench()
    bench.feed(.nan)
    try bench.begin(
      """
      node in input channels=1
      node out output channels=1
      connect in -> out
      """)
    bench.render(960)
    #expect(bench.perform("set in.port left"))
    #expect(!bench.engine.graph.revivals.isEmpty)
    bench.render(960)
    #expect(bench.perform("remove in"))
    bench.settle()
    #expect(bench.engine.graph.revivals.isEmpty)
  }
}
