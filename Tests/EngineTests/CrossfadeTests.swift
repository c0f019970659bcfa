import Engine
import Patch
import Testing

/// An edit that leaves the ideal sound unchanged must leave the output unchanged. Both sides of every
/// crossfade carry the same signal, so any dip, step or delay shows as a difference.
@Suite struct CrossfadeTests {
  // tone -> a -> out
  private let chain = [
    node("tone", "oscillator", "freq=997", "level=0"), node("a", "gain"), node("out", "output"),
    cable("tone", "a"), cable("a", "out"),
  ]

  private func expectUnchanged(_ name: String, _ edits: [Edit], pauses: Int = 100) throws {
    let still = Bench()
    try still.begin(chain)
    let edited = Bench()
    try edited.begin(chain)
    still.render(1000)
    edited.render(1000)
    for edit in edits {
      let isAccepted = edited.edit(edit)
      #expect(isAccepted, "\(name) is refused: \(edit)")
      edited.render(pauses)
      still.render(pauses)
    }
    edited.render(2000)
    still.render(2000)
    let difference = distance(still.heard[0], edited.heard[0])
    #expect(difference < 1e-5, "\(name): output differs by \(difference)")
    #expect(still.heard[0].max() ?? 0 > 0.9)
  }

  @Test func replacingAnEffectByItsLikeIsNotHeard() throws {
    try expectUnchanged("replace", [.replace("a", with: makeNode("a", "gain"))])
    try expectUnchanged("replace by mix", [.replace("a", with: makeNode("a", "mix"))])
  }

  @Test func insertingAndRemovingNeutralEffectsIsNotHeard() throws {
    try expectUnchanged(
      "insert and remove",
      [
        .insert(makeNode("b", "gain"), into: CableName("a", "out")),
        .insert(makeNode("c", "mix"), into: CableName("tone", "a")),
        .remove("a", bridge: true), .remove("b", bridge: true), .remove("c", bridge: true),
      ])
  }

  @Test func editsDuringFadesAreNotHeard() throws {
    try expectUnchanged(
      "ten replacements in the time of one fade",
      (0..<10).map { .replace("a", with: makeNode("a", $0 % 2 == 0 ? "mix" : "gain")) }, pauses: 48)
  }

  // tone -> a -> b -> out becomes tone -> b -> a -> out; the union of both graphs is a cycle.
  @Test func reorderingEffectsIsNotHeardBeyondItsPassingDelay() throws {
    let bench = Bench()
    try bench.begin([
      node("tone", "oscillator", "freq=50", "level=0"), node("a", "gain"), node("b", "gain"),
      node("out", "output"), cable("tone", "a"), cable("a", "b"), cable("b", "out"),
    ])
    bench.render(4800)
    let before = bench.heard[0]
    let reorder: Edit = .all([
      .disconnect(CableName("tone", "a")), .disconnect(CableName("a", "b")),
      .disconnect(CableName("b", "out")), cable("tone", "b"), cable("b", "a"), cable("a", "out"),
    ])
    let isAccepted = bench.edit(reorder)
    #expect(isAccepted)
    bench.render(9600)
    let steady = steepest(before)
    #expect(
      steepest(bench.heard[0]) < steady * 1.35, "a step of \(steepest(bench.heard[0])), steady \(steady)")
    #expect(bench.engine.isSettled)
    let delayed = bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).filter(\.isFeedback)
    #expect(delayed.isEmpty, "the new path stays direct")
    let still = Bench()
    try still.begin([
      node("tone", "oscillator", "freq=50", "level=0"), node("out", "output"), cable("tone", "out"),
    ])
    still.render(14400)
    #expect(distance(Array(still.heard[0].suffix(4800)), Array(bench.heard[0].suffix(4800))) < 1e-6)
  }

  @Test func aFadedCableTakesTenMilliseconds() throws {
    let bench = Bench()
    try bench.begin(chain)
    bench.render(4800)
    bench.edit(.disconnect(CableName("a", "out")))
    bench.render(960)
    #expect(bench.heard[0][4800..<5180].contains { abs($0) > 0.05 })
    #expect(bench.heard[0][5280...].allSatisfy { $0 == 0 })
  }

  private func steepest(_ samples: [Float]) -> Float {
    zip(samples.dropFirst(), samples).reduce(0) { max($0, abs($1.0 - $1.1)) }
  }
}
