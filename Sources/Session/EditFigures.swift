import Engine

// Formatting of the edit log, for people and for programs.

extension Printout {
  /// `-31.0 dBFS above 5 kHz, a step of -48.2 dB`: the excess over the steady signal.
  public static func figures(of edit: EditEntry) -> String {
    guard edit.isMeasured else { return "not measured" }
    if edit.residue == 0, edit.step == 0 { return "nothing above the steady signal" }
    return words(edit, digits: 1).joined(separator: ", ")
  }

  /// The same in a few words: what an ear might notice.
  public static func effect(of edit: EditEntry) -> String {
    guard edit.isMeasured else { return "not measured" }
    if edit.residue == 0, edit.step == 0 { return "nothing above the steady signal" }
    return words(edit, digits: 0)[0]
  }

  private static func words(_ edit: EditEntry, digits: Int) -> [String] {
    (edit.residue > 0 ? ["\(fixed(edit.residueLevel, digits)) dBFS above 5 kHz"] : [])
      + (edit.step > 0 ? ["a step of \(fixed(edit.stepLevel, digits)) dB"] : [])
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
