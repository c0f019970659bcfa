import Analysis
import Screen

extension SoundView {
  static let table = [
    Action("next-sound", "The next of scope, spectrum, tuner and loudness", [.scope: "enter"]) {
      nextMode($0)
    },
    Action("freeze", "Freeze the picture, and go on", [.scope: "space"]) { desk in
      desk.state.sound.isFrozen.toggle()
    },
    Action("keep-sound", "Keep this picture beside what follows, and drop it", [.scope: "f"]) { keep($0) },
    Action(
      "reset-sound", "Begin held peaks, and all of loudness, anew", [.scope: "delete backspace"]
    ) { desk in
      desk.ear.reset()
      desk.say("measured from here on")
    },
    Action("next-channel", "One channel after the other, and all of them", [.scope: "n"], repeats: true) {
      turnChannel($0)
    },
    Action(
      "sound-more",
      "Magnify the scope, see deeper in the spectrum, raise the tuner's A4 or the loudness to aim at",
      [.scope: "+ ="], repeats: true
    ) { turn(1, $0) },
    Action("sound-less", "The other way", [.scope: "minus"], repeats: true) { turn(-1, $0) },
    Action("sound-auto", "As the sound needs, and as at first", [.scope: "0"]) { turnBack($0) },
    Action("less-time", "Less time in the scope", [.scope: "<"], repeats: true) { turnSpan(-1, $0) },
    Action("more-time", "More time in the scope", [.scope: ">"], repeats: true) { turnSpan(1, $0) },
    Action("trigger", "The scope's trigger: rising, falling, none", [.scope: "t"]) { desk in
      let all = ScopeTrace.Trigger.allCases
      let index = all.firstIndex(of: desk.state.sound.trigger) ?? 0
      desk.state.sound.trigger = all[(index + 1) % all.count]
    },
    Action("trigger-lower", "The trigger's level down", [.scope: "["], repeats: true) { turnTrigger(-1, $0) },
    Action("trigger-higher", "The trigger's level up", [.scope: "]"], repeats: true) { turnTrigger(1, $0) },
    Action("hold-peaks", "The highest levels of the spectrum stay, and not", [.scope: "P"]) { desk in
      desk.state.sound.holdsPeaks.toggle()
    },
  ]

  @MainActor private static func keep(_ desk: Desk) {
    if desk.state.sound.kept == nil {
      guard desk.state.sound.picture.rate > 0 else { return desk.complain("nothing is heard to keep") }
      // All modes, of this moment, except for what is frozen.
      desk.state.sound.kept =
        desk.state.sound.isFrozen
        ? desk.state.sound.picture : picture(desk, modes: SoundState.Mode.allCases)
      desk.say("kept: \(desk.state.sound.picture.name); f drops it")
    } else {
      desk.state.sound.kept = nil
    }
  }

  @MainActor private static func turnChannel(_ desk: Desk) {
    let count = desk.state.sound.picture.channels
    guard count > 1 else { return desk.say("there is one channel") }
    let next = desk.state.sound.channel.map { $0 + 1 } ?? 0
    desk.state.sound.channel = next < count ? next : nil
  }

  @MainActor static func turnSpan(_ step: Int, _ desk: Desk) {
    guard desk.state.sound.mode == .scope else { return }
    desk.state.sound.span = min(max(0, desk.state.sound.span + step), SoundState.spans.count - 1)
  }

  @MainActor private static func turnTrigger(_ step: Int, _ desk: Desk) {
    guard desk.state.sound.mode == .scope else { return }
    desk.state.sound.triggerLevel = min(max(-10, desk.state.sound.triggerLevel + step), 10)
  }

  @MainActor static func turn(_ step: Int, _ desk: Desk) {
    var sound = desk.state.sound
    switch sound.mode {
    case .scope:
      let present = sound.scale ?? SoundState.scales.firstIndex { $0 >= sound.picture.scale } ?? 9
      sound.scale = min(max(0, present - step), SoundState.scales.count - 1)
    case .spectrum: sound.floor = min(max(0, sound.floor + step), SoundState.floors.count - 1)
    case .tuner: sound.reference = (sound.reference + Double(step)).clamped(SoundState.references)
    case .loudness: sound.target = (sound.target + Double(step)).clamped(SoundState.targets)
    }
    desk.state.sound = sound
  }

  @MainActor private static func turnBack(_ desk: Desk) {
    let first = SoundState()
    switch desk.state.sound.mode {
    case .scope:
      (desk.state.sound.scale, desk.state.sound.triggerLevel) = (first.scale, first.triggerLevel)
      desk.state.sound.span = first.span
    case .spectrum: desk.state.sound.floor = first.floor
    case .tuner: desk.state.sound.reference = first.reference
    case .loudness: desk.state.sound.target = first.target
    }
  }
}

extension Double {
  fileprivate func clamped(_ range: ClosedRange<Double>) -> Double {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
