import Patch

/// Tapping the tempo of the patch.
@MainActor enum Tapping {
  static func tap(_ desk: Desk) {
    _ = desk.taps.tap(at: desk.now())
    guard let tempo = desk.taps.tempo else {
      let left = TapTempo.least - desk.taps.count
      return desk.say(left > 0 ? "tap the beat: \(left) more" : "no beat in these taps")
    }
    guard tempo != desk.scene.patch.settings.tempo else { return desk.say("tempo \(words(tempo))") }
    let newest = desk.workbench.newestEdit
    let step = desk.taps.edit == newest ? newest : nil
    if desk.perform(.setPatch(.tempo(tempo)), amending: step) { desk.taps.edit = desk.workbench.newestEdit }
  }

  private static func words(_ tempo: Double) -> String { Value.number(tempo, .none).line }

  nonisolated static let actions: [Action] = [
    Action(
      "tap", "Tap the tempo: three beats or more; all taps are one edit",
      [.anywhere: "alt-b", .patch: "t"]
    ) { tap($0) }
  ]
}
