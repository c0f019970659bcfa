import Patch

/// The history as a script.
extension Session {
  /// Writes the edits that are done into a script, each at its time from the first. Throws a `FileError` with an obstacle
  /// if there is a file of that name. Returns a description.
  public func exportHistory(
    to path: String, despite accepted: Set<SaveObstacle.Reason> = []
  ) throws(FileError) -> String {
    if try PatchFile.isReplaceable(path), !accepted.contains(.exists) {
      throw FileError.obstacle(SaveObstacle(reason: .exists, path: path))
    }
    let steps = history.steps.filter { !$0.isUndone }
    try PatchFile.replace(path, with: Self.script(of: steps, name: PatchFile.split(file ?? "untitled").name))
    return "\(steps.count) edit\(steps.count == 1 ? "" : "s") written to \(path)"
  }

  static func script(of steps: [HistoryStep], name: String) -> String {
    var text = "# Edits of \(name), on the patch as it was before the first of them.\n"
    var (start, last) = (Int?.none, 0)
    for step in steps {
      if let time = step.time {
        let second = (time.hour * 60 + time.minute) * 60 + time.second
        start = start ?? second
        var passed = second - (start ?? second)
        // Past midnight. A clock that was set back stands still here.
        if passed < last - 43_200 { passed += 86_400 }
        last = max(last, passed)
      }
      text += "at \(last)s \(step.line)\n"
    }
    return text
  }
}
