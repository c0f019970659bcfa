import Drivers
import Glibc
import Recording
import Session

/// Prevents a command from overwriting its inputs, or one output by another. Files are compared by device and
/// inode, so that links do not get around it.
struct OutputGuard {
  /// An existing file, or a name in an existing folder.
  private struct Identity: Hashable {
    var device: UInt
    var inode: UInt
    var name = ""

    /// nil: neither the file nor its folder exists.
    init?(_ path: String) {
      var info = stat()
      if stat(path, &info) == 0 {
        (device, inode) = (UInt(info.st_dev), UInt(info.st_ino))
        return
      }
      let (folder, last) = PatchFile.split(PatchFile.resolved(path))
      guard stat(folder, &info) == 0 else { return nil }
      (device, inode, name) = (UInt(info.st_dev), UInt(info.st_ino), last)
    }
  }

  private var inputs: [Identity: String] = [:]

  /// `what`: "the patch", "the script". Missing files are ignored.
  mutating func reads(_ path: String, as what: String) {
    guard let identity = Identity(path), identity.name.isEmpty, inputs[identity] == nil else { return }
    inputs[identity] = what
  }

  /// The files that a patch names, and the files of its instruments.
  mutating func reads(_ references: [PatchReference]) {
    for reference in references {
      for file in reference.files { reads(file.source, as: "read for `\(reference.node)`") }
    }
  }

  /// Exits with status 2 on a conflict. `outputs`: each with the option that names it.
  func check(_ outputs: [(option: String, path: String)]) throws {
    var seen: [Identity: String] = [:]
    for (option, path) in outputs {
      if path == "-" { throw UsageError("\(option) -: goes into a file: give its name") }
      guard let identity = Identity(path) else { continue }
      if let input = inputs[identity] {
        throw UsageError("\(option) \(path): is \(input), and would be overwritten")
      }
      // Devices and pipes may be written to several times.
      if Self.isPlainOrNew(path), seen.updateValue(option, forKey: identity) != nil {
        throw UsageError("\(option) \(path): two outputs cannot go to the same file")
      }
    }
  }

  /// Refuses a file name extension of an unsupported format.
  static func checkSoundFile(_ option: String, _ path: String) throws {
    guard isPlainOrNew(path), let ending = SampleFormat.unknownEnding(of: path) else { return }
    throw UsageError(
      "\(option) \(path): cannot write .\(ending); there are \(SampleFormat.endings.map { "." + $0 }.joined(separator: ", "))"
    )
  }

  private static func isPlainOrNew(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) != 0 || info.st_mode & S_IFMT == S_IFREG
  }
}
