import Patch
import PatchLanguage
import Testing

@testable import Drivers
@testable import Session

/// Other programs beside a patch: what is found, and how it becomes part of the patch.
@MainActor @Suite struct ProgramsTests {
  private typealias Link = ServerGraph.Link
  private typealias Port = ServerGraph.Port

  private func session(_ lines: String...) -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    let session = Session(options: options)
    for line in lines where (try? session.perform(line)) == nil { Issue.record("refused: \(line)") }
    session.showsPrograms = true
    return session
  }

  private let ports =
    (1...4).map { Port("system", "playback_\($0)", isInput: true) }
    + (1...2).map { Port("system", "capture_\($0)", isInput: false) }
    + ["output_FL", "output_FR"].map { Port("Web Player", $0, isInput: false) }
    + [
      Port("keys", "out", isInput: false, isEvents: true),
      Port("synth", "midi in", isInput: true, isEvents: true),
    ]

  private func show(_ session: Session, _ ports: [Port]? = nil, _ links: [Link] = [], as client: String = "")
  {
    let last = session.surroundings.number
    session.see(
      Patchbay.Picture(graph: ServerGraph(ports ?? self.ports, links: Set(links)), number: last + 1),
      as: client)
  }

  private func cables(_ session: Session) -> [String] {
    let around = session.surroundings
    return around.cables.map { "\(around.patch.name(of: $0.key)) \($0.value.words)" }.sorted()
  }

  @Test func portsStandInGroups() {
    let session = session()
    show(session)
    let around = session.surroundings
    #expect(around.patch.names == ["Web-Player", "keys", "synth", "system"])
    #expect(session.patch.names == [])
    let groups = around.patch.nodes.values.map { node in
      (around.programs[node.id]?.ports ?? []).map { "\($0.isInput ? "<" : ">")\($0.name)" }.joined(
        separator: " ")
    }
    #expect(groups == [">output_*", ">out", "<midi in", "<playback_* >capture_*"])
    // A pattern that would stand for other ports too is no group.
    let odd = ["in1", "in2", "inside", "out_L", "out_R", "out_R2", "7", "8"].map {
      Port("x", $0, isInput: true)
    }
    #expect(
      PortGroups.groups(odd).map(\.name).sorted() == [
        "7", "8", "in1", "in2", "inside", "out_L", "out_R", "out_R2",
      ])
  }

  @Test func foundConnectionsAreCablesOfGroupsOrOfSinglePorts() {
    let session = session()
    show(
      session, nil,
      [
        Link("Web Player:output_FL", "system:playback_1"), Link("Web Player:output_FR", "system:playback_2"),
        Link("system:capture_1", "system:playback_4"), Link("keys:out", "synth:midi in"),
      ])
    #expect(
      cables(session) == [
        "Web-Player.output_* -> system.playback_* found", "keys.out -> synth.\"midi in\" found",
        "system.capture_1 -> system.playback_4 found",
      ])
  }

  @Test func theProgramsOwnPortsAreThoseOfItsNodes() throws {
    let session = session(
      "node main output channels=2", "node mic input channels=1", "node in midi port=keys")
    try session.renderOneBlock()
    let mine = ["main_1", "main_2"].map { Port("me", $0, isInput: false) }
    show(
      session, ports + mine,
      [
        Link("me:main_1", "system:playback_1"), Link("me:main_2", "system:playback_2"),
        Link("system:capture_2", "me:mic_1"), Link("keys:out", "me:midi keys"),
        Link("me:main_1", "system:playback_3"),
      ], as: "me")
    #expect(
      cables(session) == [
        "keys.out -> in.* found", "main.1 -> system.playback_1 found", "main.1 -> system.playback_3 found",
        "main.2 -> system.playback_2 found", "system.capture_2 -> mic.* found",
      ])
    try session.perform("connect main -> system.playback_*")
    #expect(
      cables(session).filter { $0.hasPrefix("main") } == [
        "main.* -> system.playback_* made", "main.1 -> system.playback_3 found",
      ])
  }

  @Test func anEditTakesFoundProgramsIntoThePatch() throws {
    let session = session("node main output")
    show(session)
    #expect(
      try session.perform(#"connect "Web Player:out*" -> "system:playback_*""#)
        == #"node Web-Player client client="Web Player" ; node system client ; connect Web-Player.out* -> system.playback_*"#
    )
    #expect(session.patch.names == ["main", "Web-Player", "system"])
    #expect(cables(session) == ["Web-Player.out* -> system.playback_* waiting"])
    try session.undo()
    #expect(session.patch.names == ["main"] && session.patch.cables.isEmpty)
    try session.redo()
    // The names of the nodes serve as well; a program that does not run gets a node of its own.
    try session.perform("connect Web-Player.output_FL -> system.playback_3")
    try session.perform(#"connect "Web Player:output_FL" -> "recorder*:in""#)
    #expect(
      session.undoList.first
        == "node recorder client client=recorder* ; connect Web-Player.output_FL -> recorder.in")
    try session.perform("layout keys 3,4")
    #expect(session.undoList.first == "node keys client ; layout keys 3,4")
    #expect(throws: (any Error).self) { try session.perform(#"disconnect "nobody:a" -> "system:b""#) }
    #expect(session.patch.names == ["main", "Web-Player", "system", "recorder", "keys"])
  }

  @Test func hiddenProgramsAreMeantByTheirNamesToo() throws {
    let session = session("node main output", "node card client client=system")
    show(session)
    session.showsPrograms = false
    #expect(
      try session.perform(#"connect main -> "system:playback_*""#) == "connect main -> card.playback_*")
    #expect(
      try session.perform(#"connect main -> "synth:audio in""#)
        == #"node synth client ; connect main -> synth."audio in""#)
    #expect(try session.perform(#"disconnect main -> "system:*""#) == "disconnect main -> card.playback_*")
    #expect(session.surroundings.patch.names == ["main", "card", "synth"])
  }

  @Test func whatIsEndedComesBackWithUndo() throws {
    let session = session()
    let found = [
      Link("Web Player:output_FL", "system:playback_1"), Link("Web Player:output_FR", "system:playback_2"),
      Link("Web Player:output_FR", "system:playback_3"),
    ]
    show(session, nil, found)
    func links() -> Set<Link> { session.programs.given?.picture.graph.links ?? [] }
    let names = cables(session)
    // One step, and nothing of it is the patch's: the programs go on being found.
    for line in [
      #"disconnect "Web Player:*" -> "system:*""#, #"disconnect "Web*:*" -> "*:play*""#,
      #"disconnect Web-Player.* -> "sys?em:*""#,
    ] {
      #expect(
        try session.perform(line) == """
          disconnect "Web Player:output_FL" -> "system:playback_1" ; \
          disconnect "Web Player:output_FR" -> "system:playback_2" ; \
          disconnect "Web Player:output_FR" -> "system:playback_3"
          """)
      #expect(links().isEmpty && cables(session).isEmpty)
      #expect(session.patch.names.isEmpty && session.undoList.count == 1)
      try session.undo()
      #expect(links() == Set(found) && cables(session) == names)
      #expect(session.patch.names.isEmpty && session.undoList.isEmpty)
      try session.redo()
      #expect(links().isEmpty)
      try session.undo()
    }
    try session.perform("disconnect Web-Player.output_FL -> system.playback_1")
    #expect(links() == Set(found.dropFirst()))
    for line in [
      #"disconnect "Web Player:output_FL" -> "system:playback_1""#, #"disconnect "fluid*:*" -> "system:*""#,
      #"disconnect "Web*:*" -> "synth:*""#, #"disconnect "Web*:output_F" -> "system:*""#,
    ] {
      #expect(throws: (any Error).self, "\(line)") { try session.perform(line) }
    }
    #expect(links() == Set(found.dropFirst()))
  }

  @Test func whatWasMadeAtThePatchsOwnPortsElsewhereEndsInOneStepToo() throws {
    let session = session("node main output channels=2", "node card client client=system")
    try session.renderOneBlock()
    let mine = ["main_1", "main_2"].map { Port("me", $0, isInput: false) }
    let found = [Link("me:main_2", "system:playback_3"), Link("system:capture_1", "system:playback_4")]
    show(session, ports + mine, found, as: "me")
    #expect(
      try session.perform(#"disconnect main -> "s*:*""#) == #"disconnect main.2 -> "system:playback_3""#)
    #expect(session.programs.given?.picture.graph.links == [found[1]])
    #expect(
      try session.perform("disconnect card -> card")
        == #"disconnect "system:capture_1" -> "system:playback_4""#)
    try session.undo()
    try session.undo()
    #expect(session.programs.given?.picture.graph.links == Set(found))
  }

  /// A found program that ends, and its connections.
  @Test func aFoundProgramThatDiesStaysUntilItIsRemoved() throws {
    let session = session("node card client client=system")
    let link = Link("Web Player:output_FL", "system:playback_1")
    let rest = ports.filter { $0.program != "Web Player" }
    func die() {
      session.see(
        Patchbay.Picture(
          graph: ServerGraph(rest), gone: [link], ghosts: ["Web Player": ports.filter { !rest.contains($0) }],
          number: session.surroundings.number + 1))
    }
    show(session, nil, [link])
    #expect(cables(session) == ["Web-Player.output_FL -> card.playback_1 found"])
    die()
    #expect(cables(session) == ["Web-Player.output_FL -> card.playback_1 gone"])
    let around = session.surroundings
    let ghost = try #require(around.patch.id(named: "Web-Player"))
    #expect(around.programs[ghost]?.isRunning == false && around.programs[ghost]?.isFound == true)
    #expect(around.programs[ghost]?.ports.map(\.name) == ["output_*"])
    #expect(
      try session.perform("remove Web-Player") == #"disconnect "Web Player:output_FL" -> "system:playback_1""#
    )
    #expect(session.programs.given?.picture.gone == [])
    #expect(throws: (any Error).self) { try session.perform("remove keys") }
    // Kept in the patch, it is a ghost like all others.
    die()
    try session.perform("connect Web-Player.output_FL -> card.playback_1")
    #expect(session.patch.names == ["card", "Web-Player"])
    #expect(cables(session) == ["Web-Player.output_FL -> card.playback_1 waiting"])
  }

  /// What somebody ends elsewhere is part of what is saved.
  @Test func whatWasEndedElsewhereStaysEndedInTheFile() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch")
    let session = session(
      "node system client", "node web client client=Web*", "connect web.output_* -> system.playback_*")
    let made = [
      Link("Web Player:output_FL", "system:playback_1"), Link("Web Player:output_FR", "system:playback_2"),
    ]
    show(session, nil, made)
    try session.save(as: path)
    #expect(!session.isModified && session.undoList.count == 3)
    session.see(
      Patchbay.Picture(
        graph: ServerGraph(ports, links: [made[0]]), declined: [made[1]],
        number: session.surroundings.number + 1))
    #expect(cables(session) == ["web.output_* -> system.playback_* 1 of 2 made"])
    #expect(session.isModified)
    try session.save()
    #expect(session.undoList.first == "connect web.output_* -> system.playback_* map=[0,-1]")
    #expect(
      session.takeNotices().words.contains { $0.hasPrefix("kept in the patch, as it was ended elsewhere") })
    #expect(!session.isModified)
    #expect(cables(session) == ["web.output_* -> system.playback_* made"])
    session.see(
      Patchbay.Picture(
        graph: ServerGraph(ports), declined: [made[0]], number: session.surroundings.number + 1))
    try session.save()
    #expect(cables(session) == ["web.output_* -> system.playback_* ended elsewhere"])
    // The next session does not make it when the program comes, and undo of this one does.
    let next = self.session()
    try next.open(path)
    show(next)
    #expect(cables(next) == ["web.output_* -> system.playback_* ended elsewhere"])
    let graph = ServerGraph(ports)
    #expect(next.surroundings.wishes.flatMap(graph.links).isEmpty)
    try session.undo()
    #expect(session.surroundings.wishes.flatMap(graph.links) == [made[0]])
  }

  /// Three at one port, of which somebody has ended one: no map says that.
  @Test func ofSeveralConnectionsAtOnePortThoseThatAreLeftBecomeCablesOfTheirOwn() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch")
    let session = session("node mix client", "node rec client", "connect mix.out_* -> rec.in")
    let ports = (1...3).map { Port("mix", "out_\($0)", isInput: false) } + [Port("rec", "in", isInput: true)]
    let links = (1...3).map { Link("mix:out_\($0)", "rec:in") }
    show(session, ports, links)
    try session.save(as: path)
    #expect(!session.isModified)
    session.see(
      Patchbay.Picture(
        graph: ServerGraph(ports, links: [links[0], links[2]]), declined: [links[1]],
        number: session.surroundings.number + 1))
    #expect(session.isModified)
    try session.save()
    #expect(!session.isModified)
    #expect(cables(session) == ["mix.out_1 -> rec.in made", "mix.out_3 -> rec.in made"])
    let next = self.session()
    try next.open(path)
    #expect(Set(next.surroundings.wishes.flatMap(ServerGraph(ports).links)) == [links[0], links[2]])
    try session.undo()
    #expect(session.surroundings.wishes.flatMap(ServerGraph(ports).links).count == 3)
  }

  /// While no server runs, the patch's wishes go on to name the program's own ports: what is disconnected meanwhile is then
  /// known when the server is back.
  @Test func wishesOutliveTheServerAndFollowEditsMeanwhile() throws {
    let session = session(
      "node o oscillator", "node out output channels=2", "connect o -> out", "node fx client",
      "connect out -> fx.in_*")
    let fx = (1...2).map { Port("fx", "in_\($0)", isInput: true) }
    let links = (1...2).map { Link("mine:out_\($0)", "fx:in_\($0)") }
    show(session, fx, links, as: "mine")
    let wishes = session.surroundings.wishes
    #expect(wishes.count == 1 && links.allSatisfy(wishes[0].holds))
    show(session, [], [], as: "")
    #expect(session.surroundings.wishes == wishes)
    try session.perform("disconnect out -> fx.in_*")
    #expect(session.surroundings.wishes.isEmpty)
    try session.undo()
    #expect(session.surroundings.wishes == wishes)
  }

  /// Two patterns fit one program: both nodes say that it runs.
  @Test func aProgramThatSeveralNodesStandForRunsForAllOfThem() throws {
    let session = session("node rec client client=rec*", "node exact client client=\"rec x\"")
    show(session, [Port("rec x", "in", isInput: true)])
    let around = session.surroundings
    #expect(
      ["rec", "exact"].map { name in
        around.patch[named: name].flatMap { around.programs[$0.id]?.isRunning }
      } == [true, true])
    show(session, [Port("other", "in", isInput: true)])
    #expect(
      session.surroundings.patch[named: "rec"].flatMap { session.surroundings.programs[$0.id]?.isRunning }
        == false)
  }

  /// What the driver connects of itself, at an output and at a MIDI input.
  @Test func whatTheDriverConnectedAndSomebodyEndedStaysEndedInTheFile() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch")
    let session = session(
      "node o oscillator", "node out output channels=2", "connect o -> out", "node m midi port=keys")
    let wishes = session.options.driver.jack.wishes
    func look(_ port: String, _ asked: String, isMade: Bool) {
      _ = wishes.look(at: port, connections: isMade ? [asked] : [], asked: [asked]) { _ in true }
    }
    for isFirst in [true, false] {
      look("out_1", "system:playback_1", isMade: true)
      look("out_2", "system:playback_2", isMade: isFirst)
      look("midi keys", "keys:out", isMade: isFirst)
    }
    show(session, nil, [Link("sostenuto:out_1", "system:playback_1")], as: "sostenuto")
    try session.save(as: path)
    let file = try text(path)
    #expect(file.contains("node out output") && file.contains("connect=none"), "\(file)")
    #expect(file.contains("node m midi port=none"), "\(file)")
    #expect(file.contains("connect out.1 -> system.playback_1"), "\(file)")
    #expect(!file.contains("playback_2"), "\(file)")
    // Once: it is the file's now.
    let count = session.undoList.count
    try session.save()
    #expect(session.undoList.count == count)
    // As a patch of its own it says the same.
    let next = self.session()
    try next.open(path)
    #expect(canonical(next) == canonical(session))
    try session.undo()
    #expect(session.patch[named: "out"]?.settings[ParameterPath("connect")] == nil)
  }

  @Test func aProgramThatDiesStaysWithItsCables() throws {
    let session = session(
      "node system client", "node web client client=Web*", "connect web.output_* -> system.playback_*")
    let made = [
      Link("Web Player:output_FL", "system:playback_1"), Link("Web Player:output_FR", "system:playback_2"),
    ]
    show(session, nil, made)
    #expect(cables(session) == ["web.output_* -> system.playback_* made"])
    show(session, nil, [made[0]])
    #expect(cables(session) == ["web.output_* -> system.playback_* 1 of 2 made"])
    show(session, ports.filter { $0.program == "system" })
    let around = session.surroundings
    #expect(cables(session) == ["web.output_* -> system.playback_* waiting"])
    let web = try #require(around.patch.id(named: "web"))
    #expect(around.programs[web]?.isRunning == false && around.programs[web]?.isFound == false)
    session.see(
      Patchbay.Picture(graph: ServerGraph(ports), declined: Set(made), number: around.number + 7), as: "")
    #expect(cables(session) == ["web.output_* -> system.playback_* ended elsewhere"])
    session.showsPrograms = false
    #expect(session.surroundings.patch.names == ["system", "web"])
    #expect(session.patch.names == ["system", "web"])
    #expect(cables(session) == ["web.output_* -> system.playback_* ended elsewhere"])
    #expect(session.surroundings.wishes.count == 1)
  }

  @Test func thePrintoutHasThePrograms() throws {
    let session = session("node web client client=Web*", "connect web -> \"system:playback_*\"")
    try session.renderOneBlock()
    let picture = Patchbay.Picture(graph: ServerGraph(ports, links: [Link("keys:out", "synth:midi in")]))
    let around = session.surroundings(picture)
    let text = Printout.executable(session.report, patch: "sostenuto 1\n", around)
    let lines = text.split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.contains("other programs") })
    #expect(
      lines[start...].joined(separator: "\n") == """
        # ******** other programs ********
        # web     {client}  running, named Web*
        #         output_*  2ch    -> nothing
        #         *                -> system.playback_*  waiting
        # system  {client}  running
        #         playback_*  4ch  <- web  waiting
        #         capture_*  2ch   -> nothing
        # keys    {client}  running, found
        #         out  MIDI        -> synth."midi in"  found
        # synth   {client}  running, found
        #         midi in  MIDI    <- keys.out  found
        sostenuto 1
        """)
    let dot = Printout.dot(session.report, around: around)
    #expect(dot.contains("\"keys\":out_out -> \"synth\":in_midi_in [color=gray]"))
    #expect(dot.contains("\"web\":out__ -> \"system\":in_playback__ [style=dotted]"))
    let json = Printout.json(session.report, document: .init(patch: session.patch, file: nil), around)
    #expect(json.contains("\"program\": \"Web*\"") && json.contains("\"state\": \"waiting\""))
  }
}
