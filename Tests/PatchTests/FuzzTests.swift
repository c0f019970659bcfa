import Patch
import PatchLanguage
import TestSupport
import Testing

/// Bad input never crashes the reader.
@Suite struct FuzzTests {
  @Test(arguments: searchSeeds(11, 12, 13))
  func randomBytes(seed: UInt64) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let alphabet = Array("node set connect a b ->;[]\"\\.,=#\n\n 0-1dBs%é\u{0}\t".utf8)
    for _ in 0..<400 {
      let bytes = (0..<Int.random(in: 0..<120, using: &random)).map { _ in
        Int.random(in: 0..<4, using: &random) == 0
          ? UInt8.random(in: 0...255, using: &random) : alphabet.randomElement(using: &random)!
      }
      survive(bytes)
    }
  }

  @Test(arguments: searchSeeds(21, 22, 23))
  func mutatedPatches(seed: UInt64) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let original = Array((example + "\nlayout main 3,1 # here\nset main[0..3,0..1] -6dB\n# the end\n").utf8)
    for _ in 0..<400 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...12, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
        default:
          let end = min(bytes.count, place + Int.random(in: 0..<30, using: &random))
          bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0..<bytes.count, using: &random))
        }
      }
      survive(bytes)
    }
  }

  /// Every reader takes the bytes; the resulting patch can be written and read again.
  private func survive(_ bytes: [UInt8]) {
    let (patch, diagnostics) = PatchReader.read(bytes: bytes, file: "f", catalogue: catalogue)
    // Without LF, lines end with CR.
    let lines = bytes.split(separator: bytes.contains(10) ? 10 : 13, omittingEmptySubsequences: false).count
    #expect(diagnostics.allSatisfy { (1...max(1, lines)).contains($0.line) && $0.column >= 1 })
    let written = PatchWriter.write(patch, catalogue: catalogue)
    let (again, faults) = PatchReader.read(written, file: "g", catalogue: catalogue)
    #expect(faults.allSatisfy { $0.severity == .warning }, "\(written) \(faults)")
    #expect(again.withPlainIdentities == patch.withPlainIdentities, "\(written)")

    let text = String(decoding: bytes, as: UTF8.self)
    _ = Script.read(text, file: "s")
    for line in text.split(separator: "\n") {
      _ = try? StatementParser.parse(String(line), patch: patch, catalogue: catalogue)
      _ = Completion.candidates(String(line.prefix(line.count / 2)), patch: patch, catalogue: catalogue)
    }
  }
}
