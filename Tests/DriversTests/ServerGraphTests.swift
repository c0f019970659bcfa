import TestSupport
import Testing

@testable import Drivers

/// Which connections a wish stands for, and which are due.
@Suite struct ServerGraphTests {
  private typealias Link = ServerGraph.Link
  private typealias End = ConnectionWish.End

  private static func ports(
    _ program: String, _ names: [String], isInput: Bool, isEvents: Bool = false
  ) -> [ServerGraph.Port] {
    names.map { ServerGraph.Port(program, $0, isInput: isInput, isEvents: isEvents) }
  }

  private let graph = ServerGraph(
    ports("card", ["play_10", "play_1", "play_2", "play_3"], isInput: true)
      + ports("card", ["capture_1"], isInput: false)
      + ports("card", ["midi_in"], isInput: true, isEvents: true)
      + ports("web", ["out_L", "out_R"], isInput: false) + ports("web-2", ["out_L", "out_R"], isInput: false)
      + ports("mono", ["out"], isInput: false) + ports("keys", ["out"], isInput: false, isEvents: true)
      + ports("rec-01", ["in"], isInput: true))

  private func links(
    _ source: (String, [String]), _ destination: (String, [String]), map: [Int]? = nil,
    isDiscrete: Bool = false
  ) -> [String] {
    graph.links(
      of: ConnectionWish(
        End(source.0, source.1), End(destination.0, destination.1), map: map, isDiscrete: isDiscrete)
    ).map { "\($0.source)>\($0.destination)" }
  }

  @Test func portsAreJoinedInTheirOrder() {
    #expect(links(("web", ["*"]), ("card", ["*"])) == ["web:out_L>card:play_1", "web:out_R>card:play_2"])
    #expect(
      links(("web", ["out_R", "out_L"]), ("card", ["play_3", "play_10"])) == [
        "web:out_R>card:play_3", "web:out_L>card:play_10",
      ])
  }

  @Test func aSinglePortIsSentToTwoAndTakesAll() {
    #expect(links(("mono", ["*"]), ("card", ["play_*"])) == ["mono:out>card:play_1", "mono:out>card:play_2"])
    #expect(links(("mono", ["*"]), ("card", ["play_*"]), isDiscrete: true) == ["mono:out>card:play_1"])
    #expect(
      links(("web", ["*"]), ("card", ["play_3"])) == ["web:out_L>card:play_3", "web:out_R>card:play_3"])
    #expect(links(("web", ["*"]), ("card", ["play_3"]), isDiscrete: true) == ["web:out_L>card:play_3"])
  }

  @Test func aMapNamesTheSourceOfEachPort() {
    #expect(
      links(("web", ["*"]), ("card", ["*"]), map: [1, -1, 0, 7]) == [
        "web:out_R>card:play_1", "web:out_L>card:play_3",
      ])
  }

  @Test func midiIsJoinedWithMidiAlone() {
    #expect(links(("keys", ["*"]), ("card", ["*"])) == ["keys:out>card:midi_in"])
    #expect(links(("keys", ["*"]), ("card", ["play_*"])) == [])
  }

  @Test func patternsStandForProgramsAndANumberForOneThatCameBack() {
    #expect(
      links(("web*", ["out_L"]), ("card", ["play_1"])) == [
        "web:out_L>card:play_1", "web-2:out_L>card:play_1",
      ])
    #expect(links(("mono", ["*"]), ("rec", ["in"])) == ["mono:out>rec-01:in"])
    #expect(links(("nobody", ["*"]), ("card", ["*"])) == [])
    #expect(links(("", ["*"]), ("card", ["*"])) == [])
  }

  // MARK: The keeper

  private static func short(_ link: Link) -> String { "\(link.source)>\(link.destination)" }

  private static func short(_ wish: ConnectionWish) -> String {
    "\(wish.source.program)>\(wish.destination.program):\(wish.destination.ports)"
  }

  /// A server that does what it is told, for fixed seeds: programs come and go, somebody connects and disconnects
  /// elsewhere, the patch gains and loses cables. The model knows what must be connected.
  @Test(arguments: searchSeeds(1...60)) func wishesAreKeptThroughBirthsAndDeathsAndOtherHands(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let names = ["a", "b", "c", "d"]
    var alive: Set<String> = ["a", "b"]
    /// The program that starts, with the ports that it has so far.
    var starting: (name: String, ports: Set<String>)?
    var links: Set<Link> = []
    /// All that was ever connected elsewhere, and of it what no wish asks for and nobody has ended since.
    var (others, byHand): (Set<Link>, Set<Link>) = ([], [])
    var keeper = WishKeeper()
    var wishes: [ConnectionWish] = []
    /// Wished for, and ended by others since.
    var ended: Set<Link> = []
    var (log, time) = ("", 0.0)
    func graph() -> ServerGraph {
      ServerGraph(
        alive.flatMap { name in
          (Self.ports(name, ["out_1", "out_2"], isInput: false)
            + Self.ports(name, ["in_1", "in_2"], isInput: true))
            .filter { starting?.name != name || starting!.ports.contains($0.fullName) }
        }, links: links)
    }
    func wished() -> Set<Link> { Set(wishes.flatMap(graph().links)) }
    func look() {
      // Again and again, as the patchbay does after each change.
      for _ in 0..<3 {
        time += .random(in: WishKeeper.patience...1, using: &random)
        let changes = keeper.look(graph(), at: time)
        for link in changes.end {
          #expect(links.remove(link) != nil, "\(log)")
        }
        for link in changes.make { links.insert(link) }
      }
    }
    func full(_ name: String, _ direction: String) -> [String] {
      (1...2).map { "\(name):\(direction)_\($0)" }
    }
    for _ in 0..<120 {
      let (one, other) = (names.randomElement(using: &random)!, names.randomElement(using: &random)!)
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        log += " kill \(one)"
        alive.remove(one)
        links = links.filter { !$0.source.hasPrefix(one) && !$0.destination.hasPrefix(one) }
        for port in full(one, "in") + full(one, "out") { keeper.lose(port) }
      case 1, 2:
        guard alive.insert(one).inserted else { continue }
        log += " start \(one)"
        if Bool.random(using: &random) {
          let ports = (full(one, "in") + full(one, "out")).shuffled(using: &random)
          log += " by \(ports)"
          starting = (one, [])
          for port in ports {
            starting?.ports.insert(port)
            if Bool.random(using: &random) { look() }
            let made = links.filter { $0.source == port || $0.destination == port }
            keeper.lose(port)
            for link in made { keeper.record(link) }
            look()
          }
          starting = nil
          break
        }
        // A busy server tells of the ports when they have been connected already, and one was disconnected.
        let isLate = Bool.random(using: &random)
        if isLate { look() }
        let made = links.filter { $0.source.hasPrefix(one) || $0.destination.hasPrefix(one) }
        if isLate, let link = made.sorted().randomElement(using: &random) {
          log += " late, end \(Self.short(link))"
          links.remove(link)
          byHand.remove(link)
          if wished().contains(link) { ended.insert(link) }
        }
        for port in full(one, "in") + full(one, "out") { keeper.lose(port) }
        for link in made { keeper.record(link) }
      case 3:
        guard one != other, alive.contains(one), alive.contains(other) else { continue }
        let link = Link("\(one):out_1", "\(other):in_2")
        log += " elsewhere \(Self.short(link))"
        if !wished().contains(link), !links.contains(link) { byHand.insert(link) }
        links.insert(link)
        others.insert(link)
        ended.remove(link)
      case 4:
        guard let link = links.sorted().randomElement(using: &random) else { continue }
        log += " end \(Self.short(link))"
        links.remove(link)
        byHand.remove(link)
        if wished().contains(link) { ended.insert(link) }
      case 5:
        guard !wishes.isEmpty else { continue }
        let index = Int.random(in: 0..<wishes.count, using: &random)
        log += " drop \(Self.short(wishes[index]))"
        let dropped = wishes.remove(at: index)
        ended = ended.filter { !dropped.holds($0) }
        byHand = byHand.filter { !dropped.holds($0) }
        _ = keeper.wish(wishes)
      default:
        guard one != other else { continue }
        let wish = ConnectionWish(
          End(one, ["out_*"]), End(other, [["in_*"], ["in_2"]].randomElement(using: &random)!))
        guard !wishes.contains(wish) else { continue }
        log += " wish \(Self.short(wish))"
        wishes.append(wish)
        ended = ended.filter { !wish.holds($0) }
        byHand = byHand.filter { !wish.holds($0) }
        _ = keeper.wish(wishes)
      }
      look()
      let there = byHand.filter { graph().has($0.source) && graph().has($0.destination) }
      let isRight =
        links.isSuperset(of: wished().subtracting(ended)) && links.isDisjoint(with: ended)
        && links.isSubset(of: wished().union(others)) && links.isSuperset(of: there)
        && keeper.declined.isSuperset(of: ended.intersection(wished()))
      guard isRight else {
        Issue.record(
          """
          seed \(seed):\(log)
          links \(links.map(Self.short).sorted()), wished \(wished().map(Self.short).sorted()), \
          ended \(ended.map(Self.short).sorted()), by hand \(there.map(Self.short).sorted()), \
          declined \(keeper.declined.map(Self.short).sorted())
          """)
        return
      }
    }
  }

  @Test func whatIsNotWishedForIsLeftAlone() {
    var keeper = WishKeeper()
    var graph = graph
    graph.links = [Link("mono:out", "card:play_3")]
    #expect(keeper.look(graph, at: 1).make.isEmpty)
    _ = keeper.wish([ConnectionWish(End("web", ["*"]), End("card", ["*"]))])
    let made = keeper.look(graph, at: 2)
    #expect(made.make == [Link("web:out_L", "card:play_1"), Link("web:out_R", "card:play_2")])
    #expect(made.end.isEmpty)
    graph.links.formUnion(made.make)
    #expect(keeper.look(graph, at: 3).make.isEmpty)
    #expect(keeper.wish([]).count == 1)
    #expect(keeper.look(graph, at: 4).end == made.make)
  }

  /// A program that ends loses its connections a moment before its ports: nobody has ended them.
  @Test func aProgramThatEndsHasNotBeenDisconnected() {
    var keeper = WishKeeper()
    var graph = graph
    _ = keeper.wish([ConnectionWish(End("mono", ["*"]), End("rec", ["in"]))])
    graph.links.formUnion(keeper.look(graph, at: 5).make)
    _ = keeper.look(graph, at: 6)
    let whole = graph
    graph.links = []
    #expect(keeper.look(graph, at: 7).make.isEmpty)
    #expect(keeper.isUncertain)
    for port in ["rec-01:in"] { keeper.lose(port) }
    var without = ServerGraph(graph.ports.values.flatMap { $0 }.filter { $0.program != "rec-01" })
    #expect(keeper.look(without, at: 8).make.isEmpty)
    keeper.lose("rec:in")
    without = ServerGraph(
      without.ports.values.flatMap { $0 } + [ServerGraph.Port("rec", "in", isInput: true)])
    #expect(keeper.look(without, at: 9).make == [Link("mono:out", "rec:in")])
    // Whereas this is somebody's wish.
    _ = keeper.look(whole, at: 10)
    #expect(keeper.look(graph, at: 11).make.isEmpty)
    #expect(keeper.look(graph, at: 12).make.isEmpty)
    #expect(keeper.declined == [Link("mono:out", "rec-01:in")])
    #expect(!keeper.isUncertain)
  }

  // MARK: What no wish asks for

  private static func programs(_ names: String..., links: [Link] = []) -> ServerGraph {
    ServerGraph(
      names.flatMap { ports($0, ["out"], isInput: false) + ports($0, ["in"], isInput: true) },
      links: Set(links))
  }

  /// What others have connected stays as a ghost when a program ends, and comes back with it, once.
  @Test func foundConnectionsComeBackWithTheirPrograms() {
    var keeper = WishKeeper()
    let link = Link("a:out", "b:in")
    #expect(keeper.look(Self.programs("a", "b", links: [link]), at: 0).make.isEmpty)
    // Before the port, the connection goes.
    #expect(keeper.look(Self.programs("a", "b"), at: 10).make.isEmpty)
    #expect(keeper.isUncertain)
    for round in 1...3 {
      keeper.lose("b:in")
      let time = Double(round) * 20
      #expect(keeper.look(Self.programs("a"), at: time).make.isEmpty)
      #expect(keeper.found.gone == [link])
      keeper.lose("b:in")
      // Until it is there, as the server may refuse it at first.
      #expect(keeper.look(Self.programs("a", "b"), at: time + 5).make == [link])
      #expect(keeper.look(Self.programs("a", "b"), at: time + 5.01).make == [link])
      #expect(keeper.look(Self.programs("a", "b", links: [link]), at: time + 5.02).make.isEmpty)
      #expect(keeper.found.gone.isEmpty)
    }
    // Somebody ends it.
    #expect(keeper.look(Self.programs("a", "b"), at: 100).make.isEmpty)
    #expect(keeper.look(Self.programs("a", "b"), at: 101).make.isEmpty)
    keeper.lose("b:in")
    _ = keeper.look(Self.programs("a"), at: 102)
    #expect(keeper.found.gone.isEmpty && !keeper.isUncertain)
  }

  @Test func aFoundConnectionFollowsAProgramToItsNumberAndNoOtherProgram() {
    var keeper = WishKeeper()
    let link = Link("a:out", "b:in")
    _ = keeper.look(Self.programs("a", "b", "b-01", links: [link]), at: 0)
    keeper.lose("b:in")
    #expect(keeper.look(Self.programs("a", "b-01"), at: 10).make.isEmpty)
    keeper.lose("b-02:in")
    #expect(keeper.look(Self.programs("a", "b-01", "b-02"), at: 20).make == [Link("a:out", "b-02:in")])
    #expect(
      keeper.look(Self.programs("a", "b-01", "b-02", links: [Link("a:out", "b-02:in")]), at: 21).make.isEmpty)
    #expect(keeper.found.gone.isEmpty)
  }

  /// A recorder connects itself to what it is to record, which is something else the next time.
  @Test func whatAProgramConnectsItselfIsNotMadeAgain() {
    var keeper = WishKeeper()
    let link = Link("a:out", "rec:in")
    _ = keeper.look(Self.programs("a"), at: 0)
    keeper.lose("rec:in")
    _ = keeper.look(Self.programs("a", "rec", links: [link]), at: 10)
    _ = keeper.look(Self.programs("a", "rec", links: [link]), at: 11)
    keeper.lose("rec:in")
    _ = keeper.look(Self.programs("a"), at: 20)
    #expect(keeper.found.gone == [link])
    keeper.lose("rec:in")
    #expect(keeper.look(Self.programs("a", "rec"), at: 30).make.isEmpty)
    #expect(keeper.found.gone.isEmpty)
  }

  @Test func whatIsEndedAndRecalledIsMadeWhenBothProgramsRun() {
    var keeper = WishKeeper()
    let link = Link("a:out", "b:in")
    _ = keeper.look(Self.programs("a", "b", links: [link]), at: 0)
    keeper.found.end([link])
    #expect(keeper.look(Self.programs("a", "b"), at: 1).make.isEmpty)
    #expect(!keeper.isUncertain)
    keeper.found.recall([link])
    #expect(keeper.look(Self.programs("a"), at: 2).make.isEmpty)
    #expect(keeper.look(Self.programs("a", "b"), at: 3).make == [link])
    // The patch's cable takes its place.
    _ = keeper.wish([ConnectionWish(End("a", ["*"]), End("b", ["*"]))])
    #expect(keeper.look(Self.programs("a", "b"), at: 4).make == [link])
    #expect(keeper.found.gone.isEmpty)
    _ = keeper.wish([])
    #expect(keeper.look(Self.programs("a", "b"), at: 5).make.isEmpty)
  }

  @Test func aMapLeavesOutWhatSomebodyHasEnded() {
    func map(
      _ source: (String, [String]), _ destination: (String, [String]), _ ended: [Link], _ old: [Int]? = nil
    )
      -> [Int]?
    {
      graph.map(
        of: ConnectionWish(End(source.0, source.1), End(destination.0, destination.1), map: old),
        without: Set(ended))
    }
    let right = Link("web:out_R", "card:play_2")
    #expect(map(("web", ["*"]), ("card", ["*"]), [right]) == [0, -1])
    #expect(map(("web", ["*"]), ("card", ["*"]), [Link("web:out_L", "card:play_1"), right]) == [-1, -1])
    #expect(map(("web", ["*"]), ("card", ["*"]), [Link("web:out_L", "card:play_2")], [1, 0]) == [1, -1])
    #expect(map(("mono", ["*"]), ("card", ["play_*"]), [Link("mono:out", "card:play_1")]) == [-1, 0])
    #expect(map(("keys", ["*"]), ("card", ["*"]), [Link("keys:out", "card:midi_in")]) == [-1])
    // Of two at one port one stays.
    #expect(map(("web", ["*"]), ("card", ["play_3"]), [Link("web:out_L", "card:play_3")]) == [1])
    #expect(map(("web*", ["*"]), ("card", ["play_3"]), [Link("web:out_L", "card:play_3")]) == nil)
  }
}
