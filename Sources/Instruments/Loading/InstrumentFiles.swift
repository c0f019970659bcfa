import Glibc

/// The files of an instrument.
public struct InstrumentFiles: Sendable {
  /// Paths on the disk, each once: the instrument itself, its includes, its samples.
  public private(set) var paths: [String] = []
  /// Named files that are missing, with file and line of the reference.
  public private(set) var missing: [Finding] = []
  /// References with absolute paths: a copy of the instrument would still refer to the originals.
  public private(set) var anchored: [Finding] = []

  /// Files of an SFZ instrument, a bank or an audio file. Samples are looked up, not read. Throws if the
  /// instrument itself cannot be read. Worker.
  public init(path: String) throws(LoadError) {
    guard path.lowercased().hasSuffix(".sfz") else {
      if let fault = PlainFile.fault(of: path) { throw fault }
      paths = [path]
      return
    }
    let scanner = try SfzScanner(path: path)
    let reader = SfzReader(scanner)
    paths = scanner.files
    missing = scanner.findings.filter { if case .missingInclude = $0.kind { true } else { false } }
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
      if let fault = PlainFile.fault(of: found) {
        missing.append(finding(": \(fault.message)"))
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
