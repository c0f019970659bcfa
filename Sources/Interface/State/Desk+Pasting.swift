import Patch
import PatchLanguage

/// Lines of the language from the clipboard.
@MainActor extension Desk {
  /// Performs pasted lines as one edit, and shows what they added.
  func paste(_ text: String) throws {
    // Text that comes back from the terminal was copied here: its files are named as in the patch.
    let isOwn = copiedElsewhere.map {
      $0.split(whereSeparator: \.isNewline) == text.split(whereSeparator: \.isNewline)
    }
    let text = isOwn == true ? clipboard ?? text : text
    if state.isLocked {
      let pasted = try PastedLines(text, patch: scene.patch, catalogue: scene.catalogue)
      if isLocked(pasted.statement) { return }
    }
    let before = Set(scene.patch.nodes.keys)
    let newest = workbench.newestEdit
    let said = try workbench.perform(pasted: text)
    let added = outermost(scene.patch.nodes.keys.filter { !before.contains($0) })
    show(added)
    let names = added.prefix(3).compactMap { scene.patch[$0]?.name }.joined(separator: ", ")
    if workbench.newestEdit == newest {
      say(said.isEmpty ? "no lines to paste" : said)
    } else if added.isEmpty {
      say("pasted as one edit: \(said)")
    } else {
      say("pasted \(names)\(added.count > 3 ? " and \(added.count - 3) more" : "")")
    }
  }

  /// The nodes without those inside sub-patches that are among them.
  private func outermost(_ nodes: [NodeID]) -> [NodeID] {
    let all = Set(nodes.compactMap { scene.patch[$0]?.name })
    return nodes.filter { id in
      guard let name = scene.patch[id]?.name else { return false }
      return !NodePath.containers(of: name).contains(where: all.contains)
    }
  }

  /// Focuses new nodes, and marks several.
  func show(_ nodes: [NodeID]) {
    guard let first = nodes.first else { return }
    focus(first)
    state.marked = nodes.count > 1 ? Set(nodes) : []
  }
}
