import CForeign
import CKind
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Engine

/// A kind written in C, which the program learns of while it runs.
@Suite(.serialized) struct ForeignKindTests {
  private static let source = """
    sostenuto 1
    node mic input channels=1
    node it times SETTINGS
    connect mic -> it
    node out output channels=1
    connect it -> out

    """

  private func kind() throws -> NodeKind { try .times() }

  /// A patch of the kind, as its text is read without knowing it.
  private func patch(_ settings: String = "", _ kinds: KindRegistry = .builtIn) -> Patch {
    let text = Self.source.replacing(" SETTINGS", with: settings.isEmpty ? "" : " " + settings)
    return PatchReader.read(text, file: "a.patch", catalogue: kinds.catalogue).patch
  }

  /// An engine that knows the kind from the start, with a constant of a quarter at the input.
  private func begin(
    _ settings: String = "", background: ((@escaping @Sendable () -> Void) -> Void)? = nil
  ) throws -> Bench {
    var kinds = KindRegistry.builtIn
    try kinds.add(kind())
    let bench = Bench(channels: 1, kinds: kinds)
    if let background { bench.engine.background = background }
    bench.feed(0.25)
    bench.begin(patch(settings, kinds))
    return bench
  }

  private func report(_ bench: Bench) throws -> NodeReport {
    try #require(bench.engine.report().nodes.first { $0.name == "it" })
  }

  @Test func itSoundsExactlyFromTheFirstFrameOn() throws {
    let bench = try begin("factor=3")
    bench.render(500)
    #expect(bench.heard[0] == [Float](repeating: 0.75, count: 500))
  }

  @Test func itIsAddedWhileTheEngineRuns() throws {
    let bench = Bench(channels: 1)
    bench.feed(0.25)
    bench.begin(patch())
    bench.render(640)
    #expect(bench.heard[0].allSatisfy { $0 == 0 })
    #expect(try report(bench).state == .placeholder("unknown kind times"))
    try bench.engine.add(kind())
    bench.render(4800)
    #expect(bench.heard[0].suffix(3840).allSatisfy { $0 == 0.5 })
    #expect(try report(bench).state == .active)
    #expect(throws: KindError.nameTaken("times")) { try bench.engine.add(kind()) }
  }

  @Test func aPreparationThatFailsIsShown() throws {
    let bench = try begin("broken=on")
    bench.render(640)
    #expect(bench.heard[0].allSatisfy { $0 == 0 })
    #expect(try report(bench).state == .placeholder("no licence for 1 channels"))
    #expect(
      bench.engine.trace(since: 0).contains { $0.happening == .failed("no licence for 1 channels") })
    #expect(bench.edit(.set("it", ParameterPath("broken"), .text("off"), over: nil)))
    bench.render(4800)
    #expect(bench.heard[0].suffix(960).allSatisfy { $0 == 0.5 })
  }

  @Test func aPreparationThatTakesLongKeepsTheNodeSilentAndThenFadesIn() throws {
    var waiting: [@Sendable () -> Void] = []
    let bench = try begin { waiting.append($0) }
    bench.render(6400)
    #expect(bench.heard[0].allSatisfy { $0 == 0 })
    #expect(try report(bench).loading?.name == "times")
    #expect(bench.engine.isPreparing)
    for preparation in waiting { preparation() }
    bench.engine.collect()
    bench.render(6400)
    let heard = bench.heard[0].suffix(6400)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 <= $1 + 1e-6 }, "it rises without a step back")
    #expect(heard.prefix(480).contains { $0 > 0 && $0 < 0.1 }, "it fades in")
    #expect(heard.suffix(5900).allSatisfy { $0 == 0.5 })
    #expect(try report(bench).loading == nil)
    #expect(!bench.engine.isPreparing)
  }

  @Test func itsReportIsReadForItsFace() throws {
    let bench = try begin()
    bench.render(6400)
    let reading = try #require(report(bench).readings.first)
    #expect(reading.description.name == "rendered")
    #expect(reading.value == 6400)
  }

  @Test func aLatencyThatChangesIsCompensated() throws {
    let bench = try begin()
    #expect(bench.edit(.connect(CableName("mic", "out"))))
    bench.render(4800)
    #expect(bench.edit(.set("it", ParameterPath("lag"), .number(30, .none), over: nil)))
    bench.render(9600)
    #expect(try report(bench).latency == 30)
    let out = try #require(bench.engine.report().nodes.first { $0.name == "out" })
    let direct = out.inputs.flatMap(\.cables).first { $0.from == "mic" }
    #expect(direct?.compensation == 30)
    #expect(bench.heard[0].suffix(4800).allSatisfy { $0 == 0.75 })
  }

  @Test func itsStateIsSavedAsTextAndComesBack() throws {
    let bench = try begin()
    bench.render(6400)
    let id = try #require(bench.patch[named: "it"]?.id)
    let state = try #require(bench.engine.captureState(of: id))
    #expect(state == "6400")
    let started = try report(bench).startedAt
    #expect(bench.edit(.set("it", ParameterPath("state"), .text(state), over: nil)))
    bench.render(640)
    #expect(try report(bench).readings.first?.value == 7040, "the node goes on")
    #expect(try report(bench).startedAt == started)
    let again = try begin("state=\"6400\"")
    again.render(640)
    #expect(try report(again).readings.first?.value == 7040)
    #expect(bench.undo())
    bench.render(4800)
    #expect(try report(bench).readings.first?.value == 4800, "undo brings another instance")
  }

  @Test func instancesAreFreed() throws {
    let before = sostenuto_test_instances()
    do {
      let bench = try begin()
      bench.render(640)
      #expect(sostenuto_test_instances() == before + 1)
      #expect(bench.edit(.remove("it", bridge: false)))
      bench.render(9600)
      #expect(sostenuto_test_instances() == before)
      #expect(bench.undo())
      bench.render(640)
      #expect(sostenuto_test_instances() == before + 1)
    }
    #expect(sostenuto_test_instances() == before)
  }

  @Test func numbersOfEventsAreTheirRawValues() {
    for raw in UInt8.min...UInt8.max {
      let kind = Event.Kind(rawValue: raw)
      #expect(eventKind(raw) == kind)
      if let kind { #expect(number(of: kind) == raw) }
    }
  }

  @Test func aKindThatCannotRunIsRefused() {
    let flexible = NodeKind.timesDescription(input: .flexible)
    #expect(throws: KindError.flexiblePort("in")) {
      try NodeKind(flexible, functions: sostenuto_test_kind())
    }
    let crossfaded = NodeKind.timesDescription(smoothing: .crossfade)
    #expect(throws: KindError.crossfade("factor")) {
      try NodeKind(crossfaded, functions: sostenuto_test_kind())
    }
  }
}
