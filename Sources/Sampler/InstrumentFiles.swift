import Glibc

/// The files that an instrument is made of.
public struct InstrumentFiles: Sendable {
  /// As they are called on the disk, each once: the instrument itself, what it includes, its samples.
  public private(set) var paths: [String] = []
  /// Files that it names and that are not there, with file and line.
  public private(set) var missing: [Finding] = []
  /// What it names from the root of the file system: a copy of the instrument would look there, too.
  public private(set) var anchored: [Finding] = []

  /// Of an SFZ instrument, a bank or an audio file. Samples are looked up, not read. Throws where the
  /// instrument itself cannot be read. Worker.
  public init(path: String) throws(LoadError) {
    guard path.lowercased().hasSuffix(".sfz") else {
      guard access(path, R_OK) == 0 else { throw LoadError(path: path, String(cString: strerror(errno))) }
      paths = [path]
      return
    }
    let scanner = try SfzScanner(path: path)
    let reader = SfzReader(scanner)
    paths = scanner.files
    missing = scanner.findings.filter { $0.message.hasPrefix("cannot include") }
    var seen: Set<String> = []
    for region in reader.regions where region.end != -1 {
      guard let name = region.sample, !name.hasPrefix("*"), seen.insert(name).inserted else { continue }
      let place = region.sampleLine
      func finding(_ words: String) -> Finding {
        Finding(.missingSample(name), file: place.file, line: place.line, "sample `\(name)`\(words)")
      }
      guard let found = TextFile.find(name, in: TextFile.folder(path)), access(found, R_OK) == 0 else {
        missing.append(finding(" is missing"))
        continue
      }
      if name.hasPrefix("/") { anchored.append(finding(" is named from the root")) }
      if !paths.contains(found) { paths.append(found) }
    }
    let folder = TextFile.folder(path)
    for file in scanner.files where folder.isEmpty ? file.hasPrefix("/") : !file.hasPrefix(folder) {
      anchored.append(Finding(.note, file: path, line: 0, "`\(file)` is included from the root"))
    }
  }
}
