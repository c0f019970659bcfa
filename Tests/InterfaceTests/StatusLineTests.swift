@testable import Interface
@testable import Recording
import Screen
import Testing

/// The first row, in which more is shown than a narrow screen has room for.
@MainActor @Suite struct StatusLineTests {
  private func line(_ scene: Scene, _ columns: Int, isLocked: Bool = false) -> String {
    var canvas = Canvas(columns: columns, rows: 1)
    StatusLine.draw(scene, isLocked: isLocked, on: &canvas, row: 0)
    return canvas.lines[0]
  }

  private func busy() -> Scene {
    var scene = reconnecting().scene
    var take = Take.Status(path: "/music/take-3.wav", port: "main.out", rate: 48000)
    take.frames = 12 * 48000
    scene.status.takes = [take]
    scene.status.transport.isUsed = true
    scene.status.xruns = 3
    return scene
  }

  /// A take and a tempo leave room for what a player looks at.
  @Test(arguments: [
    (
      140,
      " reconnect.patch •          ● take-3.wav 0:00:12   ▶ 1.1  120 4/4   jack 48 kHz/64  1.3 ms   load  7 %   "
        + "peak 11 %   xruns 3   voices  6/64"
    ),
    (
      110,
      " reconnect.patch •        ● take-3.wav 0:00:12   ▶ 1.1  120   jack 48/64   load  7 %   xruns 3   voices  6/64"
    ),
    (80, " reconnect.patch •    ● 0:00:12   ▶ 1.1  120   jack 48/64   load  7 %   xruns 3"),
    (60, " reconnect.patch •         ● 0:00:12   jack 48/64   xruns 3"),
    (40, " reconnect.patch •   ● 0:00:12  xruns 3"),
  ])
  func whatIsLongIsShortenedBeforeFiguresAreLeftOut(columns: Int, expected: String) {
    #expect(line(busy(), columns) == expected)
  }

  /// Late periods are seen on any screen; without any their number is left out early.
  @Test func latePeriodsStayLongerThanTheirAbsence() {
    var scene = busy()
    #expect(line(scene, 50).contains("xruns 3"))
    scene.status.xruns = 0
    #expect(!line(scene, 50).contains("xruns"))
  }

  /// The lock, the sign of what is not saved, driver and load are worth more than the middle of a name.
  @Test func aLongNameIsShortenedToWhatTheRestLeaves() {
    var scene = reconnecting().scene
    scene.fileName = String(repeating: "a long name ", count: 20) + "end.patch"
    scene.isModified = true
    for columns in [30, 40, 60, 80, 120, 200] {
      let row = line(scene, columns, isLocked: true)
      #expect(row.contains("LOCKED") && row.contains("…") && row.contains("h •"), "\(columns): \(row)")
      if columns >= 80 { #expect(row.contains("jack 48 kHz/64") && row.contains("load"), "\(row)") }
    }
    // What is looked into is seen, too.
    var canvas = Canvas(columns: 80, rows: 1)
    StatusLine.draw(scene, isLocked: true, inside: "verb/tank", on: &canvas, row: 0)
    #expect(canvas.lines[0].contains("… > verb > tank •") || canvas.lines[0].contains("h > verb > tank •"))
    #expect(canvas.lines[0].contains("LOCKED"))
  }

  @Test func theLockIsSeenOnAnyScreen() {
    for columns in [30, 60, 80, 120] { #expect(line(busy(), columns, isLocked: true).contains("LOCKED")) }
  }
}
