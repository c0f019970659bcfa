import Testing

@testable import Drivers

@Suite struct ConnectionMemoryTests {
  @Test func aProgramThatGoesAndComesBackIsConnectedAgain() {
    let memory = ConnectionMemory()
    #expect(memory.dueConnections(of: "out_1", connections: ["rec:in_1"]) { _ in true } == [])
    #expect(memory.dueConnections(of: "out_1", connections: []) { _ in false } == [])
    #expect(memory.dueConnections(of: "out_1", connections: []) { _ in true } == ["rec:in_1"])
    // The connection stays due until it has been made.
    #expect(memory.dueConnections(of: "out_1", connections: []) { _ in true } == ["rec:in_1"])
    #expect(memory.dueConnections(of: "out_1", connections: ["rec:in_1"]) { _ in true } == [])
  }

  @Test func whatTheUserDisconnectsStaysDisconnected() {
    let memory = ConnectionMemory()
    _ = memory.dueConnections(of: "out_1", connections: ["rec:in_1", "rec:in_2"]) { _ in true }
    #expect(memory.dueConnections(of: "out_1", connections: ["rec:in_2"]) { _ in true } == [])
    memory.markAllLost()
    #expect(memory.dueConnections(of: "out_1", connections: []) { _ in true } == ["rec:in_2"])
  }

  @Test func aProgramThatGoesAndComesBackBetweenTwoLooksIsConnectedAgain() {
    let memory = ConnectionMemory()
    _ = memory.dueConnections(of: "out_1", connections: ["rec:in_1", "rec:in_2"]) { _ in true }
    memory.lose("rec:in_1")
    memory.lose("other:in_1")
    #expect(memory.dueConnections(of: "out_1", connections: ["rec:in_2"]) { _ in true } == ["rec:in_1"])
    // Only what was wanted: the user removed this one before its program went.
    _ = memory.dueConnections(of: "out_1", connections: ["rec:in_1"]) { _ in true }
    memory.lose("rec:in_2")
    #expect(memory.dueConnections(of: "out_1", connections: ["rec:in_1"]) { _ in true } == [])
  }

  @Test func afterAServerHasGoneEveryConnectionIsDueAgain() {
    let memory = ConnectionMemory()
    memory.want("out_1", ["system:playback_1"])
    #expect(memory.knows("out_1"))
    #expect(!memory.knows("out_2"))
    #expect(memory.dueConnections(of: "out_1", connections: []) { _ in true } == ["system:playback_1"])
    _ = memory.dueConnections(of: "out_1", connections: ["system:playback_1"]) { _ in true }
    memory.markAllLost()
    #expect(memory.dueConnections(of: "out_1", connections: []) { $0 == "none" } == [])
    #expect(memory.dueConnections(of: "out_1", connections: []) { _ in true } == ["system:playback_1"])
  }

  @Test func connectionsFollowARenameOfOurPortAndOfTheOther() {
    let memory = ConnectionMemory()
    memory.want("out_1", ["rec:in"])
    memory.rename("out_1", to: "main_1")
    memory.renameOther("rec:in", to: "rec:left")
    #expect(!memory.knows("out_1"))
    #expect(memory.dueConnections(of: "main_1", connections: []) { _ in true } == ["rec:left"])
  }
}
