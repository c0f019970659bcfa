import Testing

/// A short form of `make stage`: a set with scenes, maps, controls and other tempos, played by keys at 80 by 24 without colours.
@Suite(.enabled(if: Terminal.isInstalled)) struct StageTests {
  @Test(.timeLimit(.minutes(5))) func aHeldChordIsThatOfTheNotesAlone() throws {
    let set = try Program.run(
      tool: Program.repository + "/Tools/stage", [Program.path, "--minutes", "0.3", "--seed", "16"])
    #expect(set.status == 0, "\(set.output)\(set.errors)")
    #expect(set.output.contains("are those of the notes alone"))
  }
}
