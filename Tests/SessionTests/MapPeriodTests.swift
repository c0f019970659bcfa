import Engine
import Midi
import Patch
import Realtime
import TestSupport
import Testing

@testable import Session

/// Movements of maps are written into the patch after they were heard: nothing but their values changes by that, and at no
/// other frame with another period.
extension MapTests {
  private static let periods = [(17, 1), (64, 2), (100, 1), (256, 1), (1024, 3)]

  private func control(_ seconds: Double, _ number: UInt8, _ value: Float) -> MidiFile.TimedEvent {
    .init(seconds: seconds, event: Event(.control, key: number, value: value))
  }

  /// Renders in several periods, and compares sound, patch and history.
  private func expectSameInEveryPeriod(
    _ text: String, _ events: [MidiFile.TimedEvent], script: String = "", seconds: Double, _ what: String
  ) throws {
    let folder = try Folder()
    let whole = try render(text, events, script: script, folder, seconds: seconds)
    for (period, threads) in Self.periods {
      let other = try render(
        text, events, script: script, folder, period: period, threads: threads, seconds: seconds)
      #expect(other.sound == whole.sound, "\(period) frames, \(threads) threads: \(what)")
      #expect(canonical(other.session) == canonical(whole.session), "\(period) frames: \(what)")
      #expect(other.session.undoList == whole.session.undoList, "\(period) frames: \(what)")
    }
  }

  // MARK: Muted nodes

  /// A loop that grows until it is muted, and controllers of its gain, of the cable into it, and of what it leads to.
  private static let growing = """
    sostenuto 1
    map in.cc20 -> boom.gain 20dB..24dB takeover=jump
    map in.cc21 -> tone -> boom -12dB..0dB takeover=jump
    map in.noteC4 -> main.mute[0,1]
    node in midi
    node tone oscillator freq=300Hz
    node boom gain gain=24dB
    node main matrix
    node out output
    connect tone -> boom
    connect boom -> boom
    connect boom -> main gain=-60dB
    connect main -> out
    """

  @Test(arguments: [17, 64, 1024]) func controllersReviveNoMutedNodeAndAnEditDoes(period: Int) throws {
    let folder = try Folder()
    let rate = 48_000
    let events = [
      control(0.25, 20, 40), control(0.26, 21, 100),
      .init(seconds: 0.27, event: Event(.noteOn, key: 60, value: 90)), control(0.28, 20, 70),
    ]
    let moved = try render(Self.growing, events, folder, period: period, seconds: 0.6)
    #expect(moved.sound.prefix(rate / 10 * 2).contains { abs($0) > 1 }, "it grows")
    #expect(moved.sound.dropFirst(rate / 5 * 2).allSatisfy { $0 == 0 }, "it stays muted")
    let text = canonical(moved.session)
    #expect(!text.contains("gain=24dB"), "the patch follows: \(text)")
    #expect(text.contains("set main.mute[0,1] on"), "the patch follows: \(text)")
    for line in ["set boom.gain 22dB", "connect tone -> boom gain=-3dB", "undo"] {
      let edited = try render(
        Self.growing, events, script: "at 0.4s \(line)", folder, period: period, seconds: 0.6)
      let sound = edited.sound.dropFirst(rate / 5 * 2)
      #expect(sound.prefix(rate / 5 * 2).allSatisfy { $0 == 0 }, "before `\(line)`")
      #expect(sound.dropFirst(rate / 5 * 2).contains { abs($0) > 1 }, "behind `\(line)`")
    }
  }

  // MARK: Structure

  /// A random patch with a loop that blasts, a cycle, effects that come by long fades, and maps of all that.
  private struct Blasting {
    var text = "sostenuto 1\n"
    var script = ""
    var events: [MidiFile.TimedEvent] = []
    /// Everything, for a message.
    var description: String {
      let heard = events.map { "\($0.seconds): \($0.event.kind) \($0.event.key) \($0.event.value)" }
      return text + "\n" + script + "\n" + heard.joined(separator: "\n")
    }

    private static let effects = [
      "gain gain=-3dB", "mix", "reverb decay=300ms mix=40%", "delay time=7ms", "expander threshold=-20dB",
      "expander range=-inf", "filter freq=900Hz", "transient", "modal modes=3", "distortion", "echo",
      "limiter",
    ]

    init(_ random: inout SeededGenerator, seconds: Double) {
      func one(_ choices: [String]) -> String { choices.randomElement(using: &random)! }
      let places = ["[0,0]", "[1,0]", "[2,0]", "[0,1]", "[1,1]", "[2,1]", ".in[0]", ".out[1]"]
      func aSwitch() -> String { "main." + one(["mute", "solo", "invert"]) + one(places) }
      let grows = Bool.random(using: &random)
      text += """
        map in.cc20 -> boom.gain 6dB..24dB takeover=jump
        map in.cc21 -> tone -> boom -12dB..0dB takeover=jump
        map in.cc22 -> wide.channels 1..5 takeover=jump
        map in.cc23 -> \(one(["tone", "wide"])) -> first -24dB..0dB takeover=jump
        map in.noteC4 -> \(aSwitch())\(one(["", " mode=absolute"]))
        map in.noteD4 -> \(aSwitch())
        node in midi
        node tone oscillator freq=300Hz
        node wide oscillator shape=saw freq=211Hz level=-20dB channels=3
        node boom gain gain=\(grows ? one(["6dB", "12dB", "24dB"]) : "-12dB")
        node first \(one(Self.effects))
        node second \(one(Self.effects))
        node third \(one(Self.effects))
        node main matrix inputs=3 outputs=2 [2,1]=-6dB
        node out output
        connect tone -> boom
        connect boom -> boom
        connect boom -> \(one(["first", "main"])) gain=-60dB
        connect tone -> first
        connect wide -> first gain=-6dB
        connect first -> second
        connect second -> third
        connect wide -> third
        connect third -> first gain=\(one(["-66dB", "-20dB", "6dB"]))
        connect third -> main map=[0,-1,1]
        connect second -> main map=[-1,0,-1] gain=-3dB
        connect main -> out

        """
      for _ in 0..<Int(seconds * 25) {
        let time = Double.random(in: 0..<seconds, using: &random)
        if Bool.random(using: &random) {
          let number = UInt8.random(in: 20...23, using: &random)
          let value = Float(Int.random(in: 0...127, using: &random))
          events.append(.init(seconds: time, event: Event(.control, key: number, value: value)))
        } else {
          let key: UInt8 = Bool.random(using: &random) ? 60 : 62
          events.append(.init(seconds: time, event: Event(.noteOn, key: key, value: 90)))
          events.append(.init(seconds: time + 0.05, event: Event(.noteOff, key: key, value: 0)))
        }
      }
      events.sort { $0.seconds < $1.seconds }
      // A cable that undo may have taken away cannot be disconnected.
      let undoes = Bool.random(using: &random)
      var time = 0.05
      while time < seconds {
        let fade = one(["", "", "fade 50ms ; ", "fade 300ms ; "])
        let milliseconds = Int(time * 1000)
        script += "at \(milliseconds)ms "
        switch Int.random(in: 0..<7, using: &random) {
        case 0: script += "set boom.gain \(one(["-12dB", "12dB", "24dB"]))"
        case 1: script += "set wide.channels \(Int.random(in: 1...4, using: &random))"
        case 2, 3: script += "\(fade)replace \(one(["second", "third"])) \(one(Self.effects))"
        case 4: script += "set \(aSwitch()) \(one(["on", "off"]))"
        case 5 where undoes: script += one(["undo", "redo", "undo ; undo"])
        case 5:
          script += "\(fade)disconnect tone -> boom\nat \(milliseconds + 4)ms \(fade)connect tone -> boom"
        default: script += "connect tone -> first gain=\(one(["0dB", "-6dB"]))"
        }
        script += "\n"
        time += Double.random(in: 0.006...0.15, using: &random)
      }
    }
  }

  @Test(arguments: searchSeeds(1...8)) func blastsFadesAndMapsHaveTheSameBitsForEveryPeriod(seed: UInt64)
    throws
  {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let work = Blasting(&random, seconds: 0.8)
    try expectSameInEveryPeriod(
      work.text, work.events, script: work.script, seconds: 0.9, work.description)
  }

  /// A controller that moves while an effect is replaced by a long fade, just when the new one gets other channels: the
  /// inaudible cable of before stays in the sum until its fade is over.
  @Test func aControllerEndsNoFade() throws {
    let text = """
      sostenuto 1
      map in.noteE4 -> main.solo[0,0] mode=absolute
      node in midi
      node wide oscillator shape=saw freq=680Hz channels=7
      node v voices polyphony=4
      node tone oscillator shape=square level=-inf
      connect v -> tone.freq by 1oct
      node start mix
      node hall reverb decay=500ms mix=60%
      node level gain gain=-3dB
      node place pan
      node gate expander threshold=-20dB
      node main matrix inputs=3 outputs=2 [0,1]=-9dB [2,0]=-6dB
      node out output channels=2
      connect main -> out
      connect tone -> start
      connect start -> hall
      connect hall -> level
      connect level -> place
      connect wide -> gate
      connect place -> gate
      connect gate -> start gain=-66dB
      connect gate -> main map=[0,-1,0]
      """
    let script = """
      at 0.101857s fade 300ms ; replace gate expander range=-inf
      at 0.107893s set wide.channels 1
      """
    let events = [MidiFile.TimedEvent(seconds: 0.108, event: Event(.noteOn, key: 64, value: 90))]
    try expectSameInEveryPeriod(text, events, script: script, seconds: 0.5, "solo in mid-fade")
  }

  /// Numbers of channels and of voices, and what makes memory grow, are no matter of the audio thread alone: the patch follows
  /// at the end of the very 64 frames.
  @Test(
    arguments: [
      "oscillator channels 1..6", "noise channels 1..6", "constant channels 1..6", "fm channels 1..4",
      "additive channels 1..4", "chaos channels 1..4", "wavetable frames 256..2048", "voices polyphony 1..8",
      "granular size 1ms..1s",
    ])
  func controllersOfChannelsAndMemoryHaveTheSameBitsForEveryPeriod(what: String) throws {
    let words = what.split(separator: " ").map(String.init)
    let (kind, parameter, range) = (words[0], words[1], words[2])
    let isVoices = kind == "voices"
    let text = """
      sostenuto 1
      map in.cc20 -> it.\(parameter) \(range) takeover=jump
      node in midi
      node it \(kind)
      node tone oscillator shape=saw
      node sum mix
      node out output
      \(isVoices ? "connect in -> it\nconnect it -> tone.freq by 1oct\nconnect tone -> sum" : "connect it -> sum")
      connect sum -> out
      """
    var random = SeededGenerator(seed: 5)
    var events: [MidiFile.TimedEvent] = []
    for number in 0..<12 {
      let time = 0.02 + 0.03 * Double(number)
      let value = Float(Int.random(in: 0...127, using: &random))
      events.append(control(time + Double.random(in: 0..<0.02, using: &random), 20, value))
      events.append(.init(seconds: time, event: Event(.noteOn, key: UInt8(50 + number), value: 90)))
    }
    events.sort { $0.seconds < $1.seconds }
    try expectSameInEveryPeriod(text, events, seconds: 0.5, what)
  }

  /// Two sub-patches with one file: what a controller moves inside one moves in the other with the next cell.
  @Test func controllersOfSharedSubPatchesHaveTheSameBitsForEveryPeriod() throws {
    let folder = try Folder()
    _ = try folder.file(
      "hall.patch",
      """
      sostenuto 1
      node in input
      node level gain gain=-6dB
      node out output
      connect in -> level
      connect level -> out

      """)
    let text = """
      sostenuto 1
      map in.cc20 -> one/level.gain -24dB..0dB takeover=jump
      node in midi
      node tone oscillator
      node one patch file=\(folder.path)/hall.patch
      node two patch file=\(folder.path)/hall.patch
      node out output
      connect tone -> one
      connect tone -> two
      connect one -> out map=[0,-1]
      connect two -> out map=[-1,0]
      """
    let events = [control(0.1, 20, 20), control(0.1503, 20, 90), control(0.31, 20, 127)]
    try expectSameInEveryPeriod(text, events, seconds: 0.5, "shared")
  }
}
