import Foundation
import Testing

@testable import Session

/// The place of a session's own files where the home cannot be written: everybody may write beside it.
@Suite struct StateFolderTests {
  enum Kind: CaseIterable { case link, file, open, others }

  /// A folder that another person has made there is not used: the program goes on without.
  @Test(arguments: Kind.allCases) func whatSomebodyElsePutInItsPlaceIsNotUsed(kind: Kind) throws {
    let folder = try Folder()
    let place = folder.path + "/sostenuto-\(geteuid())"
    let other = folder.path + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    switch kind {
    case .link: #expect(symlink(other, place) == 0)
    case .file: _ = try folder.file("sostenuto-\(geteuid())", "")
    case .open: #expect(mkdir(place, 0o700) == 0 && chmod(place, 0o777) == 0)
    case .others:
      if geteuid() != 0 { return }
      #expect(mkdir(place, 0o700) == 0 && chown(place, 1234, 1234) == 0)
    }
    for isCreating in [false, true] {
      #expect(StateFolder.spare("tapes", creating: isCreating, in: folder.path) == nil)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: other).isEmpty)
  }

  @Test func theSpareFolderIsOursAlone() throws {
    let folder = try Folder()
    #expect(StateFolder.spare("tapes", creating: false, in: folder.path) == nil && folder.names.isEmpty)
    let path = try #require(StateFolder.spare("tapes", in: folder.path))
    #expect(path == folder.path + "/sostenuto-\(geteuid())/tapes")
    var info = stat()
    #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o700)
    #expect(StateFolder.spare("tapes", creating: false, in: folder.path) == path)
  }
}
