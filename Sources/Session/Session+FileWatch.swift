import Drivers
import Engine
import Patch
import PatchLanguage

/// The open file as others change it: an editor in the next window is another way to edit.
extension Session {
  /// Nodes that a version of others has just changed.
  public var changedByOthers: Set<NodeID> { fileWatch.changed?.nodes ?? [] }

  /// Looks at the file, and takes what others wrote as one edit. `now`: monotonic time in nanoseconds.
  func followFile(now: Int64 = monotonicTime()) {
    guard options.followsFile, !ignoresFile, now >= fileWatch.nextLook else { return }
    fileWatch.nextLook = now + FileWatch.interval
    if let changed = fileWatch.changed, now >= changed.until { fileWatch.changed = nil }
    guard let file else { return }
    let stamp = FileStamp(path: file)
    let isAgain = fileWatch.own.isDueAgain(stamp, patch)
    guard fileWatch.own.isDue(stamp) || isAgain else { return }
    let name = PatchFile.split(file).name
    if stamp.isBlank {
      fileWatch.own.settle(stamp)
      if !(savedBytes ?? []).isEmpty {
        notice(
          "\(name) is \(stamp == .missing ? "gone" : "empty"): the patch stays, and saving writes it again")
      }
      return
    }
    do throws(FileError) {
      let bytes = try PatchFile.read(file)
      // Later writes are seen at the next look.
      guard FileStamp(path: file) == stamp else { return }
      if bytes == savedBytes {
        fileWatch.own.settle(stamp)
        versionConflict = nil
      } else if holdsFileBack {
        if fileWatch.own.hold(stamp) {
          notice("\(name) was changed by others: it waits until the stage is unlocked")
        }
      } else {
        fileWatch.own.settle(stamp)
        follow(version(of: bytes, in: name), now, isAgain: isAgain)
      }
    } catch {
      fileWatch.own.settle(stamp)
      notice("\(error.description); the patch stays as it is")
    }
  }

  /// Loads files and tunings of nodes that were missing or broken, as soon as others have written them. `now`: monotonic time in
  /// nanoseconds.
  func followFailedFiles(now: Int64 = monotonicTime()) {
    guard options.followsFile, !ignoresFile, !holdsFileBack, now >= fileWatch.nextFailureLook else { return }
    fileWatch.nextFailureLook = now + FileWatch.interval
    retryFailures()
  }

  /// `isAgain`: the version has contradicted the patch before, which has been edited since.
  private func follow(_ version: Version, _ now: Int64, isAgain: Bool) {
    let name = PatchFile.split(file ?? "").name
    let told = versionConflict
    versionConflict = nil
    guard Self.isText(version.bytes) else {
      return notice("\(name) was changed to bytes that are not UTF-8: the patch stays as it is")
    }
    if let fault = version.fault {
      return notice("\(fault.description); the patch stays as it is")
    }
    let before = patch
    do {
      if !isModified {
        try take(version)
      } else {
        let merged = merged(with: version)
        if let first = merged.conflicts.first {
          let others = merged.conflicts.count > 1 ? " and \(merged.conflicts.count - 1) more" : ""
          let words = "\(first)\(others)"
          fileWatch.own.contradict(patch)
          if isAgain, let told, told.words == words {
            versionConflict = told
            return
          }
          fileWatch.conflicts += 1
          versionConflict = VersionConflict(number: fileWatch.conflicts, words: words)
          return notice("\(name) was changed by others, and not as here: \(words)")
        }
        try take(merged, of: version)
      }
    } catch {
      return notice("\(name) was changed by others, and cannot be taken: \(error)")
    }
    mark(changesFrom: before, now)
    if patch == before { return notice(.news("\(name) was changed by others, not its patch")) }
    let nodes = patch.nodes.values.filter { changedByOthers.contains($0.id) }.map(\.name)
    let what =
      nodes.prefix(3).joined(separator: ", ") + (nodes.count > 3 ? " and \(nodes.count - 3) more" : "")
    notice(.news("\(name) was changed by others\(what.isEmpty ? "" : ": \(what)"); undo takes it back"))
  }

  /// Marks nodes that are new, or that have other settings or input cables than before.
  func mark(changesFrom before: Patch, _ now: Int64) {
    let nodes = patch.nodes.values.filter { node in
      before[node.id] != node
        || before.cables(into: node.id, catalogue: catalogue)
          != patch.cables(into: node.id, catalogue: catalogue)
    }
    fileWatch.changed = (Set(nodes.map(\.id)), now + FileWatch.markTime)
  }
}
