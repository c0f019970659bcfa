import Patch
import Screen

/// The tour: it says what to do, and goes on when it has been done. Everything else works meanwhile.
@MainActor struct Tour {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  nonisolated static let actions: [Action] = [
    Action("tour-next", "The next step of the tour; after the last one it ends", [.anywhere: "alt-x"]) {
      Tour($0).skip()
    },
    Action("tour", "Begin the tour, or end it; `sostenuto tour` has the patch for it", [.patch: "T"]) {
      Tour($0).toggle()
    },
  ]

  func toggle() {
    guard desk.state.tour == nil else {
      desk.state.tour = nil
      return desk.say("the tour is over; :tour begins it again")
    }
    let missing = TourStep.nodes.filter { desk.scene.patch[named: $0] == nil }
    guard missing.isEmpty else {
      return desk.complain("the tour has a patch of its own: `sostenuto tour` (no \(missing[0]) here)")
    }
    begin(0)
  }

  private func skip() {
    guard let tour = desk.state.tour else { return desk.say("no tour: `sostenuto tour` begins one") }
    tour.step + 1 < TourStep.all.count ? begin(tour.step + 1) : toggle()
  }

  private func begin(_ step: Int, praise: String = "") {
    var tour = TourState(step: step, desk.scene.patch, newestEdit: desk.workbench.newestEdit)
    let next = TourStep.all[step]
    tour.words = TourState.Words(
      number: step + 1, count: TourStep.all.count, title: next.title, text: next.text)
    tour.praise = praise
    desk.state.tour = tour
  }

  /// Goes on if the step is done. After each event and each tick.
  static func follow(_ desk: Desk) {
    guard var tour = desk.state.tour else { return }
    tour.seen.insert(desk.state.view)
    desk.state.tour = tour
    let step = TourStep.all[tour.step]
    guard step.isDone(desk, tour), tour.step + 1 < TourStep.all.count else { return }
    Tour(desk).begin(tour.step + 1, praise: step.praise)
  }
}

/// One thing to do.
struct TourStep: Sendable {
  let title: String
  /// Keys to press, and the result to look for. Two rows of 78 columns at most.
  let text: String
  /// About what has happened.
  let praise: String
  let isDone: @MainActor @Sendable (Desk, TourState) -> Bool

  /// Nodes that it is about.
  static let nodes = ["piano", "dist", "main", "out"]

  /// A replacement is another node of the same name.
  private static func hasMore(_ patch: Patch, than other: Patch) -> Bool {
    patch.names.contains { other.id(named: $0) == nil }
  }

  static let all: [TourStep] = [
    TourStep(
      title: "Along the cables",
      text: """
        Boxes are nodes and lines are cables: sound goes from left to right, to the output. The arrow keys \
        walk along them. Go to the box `main`.
        """,
      praise: "the last rows show what has the focus, and its keys"
    ) { desk, _ in desk.focusedNode?.name == "main" },
    TourStep(
      title: "Playing", text: "`p` turns the letters into the keys of a piano; F6 does so anywhere.",
      praise: "its keys stand below"
    ) { desk, _ in desk.state.mode == .play },
    TourStep(
      title: "A chord",
      text: "Space is the pedal. Press it, then z, c and b, one after the other: a chord sounds, and stays.",
      praise: "the voices are counted at the upper right"
    ) { desk, _ in
      desk.state.play.pedal && max(desk.state.play.held.count, desk.scene.status.voices) >= 3
    },
    TourStep(
      title: "Another effect",
      text: """
        F7 swaps the effect behind the piano: the distortion becomes an equalizer, by a crossfade. Nothing \
        clicks, and the voices go on.
        """,
      praise: "pressed again, it brings the other one back"
    ) { desk, tour in desk.scene.patch[named: "dist"]?.kind != tour.patch[named: "dist"]?.kind },
    TourStep(
      title: "One more", text: "F8 inserts a delay behind the focused node.", praise: "it has the focus now"
    ) { desk, tour in hasMore(desk.scene.patch, than: tour.patch) },
    TourStep(
      title: "One less", text: "F9 takes it out again, and joins what it stood between.",
      praise: "what it had in its memory rings out"
    ) { desk, tour in hasMore(tour.patch, than: desk.scene.patch) },
    TourStep(
      title: "Undo",
      text: "F10 undoes one edit at a time, and F11 redoes. Bring the delay back by F10.",
      praise: "undo is a crossfade like all edits"
    ) { desk, tour in hasMore(desk.scene.patch, than: tour.patch) },
    TourStep(
      title: "What really runs",
      text: """
        F3 is the running graph as text, fades included. F5 is the trace: all that the engine did to each \
        node. Look at both, then go back to the graph by F2.
        """,
      praise: "a node that stays is never reset"
    ) { desk, tour in desk.state.view == .graph && tour.seen.isSuperset(of: [.printout, .trace]) },
    TourStep(
      title: "A control",
      text: """
        Alt-1 asks what the first of eight controls is to turn while you play. Type delay.mix, and Enter.
        """,
      praise: "controls are lines of the patch"
    ) { desk, _ in desk.scene.patch.settings.controls[1] != nil },
    TourStep(
      title: "Turning it",
      text: "The arrows right and left turn it, with shift by ten steps. Turn it a little.",
      praise: "what one hand turns in one go is one undo"
    ) { desk, tour in
      guard let target = desk.scene.patch.settings.controls[1] else { return false }
      let catalogue = desk.scene.catalogue
      func value(_ patch: Patch) -> Value? { try? patch.controlled(target, catalogue: catalogue).value }
      return value(desk.scene.patch) != value(tour.patch)
    },
    TourStep(
      title: "Back to the patch",
      text: """
        Esc lets go of the control, and Esc again leaves play mode. The chord stays, since the pedal is down.
        """,
      praise: "single letters are commands now"
    ) { desk, _ in desk.state.mode == .patch },
    TourStep(
      title: "The inspector",
      text: """
        Enter opens it for the focused node. Up and down choose a parameter, right and left turn it, digits \
        and Enter set it. Turn one.
        """,
      praise: "the help of each parameter stands there too"
    ) { desk, tour in
      desk.state.overlay is Inspector && desk.workbench.newestEdit != tour.newestEdit
    },
    TourStep(
      title: "The matrix",
      text: """
        Esc closes it. F4 is the matrix `main`, which sends any input to any output: + and - turn the gain \
        at the cursor, m mutes it. Turn one.
        """,
      praise: "the prompt, the graph and the matrix make the same edits"
    ) { desk, tour in desk.state.view == .matrix && desk.workbench.newestEdit != tour.newestEdit },
    TourStep(
      title: "A cable",
      text: """
        F2 is the graph. There `c` puts two letters beside each port: type those at the right side of \
        `piano`, then those at the left side of `out`.
        """,
      praise: "d takes a cable of the focused node away"
    ) { desk, tour in desk.scene.patch.cables.keys.contains { tour.patch.cables[$0] == nil } },
    TourStep(
      title: "The prompt",
      text: """
        `:` takes a line of the edit language, which files, scripts and the history speak too; Tab \
        completes it. Type  set main.master -6dB  and Enter.
        """,
      praise: "`set main.master 0dB over 5s` would take its time"
    ) { desk, tour in
      let catalogue = desk.scene.catalogue
      func master(_ patch: Patch) -> Value? {
        patch.value(of: "main", ParameterPath("master"), catalogue: catalogue)
      }
      return master(desk.scene.patch) != master(tour.patch)
    },
    TourStep(
      title: "The history",
      text: "F12 lists all edits. Up goes back in time, and Enter takes the patch there; the chord goes on.",
      praise: "Enter further down goes forward again"
    ) { desk, _ in desk.scene.redo != nil },
    TourStep(
      title: "The end",
      text: """
        `?` shows every key, Ctrl-P finds anything by its name, Ctrl-S saves, `!` is silence, `q` quits. \
        Alt-X closes these lines. Have fun.
        """,
      praise: ""
    ) { _, _ in false },
  ]
}
