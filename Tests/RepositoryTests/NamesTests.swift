import Testing

/// Tests are named in one form: the function's name is the sentence that must hold.
@Suite struct NamesTests {
  /// `@Test` and `@Suite` with a name in quotes, and functions of tests in backquotes or with an underscore.
  private static func faults(in text: String) -> [String] {
    let quoted = text.matches(of: #/@(Test|Suite)\(\s*"[^"]*"/#).map { String($0.0) }
    let functions = text.matches(of: #/@Test\b[^{]*?\bfunc ([^\s(]+)/#).map { String($0.1) }
    return quoted + functions.filter { $0.wholeMatch(of: #/[a-z][A-Za-z0-9]*/#) == nil }
  }

  @Test func aTestIsNamedByItsFunction() throws {
    for path in Repository.files(below: "Tests", ending: ".swift") where !path.hasSuffix("/NamesTests.swift")
    {
      let faults = Self.faults(in: try Repository.text(path))
      #expect(faults.isEmpty, "\(path): \(faults.joined(separator: ", "))")
    }
  }

  @Test func otherFormsAreFound() {
    #expect(Self.faults(in: "@Test(arguments: [1]) func aGainIsKept(_ n: Int) {}").isEmpty)
    #expect(Self.faults(in: "@Test(\n  \"a gain is kept\") func kept() {}").count == 1)
    #expect(Self.faults(in: "@Suite(\"Gains\") struct GainTests {}").count == 1)
    #expect(Self.faults(in: "@Test func `a gain is kept`() {}").count == 1)
    #expect(Self.faults(in: "@Test func test_gain() {}").count == 1)
  }
}
