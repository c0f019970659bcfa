import Engine
import Foundation
import Patch
import TestSupport
import Testing

@testable import Session

/// Value of a setting, where it is stored.
@MainActor func value(_ session: Session, _ node: String, _ parameter: String) -> String? {
  session.patch[named: node]?.settings[ParameterPath(parameter)]?.line
}

/// Shortest names of all cables.
@MainActor func cables(_ session: Session) -> Set<String> {
  Set(
    session.patch.cables.values.map {
      session.patch.shortName(of: $0.ends, catalogue: session.catalogue).description
    })
}

/// Sub-patches of a library, and how sub-patches stand in the file.
@MainActor @Suite struct SubPatchFileTests {
  @Test func aSubPatchOfTheLibraryIsNamedAsAKindAndVoicesAreAValueOfIt() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    try FileManager.default.createDirectory(
      atPath: folder.path + "/library", withIntermediateDirectories: true)
    _ = try folder.file("library/saws.patch", try text(repository + "/Patches/library/saws.patch"))
    let path = try folder.file("a.patch", "sostenuto 1\nnode out output\nnode keys keyboard\n")
    let session = try open(path)
    #expect(
      session.catalogue.definitions?.library.first { $0.name == "saws" }?.summary.hasPrefix("A poly") == true)
    try session.perform("node synth saws voices=12 ; connect keys -> synth ; connect synth -> out")
    #expect(session.patch[named: "synth"]?.kind == "patch")
    #expect(value(session, "synth/notes", "polyphony") == "12", "\(session.patch.names)")
    #expect(cables(session).isSuperset(of: ["keys -> synth", "synth -> out"]))
    try session.save()
    #expect(try text(path).contains("node synth patch file=library/saws.patch voices=12\n"))
    session.close()
  }

  /// A file may name it so too, and is saved with the path. A name that leads back to itself is told with its way.
  @Test func aFileNamesSubPatchesOfTheLibraryAsKinds() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    try FileManager.default.createDirectory(
      atPath: folder.path + "/library/library", withIntermediateDirectories: true)
    _ = try folder.file("library/saws.patch", try text(repository + "/Patches/library/saws.patch"))
    let path = try folder.file(
      "a.patch",
      """
      sostenuto 1
      node keys keyboard
      # Sixteen are too many.
      node synth saws voices=12  # of the library
      connect keys -> synth
      node out output
      connect synth -> out
      """)
    let session = try open(path)
    #expect(session.diagnostics.isEmpty, "\(session.diagnostics)")
    #expect(value(session, "synth/notes", "polyphony") == "12")
    #expect(cables(session).isSuperset(of: ["keys -> synth", "synth -> out"]))
    try session.perform("set synth.voices 3")
    #expect(value(session, "synth/notes", "polyphony") == "3")
    session.close()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/library/library/self.patch", withDestinationPath: "../self.patch")
    _ = try folder.file("library/self.patch", "sostenuto 1\nnode me self\n")
    let own = try open(try folder.file("own.patch", "sostenuto 1\nnode me self\n"))
    #expect(own.diagnostics.map(\.message).first?.contains("self.patch") == true, "\(own.diagnostics)")
    own.close()
  }

  /// What a recall brings back stands in the file as one would write it: sources first, and a sub-patch before what is inside.
  @Test func whatARecallBringsBackIsInTheOrderOfItsCables() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(
      try folder.file(
        "a.patch",
        """
        sostenuto 1
        node tone oscillator
        node before delay
        node fx patch
        node fx/in inlet
        node fx/dist distortion
        node fx/box patch
        node fx/box/in inlet
        node fx/box/echo delay
        node fx/box/amp gain
        node fx/box/out outlet
        node fx/last gain
        node fx/out outlet
        node out output
        connect tone -> before
        connect before -> fx
        connect fx/in -> fx/dist
        connect fx/dist -> fx/box
        connect fx/box/in -> fx/box/echo
        connect fx/box/echo -> fx/box/amp
        connect fx/box/amp -> fx/box/out
        connect fx/box -> fx/last
        connect fx/last -> fx/out
        connect fx -> out
        """))
    defer { session.close() }
    #expect(session.diagnostics.isEmpty, "\(session.diagnostics)")
    let names = session.patch.names
    try session.perform("scene 1")
    for lines in [
      ["remove before", "remove fx"], ["remove fx", "remove before"], ["remove fx/box"],
      ["remove fx/box/echo", "remove fx/dist"], ["remove fx/out", "remove fx/last"],
    ] {
      for line in lines { try session.perform(line) }
      try session.perform("recall 1")
      #expect(session.patch.names == names, "\(lines)")
    }
  }

  /// Comments of cables into parameters go with them through collapse and expand.
  @Test func commentsOfCablesOutliveCollapsing() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let lines = "connect wave -> low.freq by 1oct  # slowly\n"
    let session = try open(
      try folder.file(
        "a.patch",
        "sostenuto 1\nnode wave lfo\nnode low filter\nnode out output\n# up and down\n\(lines)connect low -> out\n"
      ))
    defer { session.close() }
    for line in ["collapse low into box", "expand box", "undo", "expand box"] {
      try session.perform(line)
      let comments = session.patch.cables.values.map(\.comments).filter { !$0.isEmpty }
      #expect(comments.map(\.before) == [["up and down"]] && comments.map(\.after) == ["slowly"], "\(line)")
    }
  }

  /// Controls and maps of a cable's gain turn that gain when ends of the cable go into a sub-patch and out of it.
  @Test(arguments: [
    ["collapse f into s"], ["collapse n into s"], ["collapse n f into s"], ["collapse n g into s"],
    ["collapse k f into s"], ["collapse f into s", "expand s"], ["collapse n into s", "expand s"],
    ["collapse f into s", "collapse n s into t", "expand t", "rename s u", "expand u"],
    ["collapse n g into s", "collapse s into t", "expand t/s", "expand t"],
    ["scene 1", "collapse f into s", "scene 2", "recall 1", "recall 2"],
  ])
  func aKnobTurnsTheSameGainBehindCollapsing(lines: [String]) throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(
      try folder.file(
        "a.patch",
        """
        sostenuto 1
        control 1 n -> f
        control 2 n -> g
        map k.cc2 -> n -> f -40dB..0dB takeover=jump  # by foot
        map k.cc3 -> f -> out
        node k midi
        node n oscillator
        node f filter
        connect n -> f gain=-20dB
        node g gain
        connect n -> g gain=-7dB
        node out output
        connect f -> out gain=-3dB
        connect g -> out

        """))
    defer { session.close() }
    let before = session.patch
    for line in lines { try session.perform(line) }
    func gains() throws -> [String] {
      let settings = session.patch.settings
      let targets =
        settings.controls.sorted { $0.key < $1.key }.map(\.value) + settings.maps.keys.sorted().map(\.target)
      for (name, course) in settings.maps {
        _ = try session.patch.scale(of: name, course, catalogue: session.catalogue)
      }
      return try targets.map { try session.patch.controlled($0, catalogue: session.catalogue).value.line }
    }
    #expect(try gains() == ["-20dB", "-7dB", "-20dB", "-3dB"])
    let comments = session.patch.settings.maps.keys.compactMap { session.patch.settings.comments[.map($0)] }
    #expect(comments.map(\.after) == ["by foot"])
    // It is heard: the cable that the control turns has the gain.
    let target = try #require(session.patch.settings.controls[1])
    try session.perform(
      .edit(session.patch.turning(target, to: .number(-33, .decibels), catalogue: session.catalogue)))
    #expect(session.patch.cables.values.filter { $0.gain == -33 }.count == 1)
    #expect(!session.patch.cables.values.contains { $0.gain == -20 })
    for _ in 0..<lines.count + 1 { try session.undo() }
    #expect(session.patch == before)
    for _ in 0..<lines.count { try session.redo() }
    #expect(try gains() == ["-20dB", "-7dB", "-20dB", "-3dB"])
  }

  /// A knob on the cable into a sub-patch turns all that the cable goes on to, when what is inside takes its place.
  @Test func aKnobAtASubPatchTurnsAllBehindItWhenItIsExpanded() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try open(
      try folder.file(
        "a.patch",
        """
        sostenuto 1
        publish s/f.freq as s/tone  # dark to bright
        map k.cc2 -> n -> s
        node k midi
        node n oscillator
        node s patch
        node s/in inlet
        connect n -> s gain=-9dB
        node s/f filter
        connect s/in -> s/f
        node s/g gain
        connect s/in -> s/g
        node s/out outlet
        connect s/f -> s/out
        connect s/g -> s/out
        node out output
        connect s -> out

        """))
    defer { session.close() }
    try session.perform("collapse s into t")
    #expect(session.patch.settings.comments[.publish("t/s/tone")]?.after == "dark to bright")
    try session.perform("expand t")
    #expect(session.patch.settings.comments[.publish("s/tone")]?.after == "dark to bright")
    let before = session.patch
    try session.perform("expand s")
    let names = session.patch.settings.maps.keys.sorted().map(\.description)
    #expect(names == ["k.cc2 -> n.out -> f.in", "k.cc2 -> n.out -> g.in"])
    try session.undo()
    #expect(session.patch == before)
  }
}
