import Engine
import Glibc
import Patch
import PatchLanguage
import Synchronization

/// The files of sub-patches, read once, as the patch in `file` has them inside. Any thread.
package final class DefinitionLibrary: DefinitionSource {
  /// Content of a file when it was last read or written.
  struct Entry: Sendable {
    var bytes: [UInt8]
    /// With the files that it names relative to its own folder.
    var patch: Patch
    /// The files on the way back to itself; nil: it does not have itself inside.
    var circle: [String]?
    /// It has too many nodes, with the files that it names.
    var isTooLarge = false
  }

  /// Files with themselves inside, while one file is read with all that it names. They are known for that long only, as
  /// where a circle was entered decides what is found of it; but to read them again on each way would take for ever.
  private final class Circles: Sendable {
    private let entries = Mutex<[String: Entry]>([:])

    subscript(place: String) -> Entry? {
      get { entries.withLock { $0[place] } }
      set { entries.withLock { $0[place] = newValue } }
    }
  }

  /// Contents of files, by their places; all libraries of a session share it.
  package final class Shelf: Sendable {
    private struct Contents {
      var entries: [String: Entry] = [:]
      /// Of files that have been read, and are to be understood again.
      var bytes: [String: [UInt8]] = [:]

      /// Counts how often that was so.
      var doubts = 0

      mutating func doubt() {
        doubts += 1
        bytes.merge(entries.mapValues(\.bytes)) { $1 }
        entries = [:]
      }
    }

    private let contents: Mutex<Contents>

    package init() { contents = Mutex(Contents()) }

    /// The bytes of another one.
    init(bytesOf other: Shelf) {
      var contents = other.contents.withLock { $0 }
      contents.doubt()
      self.contents = Mutex(contents)
    }

    subscript(place: String) -> Entry? {
      get { contents.withLock { $0.entries[place] } }
      set { contents.withLock { $0.entries[place] = newValue } }
    }

    var doubts: Int { contents.withLock { $0.doubts } }

    /// Bytes of a file when it was last read or written.
    func bytes(at place: String) -> [UInt8]? {
      contents.withLock { $0.entries[place]?.bytes ?? $0.bytes[place] }
    }

    /// Has other bytes of a file, which may be inside others; nil: it is to be read again.
    func put(_ bytes: [UInt8]?, at place: String) {
      contents.withLock {
        $0.doubt()
        $0.bytes[place] = bytes
      }
    }
  }

  /// Path of the patch; empty: its paths are relative to the working folder.
  let file: String
  let kinds: KindCatalogue
  private let shelf: Shelf
  /// Places of the files that are being read, the outermost first.
  private let way: [String]
  /// Of the file that is being read; nil: of none.
  private let circles: Circles?
  /// A circle found on the way.
  private let circle = Mutex<[String]?>(nil)
  /// Patches with paths relative to the folder of `file`.
  private let rebased = Mutex<[String: (doubts: Int, patch: Patch)]>([:])

  package convenience init(for file: String?, kinds: KindCatalogue, shelf: Shelf = Shelf()) {
    self.init(for: file ?? "", kinds: kinds, shelf: shelf, way: file.map { [Self.place(of: $0)] } ?? [])
  }

  private init(
    for file: String, kinds: KindCatalogue, shelf: Shelf, way: [String], circles: Circles? = nil
  ) {
    self.file = file
    self.kinds = kinds.with(definitions: nil)
    self.shelf = shelf
    self.way = way
    self.circles = circles
  }

  /// The kinds with the files of sub-patches of a patch.
  package static func catalogue(
    for file: String?, kinds: KindCatalogue = KindRegistry.builtIn.catalogue
  ) -> KindCatalogue {
    kinds.with(definitions: DefinitionLibrary(for: file, kinds: kinds))
  }

  /// The place of a file, by its path from the working folder.
  package static func place(of path: String) -> String {
    FilePath.plain(PatchFile.absolute(PatchFile.resolved(path)))
  }

  package func place(of written: String) -> String { Self.place(of: FilePath.resolved(written, from: file)) }

  /// The kinds with the files of sub-patches in the file at this place.
  func catalogue(at place: String) -> KindCatalogue {
    kinds.with(definitions: DefinitionLibrary(for: place, kinds: kinds, shelf: shelf, way: way + [place]))
  }

  /// Content of the file at this place; throws if it cannot be read.
  func entry(at place: String) throws(FileError) -> Entry {
    let circles = self.circles ?? Circles()
    if let known = shelf[place] ?? circles[place] { return known }
    let bytes: [UInt8]
    if let known = shelf.bytes(at: place) { bytes = known } else { bytes = try PatchFile.read(place) }
    let inner = DefinitionLibrary(
      for: place, kinds: kinds, shelf: shelf, way: way + [place], circles: circles)
    let (patch, isTooLarge) = PatchReader.definition(
      bytes: bytes, file: place, catalogue: kinds.with(definitions: inner))
    let entry = Entry(
      bytes: bytes, patch: patch, circle: inner.circle.withLock { $0 }, isTooLarge: isTooLarge)
    if entry.circle == nil { shelf[place] = entry } else { circles[place] = entry }
    return entry
  }

  package var library: [LibrarySubPatch] {
    var seen: Set<String> = []
    return folders.flatMap { library in
      PatchFile.names(in: library).sorted().compactMap { name -> LibrarySubPatch? in
        guard name.hasSuffix(".patch"), case let stem = String(name.dropLast(6)), isKind(stem),
          seen.insert(stem).inserted, let entry = try? entry(at: Self.place(of: library + "/" + name))
        else { return nil }
        return LibrarySubPatch(
          name: stem, file: path(of: stem, in: library),
          summary: entry.patch.header.first { !$0.isEmpty } ?? "")
      }
    }
  }

  /// Looks at names alone: a file of the library may name itself, and to read it here would never end.
  package func libraryFile(named name: String) -> String? {
    guard isKind(name) else { return nil }
    return folders.first { PatchFile.names(in: $0).contains(name + ".patch") }.map { path(of: name, in: $0) }
  }

  private var folder: String {
    FilePath.realFolder(of: file) ?? PatchFile.absolute(PatchFile.split(file).folder)
  }

  /// The folders of libraries: beside the patch, and the person's own.
  private var folders: [String] { [folder + "/library", Self.personalFolder] }

  /// True where a file of that name may stand among the kinds.
  private func isKind(_ name: String) -> Bool {
    !name.hasPrefix(".") && kinds[name] == nil && NodeName.fault(in: name) == nil
  }

  private func path(of name: String, in library: String) -> String {
    FilePaths.relative(Self.place(of: library + "/" + name + ".patch"), to: folder)
  }

  /// The person's own sub-patches.
  private static var personalFolder: String {
    let environment = { (name: String) in getenv(name).map { String(cString: $0) } ?? "" }
    let data = environment("XDG_DATA_HOME")
    return (data.hasPrefix("/") ? data : environment("HOME") + "/.local/share") + "/sostenuto/library"
  }

  package func definition(of written: String) -> Definition {
    let place = place(of: written)
    if let start = way.firstIndex(of: place) {
      let circle = (way[start...] + [place]).map { PatchFile.split($0).name }
      self.circle.withLock { $0 = circle }
      return .recursive(circle)
    }
    do throws(FileError) {
      let entry = try entry(at: place)
      if let circle = entry.circle {
        self.circle.withLock { $0 = circle }
        return .recursive(circle)
      }
      if entry.isTooLarge { return .tooLarge }
      let doubts = shelf.doubts
      if let known = rebased.withLock({ $0[place] }), known.doubts == doubts { return .found(known.patch) }
      let patch = FilePaths(from: place, to: file, catalogue: kinds).rebased(entry.patch)
      rebased.withLock { $0[place] = (doubts, patch) }
      return .found(patch)
    } catch {
      return .missing(error.description)
    }
  }
}
