import Drivers
import Engine
import Patch
import PatchLanguage

/// The files of sub-patches as others change them, which are followed as the patch's own file is.
extension Session {
  /// Looks at the files, and takes what others wrote into one as one edit of all sub-patches that share it. `now`: monotonic
  /// time in nanoseconds.
  func followDefinitions(now: Int64 = monotonicTime()) {
    guard options.followsFile, !ignoresFile, now >= fileWatch.nextDefinitionLook else { return }
    fileWatch.nextDefinitionLook = now + FileWatch.interval
    let places = definitionPlaces
    if places.isEmpty { return }
    let library = library(for: file)
    for place in places {
      let stamp = FileStamp(path: place)
      guard var seen = fileWatch.definitions[place] else {
        // A file that was written since it was read differs from the text that is known.
        let isKnown = shelf.bytes(at: place).map { $0 == (try? PatchFile.read(place)) } ?? (stamp == .missing)
        fileWatch.definitions[place] = FileWatch.Seen(known: isKnown ? stamp : nil)
        continue
      }
      let isAgain = seen.isDueAgain(stamp, patch)
      var isWaiting = !seen.isDue(stamp) && !isAgain
      if !isWaiting, holdsFileBack {
        isWaiting = true
        if seen.hold(stamp) {
          notice("\(PatchFile.split(place).name) was changed by others: it waits until the stage is unlocked")
        }
      }
      if !isWaiting { seen.settle(stamp) }
      fileWatch.definitions[place] = seen
      if isWaiting { continue }
      follow(definitionAt: place, stamp, library, now, isAgain: isAgain)
    }
  }

  /// The places of all files of sub-patches, also of those that are not there.
  private var definitionPlaces: [String] {
    findDefinitions()
    let places = Set(fileWatch.places.values)
    fileWatch.definitions = fileWatch.definitions.filter { places.contains($0.key) }
    return places.sorted()
  }

  /// Finds the places of all files of sub-patches. A name may lead to another file since, through a link that others have
  /// changed. What is inside came from the one before, which therefore counts as what is known of the new one: the content of that
  /// is news, and no save goes over it unasked.
  func findDefinitions() {
    if fileWatch.revision !== patch.revision {
      fileWatch.names = Set(
        patch.nodes.values.lazy.filter { [catalogue] in catalogue[$0.kind]?.isContainer == true }
          .compactMap { [catalogue] in catalogue.definitionFile(of: $0) })
      fileWatch.revision = patch.revision
    }
    let (library, before) = (library(for: file), fileWatch.places)
    fileWatch.places = Dictionary(uniqueKeysWithValues: fileWatch.names.map { ($0, library.place(of: $0)) })
    for (name, place) in fileWatch.places {
      guard let old = before[name], old != place else { continue }
      if before.values.contains(place) {
        if let bytes = shelf.bytes(at: place) { _ = try? take(bytes, inside: place, file: bytes) }
      } else {
        shelf.put(shelf.bytes(at: old), at: place)
        fileWatch.definitions[place] = nil
      }
    }
  }

  /// `isAgain`: the file has contradicted the patch before, which has been edited since.
  private func follow(
    definitionAt place: String, _ stamp: FileStamp, _ library: DefinitionLibrary, _ now: Int64, isAgain: Bool
  ) {
    let name = PatchFile.split(place).name
    if stamp.isBlank {
      guard shelf.bytes(at: place) != nil else { return }
      return notice(
        "\(name) is \(stamp == .missing ? "gone" : "empty"): its sub-patches stay as they are")
    }
    let before = patch
    var remarks: [String] = []
    do {
      let bytes = try PatchFile.read(place)
      guard bytes != shelf.bytes(at: place) else { return }
      guard Self.isText(bytes) else {
        return notice("\(name) was changed to bytes that are not UTF-8: its sub-patches stay as they are")
      }
      let there = library.catalogue(at: place)
      let (theirs, found) = PatchReader.read(bytes: bytes, file: name, catalogue: there)
      if let fault = found.first(where: { $0.severity == .error }) {
        return notice("\(fault.description); its sub-patches stay as they are")
      }
      var merged = theirs
      if let ours = definitionsAsHere().first(where: { $0.place == place })?.patch,
        let base = try? library.entry(at: place).patch
      {
        let result = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: there)
        if let first = result.conflicts.first {
          fileWatch.definitions[place]?.contradict(patch)
          if isAgain { return }
          return notice(
            "\(name) was changed by others, and not as here: \(first); its sub-patches stay as they are")
        }
        merged = result.patch
      }
      remarks = try take(
        merged == theirs ? bytes : Array(PatchWriter.write(merged, catalogue: there).utf8), inside: place,
        file: bytes)
    } catch {
      return notice("\(name) was changed by others, and cannot be taken: \(error)")
    }
    let rest = remarks.count > 1 ? " and \(remarks.count - 1) more" : ""
    let remark = remarks.first.map { "; " + $0 + rest } ?? ""
    if patch == before { return notice(.news("\(name) was changed by others, not its patch\(remark)")) }
    let sharing = before.sharing(catalogue).filter { $0.place == place }.map(\.node.name)
    mark(changesFrom: before, now)
    notice(
      .news(
        "\(name) was changed by others: \(sharing.prefix(3).joined(separator: ", "))"
          + "\(sharing.count > 3 ? " and \(sharing.count - 3) more" : "")\(remark); undo takes it back"))
  }

  /// Takes a text inside all sub-patches that share the file at a place, which has these bytes. Returns why lines of the patch
  /// wait or are left out from now on.
  private func take(_ text: [UInt8], inside place: String, file bytes: [UInt8]) throws -> [String] {
    let (wasModified, old) = (isModified, shelf.bytes(at: place))
    // The patch as its text says it, with insides from files: those with edits that are not saved as they are here.
    let present = DefinitionLibrary.Shelf(bytesOf: shelf)
    for other in definitionsAsHere() { present.put(Array(other.text.utf8), at: other.place) }
    present.put(text, at: place)
    let read = engine.kinds.catalogue.with(
      definitions: DefinitionLibrary(for: file, kinds: engine.kinds.catalogue, shelf: present))
    func reread(_ patch: Patch) -> Patch { reading(of: patch, with: read).patch }
    let ((target, faults), base) = (reading(of: patch, with: read), reread(common))
    let known = reading(of: patch, with: catalogue).faults
    shelf.put(bytes, at: place)
    do {
      try edit(to: target)
    } catch {
      shelf.put(old, at: place)
      throw error
    }
    common = base
    if !wasModified { saved = patch }
    if keepsJournal, journalFault == nil {
      do { try rewriteJournal() } catch { journal?.postponeRewriting() }
    }
    return faults.filter { !known.contains($0) }
  }

  /// A patch as a reading of its text finds it, and the lines that wait for nodes or are left out, each with the reason.
  private func reading(of patch: Patch, with catalogue: KindCatalogue) -> (patch: Patch, faults: [String]) {
    let text = PatchWriter.write(patch, catalogue: self.catalogue)
    let (read, found) = PatchReader.read(bytes: Array(text.utf8), file: file ?? "", catalogue: catalogue)
    if found.isEmpty { return (read, []) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let faults = found.compactMap { fault -> String? in
      guard lines.indices.contains(fault.line - 1) else { return nil }
      let isLost = fault.severity == .error
      return Visible.text("`\(lines[fault.line - 1])`\(isLost ? " is left out" : ""): \(fault.message)")
    }
    return (read, faults)
  }
}
