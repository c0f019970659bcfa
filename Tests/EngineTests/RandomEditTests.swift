import Engine
import Patch
import Testing

/// The laws as properties over random edits.
@Suite struct RandomEditTests {
  /// A random edit of what is there; many are refused, which must change nothing.
  static func randomEdit(_ patch: Patch, _ random: inout SeededGenerator, _ counter: inout Int) -> Edit {
    let names = patch.nodes.values.map(\.name).filter { $0 != "voice" && $0 != "out" }
    let sources = names + ["voice"]
    let sinks = names + ["out"]
    let kinds = ["gain", "mix", "pan", "matrix", "oscillator", "noise"]
    func some(_ list: [String]) -> String { list.randomElement(using: &random) ?? "nobody" }
    func fresh() -> Node {
      counter += 1
      return makeNode("n\(counter)", some(kinds))
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: return .add(fresh(), before: nil)
    case 2: return .remove(some(names), bridge: Bool.random(using: &random))
    case 3:
      let name = some(names)
      return .replace(name, with: makeNode(name, some(kinds)))
    case 4:
      guard let cable = patch.cables.keys.sorted(by: { "\($0)" < "\($1)" }).randomElement(using: &random),
        let from = patch[cable.source.node], let to = patch[cable.destination.node]
      else { return .add(fresh(), before: nil) }
      return .insert(
        fresh(),
        into: CableName(PortName(from.name, cable.source.port), PortName(to.name, cable.destination.port)))
    case 5:
      guard let cable = patch.cables.keys.sorted(by: { "\($0)" < "\($1)" }).randomElement(using: &random),
        let from = patch[cable.source.node], let to = patch[cable.destination.node]
      else { return .add(fresh(), before: nil) }
      return .disconnect(
        CableName(PortName(from.name, cable.source.port), PortName(to.name, cable.destination.port)))
    case 6:
      return .set(
        some(names), ParameterPath("gain"), .number(.random(in: -30...0, using: &random), .decibels),
        over: nil)
    case 7: return cable(some(sources), some(sinks) + ".gain", gain: -20)
    default: return cable(some(sources), some(sinks), gain: .random(in: -40 ... -6, using: &random))
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func aVoiceIsTheSameBitForBitWhateverIsEditedBehindIt(seed: UInt64)
    throws
  {
    print("seed \(seed)")
    let start = [
      node("voice", "oscillator", "shape=saw", "freq=220"), node("out", "output"), cable("voice", "out"),
    ]
    let still = Bench()
    try still.begin(start)
    let stillTap = try #require(still.engine.addTap(node: "voice", port: nil))
    let edited = Bench()
    try edited.begin(start)
    let first = edited.patch
    let tap = try #require(edited.engine.addTap(node: "voice", port: nil))
    #expect(tap.firstChannel == stillTap.firstChannel)

    var random = SeededGenerator(seed)
    var counter = 0
    var done = 0
    var rounds = 0
    while done < 700 {
      rounds += 1
      try #require(rounds < 20_000)
      // Now and then an undo, often in mid-fade.
      if done > 10, Int.random(in: 0..<8, using: &random) == 0 {
        if edited.undo() { done -= 1 }
      } else if edited.edit(Self.randomEdit(edited.patch, &random, &counter)) {
        done += 1
      }
      let frames = Int.random(in: 1...200, using: &random)
      edited.render(frames)
      still.render(frames)
    }
    let channel = tap.firstChannel
    if let difference = firstDifference(still.heard[channel], edited.heard[channel]) {
      Issue.record("seed \(seed): the voice differs at \(difference)")
    }
    #expect(still.heard[channel].contains { $0 > 0.1 })
    #expect(edited.heard[0].allSatisfy { $0.isFinite })

    edited.settle()
    #expect(edited.engine.isSettled)
    #expect(
      edited.engine.plansReturned == edited.engine.plansSent - 1, "every plan but the running one came back")
    let last = edited.patch
    var count = 0
    while edited.undo() { count += 1 }
    #expect(count == 700)
    #expect(edited.patch.nodes == first.nodes && edited.patch.cables == first.cables)
    #expect(last != first)
    edited.settle()
    #expect(edited.engine.report().nodes.map(\.name).sorted() == ["out", "voice"])
  }
}
