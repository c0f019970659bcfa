import Patch
import PatchLanguage

extension DefinitionLibrary {
  /// A file of a sub-patch whose inside has been edited.
  package struct Change {
    package var place: String
    package var patch: Patch
    package var text: String
    /// What the file had when it was read; nil: there is none.
    package var base: [UInt8]?
  }

  /// The files of sub-patches that a patch has otherwise than they are. What is inside others comes first. Worker.
  package func changes(in patch: Patch) -> [Change] {
    let catalogue = kinds.with(definitions: self)
    var seen: Set<String> = []
    var changed: [Change] = []
    for (node, file) in patch.sharing(catalogue).reversed() {
      let place = place(of: file)
      guard seen.insert(place).inserted else { continue }
      let entry = try? entry(at: place)
      let inner = patch.definition(
        inside: node.name, base: catalogue.definition(of: node), catalogue: catalogue)
      let own = FilePaths(from: self.file.isEmpty ? nil : self.file, to: place, catalogue: catalogue)
        .rebased(inner)
      let there = self.catalogue(at: place)
      let text = PatchWriter.write(own, catalogue: there)
      if let entry, PatchWriter.write(entry.patch, catalogue: there) == text { continue }
      changed.append(Change(place: place, patch: own, text: text, base: entry?.bytes))
    }
    return changed
  }
}
