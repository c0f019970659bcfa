import Patch
import PatchLanguage

extension ManualPage {
  /// `sostenuto-patch(5)`: the language of patches and scripts.
  static var patch: ManualPage {
    var page = ManualPage(
      "sostenuto-patch", section: 5, of: "File Formats", summary: "patches and scripts of sostenuto")
    page.section("Description")
    page.paragraph(
      """
      A patch is a text file in UTF-8. Its first line is `sostenuto 1`; each further line is a node, a cable, a \
      setting or a place. `sostenuto format` writes the canonical form: a paragraph for each node, with its comments, \
      its line, the cables into it, its settings by index and its place.
      """)
    page.example(
      """
      sostenuto 1

      node keys keyboard

      # Held by the pedal.
      node piano sampler instrument=../Instruments/organ/organ.sfz
      connect keys -> piano

      node main matrix
      connect piano -> main gain=-12dB map=[0,1,-1,-1]
      set main[0,1] -9dB

      node out output
      connect main -> out
      """)
    page.paragraph(
      """
      The same language is typed at the prompt of the front end, and makes up scripts and what `sostenuto diff` \
      prints. There every line below is allowed; `;` joins several to one edit, which is undone in one step. In a \
      script `at 1.5s` before a line is its time, or `at bar 5` the bar at which the transport is; a line without has that \
      of the line before.
      """)
    page.section("Words")
    page.entry(
      "Names", "Letters, digits and `_`. `piano.reverb` is a port; without a name it is the first one.")
    page.entry(
      "Settings",
      "`dist.drive`, `main.in[0]`, the crosspoint `main[0,1]`, the ranges `main[0..3,0]` and `in[2..]`.")
    page.entry(
      "Text", "A bare word, or `\"quoted text\"` with `\\\\`, `\\\"`, `\\n`, `\\t` and `\\u{1F3B9}`.")
    page.entry("Lists", "`[0,1,-1]`: a value for each channel, a channel map, labels.")
    page.entry(
      "Comments", "From `#` to the end of the line; they belong to the line below them, or to their own.")
    page.entry("Files", "Relative to the folder of the patch.")
    page.section("Numbers")
    page.paragraph(
      "A number may have a unit; the capitals of a unit do not matter. Without one it has the parameter's own."
    )
    for unit in Unit.allCases { if let words = unit.manual { page.entry(words.form, words.meaning) } }
    for topic in Verb.Topic.allCases {
      page.section(topic.title)
      page.paragraph(topic.manual)
      for verb in Verb.all where verb.topic == topic { page.entry(verb.usage, verb.summary) }
    }
    page.section("Presets of a matrix")
    for preset in KindReference.matrixPresets { page.entry(preset.line, preset.meaning + ".") }
    page.references([("sostenuto", 1), ("sostenuto-kinds", 7)])
    return page
  }
}

extension Unit {
  /// How a number is written in this unit; nil for a plain number.
  fileprivate var manual: (form: String, meaning: String)? {
    switch self {
    case .none: nil
    case .decibels: ("-6dB", "Decibels; `-inf` is silence.")
    case .hertz: ("440Hz, 1.2kHz", "Hertz.")
    case .seconds: ("2s, 250ms, 20us", "Seconds.")
    case .percent: ("80%", "Percent.")
    case .cents: ("-15cents, -15ct", "Hundredths of a semitone.")
    case .semitones: ("7st", "Semitones.")
    case .octaves: ("2oct", "Octaves, of the depth of a modulation.")
    case .notes:
      (
        "1/8, 1/8d, 1/8t",
        "The length of a note, dotted or of a triplet, by the tempo; of a rate: a cycle in that length."
      )
    case .key: ("C4, F#3, Bb-1", "A MIDI key as a note; `C4` is 60.")
    }
  }
}

extension Verb.Topic {
  fileprivate var title: String {
    switch self {
    case .file: "Lines of a patch"
    case .edit: "Other edits"
    case .performance: "Performance"
    case .session: "Session"
    }
  }

  fileprivate var manual: String {
    switch self {
    case .file: "`A` and `B` are nodes or ports; brackets mark what may be left out."
    case .edit: "At the prompt and in scripts, not in patch files."
    case .performance: "They play a node and change nothing in the patch, so there is nothing to undo."
    case .session: "At the prompt and in scripts."
    }
  }
}
