import Drivers
import Testing

@testable import Interface
@testable import Session

/// Other programs in the graph, as whole screens.
@MainActor @Suite struct ProgramsScreenTests {
  private typealias Link = ServerGraph.Link
  private typealias Port = ServerGraph.Port

  private static let system =
    (1...2).map { Port("system", "playback_\($0)", isInput: true) }
    + (1...2).map { Port("system", "capture_\($0)", isInput: false) }
  private static let web = ["L", "R"].map { Port("Web Player", "output_\($0)", isInput: false) }
  private static let keys = [Port("keyboard", "midi out", isInput: false, isEvents: true)]

  private static let playing = [
    Link("Web Player:output_L", "system:playback_1"), Link("Web Player:output_R", "system:playback_2"),
  ]

  private var number = 0

  private mutating func show(_ stage: Stage, _ ports: [Port], _ links: [Link] = [], declined: Set<Link> = [])
  {
    number += 1
    stage.session.see(
      Patchbay.Picture(graph: ServerGraph(ports, links: Set(links)), declined: declined, number: number),
      as: "sostenuto")
    stage.play(seconds: 0.02)
    stage.app.state.message = nil
  }

  /// The graph itself: the rows between the tabs and the rule above the hints, without blanks at the ends.
  private func graph(_ stage: Stage) -> String {
    let rows = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
      .prefix { !$0.hasPrefix("────") }
    var lines = rows.map { line -> String in
      var line = line
      while line.last == " " { line.removeLast() }
      return String(line)
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.joined(separator: "\n")
  }

  @Test mutating func aKeyShowsAndHidesThem() {
    let stage = Stage("node in midi port=none", "node main output")
    show(stage, Self.system + Self.keys)
    _ = graph(stage)
    stage.play(seconds: 0.05)
    let alone = graph(stage)
    #expect(!alone.contains("system"))
    stage.press("o")
    #expect(stage.message == "other programs are shown")
    #expect(
      graph(stage) == """
         ┏ in ━━━━━━━━━━━┓
         ┃ midi          ┃
         ┃ port     none ┃
         ┃ channel   all ┃
         ┗━━━━━━━━━━━━━━━┛

         ╭ main ─────────╮
         │ output        │
         │ L           · │
         │ R           · │
         ╰───────────────╯

         ╭ keyboard ────────────╮
         │ client               │
         │             midi out │
         ╰ found ───────────────╯

         ╭ system ──────────────╮
         │ client               │
         │ playback_* capture_* │
         ╰ found ───────────────╯
        """)
    stage.press("o")
    #expect(stage.message == "other programs are hidden")
    #expect(graph(stage) == alone)
  }

  @Test mutating func theProgramsOfThePatchAreShownAlways() {
    let stage = Stage(
      "node web client client=Web*", "node system client", "connect web -> system.playback_*",
      "node main output connect=none")
    (stage.columns, stage.rows) = (80, 24)
    show(stage, Self.system + Self.web + Self.keys, Self.playing)
    let hidden = graph(stage)
    #expect(
      hidden == """
         ┏ web ━━━━━━━━━━┓
         ┃ client        ┃   ╭ system ──────────────╮
         ┃      output_* ┃   │ client               │
         ┃             * ┠───┤ playback_* capture_* │
         ┗ Web* ━━━━━━━━━┛   ╰──────────────────────╯

         ╭ main ─────────╮
         │ output        │
         │ L           · │
         │ R           · │
         ╰───────────────╯
        """)
    stage.press("o")
    #expect(graph(stage).contains("keyboard"))
    stage.press("o")
    #expect(stage.message == "other programs are hidden, except those of the patch")
    #expect(graph(stage) == hidden)
    stage.press("2")
    let printout = graph(stage)
    #expect(printout.contains("******** other programs ********\n"))
    #expect(printout.contains(" *                -> system.playback_*  made"))
    #expect(!printout.contains("not heard"))
  }

  @Test mutating func aProgramIsConnectedByHintsDiesAndComesBack() {
    let stage = Stage()
    (stage.columns, stage.rows) = (80, 24)
    stage.press("o")
    show(stage, Self.system + Self.web)
    stage.press("c")
    #expect(
      graph(stage) == """
         ┏ Web-Player ━━━━━━━━━━┓
         ┃ client               ┃
         ┃             output_* aa
         ┃             output_L sa
         ┃             output_R da
         ┗ Web Player ━━━━━━━━━━┛

         ╭ system ──────────────╮
         │ client               │
        as playback_* capture_* fa
         ╰ found ───────────────╯
        """)
    stage.press("a a a s")
    #expect(
      stage.message
        == "node Web-Player client client=\"Web Player\" ; node system client ; connect Web-Player.output_* -> system.playback_*"
    )
    show(stage, Self.system + Self.web, Self.playing)
    let connected = graph(stage)
    #expect(
      connected == """
         ┏ Web-Player ━━━━━━━━━━┓   ╭ system ──────────────╮
         ┃ client               ┃   │ client               │
         ┃             output_* ┠───┤ playback_* capture_* │
         ┗ Web Player ━━━━━━━━━━┛   ╰──────────────────────╯
        """)
    show(stage, Self.system)
    #expect(
      graph(stage) == """
         ┏ Web-Player ━━━━━━━━━━┓   ╭ system ──────────────╮
         ┃ client               ┃   │ client               │
         ┃             output_* ┠┈┈┈┤ playback_* capture_* │
         ┗ not running ━━━━━━━━━┛   ╰──────────────────────╯
        """)
    show(stage, Self.system + Self.web, Self.playing)
    #expect(graph(stage) == connected)
    show(stage, Self.system + Self.web, [Self.playing[1]], declined: [Self.playing[0]])
    #expect(Array(stage.app.scene.outsideCables.values) == [.partly(1, of: 2)])
    show(stage, Self.system + Self.web, [], declined: Set(Self.playing))
    #expect(
      graph(stage) == """
         ┏ Web-Player ━━━━━━━━━━┓   ╭ system ──────────────╮
         ┃ client               ┃   │ client               │
         ┃             output_* ┠┈┈┈┤ playback_* capture_* │
         ┗ Web Player ━━━━━━━━━━┛   ╰──────────────────────╯
        """)
    stage.press("u")
    #expect(stage.names == [])
  }

  @Test mutating func whatOthersConnectIsFoundKeptAndEnded() {
    let stage = Stage()
    stage.press("o")
    show(stage, Self.system + Self.web, Self.playing)
    #expect(stage.names == [])
    #expect(
      graph(stage) == """
         ┏ Web-Player ━━━┓   ╭ system ──────────────╮
         ┃ client        ┃   │ client               │
         ┃      output_* ┠───┤ playback_* capture_* │
         ┗ Web Player ━━━┛   ╰ found ───────────────╯
        """)
    stage.app.desk.focus(stage.app.scene.patch.id(named: "Web-Player")!)
    stage.press("K")
    #expect(stage.lastEdit.hasSuffix("connect Web-Player.output_* -> system.playback_*"))
    #expect(stage.focus == "Web-Player")
    stage.press("u")
    #expect(stage.names == [])
    // A found cable can be ended, and undo makes it, in one step.
    stage.press("d")
    #expect(stage.lastEdit == #"disconnect "Web Player:output_*" -> "system:playback_*""#)
    #expect(stage.app.scene.outsideCables.isEmpty && stage.session.patch.cables.isEmpty)
    stage.press("u")
    #expect(Array(stage.app.scene.outsideCables.values) == [.found] && stage.session.undoList.isEmpty)
  }

  @Test mutating func ownNodesAreJoinedWithProgramsByHintsAndDragging() {
    let stage = Stage("node main output")
    stage.press("o")
    show(stage, Self.system + Self.web + Self.keys)
    stage.press("c")
    let letters = stage.app.desk.state.overlay as? PortHints
    let own = letters?.targets.first {
      $0.target == .output(.init(stage.session.patch.id(named: "main")!, "*"))
    }
    stage.press(own!.letters.map(String.init).joined(separator: " "))
    // Its fitting inputs: not those of MIDI, and none of the patch's own.
    let fitting = (stage.app.desk.state.overlay as? PortHints)?.targets.compactMap { hint -> String? in
      guard case .input(let port) = hint.target else { return nil }
      return "\(stage.app.scene.patch[port.node]?.name ?? "").\(port.port)"
    }
    #expect(fitting == ["system.playback_*"])
    let fittingLetters = (stage.app.desk.state.overlay as? PortHints)?.targets[0].letters ?? ""
    stage.type(fittingLetters)
    #expect(stage.lastEdit == "node system client ; connect main -> system.playback_*")
    stage.press("escape")
    // From a program's box onto a node's.
    let ports = GraphPlaces.ports(stage.app.scene, stage.app.state, columns: 110, rows: 30)
    #expect(
      ports.contains { if case .output(let port) = $0.target { port.port == "capture_*" } else { false } })
  }

  @Test func aPatchbayTellsItsServer() {
    var options = SessionOptions()
    options.isPatchbay = true
    options.keepsJournal = false
    let session = Session(options: options)
    #expect(session.status.driverMessage == "no JACK server: looking for one")
    #expect(session.status.isDisturbed && session.status.isPatchbay)
  }
}
