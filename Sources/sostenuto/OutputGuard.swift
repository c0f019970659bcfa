import ArgumentParser
import Drivers
import Glibc
import Session

/// Keeps what a command writes away from what it reads, and its outputs from one another: by device and inode,
/// so that links do not get around it.
struct OutputGuard {
  /// A file that is there, or a name in a folder that is.
  private struct Identity: Hashable {
    var device: UInt
    var inode: UInt
    var name = ""

    /// nil: neither the file nor its folder is there.
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

  /// `what`: "the patch", "the script". Files that are not there are of no account.
  mutating func reads(_ path: String, as what: String) {
    guard let identity = Identity(path), identity.name.isEmpty, inputs[identity] == nil else { return }
    inputs[identity] = what
  }

  /// The files that a patch names, and those that its instruments are made of.
  mutating func reads(_ references: [PatchReference]) {
    for reference in references {
      for file in reference.files { reads(file.source, as: "read for `\(reference.node)`") }
    }
  }

  /// Refuses with exit status 2. `outputs`: each with the option that names it.
  func check(_ outputs: [(option: String, path: String)]) throws {
    var seen: [Identity: String] = [:]
    for (option, path) in outputs {
      guard let identity = Identity(path) else { continue }
      if let input = inputs[identity] {
        throw ValidationError("\(option) \(path): is \(input), and would be overwritten")
      }
      // Devices and pipes take what they get.
      if Self.isPlainOrNew(path), seen.updateValue(option, forKey: identity) != nil {
        throw ValidationError("\(option) \(path): two outputs cannot go to the same file")
      }
    }
  }

  /// Refuses a name whose ending promises a format that is not written.
  static func checkSoundFile(_ option: String, _ path: String) throws {
    guard isPlainOrNew(path), let ending = SampleFormat.unknownEnding(of: path) else { return }
    throw ValidationError(
      "\(option) \(path): cannot write .\(ending); there are \(SampleFormat.endings.map { "." + $0 }.joined(separator: ", "))"
    )
  }

  private static func isPlainOrNew(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) != 0 || info.st_mode & S_IFMT == S_IFREG
  }
}
