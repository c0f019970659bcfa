import Engine
import Glibc
import Patch
import PatchLanguage

/// A patch with all its files, in a folder that sounds the same wherever it is.
///
/// Files below the patch's folder keep their relative place. Others go below `files/`, with a folder for each
/// place of origin, so that relative paths within instruments stay valid.
package struct PatchBundle {
  /// Files in the order of the patch: source, and target in the bundle.
  package private(set) var files: [(source: String, target: String)] = []
  /// The patch with adapted settings.
  package private(set) var text = ""
  package let name: String
  private let catalogue: KindCatalogue
  /// Missing parts: the bundle does not sound where the patch does not, or not elsewhere.
  package private(set) var faults: [String] = []
  /// Targets of files whose folders have equal names.
  package private(set) var notes: [String] = []

  /// Plans the bundle without writing anything. `patch` was read from `file`. Worker.
  package init(
    _ patch: Patch, file: String, catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
  ) throws {
    self.catalogue = catalogue
    name = PatchFile.split(file).name
    guard let top = FilePath.realFolder(of: file) else { throw FileError.noFolder(path: file) }
    let references = patch.references(from: file, catalogue: catalogue)
    var draft = patch
    let roots = Self.roots(of: references, below: top)
    let names = nameRoots(
      roots, taken: references.flatMap(\.files).compactMap { FilePath.relative($0.place, to: top) })
    var targets: [String: String] = [:]
    for reference in references {
      for fault in reference.faults {
        faults.append(
          "\(reference.scene.map { "scene \($0): " } ?? "")\(reference.node).\(reference.path.line): \(fault)"
        )
      }
      guard !reference.files.isEmpty else { continue }
      let root = Self.root(of: reference)
      let isInside = root == top || FilePath.relative(root, to: top) != nil
      let base = isInside ? top : roots.first { $0 == root || FilePath.relative(root, to: $0) != nil } ?? root
      for (index, file) in reference.files.enumerated() {
        guard let relative = FilePath.relative(file.place, to: base) else { continue }
        let target = isInside ? relative : "files/\(names[base] ?? "")/\(relative)"
        if targets.updateValue(file.source, forKey: target) == nil { files.append((file.source, target)) }
        if index == 0, target != reference.written {
          let edit = Edit.set(reference.node, reference.path, .text(target), over: nil)
          draft = try draft.applying(
            exactly: reference.scene.map { .scene($0, .edit(edit)) } ?? edit, catalogue: catalogue
          ).patch
        }
      }
    }
    text = PatchWriter.write(draft, catalogue: catalogue)
  }

  private static func root(of reference: PatchReference) -> String {
    FilePath.commonFolder(of: reference.files.map(\.place))
  }

  /// The folders to be placed below `files/`; none lies within another.
  private static func roots(of references: [PatchReference], below top: String) -> [String] {
    var roots: [String] = []
    for reference in references where !reference.files.isEmpty {
      let root = root(of: reference)
      if root == top || FilePath.relative(root, to: top) != nil { continue }
      if roots.contains(where: { $0 == root || FilePath.relative(root, to: $0) != nil }) { continue }
      roots.removeAll { FilePath.relative($0, to: root) != nil }
      roots.append(root)
    }
    return roots
  }

  private mutating func nameRoots(_ roots: [String], taken: [String]) -> [String: String] {
    var names: [String: String] = [:]
    // Names below `files/` in the patch's own folder are taken.
    var used = Set(
      taken.compactMap { path -> String? in
        let parts = path.split(separator: "/")
        return parts.count > 1 && parts[0] == "files" ? parts[1].lowercased() : nil
      })
    for root in roots {
      let plain = root.split(separator: "/").last.map(String.init) ?? "root"
      var name = plain
      var count = 1
      // Some file systems are case-insensitive.
      while !used.insert(name.lowercased()).inserted {
        count += 1
        name = "\(plain)-\(count)"
      }
      names[root] = name
      if name != plain { notes.append("what was in \(root) is in files/\(name)") }
    }
    return names
  }

  // MARK: Writing

  /// Creates the folder, which must not exist or be empty. It gets its name when it is complete. Returns the
  /// number of bytes written. Worker.
  package func write(to folder: String) throws -> Int {
    var info = stat()
    if lstat(folder, &info) == 0 {
      guard info.st_mode & S_IFMT == S_IFDIR, Self.isEmpty(folder) else {
        throw FileError.folderExists(path: folder)
      }
    }
    let (parent, last) = PatchFile.split(folder)
    let draft = "\(parent)/.\(last).\(getpid()).new"
    guard mkdir(draft, 0o777) == 0 else { throw PatchFile.failure(folder) }
    var made: [String] = []
    do {
      var bytes = 0
      for file in files {
        try Self.makeFolders(of: file.target, in: draft, &made)
        made.append("\(draft)/\(file.target)")
        bytes += try Self.copy(file.source, to: "\(draft)/\(file.target)")
      }
      made.append("\(draft)/\(name)")
      try PatchFile.replace("\(draft)/\(name)", with: text)
      try check(in: draft)
      guard rename(draft, folder) == 0 else { throw PatchFile.failure(folder) }
      return bytes + text.utf8.count
    } catch {
      for path in made.reversed() where unlink(path) != 0 { rmdir(path) }
      rmdir(draft)
      throw error
    }
  }

  /// Checks that the bundle's patch finds every bundled file.
  private func check(in folder: String) throws {
    let patch = PatchReader.read(text, file: name, catalogue: catalogue).patch
    let references = patch.references(from: "\(folder)/\(name)", catalogue: catalogue)
    let found = Set(references.flatMap { $0.files.map(\.place) })
    guard let top = FilePath.realFolder(of: "\(folder)/\(name)") else { throw PatchFile.failure(folder) }
    for file in files where !found.contains("\(top)/\(file.target)") {
      throw FileError.notFoundInBundle(path: file.source)
    }
  }

  private static func isEmpty(_ folder: String) -> Bool {
    guard let directory = opendir(folder) else { return false }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count <= 2
  }

  private static func makeFolders(of target: String, in folder: String, _ made: inout [String]) throws {
    var built = folder
    for part in target.split(separator: "/").dropLast() {
      built += "/" + part
      if mkdir(built, 0o777) == 0 {
        made.append(built)
      } else if errno != EEXIST {
        throw PatchFile.failure(built)
      }
    }
  }

  private static func copy(_ source: String, to target: String) throws -> Int {
    // A pipe that has taken the file's place would wait for a writer.
    let input = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard input >= 0 else { throw PatchFile.failure(source) }
    defer { close(input) }
    var info = stat()
    guard fstat(input, &info) == 0 else { throw PatchFile.failure(source) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw FileError.notPlain(path: source) }
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard output >= 0 else { throw PatchFile.failure(target) }
    defer { close(output) }
    var total = 0
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(input, &chunk, chunk.count)
      if count == 0 { return total }
      if count < 0 {
        if errno == EINTR { continue }
        throw PatchFile.failure(source)
      }
      try PatchFile.write(Array(chunk[..<count]), to: output, target)
      total += count
    }
  }
}
