import Testing

/// Edits of two people to one patch, and the expected merge.
struct MergeCase: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// Both edits, as if one were made after the other.
    case both
    /// Both intentions by other edits: our edits that lead from the base to the expected patch.
    case edits(String)
    /// Only a person can decide.
    case conflict
  }

  var what: String
  var ours: String
  var theirs: String
  var outcome: Outcome

  init(_ what: String, _ ours: String, _ theirs: String, _ outcome: Outcome = .both) {
    self.what = what
    self.ours = ours
    self.theirs = theirs
    self.outcome = outcome
  }

  var testDescription: String { what }

  static let base = """
    sostenuto 1
    # A patch to be changed by two.

    node keys keyboard
    node piano sampler instrument=upright.sfz polyphony=32
    connect keys -> piano
    node osc oscillator freq=[110Hz,220Hz] channels=2
    # Warm, not loud.
    node dist distortion drive=18dB mix=50%
    connect piano -> dist gain=-3dB
    connect osc -> dist
    node comp compressor threshold=-20dB
    connect dist -> comp
    node main matrix inputs=4 outputs=4
    connect comp -> main map=[0,1]
    set main[0,1] -6dB
    set main[0,2] -9dB
    set main[1,2] -12dB
    layout main 4,1
    node out output channels=4
    connect main -> out
    """

  static let all: [MergeCase] = [
    MergeCase("two nodes added at the end", "node a delay", "node b delay"),
    MergeCase(
      "two nodes with cables added at the end", "node a delay ; connect main -> a",
      "node b delay ; connect dist -> b"),
    MergeCase("two nodes added at one place", "node a delay before comp", "node b distortion before comp"),
    MergeCase(
      "a node added and the one beside it changed", "node a delay before comp", "set comp.threshold -9dB"),
    MergeCase("two settings of one node", "set dist.drive 20dB", "set dist.mix 80%"),
    MergeCase("a setting added and another changed", "set piano.level -3dB", "set piano.polyphony 8"),
    MergeCase("adjacent crosspoints", "set main[0,1] -3dB", "set main[0,2] -3dB"),
    MergeCase("adjacent crosspoints, new ones", "set main[2,0] -3dB", "set main[2,1] -3dB"),
    MergeCase("two crosspoints apart", "set main[0,1] -3dB", "set main[1,2] -3dB"),
    MergeCase("two cables into one node", "connect osc -> comp", "connect piano -> comp.sidechain"),
    MergeCase("cables of two sources into one input", "connect osc -> comp", "connect piano -> comp"),
    MergeCase("adjacent cables changed", "connect piano -> dist gain=-6dB", "connect osc -> dist gain=-9dB"),
    MergeCase(
      "a cable's gain and its map", "connect comp -> main gain=-3dB map=[0,1]",
      "connect comp -> main map=[1,0]",
      .edits("connect comp -> main gain=-3dB map=[1,0]")),
    MergeCase(
      "a cable changed and one beside it taken away", "connect piano -> dist gain=-6dB",
      "disconnect osc -> dist"),
    MergeCase("a setting and a comment of one node", "set dist.drive 20dB", "comment dist \"Cold.\""),
    MergeCase("a setting and the place of one node", "set main[1,2] -3dB", "layout main 5,5"),
    MergeCase("a box moved and a node added behind", "layout main 5,5", "node a delay before out"),
    MergeCase(
      "a node renamed here and set there", "rename dist fuzz", "set dist.drive 20dB",
      .edits("set dist.drive 20dB ; rename dist fuzz")),
    MergeCase(
      "a node renamed here and connected there", "rename dist fuzz", "connect dist -> comp.sidechain",
      .edits("connect dist -> comp.sidechain ; rename dist fuzz")),
    MergeCase(
      "one end of a cable renamed, the cable changed", "rename osc tone", "connect osc -> dist gain=-9dB",
      .edits("connect osc -> dist gain=-9dB ; rename osc tone")),
    MergeCase("both ends of a cable renamed", "rename dist fuzz", "rename comp press"),
    MergeCase("a node removed and another changed", "remove osc", "set comp.threshold -9dB"),
    MergeCase("a node removed and its box moved", "remove main", "layout main 5,5", .edits("remove main")),
    MergeCase("neighbours in the file changed", "set osc.level -20dB", "set dist.drive 20dB"),
    MergeCase(
      "a node replaced and its cable changed", "replace dist delay", "connect piano -> dist gain=-9dB"),
    MergeCase("a node replaced and its neighbour changed", "replace comp delay", "set dist.drive 20dB"),
    MergeCase("the same edit on both sides", "set dist.drive 20dB", "set dist.drive 20dB"),
    MergeCase(
      "the same node added on both sides", "node a delay time=1s", "node a delay time=1s",
      .edits("node a delay time=1s")),
    MergeCase("a title here, a setting there", "header \"Another title.\"", "set dist.drive 20dB"),
    MergeCase("a node moved here and set there", "move osc last", "set osc.level -20dB"),
    MergeCase("nodes moved here, added there", "move keys before out", "node a delay before main"),
    MergeCase("one setting, two values", "set dist.drive 20dB", "set dist.drive 22dB", .conflict),
    MergeCase("a node removed here and set there", "remove osc", "set osc.level -20dB", .conflict),
    MergeCase(
      "a node removed here and connected there", "remove osc", "node a delay ; connect osc -> a", .conflict),
    MergeCase(
      "a size shrunk here, a crosspoint beyond it set there", "set main.inputs 2", "set main[3,3] -3dB",
      .conflict),
    MergeCase(
      "channels taken away here, mapped there", "set osc.channels 1",
      "connect osc -> comp map=[1]", .conflict),
    MergeCase(
      "two nodes of one name at different places", "node a delay before piano", "node a distortion", .conflict
    ),
    MergeCase("renamed to the name of a new node", "rename dist a", "node a delay before keys", .conflict),
    MergeCase("a node replaced here and set there", "replace dist delay", "set dist.mix 80%", .conflict),
    MergeCase(
      "a node replaced, and a port that it lacks connected", "replace comp delay",
      "connect piano -> comp.sidechain", .conflict),
    MergeCase("one node, two new names", "rename dist a", "rename dist b", .conflict),
    MergeCase(
      "one cable, two gains", "connect osc -> dist gain=-6dB", "connect osc -> dist gain=-9dB", .conflict),
    MergeCase(
      "a cable taken away here and changed there", "disconnect osc -> dist", "connect osc -> dist gain=-9dB",
      .conflict),
  ]
}
