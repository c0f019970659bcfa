import Engine

// Formatting of the edit log, for people and for programs.

extension Printout {
  /// `residue -131.0 dBFS, step -48.2 dB`: the excess over the steady signal.
  public static func figures(of edit: EditEntry) -> String {
    guard edit.isMeasured else { return "not measured" }
    if edit.residue == 0, edit.step == 0 { return "nothing above the steady signal" }
    return "residue \(fixed(edit.residueLevel, 1)) dBFS, step \(fixed(edit.stepLevel, 1)) dB"
  }

  /// The same in a few words: what an ear might notice.
  public static func effect(of edit: EditEntry) -> String {
    guard edit.isMeasured else { return "not measured" }
    if edit.residue == 0, edit.step == 0 { return "nothing above the steady signal" }
    return edit.residue > 0
      ? "\(fixed(edit.residueLevel, 0)) dBFS above 5 kHz" : "a step of \(fixed(edit.stepLevel, 0)) dB"
  }

  /// An array with an object for each edit: `line`, `time` (seconds), `fade` (seconds), `step` (dB of full
  /// scale: largest sample-to-sample difference beyond the steady signal's) and `residue` (dBFS: peak above 5
  /// kHz beyond the steady signal's). "-inf" for none, null if not measured.
  public static func json(_ edits: [EditEntry], rate: Double) -> JSON {
    .array(
      edits.map { edit in
        .object([
          ("line", .string(edit.line)), ("time", .number(Double(edit.time) / rate)),
          ("fade", .number(edit.fade)), ("step", level(edit.stepLevel, edit)),
          ("residue", level(edit.residueLevel, edit)),
        ])
      })
  }

  private static func level(_ decibels: Double, _ edit: EditEntry) -> JSON {
    guard edit.isMeasured else { return .null }
    return decibels.isFinite ? .number((decibels * 100).rounded() / 100) : .string("-inf")
  }
}
