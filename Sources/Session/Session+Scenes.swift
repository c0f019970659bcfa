import Patch
import PatchLanguage

/// The scene that a patch shows, or showed last.
public struct PresentScene: Sendable, Hashable {
  /// Its number.
  public var number: Int
  /// True when the patch has moved on from it.
  public var isChanged: Bool
}

extension Edit {
  /// The scene whose state the patch has behind it; nil: it is about none.
  fileprivate var presentScene: Int? {
    switch self {
    case .scene(let number, .store), .recall(let number, _): number
    case .all(let edits): edits.lazy.reversed().compactMap(\.presentScene).first
    default: nil
    }
  }
}

extension Session {
  /// The scene that was stored or recalled last, or else the first one whose state the patch has. It follows from the
  /// document and its history alone, so undo leads back to the one before.
  public var presentScene: PresentScene? {
    if let known = knownScene, known.revision === patch.revision, known.newest == history.newest {
      return known.scene
    }
    let scene = patch.scenes.isEmpty ? nil : findPresentScene()
    knownScene = (patch.revision, history.newest, scene)
    return scene
  }

  private func findPresentScene() -> PresentScene? {
    for line in history.undoList {
      guard let number = scene(in: line) else { continue }
      guard let scene = patch.scenes[number] else { break }
      return PresentScene(number: number, isChanged: !patch.isAt(scene, catalogue: catalogue))
    }
    return patch.scenes.sorted { $0.key < $1.key }.first { patch.isAt($0.value, catalogue: catalogue) }
      .map { PresentScene(number: $0.key, isChanged: false) }
  }

  /// The scene that a line of the history stores or recalls; nil: none.
  private func scene(in line: String) -> Int? {
    // Most lines have nothing to do with it, and a history may have a thousand.
    guard line.includes("scene ") || line.includes("recall "),
      case .edit(let edit)? = try? StatementParser.parse(line, patch: patch, catalogue: catalogue)
    else { return nil }
    return edit.presentScene
  }
}
