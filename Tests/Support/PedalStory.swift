/// Keys, pedals and messages 123 of an MPE zone at random, one after another, and the notes that sound after each.
///
/// A note sounds while its key is down. Message 123 lifts keys and leaves pedals. A note goes on while a sustain pedal is down, if one was when the key rose, and while a
/// sostenuto pedal is down that caught it. Its channel's pedals and the master's count alike.
///
/// Test targets without `TestSupport` have a link to this file.
public struct PedalStory {
  public struct Step {
    public let channel: Int
    /// Controller of a pedal, or 123; 0: the channel's key.
    public let control: Int
    public let isDown: Bool
    /// Channels whose notes sound.
    public let sounding: Set<Int>
  }

  public private(set) var steps: [Step] = []

  public init(master: Int, members: [Int], count: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let channels = [master] + members
    var (down, sustained): (Set<Int>, Set<Int>) = ([], [])
    var pedals: [Int: Set<Int>] = [64: [], 66: []]
    // By channel, the channels of the pedals that caught its note.
    var caught: [Int: Set<Int>] = [:]
    func isHeld(_ channel: Int) -> Bool {
      down.contains(channel) || sustained.contains(channel) || caught[channel, default: []].isEmpty == false
    }
    while steps.count < count {
      let channel = channels.randomElement(using: &random)!
      let control = [0, 0, 0, 64, 64, 64, 66, 66, 66, 123].randomElement(using: &random)!
      let reached = channel == master ? channels : [channel]
      var isDown = false
      func lift(_ channel: Int) {
        guard down.remove(channel) != nil else { return }
        if !pedals[64]!.isDisjoint(with: [channel, master]) { sustained.insert(channel) }
      }
      if control == 123 {
        for other in reached { lift(other) }
      } else if control == 0 {
        isDown = !down.contains(channel)
        // Struck again, it would be another note.
        if isDown && isHeld(channel) { continue }
        if isDown {
          down.insert(channel)
        } else {
          lift(channel)
        }
      } else {
        isDown = !pedals[control]!.contains(channel)
        if isDown { pedals[control]!.insert(channel) } else { pedals[control]!.remove(channel) }
        for other in reached {
          if control == 64 {
            if pedals[64]!.isDisjoint(with: [other, master]) { sustained.remove(other) }
          } else if !isDown {
            caught[other]?.remove(channel)
          } else if down.contains(other) {
            caught[other, default: []].insert(channel)
          }
        }
      }
      steps.append(
        Step(channel: channel, control: control, isDown: isDown, sounding: Set(channels.filter(isHeld))))
    }
  }
}
