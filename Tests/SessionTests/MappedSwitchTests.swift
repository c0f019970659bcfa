import Midi
import Realtime
import TestSupport
import Testing

@testable import Session

/// Mute, solo and polarity of a matrix gain that maps move: cables that add to the gain follow with it.
extension MapTests {
  /// A random matrix to whose gains cables add, with maps of their switches and of the gain of a cable.
  private struct MappedMatrix {
    var text: String
    var script: String
    /// Everything, for a message.
    var description: String {
      let heard = events.map { "\($0.seconds): \($0.event.kind) \($0.event.key) \($0.event.value)" }
      return text + "\n" + script + "\n" + heard.joined(separator: "\n")
    }
    var events: [MidiFile.TimedEvent]

    private static let places = [
      "[0,0]", "[0,1]", "[1,0]", "[1,1]", ".in[0]", ".in[1]", ".out[0]", ".out[1]",
    ]
    private static let keys: [(name: String, number: UInt8)] = [
      ("C4", 60), ("D4", 62), ("E4", 64), ("F4", 65),
    ]

    /// The switch of a gain: `mute[0,1]`, `mute.in[0]`.
    private static func aSwitch(_ random: inout SeededGenerator) -> String {
      ["mute", "solo", "invert"].randomElement(using: &random)! + places.randomElement(using: &random)!
    }

    /// `moves`: the sources are moving sounds, otherwise constants.
    init(_ random: inout SeededGenerator, seconds: Double, moves: Bool) {
      text = "sostenuto 1\n"
      for key in Self.keys {
        let mode = Bool.random(using: &random) ? "" : " mode=absolute"
        text += "map in.note\(key.name) -> main.\(Self.aSwitch(&random))\(mode)\n"
      }
      text += "map in.cc20 -> main.\(Self.aSwitch(&random))\n"
      var cables: [String] = []
      for place in Self.places where Int.random(in: 0..<3, using: &random) > 0 {
        cables.append("more -> main\(place)")
        if Bool.random(using: &random) { cables.append("third -> main\(place)") }
      }
      if let cable = cables.randomElement(using: &random) {
        text += "map in.cc7 -> \(cable) -24dB..0dB takeover=jump\n"
      }
      text += """
        node in midi
        node tone \(moves ? "oscillator shape=saw freq=223Hz" : "constant level=0.5")
        node other \(moves ? "oscillator freq=331Hz" : "constant level=0.25")
        node more \(moves ? "lfo rate=7Hz" : "constant level=0.375")
        node third \(moves ? "noise level=-12dB" : "constant level=-0.125")
        node main matrix inputs=2 outputs=2 [0,1]=-9dB [1,1]=-6dB
        connect tone -> main map=[0,-1]
        connect other -> main map=[-1,0]

        """
      let gains = ["", " gain=-6dB", " gain=3dB"]
      for cable in cables { text += "connect \(cable)\(gains.randomElement(using: &random)!)\n" }
      text += "connect other -> main[1,1] by 6dB\nnode out output\nconnect main -> out"
      events = []
      for _ in 0..<Int(seconds * 12) {
        let time = Double.random(in: 0..<seconds, using: &random)
        let value = Float(Int.random(in: 0...127, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: events.append(.init(seconds: time, event: Event(.control, key: 7, value: value)))
        case 1: events.append(.init(seconds: time, event: Event(.control, key: 20, value: value)))
        default:
          let key = Self.keys.randomElement(using: &random)!.number
          events.append(.init(seconds: time, event: Event(.noteOn, key: key, value: 90)))
          events.append(.init(seconds: time + 0.05, event: Event(.noteOff, key: key, value: 0)))
        }
      }
      events.sort { $0.seconds < $1.seconds }
      script = ""
      // A cable that undo may have taken away cannot be disconnected.
      let undoes = Bool.random(using: &random)
      var time = 0.0
      while true {
        time += Double.random(in: 0.01...0.3, using: &random)
        if time > seconds { break }
        let place = Self.places.randomElement(using: &random)!
        let gain = gains.randomElement(using: &random)!
        let lines = [
          "set main.\(Self.aSwitch(&random)) \(Bool.random(using: &random) ? "on" : "off")",
          "set main.\(Self.aSwitch(&random)) on over 70ms", "set main\(place) -4dB",
          "connect more -> main\(place)\(gain)", "connect third -> main\(place)\(gain)",
          undoes ? "undo" : "tempo 100", undoes ? "redo" : "tempo 90",
        ]
        script += "at \(Int(time * 1000))ms \(lines.randomElement(using: &random)!)\n"
        if !undoes, let cable = cables.randomElement(using: &random),
          Int.random(in: 0..<3, using: &random) == 0
        {
          script += "at \(Int(time * 1000) + 3)ms disconnect \(cable)\n"
          script += "at \(Int(time * 1000) + 9)ms connect \(cable)\(gain)\n"
        }
      }
    }
  }

  @Test(arguments: searchSeeds(21, 22, 23, 24, 25, 26))
  func switchesThatMapsMoveHoldForWhatIsAddedInAnyPeriod(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let work = MappedMatrix(&random, seconds: 1.5, moves: true)
    let folder = try Folder()
    let whole = try render(work.text, work.events, script: work.script, folder, seconds: 1.8)
    let unmoved = try render(work.text, [], script: work.script, folder, seconds: 1.8)
    #expect(isSearched(seed) || unmoved.sound != whole.sound, "the maps move something")
    for (period, threads) in [(17, 1), (64, 2), (100, 1), (1024, 3)] {
      let other = try render(
        work.text, work.events, script: work.script, folder, period: period, threads: threads, seconds: 1.8)
      #expect(
        other.sound == whole.sound,
        "\(period) frames, \(threads) threads: \(work.description)")
      #expect(canonical(other.session) == canonical(whole.session), "\(period) frames")
    }
  }

  /// Constants through a matrix: what comes out at the end is what the patch says at the end.
  @Test(arguments: searchSeeds(31, 32, 33, 34, 35, 36))
  func afterSwitchesHaveMovedThePatchSoundsAsItSays(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let work = MappedMatrix(&random, seconds: 1, moves: false)
    let folder = try Folder()
    let moved = try render(work.text, work.events, script: work.script, folder, seconds: 2)
    let text = canonical(moved.session)
    let still = try render(text, [], folder, seconds: 1)
    for channel in 0..<2 {
      let (a, b) = (
        moved.sound[moved.sound.count - 2 + channel], still.sound[still.sound.count - 2 + channel]
      )
      #expect(abs(a - b) < 1e-5, "channel \(channel): \(a), not \(b): \(work.description)\n\(text)")
    }
  }
}
