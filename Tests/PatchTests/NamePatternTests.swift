import Patch
import Testing

/// Patterns of names, as cables, `connect=` and `port=` have them.
@Suite struct NamePatternTests {
  @Test func starsAndQuestionMarksStandForLetters() {
    for (pattern, name, fits) in [
      ("*", "", true), ("a*c", "abbc", true), ("a*c", "abcd", false), ("a?c", "abc", true),
      ("a?c", "ac", false),
      ("*a*b*", "xaxbx", true), ("*a*b*", "xbxa", false), ("**", "", true), ("*fluid*", "fluid", true),
      ("*fluid*", "qfluidsynth", true), ("*fluid*", "flu id", false), ("", "a", false), ("", "", true),
      ("*?", "", false), ("?*", "x", true), ("*aab", "aaab", true), ("Fluid*", "fluid", false),
    ] {
      #expect(NamePattern(pattern).fits(name) == fits, "\(pattern) \(name)")
    }
  }

  /// Ports have such names: `a2j:Launchkey [20] (capture): 0`.
  @Test func allOtherSignsStandForThemselves() {
    for (pattern, name, fits) in [
      ("[a]", "a", false), ("[a]", "[a]", true), ("[a-c]*", "b", false),
      ("* [20] *", "a2j:Launchkey [20] (capture)", true),
      ("[!a]?", "[!a]b", true), ("*[0]*", "in 0", false), ("\\*", "\\x", true), ("\\*", "*", false),
      ("a\\?", "a\\b", true), ("a.c", "abc", false), ("a.*", "a.b", true), ("(a|b)*", "a", false),
      ("a+", "aa", false),
      ("^a$", "a", false), ("{a,b}", "a", false), ("a{2}", "a{2}", true), ("$*", "$HOME", true),
      ("~*", "~x", true),
      ("*: *", "a2j:Launchkey [20] (capture): [0] MIDI 1", true), ("*:*:0", "a:b:0", true),
      ("a:*", "a", false),
      ("*/*", "/dev/x", true), ("*.in", ".in", true),
    ] {
      #expect(NamePattern(pattern).fits(name) == fits, "\(pattern) \(name)")
    }
  }

  @Test func aLetterIsOneHoweverManyBytesItHas() {
    for (pattern, name, fits) in [
      ("?", "é", true), ("??", "é", false), ("K?che", "Küche", true), ("*ü*", "Küche", true),
      ("?", "🎹", true),
      ("*?", "鍵", true), ("??*", "鍵", false), ("*盤", "鍵盤", true), ("é*", "è", false),
    ] {
      #expect(NamePattern(pattern).fits(name) == fits, "\(pattern) \(name)")
    }
  }

  @Test func aNameStandsForItselfAndAsAPartWhereThatIsAskedFor() {
    #expect(NamePattern("a*").fits("a*") && NamePattern("x [1]").fits("x [1]"))
    #expect(!NamePattern("key").fits("keys") && !NamePattern("key").isPattern && NamePattern("k?y").isPattern)
    #expect(NamePattern("key").occurs(in: "my keys") && !NamePattern("key*").occurs(in: "my keys"))
    #expect(NamePattern("*key*").occurs(in: "my keys") && NamePattern("[0]").occurs(in: "in [0]"))
  }

  /// Against a plain recursion, for all patterns and names of a few letters.
  @Test func itFitsWhatARecursionSays() {
    func fits(_ pattern: Substring, _ name: Substring) -> Bool {
      guard let first = pattern.first else { return name.isEmpty }
      if first == "*" {
        return fits(pattern.dropFirst(), name) || !name.isEmpty && fits(pattern, name.dropFirst())
      }
      return !name.isEmpty && (first == "?" || first == name.first)
        && fits(pattern.dropFirst(), name.dropFirst())
    }
    func words(_ letters: [Character], _ length: Int) -> [String] {
      (0..<length).reduce([""]) { all, _ in all + all.flatMap { word in letters.map { word + String($0) } } }
    }
    let patterns = Set(words(["a", "é", "*", "?"], 4))
    let names = Set(words(["a", "é"], 4))
    for pattern in patterns {
      for name in names {
        #expect(NamePattern(pattern).fits(name) == fits(pattern[...], name[...]), "\(pattern) \(name)")
      }
    }
  }
}
