import Patch
import Screen
import Testing

@testable import Interface

/// The piano in terminals of both sorts, with keys held, tapped and repeated: no note hangs, and none ends too early.
@Suite @MainActor struct KeyRepeatTests {
  /// A keyboard and a terminal that repeats the key pressed last.
  @MainActor private final class Hand {
    let stage: Stage
    let delay: Double
    let interval: Double
    private let reports: Bool
    private var down: Set<Character> = []
    /// The repeating key, and when its next repeat is due.
    private var next: (place: Character, time: Double)?
    private var lastTick = 0.0
    private var last: (place: Character, time: Double)?

    init(_ stage: Stage, delay: Double, interval: Double, reports: Bool) {
      (self.stage, self.delay, self.interval, self.reports) = (stage, delay, interval, reports)
      lastTick = stage.clock.seconds
    }

    private func send(_ place: Character, _ action: KeyStroke.Action) {
      stage.app.handle(.key(KeyStroke(Key(.character(place)), action)))
    }

    func press(_ place: Character) {
      if down.contains(place) {
        release(place)
        wait(0.15)
      }
      // A finger that hits the moment of a first repeat cannot be told from it.
      if !reports, let last, last.place == place,
        (-0.03...0.06).contains(stage.clock.seconds - last.time - delay)
      {
        wait(0.1)
      }
      last = (place, stage.clock.seconds)
      down.insert(place)
      next = (place, stage.clock.seconds + delay)
      send(place, .press)
    }

    func release(_ place: Character) {
      guard down.remove(place) != nil else { return }
      if next?.place == place { next = nil }
      if reports { send(place, .release) }
    }

    func wait(_ seconds: Double) {
      let end = stage.clock.seconds + seconds
      while true {
        let due = min(next?.time ?? .infinity, lastTick + 0.04)
        guard due <= end else { break }
        stage.clock.seconds = max(stage.clock.seconds, due)
        if let held = next, held.time <= due {
          send(held.place, reports ? .repeat : .press)
          next = (held.place, held.time + interval)
        } else {
          lastTick = due
          stage.app.tick()
        }
      }
      stage.clock.seconds = end
    }

    private var stops = 0

    /// Ctrl-Z, all keys let go in the shell, which is told to nobody here, and `fg`, after which the terminal is asked anew
    /// what it reports.
    func stopAndGoOn() {
      stage.app.handle(.key(KeyStroke("ctrl-z")))
      #expect(stage.app.wish == .suspend)
      stage.app.wish = .none
      (down, next) = ([], nil)
      // A tick may come first, which finds a terminal that has not answered yet.
      stops += 1
      if stops % 2 == 0 {
        stage.workbench.hasKeyRelease = false
        stage.app.tick()
      }
      for event in [InputEvent.focus(false), .resize(columns: 110, rows: 30)] { stage.app.handle(event) }
      stage.workbench.hasKeyRelease = false
      wait(0.1)
      stage.workbench.hasKeyRelease = reports
      wait(0.2)
    }

    func letGo() { for place in down.sorted() { release(place) } }
  }

  private var stage: Stage {
    let stage = Stage.demo()
    stage.press("p")
    return stage
  }

  /// A rhythm on one key is not taken for the terminal's repeats; and where it has been, or the terminal has another delay now,
  /// the next key held puts it right.
  @Test(arguments: [0.25, 0.4, 0.66])
  func aRhythmOnOneKeyTeachesNoDelay(delay: Double) {
    let stage = stage
    let hand = Hand(stage, delay: delay, interval: 0.033, reports: false)
    for pause in [0.3, 0.1, 0.5, 0.3, 0.1, 0.09, 0.6] {
      hand.press("z")
      hand.release("z")
      hand.wait(pause)
    }
    stage.press("!")
    hand.wait(1)
    for place in ["x", "c", "z"] as [Character] {
      hand.press(place)
      hand.wait(2)
      #expect(!stage.app.state.play.held.isEmpty, "\(place) is held")
      hand.letGo()
      hand.wait(1)
      hand.press(place)
      hand.letGo()
      hand.wait(1)
      #expect(stage.app.state.play.held.isEmpty)
    }
    let other = Hand(stage, delay: delay + 0.1, interval: 0.04, reports: false)
    for place in ["x", "c", "z"] as [Character] {
      other.press(place)
      other.wait(2)
      #expect(place == "x" || !stage.app.state.play.held.isEmpty, "\(place) is held")
      other.letGo()
      stage.press("!")
      other.wait(1)
    }
  }

  @Test(arguments: [0.2, 0.25, 0.4, 0.5, 0.66])
  func aHeldKeySoundsOnHoweverLateItsFirstRepeatIs(delay: Double) {
    let hand = Hand(stage, delay: delay, interval: 0.033, reports: false)
    for round in 0..<3 {
      hand.press("z")
      for _ in 0..<40 {
        hand.wait(0.05)
        #expect(hand.stage.app.state.play.held == [60], "round \(round)")
      }
      hand.letGo()
      hand.wait(1)
      #expect(hand.stage.app.state.play.held == [60], "it waits for a second press")
      // Held as long, the second press ends it and begins nothing.
      hand.press("z")
      hand.wait(2)
      #expect(hand.stage.app.state.play.held.isEmpty)
      hand.letGo()
      hand.wait(1)
    }
  }

  @Test func aGatedNoteLastsAsLongAsItsKeyIsHeldAndATapEndsByItself() {
    let hand = Hand(stage, delay: 0.5, interval: 0.04, reports: false)
    hand.stage.press("/")
    #expect(hand.stage.screen.contains("release: by itself"))
    hand.press("z")
    for _ in 0..<60 {
      hand.wait(0.05)
      #expect(hand.stage.app.state.play.held == [60])
    }
    hand.letGo()
    hand.wait(0.3)
    #expect(hand.stage.app.state.play.held.isEmpty)
    hand.press("z")
    hand.letGo()
    hand.wait(0.2)
    #expect(hand.stage.app.state.play.held == [60])
    hand.wait(0.7)
    #expect(hand.stage.app.state.play.held.isEmpty)
    // Taps that follow each other each begin a note.
    let before = starts(hand.stage)
    for _ in 0..<4 {
      hand.press("c")
      hand.wait(0.05)
      hand.letGo()
      hand.wait(0.2)
    }
    #expect(starts(hand.stage) == before + 4)
    hand.stage.press("/")
    #expect(hand.stage.screen.contains("release: press again"))
  }

  private func starts(_ stage: Stage) -> Int {
    stage.play(seconds: 0.05)
    return stage.session.trace(since: 0).count {
      if case .noteOn = $0.happening { $0.name == "piano" } else { false }
    }
  }

  private enum Way: String, CaseIterable { case kitty, latch, gate }

  /// Ten thousand presses of random keys, tapped and held, of random terminals, with losses of the focus and stops.
  @Test(arguments: Way.allCases) private func noNoteHangs(way: Way) {
    var random = SeededGenerator(seed: 20261123)
    let places: [Character] = ["z", "x", "c", "v", "q", "w"]
    for session in 0..<10 {
      let stage = Stage.demo(hasKeyRelease: way == .kitty)
      stage.press(way == .gate ? "p /" : "p")
      let hand = Hand(
        stage, delay: .random(in: 0.2...0.7, using: &random),
        interval: .random(in: 0.02...0.09, using: &random),
        reports: way == .kitty)
      var sounding: Set<Character> = []
      // The first key held teaches the terminal's delay.
      hand.press("m")
      hand.wait(1.5)
      hand.letGo()
      hand.wait(1)
      hand.press("m")
      hand.letGo()
      hand.wait(1)
      for press in 0..<1000 {
        let place = places.randomElement(using: &random)!
        hand.press(place)
        sounding.formSymmetricDifference([place])
        // Fingers are slower than repeats; a second finger may come before the first one is lifted.
        hand.wait(.random(in: 0.13...(press % 7 == 0 ? 1.6 : 0.3), using: &random))
        if press % 5 != 0 { hand.letGo() }
        if press % 97 == 0 { stage.app.handle(.focus(false)) }
        if press % 61 == 0 { hand.stopAndGoOn() }
        hand.wait(.random(in: 0.15...0.3, using: &random))
        if press % 50 == 49 {
          hand.letGo()
          hand.wait(1)
          let held = stage.app.state.play.held.count
          let wanted = way == .latch ? sounding.count : 0
          #expect(held == wanted, "seed 20261123, session \(session), press \(press)")
          if held != wanted { return }
        }
      }
      stage.app.endNotes()
      #expect(stage.app.state.play.held.isEmpty)
    }
  }
}
