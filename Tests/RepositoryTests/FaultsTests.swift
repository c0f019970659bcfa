import Testing

/// Each fault in docs/faults.md names tests that cause it.
@Suite struct FaultsTests {
  @Test func everyFaultHasATestThatExists() throws {
    let tests = Set(
      Repository.sources.filter { $0.path.hasPrefix("Tests/") }.flatMap(\.members))
    var rows = 0
    for line in try Repository.text("docs/faults.md").split(separator: "\n") where line.hasPrefix("| ") {
      let columns = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
      guard columns.count == 4, !columns[0].hasPrefix("fault") else { continue }
      let names = columns[3].matches(of: #/`(\w+)`/#).map { String($0.1) }
      #expect(!names.isEmpty, "no test: \(line)")
      for name in names { #expect(tests.contains(name), "no test \(name)") }
      rows += 1
    }
    #expect(rows > 20)
  }
}
