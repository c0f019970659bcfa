import Glibc
import Patch
import PatchLanguage

extension DefinitionLibrary {
  /// A file of a sub-patch whose inside has been edited.
  package struct Change {
    package var place: String
    package var patch: Patch
    package var text: String
    /// Bytes of the file when it was read; nil: there is none.
    package var base: [UInt8]?
  }

  /// The files of sub-patches whose inside in the patch differs from the file, or is nowhere else since others have removed
  /// the file. Inner files come first. Worker.
  package func changes(in patch: Patch) -> [Change] {
    let catalogue = kinds.with(definitions: self)
    var seen: Set<String> = []
    var changed: [Change] = []
    for (node, place) in patch.sharing(catalogue).reversed() {
      guard seen.insert(place).inserted else { continue }
      let entry = try? entry(at: place)
      let (own, text) = definition(of: node, in: patch, for: place)
      if let entry, PatchWriter.write(entry.patch, catalogue: self.catalogue(at: place)) == text,
        !Self.isRemoved(place)
      {
        continue
      }
      changed.append(Change(place: place, patch: own, text: text, base: entry?.bytes))
    }
    return changed
  }

  /// True for a file that is gone from a folder where it can be written again. A folder that is gone, a drive's, may come back
  /// with its files.
  private static func isRemoved(_ place: String) -> Bool {
    access(place, F_OK) != 0 && errno == ENOENT && access(PatchFile.split(place).folder, W_OK) == 0
  }

  /// Pairs of sub-patches that share a file and differ inside; the second one would be written. Edits keep them equal, but
  /// lines that are applied one by one may not. Worker.
  package func conflicts(in patch: Patch) -> [(String, String)] {
    var texts: [String: (name: String, text: String)] = [:]
    var found: [(String, String)] = []
    for (node, place) in patch.sharing(kinds.with(definitions: self)).reversed() {
      let text = definition(of: node, in: patch, for: place).text
      let first = texts[place] ?? (node.name, text)
      texts[place] = first
      if first.text != text { found.append((node.name, first.name)) }
    }
    return found
  }

  /// The inside of a sub-patch as its file is to have it.
  private func definition(of node: Node, in patch: Patch, for place: String) -> (patch: Patch, text: String) {
    let catalogue = kinds.with(definitions: self)
    let inner = patch.definition(
      inside: node.name, base: catalogue.definition(of: node), catalogue: catalogue)
    let own = FilePaths(from: file.isEmpty ? nil : file, to: place, catalogue: catalogue).rebased(inner)
    return (own, PatchWriter.write(own, catalogue: self.catalogue(at: place)))
  }
}
