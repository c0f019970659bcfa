import Patch

/// Writes the result of a merge.
public enum MergeText {
  /// Names of both sides, and length of the markers.
  public struct Labels: Sendable {
    /// Name of our side.
    public var ours: String
    /// Name of their side.
    public var theirs: String
    /// Characters of a marker.
    public var markerSize: Int

    /// Git's names and length by default.
    public init(ours: String = "ours", theirs: String = "theirs", markerSize: Int = 7) {
      self.ours = ours
      self.theirs = theirs
      self.markerSize = markerSize
    }
  }

  /// The merged patch in canonical form. Conflicting lines appear in both versions between git's markers.
  /// Without conflicts there are no markers, and the text is a patch.
  public static func write(
    _ result: PatchMerge.Result, catalogue: KindCatalogue, labels: Labels = Labels()
  ) -> String {
    let ours = PatchWriter.write(result.patch, catalogue: catalogue)
    if result.conflicts.isEmpty { return ours }
    let theirs = PatchWriter.write(result.theirs, catalogue: catalogue)
    return marked(
      ours.split(separator: "\n", omittingEmptySubsequences: false),
      theirs.split(separator: "\n", omittingEmptySubsequences: false), labels)
  }

  private static func marked(_ ours: [Substring], _ theirs: [Substring], _ labels: Labels) -> String {
    var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
    for change in theirs.difference(from: ours) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    func marker(_ character: Character, _ label: String) -> Substring {
      Substring(String(repeating: character, count: labels.markerSize) + (label.isEmpty ? "" : " " + label))
    }
    var lines: [Substring] = []
    var (here, there) = (0, 0)
    while here < ours.count || there < theirs.count {
      let (firstHere, firstThere) = (here, there)
      while removed.contains(here) { here += 1 }
      while inserted.contains(there) { there += 1 }
      if here > firstHere || there > firstThere {
        lines.append(marker("<", labels.ours))
        lines += ours[firstHere..<here]
        lines.append(marker("=", ""))
        lines += theirs[firstThere..<there]
        lines.append(marker(">", labels.theirs))
      } else {
        lines.append(ours[here])
        here += 1
        there += 1
      }
    }
    return lines.joined(separator: "\n")
  }
}
