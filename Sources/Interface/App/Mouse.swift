import Screen

/// The mouse: tabs, the drawn keyboard and overlays; everything else is the view's.
@MainActor struct Mouse {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var view: any View { Views[desk.state.view] }

  private func hit(_ point: Point) -> Hit {
    Views.hit(desk.scene, desk.state, columns: desk.size.columns, rows: desk.size.rows, at: point)
  }

  func handle(_ mouse: MouseEvent) {
    desk.press = .new
    // Each drag is an edit of its own.
    if mouse.action == .press { desk.gesture = nil }
    if let overlay = desk.state.overlay as? any Overlay, isTaken(mouse, by: overlay) { return }
    switch (mouse.action, mouse.button) {
    case (.wheel, _): turnWheel(mouse)
    case (.press, .left) where mouse.modifiers.contains(.ctrl):
      if case .node(let id) = hit(mouse.point) { Selecting(desk).toggle(id) }
    case (.press, .left): press(mouse.point)
    case (.press, .right):
      if case .key(let key) = hit(mouse.point) { return Piano(desk).click(key) }
      view.press(.right, hit(mouse.point), at: mouse.point, desk)
    case (.drag, _):
      if case .key = desk.drag { return slide(to: hit(mouse.point)) }
      view.drag(to: mouse.point, hit(mouse.point), desk)
    case (.release, _):
      if case .key = desk.drag { Piano(desk).letGo() } else { view.release(hit(mouse.point), desk) }
      desk.drag = nil
    default: break
    }
  }

  private func isTaken(_ mouse: MouseEvent, by overlay: any Overlay) -> Bool {
    switch mouse.action {
    case .press: overlay.press(mouse, desk)
    case .drag: overlay.drag(mouse, desk)
    case .release: overlay.release(mouse, desk)
    case .wheel: overlay.turnWheel(mouse, desk)
    case .move: false
    }
  }

  private func press(_ point: Point) {
    switch hit(point) {
    case .tab(let name): Views.show(Views[name], desk)
    case .key(let key): Piano(desk).press(key)
    case .control(let number): Controls(desk).pick(number)
    case .scene(let number): Scenes(desk).recall(number)
    case let hit: view.press(.left, hit, at: point, desk)
    }
  }

  private func slide(to hit: Hit) {
    if case .key(let key) = hit { Piano(desk).slide(to: key) } else { Piano(desk).slide(to: nil) }
  }

  private func turnWheel(_ mouse: MouseEvent) {
    let hit = hit(mouse.point)
    if case .control(let number) = hit { return Controls(desk).turn(number, by: -mouse.wheelRows.signum()) }
    view.turnWheel(mouse, hit, desk)
  }
}
