import TestSupport
import Testing

@testable import Drivers

@Suite struct ConnectionWishesTests {
  private let everywhere: (String) -> Bool = { _ in true }

  private func look(
    _ wishes: ConnectionWishes, _ connections: Set<String>, asked: [String] = [], words: String = "",
    exists: (String) -> Bool = { _ in true }
  ) -> [String] {
    let changes = wishes.look(
      at: "out_1", connections: connections, asked: asked, words: words, exists: exists)
    return changes.make + changes.end.map { "-" + $0 }
  }

  @Test func aProgramThatGoesAndComesBackIsConnectedAgain() {
    let wishes = ConnectionWishes()
    #expect(look(wishes, ["rec:in_1"]) == [])
    #expect(look(wishes, []) { _ in false } == [])
    #expect(look(wishes, []) == ["rec:in_1"])
    // The connection stays due until it has been made.
    #expect(look(wishes, []) == ["rec:in_1"])
    #expect(look(wishes, ["rec:in_1"]) == [])
  }

  @Test func aProgramThatComesBackWithANumberIsConnectedAgain() {
    let wishes = ConnectionWishes()
    #expect(look(wishes, ["rec:in_1"]) == [])
    #expect(look(wishes, []) { $0 == "rec-01:in_1" } == ["rec-01:in_1"])
    wishes.recordConnection("out_1", "rec-01:in_1")
    #expect(look(wishes, ["rec-01:in_1"]) { $0 == "rec-01:in_1" } == [])
    // And without it, once more.
    #expect(look(wishes, []) { $0 == "rec:in_1" } == ["rec:in_1"])
  }

  @Test func whatTheUserDisconnectsStaysDisconnected() {
    let wishes = ConnectionWishes()
    _ = look(wishes, ["rec:in_1", "rec:in_2"])
    #expect(look(wishes, ["rec:in_2"]) == [])
    wishes.markAllLost()
    #expect(look(wishes, []) == ["rec:in_2"])
    // Also what the patch asked for, until it asks with other words.
    #expect(look(wishes, ["rec:in_2"], asked: ["rec:in_3"]) == ["rec:in_3"])
    #expect(look(wishes, ["rec:in_2", "rec:in_3"], asked: ["rec:in_3"]) == [])
    #expect(look(wishes, ["rec:in_2"], asked: ["rec:in_3"]) == [])
    wishes.markAllLost()
    #expect(look(wishes, ["rec:in_2"], asked: ["rec:in_3"]) == [])
    #expect(look(wishes, ["rec:in_2"], asked: ["rec:in_3"], words: "rec:*_3") == ["rec:in_3"])
  }

  @Test func whatThePatchAsksForNoLongerIsDisconnected() {
    let wishes = ConnectionWishes()
    #expect(look(wishes, ["rec:in_1"], asked: ["card:1", "card:2"]) == ["card:1", "card:2"])
    #expect(look(wishes, ["rec:in_1", "card:1", "card:2"], asked: ["card:1"]) == ["-card:2"])
    #expect(look(wishes, ["rec:in_1", "card:1"], asked: ["card:1"]) == [])
    #expect(look(wishes, ["rec:in_1", "card:1"], asked: ["card:1", "card:2"]) == ["card:2"])
  }

  @Test func aPortThatGoesAndComesBackBetweenTwoLooksIsConnectedAgain() {
    let wishes = ConnectionWishes()
    _ = look(wishes, ["rec:in_1", "rec:in_2"])
    wishes.lose("rec:in_1")
    wishes.lose("other:in_1")
    #expect(look(wishes, ["rec:in_2"]) == ["rec:in_1"])
    // Only what was wanted: the user removed this one before its program went.
    _ = look(wishes, ["rec:in_1"])
    wishes.lose("rec:in_2")
    #expect(look(wishes, ["rec:in_1"]) == [])
    // Our own port takes all of its connections with it.
    _ = look(wishes, ["rec:in_1", "card:1"], asked: ["card:1"])
    wishes.loseOwn("out_1")
    #expect(look(wishes, [], asked: ["card:1"]) == ["card:1", "rec:in_1"])
  }

  /// A busy server tells late of a port: after we connected it, and somebody ended that.
  @Test func theLateNewsOfAPortDoesNotUndoADisconnection() {
    let wishes = ConnectionWishes()
    #expect(look(wishes, [], asked: ["rec:in"]) == ["rec:in"])
    wishes.recordConnection("out_1", "rec:in")
    wishes.lose("rec:in")
    wishes.note(connection: "out_1", to: "rec:in", at: 0)
    #expect(look(wishes, [], asked: ["rec:in"]) == [])
    // News of another program's port, or of one that is lost once more, changes nothing.
    _ = look(wishes, ["card:1"], asked: ["card:1"])
    wishes.note(connection: "out_1", to: "card:1", at: 0)
    wishes.note(connection: "out_2", to: "card:1", at: 0)
    wishes.lose("card:1")
    #expect(look(wishes, [], asked: ["card:1"]) == ["card:1"])
  }

  @Test func afterAServerHasGoneEveryConnectionIsDueAgain() {
    let wishes = ConnectionWishes()
    #expect(look(wishes, [], asked: ["system:playback_1"]) == ["system:playback_1"])
    _ = look(wishes, ["system:playback_1"], asked: ["system:playback_1"])
    wishes.markAllLost()
    #expect(look(wishes, []) { $0 == "none" } == [])
    #expect(look(wishes, [], asked: ["system:playback_1"]) == ["system:playback_1"])
  }

  @Test func connectionsFollowARenameOfOurPortAndOfTheOther() {
    let wishes = ConnectionWishes()
    _ = wishes.look(at: "old_1", connections: ["rec:in"], asked: [], exists: everywhere)
    wishes.rename("old_1", to: "out_1")
    wishes.renameOther("rec:in", to: "rec:left")
    wishes.markAllLost()
    #expect(wishes.look(at: "old_1", connections: [], asked: [], exists: everywhere).make == [])
    #expect(look(wishes, []) == ["rec:left"])
  }

  /// A recorder connects itself: the next one may record something else. What a patch bay connects comes back.
  @Test(arguments: [(1_000_000, nil, false), (1_000_000, 500_000, true), (150_000_000, nil, true)])
  func aRecordersOwnConnectionIsNotMadeForTheNextOne(_ connected: Int64, _ client: Int64?, _ comesBack: Bool)
  {
    let wishes = ConnectionWishes()
    let start: Int64 = 5_000_000_000
    wishes.noteClient(at: start - 1)
    wishes.note(port: "rec:in", isThere: true, at: start)
    if let client { wishes.noteClient(at: start + client) }
    wishes.note(connection: "out_1", to: "rec:in", at: start + connected)
    #expect(look(wishes, ["rec:in"]) == [])
    wishes.note(port: "rec:in", isThere: false, at: start + 300_000_000)
    wishes.lose("rec:in")
    #expect(look(wishes, []) { _ in false } == [])
    #expect(look(wishes, []) == (comesBack ? ["rec:in"] : []))
  }

  @Test func outputsShareTheSoundCardsChannels() {
    let wishes = ConnectionWishes()
    let card = (1...6).map { "system:playback_\($0)" }
    #expect(wishes.grant("mains", channels: 2, of: []) == [])
    #expect(wishes.grant("mains", channels: 2, of: card) == Array(card[0..<2]))
    #expect(wishes.grant("phones", channels: 1, of: card) == Array(card[2..<4]))
    #expect(wishes.grant("quad", channels: 4, of: card) == Array(card[4..<6]))
    #expect(wishes.grant("more", channels: 2, of: card) == [])
    #expect(wishes.grant("mains", channels: 1, of: card) == Array(card[0..<2]))
    // What an output leaves is taken by one that has none, until it comes back.
    for _ in 0..<3 {
      wishes.keepGrants(of: ["mains", "quad", "more"])
      #expect(wishes.grant("more", channels: 2, of: card) == Array(card[2..<4]))
      wishes.keepGrants(of: ["mains", "quad", "more", "phones"])
      #expect(wishes.grant("more", channels: 2, of: card) == [])
      #expect(wishes.grant("phones", channels: 1, of: card) == Array(card[2..<4]))
      #expect(wishes.grant("more", channels: 2, of: card) == [])
    }
    // A new one that has them at once keeps them.
    wishes.keepGrants(of: ["mains", "quad"])
    #expect(wishes.grant("new", channels: 2, of: card) == Array(card[2..<4]))
    wishes.keepGrants(of: ["mains", "quad", "new", "phones"])
    #expect(wishes.grant("phones", channels: 1, of: card) == [])
    #expect(wishes.grant("new", channels: 2, of: card) == Array(card[2..<4]))
    // Another card took the place of the first.
    let other = ["usb:1", "usb:2"]
    #expect(wishes.grant("mains", channels: 2, of: other) == other)
    // The first comes back, port by port.
    #expect(wishes.grant("mains", channels: 2, of: other + card[..<1]) == other)
    #expect(wishes.grant("mains", channels: 2, of: other + card) == Array(card[0..<2]))
    #expect(wishes.grant("mains", channels: 2, of: other) == other)
  }

  /// Programs come and go at random, and the user connects and disconnects, between looks at random: in the end,
  /// there is what the user and the patch want of what exists.
  @Test(arguments: searchSeeds(1...40)) func connectionsFollowTheUserThroughRandomComingsAndGoings(
    _ seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let wishes = ConnectionWishes()
    let others = (0..<5).map { "p\($0):in" }
    let patchPorts = others.suffix(2)
    var (there, made, wanted, asked) = (Set(others), Set<String>(), Set<String>(), Set<String>())
    var declined = Set<String>()
    var words = ""
    func settle() {
      for _ in 0..<3 {
        let changes = wishes.look(
          at: "out_1", connections: made, asked: asked.intersection(there).sorted(), words: words
        ) { there.contains($0) }
        for other in changes.make {
          #expect(there.contains(other) && !made.contains(other), "seed \(seed)")
          made.insert(other)
          wishes.recordConnection("out_1", other)
        }
        made.subtract(changes.end)
      }
    }
    settle()
    for _ in 0..<300 {
      let other = others.randomElement(using: &random)!
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where there.contains(other):
        there.remove(other)
        made.remove(other)
        wishes.lose(other)
      case 1 where !there.contains(other):
        there.insert(other)
        wishes.lose(other)
      case 2 where there.contains(other) && !patchPorts.contains(other):
        made.insert(other)
        wanted.insert(other)
        settle()
      case 3 where made.contains(other):
        made.remove(other)
        wanted.remove(other)
        if asked.contains(other) { declined.insert(other) }
        settle()
      case 4:
        made = []
        wishes.markAllLost()
      case 5 where Int.random(in: 0..<4, using: &random) == 0:
        // The patch asks for others.
        settle()
        asked = Set(patchPorts.filter { _ in Bool.random(using: &random) })
        words += "x"
        declined = []
        settle()
      default: break
      }
      if Bool.random(using: &random) { settle() }
    }
    settle()
    let expected = wanted.union(asked.subtracting(declined)).intersection(there)
    #expect(made == expected, "seed \(seed)")
  }
}
