import Foundation
import Testing

/// `sostenuto format -i` loses nothing that it cannot read.
@Suite struct FormatTests {
  @Test func bytesThatAreNoTextAreKeptBesideAndToldWhenFormattedInPlace() throws {
    let folder = try Folder()
    let path = folder.path + "/latin.patch"
    let bytes = Data("sostenuto 1\n# caf\u{e9}\n\nnode out   output\n".unicodeScalars.map { UInt8($0.value) })
    try bytes.write(to: URL(fileURLWithPath: path))
    _ = try folder.file("latin.patch~", "of another day")
    let outcome = try Program.run("format", "-i", path)
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("not UTF-8") && outcome.errors.contains("latin.patch~2"))
    #expect(try folder.bytes("latin.patch~2") == bytes)
    #expect(try folder.bytes("latin.patch~") == Data("of another day".utf8))
    // A valid text file needs no copy.
    #expect(try Program.run("format", "-i", path).errors.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
  }
}
