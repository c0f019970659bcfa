import Interface
import Loop
import Screen
import Session
import Terminal

/// The front end without a screen: the same keys, and what they change is told in lines.
enum LinearFrontEnd {
  /// Returns the signal that ended it, or 0.
  @MainActor static func loop(
    _ app: App, _ workbench: SessionWorkbench, _ terminal: LineTerminal, _ preferences: Preferences
  ) throws -> Int32 {
    let loop = EventLoop()
    let narrator = Narrator(app)
    terminal.say(narrator.greeting())
    func tell(isAnswer: Bool) {
      terminal.say(narrator.news(isAnswer: isAnswer))
      terminal.show(narrator.entry)
    }
    var pace = TickPace()
    let ticks = loop.timer(due: EventLoop.now()) { now in
      if pace.sleeps(app, now: now) { return pace.next(app, now: now) }
      workbench.hasKeyRelease = terminal.hasKeyRelease
      if preferences.look(now: now) {
        app.keymap = preferences.keymap
        app.tell(preferences.problems)
      }
      workbench.followsFile = preferences.settings.followsFile
      app.tick()
      tell(isAnswer: false)
      return pace.next(app, now: now)
    }
    var ending: Int32 = 0
    terminal.listen(on: loop) { events in
      workbench.hasKeyRelease = terminal.hasKeyRelease
      for event in events {
        if case .terminate(let signal) = event {
          ending = signal
          return loop.end()
        }
        // The typed line stays where it is when it is done.
        let wasTyping = narrator.entry != nil
        app.handle(event)
        if wasTyping, narrator.entry == nil { terminal.show(nil) }
        if let text = app.takeCopied() { terminal.copy(text) }
        switch app.wish {
        case .none, .redraw: break
        case .quit, .quitKeepingEdits: return loop.end()
        case .suspend: terminal.suspend()
        }
        app.wish = .none
        tell(isAnswer: true)
      }
      ticks.due = min(ticks.due ?? .max, TickPace.soon(now: EventLoop.now()))
    }
    try loop.run()
    return ending
  }
}
