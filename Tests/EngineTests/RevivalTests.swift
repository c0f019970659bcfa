import Patch
import TestSupport
import Testing

@testable import Engine

/// Counts of revivals and renewals last no longer than what they count, and identities are never used again.
@Suite struct RevivalTests {
  private static let capture = """
    node in input channels=1
    node out output channels=1
    connect in -> out
    """

  @Test func revivalsOfANodeAreForgottenWithItsLastNode() throws {
    let bench = Bench()
    bench.feed(.nan)
    try bench.begin(Self.capture)
    bench.render(960)
    #expect(bench.perform("set in.port left"))
    #expect(!bench.engine.graph.revivals.isEmpty)
    bench.render(960)
    #expect(bench.perform("remove in"))
    bench.settle()
    #expect(bench.engine.graph.revivals.isEmpty)
  }

  @Test func aNodeThatIsMutedAndRemovedAndBroughtBackOverAndOverLeavesNoCount() throws {
    let bench = Bench()
    bench.feed(.nan)
    try bench.begin(Self.capture)
    for _ in 0..<100 {
      // In mid-fade, and after it.
      for pause in [100, 960] {
        bench.render(960)
        #expect(bench.perform("set in.port left"))
        bench.render(pause)
        #expect(bench.perform("remove in"))
        bench.render(pause)
        #expect(bench.perform("undo") && bench.perform("undo"))
        #expect(bench.engine.graph.revivals.count <= 1)
      }
    }
    bench.perform("remove in")
    bench.settle()
    #expect(bench.engine.graph.revivals.isEmpty)
  }

  @Test func renewalsOfCablesAreForgottenWithThem() throws {
    let bench = Bench()
    try bench.begin("node tone oscillator\nnode wide oscillator channels=4\nnode out output\n")
    var most = 0
    for round in 0..<150 {
      let name = "sum\(round)"
      // The cable behind the sum gets other gains when the wide source comes and when it goes: a renewal each time
      // before the last one has faded.
      let lines = [
        "node \(name) mix ; connect tone -> \(name) ; connect \(name) -> out", "connect wide -> \(name)",
        "disconnect wide -> \(name)", "connect wide -> \(name)", "disconnect wide -> \(name)",
        "remove \(name)",
      ]
      for line in lines {
        #expect(bench.perform(line))
        bench.render(round % 3 * 100 + 64)
        most = max(most, bench.engine.graph.generations.count)
      }
    }
    #expect((1...20).contains(most), "\(most) cables with renewals at once")
    #expect(bench.engine.graph.nodes.count < 40)
    bench.settle()
    #expect(bench.engine.graph.generations.isEmpty)
  }

  @Test func aNameThatIsGivenAgainIsAnotherNode() throws {
    let bench = Bench()
    try bench.begin("node tone oscillator\nnode out output\nconnect tone -> out")
    bench.render(960)
    func identity() throws -> NodeID { try #require(bench.draft.patch[named: "tone"]).id }
    func start() -> Int64? {
      bench.engine.report().nodes.first { $0.name == "tone" && $0.state == .active }?.startedAt
    }
    let first = try identity()
    let firstStart = start()
    for pause in [100, 9600] {
      #expect(bench.perform("remove tone"))
      bench.render(pause)
      #expect(bench.perform("node tone oscillator freq=100Hz"))
      let second = try identity()
      #expect(second != first)
      #expect(bench.engine.graph.current[second] != nil && bench.engine.graph.current[first] == nil)
      bench.render(pause)
      let identities: [(String, NodeID?)] = [
        ("undo", nil), ("undo", first), ("redo", nil), ("redo", second), ("undo", nil), ("undo", first),
      ]
      for (line, expected) in identities {
        #expect(bench.perform(line))
        bench.render(pause)
        #expect(bench.draft.patch[named: "tone"]?.id == expected)
        if let expected { #expect(bench.engine.graph.current[expected]?.isLeaving == false) }
      }
      // In mid-fade the very node comes back, afterwards a new one of the same identity.
      bench.render(9600)
      #expect((start() == firstStart) == (pause == 100))
    }
  }
}
