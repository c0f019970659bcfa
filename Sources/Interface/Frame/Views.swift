/// The views, in the order of their tabs.
enum Views {
  static let all: [any View] = [
    GraphView(), PrintoutView(), MatrixView(), TraceView(), SoundView(), MeterView(), HistoryView(),
    HelpView(),
  ]

  /// The view of a name; the graph for a name that no view has.
  static subscript(name: ViewName) -> any View { all.first { $0.name == name } ?? all[0] }

  /// Shows a view; one that is shown already does what it does then.
  @MainActor static func show(_ view: any View, _ desk: Desk) {
    if desk.state.view == view.name {
      view.showAgain(desk)
    } else {
      desk.state.view = view.name
      view.open(desk)
    }
  }
}
