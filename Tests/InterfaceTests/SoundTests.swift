import Analysis
import Engine
import Glibc
import Patch
import Realtime
import Screen
import Session
import Testing

@testable import Interface

/// Scope, spectrum, tuner and loudness of the ports of a running patch.
@Suite @MainActor struct SoundTests {
  /// A tone through a gain to an output.
  private func tone(_ settings: String = "freq=440Hz level=-12dB", focus: String = "tone") -> Stage {
    let stage = Stage(
      "node keys keyboard", "node tone oscillator \(settings)", "node trim gain gain=-6dB", "node out output",
      "connect tone -> trim gain=-3dB", "connect trim -> out")
    stage.app.desk.focus(stage.session.patch.id(named: focus) ?? NodeID(raw: 0))
    return stage
  }

  private func picture(_ stage: Stage) -> SoundPicture { stage.app.state.sound.picture }

  // MARK: What is measured

  @Test func theSpectrumOfATonePeaksAtItsFrequencyAndLevel() {
    let stage = tone()
    stage.press("v enter")
    stage.play(seconds: 0.6)
    let peak = picture(stage).spectrum?.peak
    #expect(abs((peak?.frequency ?? 0) - 440) < 0.1)
    #expect(abs((peak?.level ?? 0) + 12) < 0.1)
    #expect(stage.screen.contains("loudest 440.0 Hz A4 at -12.0 dB"))
  }

  @Test(arguments: [("freq=27.5Hz", 27.5), ("freq=987.8Hz shape=saw", 987.8), ("freq=4kHz", 4000)])
  func theTunerNamesTheNote(settings: String, frequency: Double) {
    let stage = tone(settings)
    stage.press("v enter enter")
    stage.play(seconds: 0.6)
    let found = picture(stage).pitch?.frequency ?? 1
    #expect(abs(1200 * log2(found / frequency)) < 1)
    stage.press("+ + +")
    stage.play(seconds: 0.1)
    #expect(stage.screen.contains("A4 443 Hz"))
  }

  @Test func loudnessIsThatOfTheStandardAndGoesOnBesideOtherScreens() {
    let stage = tone("freq=1kHz level=-20dB")
    stage.press("v enter enter enter")
    stage.play(seconds: 4)
    // One channel of 1 kHz has 3 LUFS less than its peak.
    let first = picture(stage).loudness
    #expect(abs(first.integrated + 23) < 0.1 && abs(first.momentary + 23) < 0.1)
    stage.press("1")
    stage.play(seconds: 2)
    stage.press("v")
    // The key that shows the screen shows the mode that it had.
    stage.play(seconds: 0.1)
    #expect(stage.app.state.sound.mode == .loudness)
    #expect(picture(stage).loudness.seconds >= first.seconds + 2)
    stage.press("delete")
    stage.play(seconds: 0.1)
    #expect(picture(stage).loudness.seconds == 0)
  }

  @Test func theScopeStandsStillOnATone() throws {
    let stage = tone()
    stage.press("v")
    stage.play(seconds: 0.5)
    let first = picture(stage).trace
    #expect(first.isTriggered)
    stage.play(seconds: 0.13)
    let second = picture(stage).trace
    for (one, two) in zip(try #require(first.channels.first), try #require(second.channels.first)) {
      #expect(abs(one.lowerBound - two.lowerBound) < 0.01 && abs(one.upperBound - two.upperBound) < 0.01)
    }
    #expect(abs(picture(stage).peak - 0.2512) < 0.001)
  }

  // MARK: Which port

  @Test func upAndDownLeadThroughThePortsAndAnInputHearsWhatGoesIn() {
    let stage = tone(focus: "trim")
    stage.press("v enter")
    stage.play(seconds: 0.6)
    #expect(picture(stage).name == "trim.out")
    #expect(abs((picture(stage).spectrum?.peak?.level ?? 0) + 21) < 0.1)
    stage.press("down")
    stage.play(seconds: 0.6)
    // The cable has -3 dB, the gain is behind it.
    #expect(picture(stage).name == "trim.in")
    #expect(abs((picture(stage).spectrum?.peak?.level ?? 0) + 15) < 0.1)
    #expect(stage.screen.contains("trim.in what goes in"))
    stage.press("down")
    #expect(stage.app.state.sound.port?.port == "out")
  }

  @Test func aParameterThatCablesMoveIsAPortToo() throws {
    let stage = tone(focus: "trim")
    _ = try stage.session.perform("node wobble oscillator freq=5Hz level=-6dB")
    _ = try stage.session.perform("connect wobble -> trim.gain")
    stage.play(seconds: 0.05)
    stage.press("v up")
    stage.play(seconds: 1)
    #expect(picture(stage).name == "trim.gain")
    #expect(picture(stage).peak > 0.4)
    _ = try stage.session.undo()
    stage.play(seconds: 0.1)
    #expect(picture(stage).name == "trim.out")
  }

  @Test func itFollowsTheFocusAndANodeWithoutSoundSaysSo() {
    let stage = tone()
    stage.press("v")
    stage.play(seconds: 0.3)
    stage.app.desk.focus(stage.session.patch.id(named: "out") ?? NodeID(raw: 0))
    stage.play(seconds: 0.3)
    #expect(picture(stage).name == "out.in")
    #expect(picture(stage).channels == 2)
    stage.app.desk.focus(stage.session.patch.id(named: "keys") ?? NodeID(raw: 0))
    stage.play(seconds: 0.1)
    #expect(stage.screen.contains("keys has no sound of its own: ← → choose another node"))
    stage.press("space f n + < t [ delete")
    #expect(stage.screen.contains("keys has no sound of its own"))
  }

  @Test func aReplacedNodeIsHeardOnAndARemovedOneGivesWay() throws {
    let stage = tone(focus: "trim")
    stage.press("v enter")
    stage.play(seconds: 0.5)
    _ = try stage.session.perform("replace trim filter freq=20kHz")
    stage.play(seconds: 0.6)
    #expect(picture(stage).name == "trim.out")
    #expect(abs((picture(stage).spectrum?.peak?.level ?? 0) + 15) < 0.2)
    _ = try stage.session.perform("rename trim other")
    stage.play(seconds: 0.1)
    #expect(picture(stage).name == "other.out")
    _ = try stage.session.perform("remove other")
    stage.play(seconds: 0.3)
    #expect(picture(stage).name != "other.out")
    for name in stage.names { _ = try stage.session.perform("remove \(name)") }
    stage.play(seconds: 0.1)
    #expect(stage.screen.contains("there is no node yet"))
  }

  @Test func channelsAreSeenOneByOne() throws {
    let stage = Stage(
      "node low oscillator freq=100Hz", "node high oscillator freq=3kHz", "node out output channels=3",
      "connect low -> out map=[0,-1,-1]", "connect high -> out map=[-1,-1,0]")
    stage.app.desk.focus(stage.session.patch.id(named: "out") ?? NodeID(raw: 0))
    stage.press("v")
    stage.play(seconds: 0.5)
    #expect(picture(stage).channels == 3)
    #expect(picture(stage).trace.channels.count == 3)
    stage.press("enter n n n")
    stage.play(seconds: 0.1)
    #expect(abs((picture(stage).spectrum?.peak?.frequency ?? 0) - 3000) < 1)
    #expect(stage.screen.contains("channel 2 of 3"))
    _ = try stage.session.perform("set out.channels 1")
    stage.play(seconds: 0.5)
    #expect(picture(stage).channels == 1)
    #expect(picture(stage).peak > 0.1)
  }

  // MARK: Freezing and comparing

  @Test func aFrozenPictureStandsAndLoudnessGoesOnBehindIt() throws {
    let stage = tone()
    stage.press("v enter enter enter")
    stage.play(seconds: 0.5)
    stage.press("space")
    let frozen = picture(stage)
    _ = try stage.session.perform("set tone.level -40dB")
    stage.play(seconds: 1.5)
    #expect(picture(stage) == frozen)
    #expect(stage.screen.contains("frozen"))
    stage.press("space")
    stage.play(seconds: 0.1)
    #expect(picture(stage).peak < 0.011)
    #expect(picture(stage).loudness.seconds >= frozen.loudness.seconds + 1)
  }

  @Test func aKeptPictureIsComparedWithWhatFollowsInEveryMode() throws {
    let stage = tone()
    stage.press("v enter")
    stage.play(seconds: 0.6)
    stage.press("f")
    _ = try stage.session.perform("set tone.level -22dB")
    stage.play(seconds: 0.6)
    #expect(stage.screen.contains("beside tone.out"))
    stage.app.state.message = nil
    #expect(stage.screen.contains("above tone.out -10.0 dB"))
    stage.press("enter")
    stage.play(seconds: 0.3)
    stage.app.state.message = nil
    #expect(stage.screen.contains("tone.out A4 0.0 cents"))
    stage.press("f")
    #expect(!stage.screen.contains("beside"))
  }

  // MARK: Cost, and the laws

  /// The last row says what a key does now.
  @Test func theFooterSaysHowToGoOn() {
    let stage = tone()
    stage.press("v")
    stage.play(seconds: 0.2)
    #expect(stage.screen.contains("Space freeze") && stage.screen.contains("f compare"))
    stage.press("space f")
    #expect(stage.screen.contains("Space go on"), "\(stage.screen)")
    #expect(stage.screen.contains("f compare no more"), "\(stage.screen)")
    stage.press("space f")
    #expect(stage.screen.contains("Space freeze") && !stage.screen.contains("no more"))
  }

  /// Of many channels some are drawn: it says so, and one after the other can be seen.
  @Test(arguments: ["", "enter", "enter enter", "enter enter enter"])
  func ofManyChannelsItSaysHowManyAreSeen(_ keys: String) {
    let stage = Stage(
      "node keys keyboard", "node v voices polyphony=16", "node tone oscillator", "connect keys -> v",
      "connect v -> tone")
    stage.app.desk.focus(stage.session.patch.id(named: "tone") ?? NodeID(raw: 0))
    stage.press("v " + keys)
    stage.play(seconds: 0.2)
    let seen = keys.count > 12 ? "16 channels" : "8 of 16 channels"
    #expect(stage.screen.contains("tone.out  \(seen)"), "\(stage.screen)")
  }

  /// Several notes at once have no pitch, neither now nor in what was kept.
  @Test func aKeptChordHasNoPitch() {
    let stage = Stage(
      "node a oscillator freq=261.6Hz level=-12dB", "node b oscillator freq=329.6Hz level=-12dB",
      "node c oscillator freq=392Hz level=-12dB", "node sum gain", "connect a -> sum", "connect b -> sum",
      "connect c -> sum")
    stage.app.desk.focus(stage.session.patch.id(named: "sum") ?? NodeID(raw: 0))
    stage.press("v enter enter")
    stage.play(seconds: 0.5)
    guard picture(stage).pitch?.isOfSeveral == true else {
      Issue.record("no chord: \(stage.screen)")
      return
    }
    stage.press("f")
    stage.app.state.message = nil
    stage.play(seconds: 0.2)
    #expect(stage.screen.contains("sum.out several notes") && !stage.screen.contains("◇"), "\(stage.screen)")
  }

  @Test func aSilentPortLeavesTheScreenAtRest() {
    let stage = tone("level=-inf")
    for _ in 0..<4 {
      stage.press("v")
      stage.play(seconds: 1)
      let mode = stage.app.state.sound.mode
      let before = picture(stage)
      stage.play(seconds: 0.1)
      // Loudness counts its seconds.
      #expect(picture(stage) == before || mode == .loudness, "\(mode) moves")
      #expect(!SoundView().tick(stage.app.desk) || mode == .loudness, "\(mode) is drawn")
    }
  }

  @Test func lookingChangesNothingOfTheSound() {
    func render(isLooking: Bool) -> [Float] {
      let stage = tone("shape=saw")
      if isLooking { stage.press("v") }
      var heard: [Float] = []
      let inputs = UnsafeMutablePointer<UnsafePointer<Float>?>.allocate(capacity: 256)
      let outputs = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: 256)
      let block = UnsafeMutablePointer<Float>.allocate(capacity: 480)
      inputs.initialize(repeating: nil, count: 256)
      outputs.initialize(repeating: nil, count: 256)
      defer {
        inputs.deallocate()
        outputs.deallocate()
        block.deallocate()
      }
      outputs[0] = block
      for index in 0..<60 {
        stage.session.engine.renderer.render(frames: 480, inputs: inputs, outputs: outputs)
        heard += UnsafeBufferPointer(start: block, count: 480)
        stage.app.tick()
        if isLooking, index % 7 == 0 { stage.press("enter down right") }
      }
      return heard
    }
    let plain = render(isLooking: false)
    #expect(plain.contains { $0 != 0 })
    #expect(render(isLooking: true) == plain)
  }

  @Test func nobodyListensOnceTheScreenIsLeft() {
    let stage = tone()
    stage.press("v")
    stage.play(seconds: 0.2)
    #expect(stage.session.takeListened() != nil)
    stage.press("esc")
    stage.play(seconds: 0.1)
    #expect(stage.session.takeListened() == nil)
  }

  // MARK: Keys, prompt and mouse

  @Test func theVerbsAtThePromptShowAPort() {
    let stage = tone()
    stage.press(":")
    stage.type("spectrum tr")
    stage.press("tab")
    let line = (stage.app.state.overlay as? Prompt)?.line.text ?? ""
    #expect(line.hasPrefix("spectrum trim."))
    stage.press("esc :")
    stage.type("loudness trim.in")
    stage.press("enter")
    #expect(stage.app.state.view == .scope && stage.app.state.sound.mode == .loudness)
    #expect(stage.focus == "trim" && stage.app.state.sound.port?.port == "in")
    stage.press(":")
    stage.type("tuner nobody.out")
    stage.press("enter")
    #expect(stage.message == "`nobody.out` is no port with sound: tab after `tuner ` lists them")
    #expect(stage.app.state.message?.isError == true)
    stage.press(":")
    stage.type("sp")
    #expect((stage.app.state.overlay as? Prompt)?.completions.contains("spectrum") == true)
  }

  @Test func theWheelTurnsTimeAndAClickTheMode() {
    let stage = tone()
    (stage.columns, stage.rows) = (80, 24)
    stage.press("v")
    _ = stage.screen
    stage.app.handle(.mouse(MouseEvent(.wheel, .left, at: Point(20, 8), wheelRows: 1)))
    #expect(stage.app.state.sound.span == 5)
    stage.press("< < <")
    #expect(stage.app.state.sound.span == 2)
    let column = stage.screen.split(separator: "\n", omittingEmptySubsequences: false)[2].range(of: "tuner")
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: Point(column ?? 0, 2))))
    #expect(stage.app.state.sound.mode == .tuner)
  }

  @Test func everySizeAndModeIsDrawn() {
    let stage = tone()
    for size in [(1, 1), (2, 9), (20, 6), (29, 12), (50, 12), (80, 24), (200, 60)] {
      (stage.columns, stage.rows) = size
      _ = stage.screen
      for _ in 0..<4 {
        stage.press("v f")
        stage.play(seconds: 0.05)
        let canvas = stage.canvas
        #expect(canvas.columns == size.0 && canvas.rows == size.1)
        stage.press("f")
      }
    }
  }
}

extension Substring {
  /// Columns before the word.
  fileprivate func range(of word: String) -> Int? {
    indices.first { self[$0...].hasPrefix(word) }.map { distance(from: startIndex, to: $0) }
  }
}
