import PatchLanguage
import Testing

@testable import Patch

/// Times and rates in notes: `set echo.time 1/8d`.
@Suite struct NoteLengthTests {
  private let patch = PatchReader.read(
    """
    sostenuto 1
    tempo 90
    node echo delay time=1/8d
    node tone oscillator freq=[1/4t,2Hz]

    """, file: "", catalogue: catalogue
  ).patch

  /// The patch behind lines that are typed.
  private func typed(_ lines: String..., on patch: Patch? = nil) throws -> Patch {
    var (patch, history) = (patch ?? self.patch, History())
    for line in lines { try perform(line, on: &patch, history: &history) }
    return patch
  }

  private func value(_ node: String, _ name: String, _ patch: Patch) -> Value? {
    patch.value(of: node, ParameterPath(name), catalogue: catalogue)
  }

  @Test(
    arguments: [
      ("1/8", 0.125, "1/8"), ("2/16", 0.125, "1/8"), ("1/8d", 0.1875, "1/8d"), ("1/8.", 0.1875, "1/8d"),
      ("3/16", 0.1875, "1/8d"), ("1/8T", 1.0 / 12, "1/8t"), ("3/4t", 0.5, "1/2"), ("1/1", 1, "1/1"),
      ("12/4", 3, "3/1"), ("5/4", 1.25, "5/4"), ("7/128d", 21.0 / 256, "7/128d"),
      ("5/16t", 5.0 / 24, "5/16t"),
      ("999/1d", 1498.5, "2997/2"),
    ] as [(String, Double, String)])
  func notesAreReadAndWrittenInOneWay(text: String, length: Double, line: String) {
    #expect(Value(number: text) == .number(length, .notes))
    #expect(Value.number(length, .notes).line == line)
    #expect(Value(number: line) == .number(length, .notes))
  }

  @Test(arguments: [
    "1/", "/8", "1/3", "0/4", "1/0", "1/256", "-1/8", "1.5/8", "1/8dd", "1/8x", "1/8s", "99999/1",
  ])
  func whatIsNoNoteIsNotTakenForOne(text: String) { #expect(Value(number: text) == nil) }

  @Test func everyNoteReadsBackAsItself() {
    for part in [1, 2, 4, 8, 16, 32, 64, 128] {
      for count in 1...999 {
        for mark in ["", "d", "t"] {
          let value = Value(number: "\(count)/\(part)\(mark)")
          #expect(
            value != nil && value.flatMap { Value(number: $0.line) } == value, "\(count)/\(part)\(mark)")
        }
      }
    }
  }

  @Test func notesStayInTheFileAndBecomeTimesAndRatesByTheTempo() throws {
    #expect(PatchWriter.write(patch, catalogue: catalogue).contains("node echo delay time=1/8d\n"))
    #expect(PatchWriter.write(patch, catalogue: catalogue).contains("freq=[1/4t,2Hz]"))
    let (kind, rate) = (catalogue["delay"]!, catalogue["oscillator"]!)
    func time(_ patch: Patch) -> Float {
      EngineValues(of: patch[named: "echo"]!, description: kind, wholeNote: patch.settings.wholeNote).values[
        0][0]
    }
    #expect(time(patch) == 0.5)
    let tones = EngineValues(
      of: patch[named: "tone"]!, description: rate, wholeNote: patch.settings.wholeNote
    ).values[1]
    #expect(abs(tones[0] - 2.25) < 1e-6 && tones[1] == 2)
    // The tempo counts eighths.
    let other = try typed("meter 6/8 ; tempo 180")
    #expect(time(other) == 0.5)
  }

  @Test func whatIsNoTimeOrSlowRateTakesNoNotes() {
    for line in ["set tone.level 1/8", "node d distortion mix=1/4", "map keys.cc1 -> echo.time 1/8..1/4"] {
      #expect(throws: EditError.self, "\(line)") { try typed(line) }
    }
  }

  /// Typed notes are checked by the present tempo; in a file they may wait for another one.
  @Test func aNoteThatIsTooLongIsRefusedAtThePresentTempo() throws {
    let description = catalogue["delay"]!.parameters[0]
    let longest = description.range.upperBound
    for line in ["set echo.time 32/1", "node other delay time=32/1", "tempo 240 ; set echo.time 32/1"] {
      #expect(throws: EditError.self, "\(line)") { try typed(line) }
    }
    let note = Value(number: "32/1")!
    #expect(description.timed(note, wholeNote: 2) == .number(longest, .seconds))
    #expect(description.holds(note, wholeNote: 2) && !description.holds(Value(number: "1/8")!, wholeNote: 2))
    let fast = try typed("tempo 900 ; set echo.time 32/1", "scene 1 \"fast\"", "set echo.time 1s")
    let slow = try typed("tempo 60", "recall 1", on: fast)
    #expect(value("echo", "time", slow) == note)
    let read = PatchReader.read(PatchWriter.write(slow, catalogue: catalogue), file: "", catalogue: catalogue)
    #expect(read.diagnostics.isEmpty && read.patch == slow)
  }

  @Test func betweenTwoNotesLieTimesAndTheEndsAreNotes() throws {
    let scenes = try typed("scene 1 \"a\"", "set echo.time 1/4", "scene 2 \"b\"")
    let patch = try typed("morph 1 2 50%", on: scenes)
    guard case .number(let seconds, .seconds)? = value("echo", "time", patch) else {
      Issue.record("\(String(describing: value("echo", "time", patch)))")
      return
    }
    #expect(abs(seconds - 0.583333) < 1e-3)
    #expect(value("echo", "time", try typed("morph 1 2 100%", on: patch)) == Value(number: "1/4"))
    #expect(value("echo", "time", try typed("morph 1 2 0%", on: patch)) == Value(number: "1/8d"))
  }

  @Test func keysStepAmongUsualNotes() {
    let eighth = Value(number: "1/8")!
    #expect(eighth.steppedNote(by: 1)?.line == "1/4t" && eighth.steppedNote(by: -1)?.line == "1/16d")
    #expect(eighth.steppedNote(by: 3)?.line == "1/4" && eighth.steppedNote(by: 99)?.line == "16/1")
    #expect(Value(number: "999/1")!.steppedNote(by: 1)?.line == "999/1")
    #expect(Value.note(nearest: 0.4, wholeNote: 2).line == "1/8d")
  }
}
