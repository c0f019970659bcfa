/// The views, in the order of their tabs.
enum Views {
  static let all: [any View] = [
    GraphView(), PrintoutView(), MatrixView(), TraceView(), HistoryView(), HelpView(),
  ]

  /// The view of a name; the graph for a name that no view has.
  static subscript(name: ViewName) -> any View { all.first { $0.name == name } ?? all[0] }

  /// Shows a view, or returns from one that is only glanced at.
  @MainActor static func show(_ view: any View, _ desk: Desk) {
    if view.isGlance, desk.state.view == view.name {
      desk.state.view = .graph
    } else {
      desk.state.view = view.name
      view.open(desk)
    }
  }
}
