import Foundation
import Patch
import Screen
import Testing

@testable import Interface

/// Keys.
@Suite struct KeymapTests {
  @Test func everyDefaultKeyExistsHasOneMeaningAContextAndEveryActionHasAKeyAndHelp() {
    var seen: Set<String> = []
    for entry in ActionTable.entries {
      #expect(!entry.help.isEmpty)
      for name in entry.keys {
        #expect(Key(name: name) != nil, "no key \(name)")
        #expect(seen.insert("\(entry.context.name) \(name)").inserted, "\(name) means two things")
      }
    }
    for action in ActionTable.all {
      #expect(ActionTable.entries.contains { $0.action.name == action.name }, "\(action.name) has no key")
    }
  }

  @Test func namesOfActionsAreUniqueAndHintsAndTheReadingOrderNameActionsThatExist() {
    #expect(Set(ActionTable.all.map(\.name)).count == ActionTable.all.count)
    var matrix = ViewState()
    matrix.matrix.cable = Cable.Ends(
      PortReference(NodeID(raw: 1), "out"), PortReference(NodeID(raw: 2), "in"))
    for state in [ViewState(), matrix] {
      for scene in [Scene(), feedback().scene] {
        let hints = Views.all.flatMap {
          $0.hints(scene, state) + Piano.hints($0, isTurning: false) + Piano.hints($0, isTurning: true)
        }
        for hint in hints { #expect(ActionTable[hint.action] != nil, "no action \(hint.action)") }
      }
    }
    for (context, names) in ActionTable.order {
      for name in names.split(separator: " ").map(String.init) {
        let keys = ActionTable[name]?.keys.filter { $0.key == context } ?? []
        #expect(!keys.isEmpty, "\(name) has no key in \(context.name)")
      }
    }
  }

  @Test func noKeyOfPlayModeShadowsThePiano() {
    for entry in ActionTable.entries where [.playing, .anywhere].contains(entry.context) {
      for name in entry.keys { #expect(name.count > 1 || !"zsxdcvgbhnjmq2w3er5t6y7u".contains(name)) }
    }
  }

  @Test func aFileChangesKeysTakesSomeAwayAndIsToldWhatItHasWrong() {
    let (keymap, problems) = Keymap.read(
      """
      [patch]
      "ctrl-g" = "connect"
      c = "none"
      y = "fly"
      nokey = "undo"
      [nowhere]
      a = "undo"
      """, file: "keys.toml")
    #expect(keymap.action(for: "ctrl-g", in: [.patch])?.name == "connect")
    #expect(keymap.action(for: "c", in: [.patch]) == nil)
    #expect(keymap.action(for: "d", in: [.patch])?.name == "disconnect")
    #expect(problems.count == 3)
    #expect(problems.contains { $0.contains("fly") })
    #expect(Keymap.read("=", file: "k").problems.count == 1)
  }

  @Test func aKeyAboveAllSectionsIsToldThatOneIsMissingAndTheSectionsAreListedOnce() {
    let (_, problems) = Keymap.read(
      "play = \"F10\"\nundo = \"F11\"\nredo = \"F9\"\n[nowhere]\n", file: "keys.toml")
    #expect(problems.count == 4)
    #expect(problems[0].hasPrefix("keys.toml:1: error: `play` stands in no section"), "\(problems)")
    #expect(problems.count { $0.contains("[anywhere], [patch]") } == 1, "\(problems)")
  }

  @Test func theREADMEsTablesNameEveryKey() {
    let text = ActionTable.markdown
    for entry in ActionTable.entries { #expect(text.contains(entry.help)) }
  }
}

/// Files generated from the action table. `SOSTENUTO_RECORD=1 swift test` rewrites them, and fails once so
/// that nobody records by accident.
@Suite struct GeneratedKeysTests {
  private func check(_ name: String, _ wanted: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["SOSTENUTO_RECORD"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(wanted.utf8).write(to: file)
      Issue.record("recorded \(name)")
    }
    let found = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    #expect(found == wanted, "\(name) is stale: SOSTENUTO_RECORD=1 swift test --filter GeneratedKeys")
  }

  @Test func keysDefaultTomlIsTheBuiltInKeymap() throws {
    try check("keys/default.toml", Keymap.standardFile)
    let (keymap, problems) = Keymap.read(Keymap.standardFile, file: "default.toml")
    #expect(problems.isEmpty)
    for entry in ActionTable.entries {
      for name in entry.keys {
        let action = keymap.action(for: Key(stringLiteral: name), in: [entry.context])
        #expect(action?.name == entry.action.name)
      }
    }
  }

  @Test func theLayoutsFilesAreTheBuiltInOnes() throws {
    for (name, text) in KeyboardLayout.files {
      try check("keys/layouts/\(name).toml", text)
      #expect(KeyboardLayout.read(text, name: name, file: name).problems.isEmpty)
    }
    #expect(KeyboardLayout.builtIn.count == KeyboardLayout.files.count)
  }

  @Test func keysREADMEMdListsEveryKey() throws {
    try check("keys/README.md", "# Keys\n\nMade from the action table.\n\n" + ActionTable.markdown)
  }
}
