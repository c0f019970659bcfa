extension MergeWork {
  /// The scenes of both sides. One that both have changed is merged as the patch itself is.
  mutating func mergedScenes(_ nodes: [MergeKey: Node]) -> [Int: PatchScene] {
    let (base, ours, theirs) = (
      scenes(of: versions.base, nodes), scenes(of: versions.ours, nodes), scenes(of: versions.theirs, nodes)
    )
    var result: [Int: PatchScene] = [:]
    for number in Set(ours.keys).union(theirs.keys).sorted() {
      if let one = ours[number], let other = theirs[number], one == other {
        // Comments of what the patch does not have may differ.
        let base = base[number]
        let isOurs =
          base?.isTwin(of: other) == true || base?.isTwin(of: one) != true && prefersOurs
        result[number] = isOurs ? one : other
      } else if let scene = merged(base[number], ours[number], theirs[number]) {
        result[number] = scene
      } else if let one = ours[number], let other = theirs[number] {
        result[number] = joined(number, base[number], one, other)
      } else {
        let (gone, kept) = ours[number] == nil ? ("here", "there") : ("there", "here")
        conflicts.append(
          PatchMerge.Conflict(node: nil, message: "scene \(number) was removed \(gone) and changed \(kept)"))
        result[number] = prefersOurs ? ours[number] : theirs[number]
      }
    }
    return result
  }

  /// With the names that the nodes have in the merged patch.
  private func scenes(of version: MergeVersions.Version, _ nodes: [MergeKey: Node]) -> [Int: PatchScene] {
    if version.patch.scenes.isEmpty { return [:] }
    var names: [String: String] = [:]
    for (key, node) in version.nodes { names[node.name] = nodes[key]?.name }
    return version.patch.scenes.mapValues { $0.renaming(names) }
  }

  private mutating func joined(_ number: Int, _ base: PatchScene?, _ ours: PatchScene, _ theirs: PatchScene)
    -> PatchScene
  {
    let states = PatchMerge.merge(
      base: base?.whole ?? Patch(), ours: ours.whole, theirs: theirs.whole, catalogue: catalogue)
    for conflict in states.conflicts {
      conflicts.append(
        PatchMerge.Conflict(node: conflict.node, message: "in scene \(number): \(conflict.message)"))
    }
    func chosen<Value: Equatable>(
      _ base: Value, _ ours: Value, _ theirs: Value, _ words: String
    ) -> Value {
      if let value = merged(base, ours, theirs) { return value }
      conflicts.append(PatchMerge.Conflict(node: nil, message: words))
      return prefersOurs ? ours : theirs
    }
    var scene = PatchScene(
      of: prefersOurs ? states.patch : states.theirs,
      name: chosen(
        base?.name ?? "", ours.name, theirs.name,
        "scene \(number) is called `\(ours.name)` here and `\(theirs.name)` there"), catalogue: catalogue)
    scene.waiting = joinedWaiting(number, base?.waiting ?? WaitingLines(), ours.waiting, theirs.waiting)
    scene.comments = chosen(
      base?.comments ?? Comments(), ours.comments, theirs.comments, "the comments at scene \(number) differ")
    return scene
  }

  /// Lines that wait for files of sub-patches, merged one by one.
  private mutating func joinedWaiting(
    _ number: Int, _ base: WaitingLines, _ ours: WaitingLines, _ theirs: WaitingLines
  ) -> WaitingLines {
    var result = WaitingLines()
    for place in ours.keys + theirs.keys.filter({ ours[$0] == nil }) {
      let (one, other) = (ours[place], theirs[place])
      if let line = merged(base[place], one, other) {
        result[place] = line
        continue
      }
      let words = [one, other].map { $0.map { "`\($0.line)`" } ?? "nothing" }
      conflicts.append(
        PatchMerge.Conflict(node: nil, message: "scene \(number) has \(words[0]) here and \(words[1]) there"))
      result[place] = prefersOurs ? one : other
    }
    return result
  }
}
