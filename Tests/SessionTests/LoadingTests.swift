import Engine
import Foundation
import Patch
import Realtime
import Synchronization
import Testing

@testable import Session

/// Interrupted loads: the old instrument sounds until the new one is complete, and nothing waits.
@Suite(.serialized) @MainActor struct LoadingTests {
  let folder: Folder
  let session: Session
  static let organ = repository + "/Instruments/organ/organ.sfz"
  static let upright = repository + "/Instruments/upright/upright.sfz"

  init() throws {
    folder = try Folder()
    session = try open(
      try folder.file("a.patch", "sostenuto 1\nnode piano sampler\nnode out output\nconnect piano -> out\n"))
    try session.perform("set piano.instrument \(Self.organ)")
    waitForLoads()
  }

  /// Waits until all loads have finished and are in use.
  private func waitForLoads() {
    session.library.queue.sync {}
    look()
    #expect(session.isLoaded)
  }

  /// Renders one block, and collects its results.
  private func look() {
    session.tick()
    try? session.renderOneBlock()
    session.tick()
  }

  private var piano: NodeReport? { session.report.nodes.first { $0.name == "piano" } }

  /// Reading `slow.wav` blocks until the gate is opened.
  private final class Gate: Sendable {
    private let arrival = DispatchSemaphore(value: 0)
    private let opening = DispatchSemaphore(value: 0)
    func pass() {
      arrival.signal()
      opening.wait()
      opening.signal()
    }
    func open() { opening.signal() }
    /// Waits until a reader has arrived at the gate.
    func meet() { arrival.wait() }
  }

  /// Starts a load of a slow file, and waits until it is being read.
  private func beginSlow() throws -> Gate {
    let gate = Gate()
    session.library.reader = { request, options in
      if request.path.hasSuffix("slow.wav") { gate.pass() }
      return FileLibrary.read(request, options)
    }
    try session.perform("set piano.instrument \(folder.path)/slow.wav")
    // A load that is superseded before its turn is not read at all.
    gate.meet()
    return gate
  }

  @Test func theOldOnePlaysOnAndTheNodeSaysWhatIsLoading() throws {
    let gate = try beginSlow()
    defer { gate.open() }
    look()
    #expect(!session.isLoaded)
    #expect(session.status.loading.map(\.name) == ["slow.wav"])
    #expect(piano?.file == "organ.sfz")
    #expect(piano?.loading?.name == "slow.wav")
    let text = Printout.text(session.report)
    #expect(text.contains("organ.sfz ") && text.contains("loading slow.wav 0 %"))
    session.close()
  }

  /// Sixteen instruments of 90 MB come and go: memory kept for undo is limited, and undo uses it.
  @Test func filesOfRemovedNodesStayForUndoAsFarAsTheLimitAndNoFurther() throws {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    let living = Living()
    session.library.reader = { request, _ in
      LoadedFile(request: request, resource: living.resource(request.path, bytes: 90 << 20), findings: [])
    }
    try session.perform("node out output")
    for number in 1...16 {
      let tuning = number % 2 == 0 ? "" : " polyphony=8"
      try session.perform(
        "node s\(number) sampler instrument=i\(number).sfz\(tuning) ; connect s\(number) -> out")
      try session.render(RenderRequest(seconds: 0.02))
      #expect(session.report.nodes.first { $0.name == "s\(number)" }?.file == "i\(number).sfz")
      try session.perform("remove s\(number)")
      if number % 3 == 0 {
        // During the fade, and back.
        try session.undo()
        try session.render(RenderRequest(seconds: 0.005))
        try session.redo()
      }
      try session.render(RenderRequest(seconds: 0.1))
      #expect(living.bytes <= FileLibrary.mostSpare, "after \(number)")
    }
    #expect(living.bytes > FileLibrary.mostSpare - (90 << 20), "as much as there is room for")
    // The newest comes from memory; the oldest is read again.
    for number in (1...16).reversed() {
      let loads = living.loads
      try session.undo()
      try session.render(RenderRequest(seconds: 0.1))
      #expect(session.report.nodes.first { $0.name == "s\(number)" }?.file == "i\(number).sfz")
      #expect(living.loads == loads + (number > 11 ? 0 : 1))
      try session.undo()
      try session.render(RenderRequest(seconds: 0.1))
    }
    #expect(living.bytes <= FileLibrary.mostSpare)
    session.close()
  }

  /// Tracks resources in memory.
  private final class Living: Sendable {
    private let counts = Mutex((bytes: 0, loads: 0))
    var bytes: Int { counts.withLock { $0.bytes } }
    var loads: Int { counts.withLock { $0.loads } }

    func resource(_ name: String, bytes: Int) -> Resource {
      counts.withLock { $0 = ($0.bytes + bytes, $0.loads + 1) }
      // A resource type that no kernel knows: it plays nothing.
      let header = UnsafeMutablePointer<ResourceHeader>.allocate(capacity: 1)
      header.initialize(to: ResourceHeader(type: 99))
      let address = UInt(bitPattern: header)
      return Resource(header: header, name: name, bytes: { bytes }) {
        self.counts.withLock { $0.bytes -= bytes }
        UnsafeMutablePointer<ResourceHeader>(bitPattern: address)?.deallocate()
      }
    }
  }

  @Test func aLoadThatIsOvertakenIsForgotten() throws {
    let gate = try beginSlow()
    try session.perform("set piano.instrument \(Self.upright)")
    #expect(session.status.loading.map(\.name) == ["upright.sfz"])
    look()
    #expect(piano?.file == "organ.sfz")
    gate.open()
    waitForLoads()
    #expect(piano?.file == "upright.sfz")
    #expect(piano?.loading == nil && piano?.fault == nil)
    #expect(!session.takeNotices().words.contains { $0.contains("slow.wav") })
    session.close()
  }

  @Test func anUndoDuringALoadKeepsTheOldOne() throws {
    let gate = try beginSlow()
    try session.undo()
    // No need to wait, although the other file is still being read.
    #expect(session.isLoaded)
    look()
    #expect(piano?.file == "organ.sfz" && piano?.loading == nil)
    gate.open()
    try session.perform("set piano.instrument \(Self.upright)")
    waitForLoads()
    #expect(piano?.file == "upright.sfz")
    session.close()
  }

  @Test func quittingDoesNotWaitForALoad() throws {
    let gate = try beginSlow()
    session.close()
    #expect(session.status.loading.isEmpty)
    gate.open()
  }

  @Test func aLoadThatFailsLeavesTheOldOneAndSaysWhy() throws {
    let broken = try folder.file("b.sfz", "<group>\n<region> sample=gone.wav key=60\n")
    try session.perform("set piano.instrument \(broken)")
    waitForLoads()
    #expect(piano?.file == "organ.sfz")
    #expect(piano?.fault?.hasPrefix("\(broken):2: ") == true)
    #expect(session.takeNotices().words.contains { $0.hasPrefix("\(broken):2: ") && $0.contains("gone.wav") })
    #expect(Printout.text(session.report).contains("plays on, since \(broken):2: "))
    try session.undo()
    look()
    #expect(piano?.fault == nil)
    session.close()
  }

  /// Ways in which a file gets to where a patch looks for it.
  enum Arrival: CaseIterable { case byRename, inTwoParts, overABrokenOne }

  /// Nobody has to name a file again that comes late, or is made whole.
  @Test(arguments: Arrival.allCases) func aFileThatComesLateIsLoaded(_ way: Arrival) throws {
    let sound = try Data(contentsOf: URL(fileURLWithPath: repository + "/Instruments/organ/loud-036.wav"))
    let path = folder.path + "/late.wav"
    if way == .overABrokenOne { _ = try folder.file("late.wav", "no sound") }
    let desk = try LateDesk(folder, instrument: "late.wav")
    desk.look()
    #expect(desk.piano?.file == nil && desk.lack != nil)
    #expect(desk.told.contains { $0.contains("late.wav") })
    desk.look(40)
    #expect(!desk.told.contains { $0.contains("late.wav") }, "said once")
    // A locked stage changes nothing that sounds by itself.
    desk.session.holdsFileBack = way != .inTwoParts
    switch way {
    case .byRename:
      try sound.write(to: URL(fileURLWithPath: path + ".part"))
      try FileManager.default.moveItem(atPath: path + ".part", toPath: path)
    case .inTwoParts:
      try sound.prefix(sound.count / 2).write(to: URL(fileURLWithPath: path))
      desk.look(1)
      try sound.write(to: URL(fileURLWithPath: path))
    case .overABrokenOne:
      try sound.write(to: URL(fileURLWithPath: path))
    }
    desk.look(way == .inTwoParts ? 1 : 5)
    #expect(desk.piano?.file == nil)
    desk.session.holdsFileBack = false
    desk.look()
    #expect(desk.piano?.file == "late.wav" && desk.piano?.fault == nil)
    #expect(!desk.session.isModified)
    desk.session.close()
  }

  /// A file that undo leads back to is looked for as one that has just been named.
  @Test func aFileThatComesLateIsLoadedAfterAnUndoToo() throws {
    let desk = try LateDesk(folder, instrument: "late.wav")
    desk.look()
    try desk.session.perform("set piano.instrument \(Self.organ)")
    desk.look()
    #expect(desk.piano?.file == "organ.sfz")
    try desk.session.undo()
    desk.look()
    #expect(desk.piano?.fault != nil)
    try FileManager.default.copyItem(
      atPath: repository + "/Instruments/organ/loud-036.wav", toPath: folder.path + "/late.wav")
    desk.look()
    #expect(desk.piano?.file == "late.wav" && desk.piano?.fault == nil)
    desk.session.close()
  }

  /// A sample that an instrument names may come later, too, while the instrument's own file stays as it is.
  @Test func reloadTriesFilesAgainThatHaveFailed() throws {
    _ = try folder.file("b.sfz", "<group>\n<region> sample=late.wav key=60\n")
    let desk = try LateDesk(folder, instrument: "b.sfz")
    desk.look()
    #expect(desk.lack?.contains("late.wav") == true)
    try FileManager.default.copyItem(
      atPath: repository + "/Instruments/organ/loud-036.wav", toPath: folder.path + "/late.wav")
    _ = try desk.session.reload()
    desk.look(0)
    #expect(desk.piano?.file == "b.sfz" && desk.piano?.fault == nil)
    desk.session.close()
  }

  /// Tunings come late as files do, and are mended in place; a node with two of them waits for both.
  @Test(arguments: [true, false], [true, false])
  func aTuningThatComesLateIsUsed(isSampler: Bool, isReloaded: Bool) throws {
    let node = isSampler ? "sampler instrument=\(Self.organ)" : "voices"
    let desk = try LateDesk(folder, node: "\(node) tuning=late.scl keymap=late.kbm")
    desk.look()
    let piano = try #require(desk.session.patch[named: "piano"]?.id)
    func follow() throws {
      if isReloaded { _ = try desk.session.reload() }
      desk.look()
    }
    /// A node that needs no file besides is a placeholder without it.
    func fault() -> String? {
      if case .placeholder(let words)? = desk.piano?.state { words } else { desk.piano?.fault }
    }
    #expect(desk.session.tuningsInUse[piano] == nil)
    #expect(fault()?.contains("late.scl") == true)
    #expect(desk.told.contains { $0.contains("late.scl") })
    _ = try folder.file("late.scl", "a scale\n 2\n 3:2\n 2/1\n")
    try follow()
    #expect(fault()?.contains("late.scl:3: ") == true)
    _ = try folder.file("late.scl", "a scale\n 2\n 3/2\n 2/1\n! mended\n")
    try follow()
    #expect(desk.session.tuningsInUse[piano] == nil)
    #expect(fault()?.contains("late.kbm") == true)
    _ = desk.told
    desk.look(40)
    #expect(!desk.told.contains { $0.contains("late.kbm") }, "said once")
    _ = try folder.file("late.kbm", "0\n0\n127\n60\n60\n300.0\n0\n")
    try follow()
    #expect(fault() == nil && !desk.session.isModified)
    #expect(desk.session.tuningsInUse[piano] != nil)
    // It is read no more.
    _ = try folder.file("late.scl", "a scale\n 2\n 3:2\n 2/1\n")
    desk.look(40)
    #expect(fault() == nil)
    desk.session.close()
  }

  /// A session that looks for the file of its node when the test says so.
  @MainActor private final class LateDesk {
    let session: Session
    /// Later than the clock's, so that a tick does not look by itself.
    private var time: Int64 = 1 << 62

    convenience init(_ folder: Folder, instrument: String) throws {
      try self.init(folder, node: "sampler instrument=\(instrument)")
    }

    init(_ folder: Folder, node: String) throws {
      var options = SessionOptions()
      options.followsFile = true
      session = Session(options: options)
      let lines = ["sostenuto 1", "node piano \(node)", "node out output", "connect piano -> out", ""]
      try session.open(try folder.file("late.patch", lines.joined(separator: "\n")))
    }

    /// As many looks as a change needs, and some more; then all loads are in use.
    func look(_ count: Int = 5) {
      for _ in 0..<count {
        session.followFailedFiles(now: time)
        time += FileWatch.interval
      }
      session.library.queue.sync {}
      session.tick()
      try? session.renderOneBlock()
      session.tick()
    }

    var piano: NodeReport? { session.report.nodes.first { $0.name == "piano" } }
    /// Why there is no instrument.
    var lack: String? {
      if case .placeholder(let reason)? = piano?.state { reason } else { nil }
    }
    var told: [String] { session.takeNotices().words }
  }

  /// An error in a scale file keeps the old tuning, instead of twelve equal steps.
  @Test func aTuningThatCannotBeReadLeavesTheOldOneAndSaysWhere() throws {
    let good = try folder.file("good.scl", "a scale\n 2\n 3/2\n 2/1\n")
    let bad = try folder.file("bad.scl", "a scale\n 2\n 3:2\n 2/1\n")
    try session.perform("set piano.tuning \(good)")
    look()
    let piano = try #require(session.patch[named: "piano"]?.id)
    let tuning = session.tuningsInUse[piano]
    #expect(tuning != nil)
    try session.perform("set piano.tuning \(bad)")
    look()
    #expect(session.tuningsInUse[piano] == tuning)
    #expect(self.piano?.fault?.hasPrefix("\(bad):3: ") == true)
    #expect(self.piano?.file == "organ.sfz")
    #expect(session.takeNotices().words.contains { $0.hasPrefix("\(bad):3: ") })
    try session.undo()
    look()
    #expect(self.piano?.fault == nil)
    try session.perform("set piano.tuning \"\"")
    look()
    #expect(session.tuningsInUse[piano] == nil)
    session.close()
  }

  /// A patch saved elsewhere still finds its tuning and its instrument.
  @Test func aPatchThatMovesFindsItsTuning() throws {
    _ = try folder.file("s.scl", "a scale\n 1\n 2/1\n")
    try session.perform("set piano.tuning s.scl")
    let away = try Folder()
    try session.save(as: away.path + "/b.patch")
    let name = folder.path.split(separator: "/").last ?? ""
    #expect(session.patch[named: "piano"]?.settings[ParameterPath("tuning")] == .text("../\(name)/s.scl"))
    session.close()
  }

  @Test func sixteenSamplersHaveOneInstrument() throws {
    let alone = session.status.memory
    #expect(alone > 100_000)
    #expect(piano?.memory == alone)
    look()
    for number in 0..<16 { try session.perform("node s\(number) sampler instrument=\(Self.organ)") }
    // Known: no file is read again.
    #expect(session.isLoaded)
    #expect(session.status.memory == alone)
    session.close()
  }
}
