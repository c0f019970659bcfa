import Dispatch
import Foundation
import Engine
import Patch
import Realtime
import Sampler
import Synchronization

/// A file that a node wants to play.
struct FileWish: Hashable, Sendable {
  enum Purpose: Hashable, Sendable {
    case instrument
    /// Converted to so many frames a second.
    case audio(rate: Double)
  }

  var path: String
  var purpose: Purpose
}

/// When and how large: whether a file is still what it was.
struct FileStamp: Hashable, Sendable {
  var seconds: Int
  var nanoseconds: Int
  var size: Int
  /// A file that was replaced as a whole is another one.
  var inode: UInt

  /// Of no file.
  static let none = FileStamp()

  private init() { (seconds, nanoseconds, size, inode) = (0, 0, -1, 0) }

  /// nil when there is no such file.
  init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    seconds = info.st_mtim.tv_sec
    nanoseconds = info.st_mtim.tv_nsec
    size = Int(info.st_size)
    inode = UInt(info.st_ino)
  }
}

/// What became of a wish.
struct LoadedFile: Sendable {
  var wish: FileWish
  /// nil when it could not be loaded.
  var resource: Resource?
  /// Why not, or what was not understood in it.
  var findings: [String]
}

/// Loads instruments and audio files, once each: nodes that want the same share it, and undo finds it
/// again. In the background when live, so that loading disturbs neither sound nor screen.
@MainActor final class FileLibrary {
  private struct Entry {
    var stamp: FileStamp?
    var file: LoadedFile
  }

  private var entries: [FileWish: Entry] = [:]
  private var pending: Set<FileWish> = []
  private let queue = DispatchQueue(label: "sostenuto.files", qos: .utility)
  private let finished = Finished()

  /// Filled by the queue, emptied by `take`.
  private final class Finished: Sendable {
    let files = Mutex<[LoadedFile]>([])
  }

  /// Short names of what is being loaded.
  var loading: [String] {
    pending.map { ($0.path as NSString).lastPathComponent }.sorted()
  }

  /// What is there already, if the file has not changed since.
  func known(_ wish: FileWish) -> LoadedFile? {
    guard let entry = entries[wish], entry.stamp == FileStamp(path: wish.path) else { return nil }
    return entry.file
  }

  /// Loads it now. Worker; takes as long as it takes.
  func load(_ wish: FileWish) -> LoadedFile {
    if let known = known(wish) { return known }
    let stamp = FileStamp(path: wish.path)
    let file = Self.read(wish)
    entries[wish] = Entry(stamp: stamp, file: file)
    return file
  }

  /// Loads it in the background; it comes out of `take`.
  func begin(_ wish: FileWish) {
    guard pending.insert(wish).inserted else { return }
    let finished = finished
    queue.async {
      let file = Self.read(wish)
      finished.files.withLock { $0.append(file) }
    }
  }

  /// What has been loaded since.
  func take() -> [LoadedFile] {
    guard !pending.isEmpty else { return [] }
    let files = finished.files.withLock { files in
      defer { files = [] }
      return files
    }
    for file in files {
      pending.remove(file.wish)
      entries[file.wish] = Entry(stamp: FileStamp(path: file.wish.path), file: file)
    }
    return files
  }

  private nonisolated static func read(_ wish: FileWish) -> LoadedFile {
    do throws(LoadError) {
      switch wish.purpose {
      case .instrument:
        let (resource, report) = try InstrumentLoader.load(path: wish.path)
        return LoadedFile(wish: wish, resource: resource, findings: report.findings.map(\.description))
      case .audio(let rate):
        let (resource, report) = try AudioFileLoader.load(path: wish.path, rate: rate)
        return LoadedFile(wish: wish, resource: resource, findings: report.findings.map(\.description))
      }
    } catch {
      return LoadedFile(wish: wish, resource: nil, findings: [error.description])
    }
  }
}

extension Session {
  /// Paths in a patch are relative to its folder.
  func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    if path.hasPrefix("~/") { return NSString(string: path).expandingTildeInPath }
    let folder = file.map { ($0 as NSString).deletingLastPathComponent } ?? ""
    return folder.isEmpty ? path : folder + "/" + path
  }

  private func wish(of node: Node) -> FileWish? {
    let parameter: String
    switch node.kind {
    case "sampler": parameter = "instrument"
    case "player": parameter = "file"
    default: return nil
    }
    guard case .text(let path) = node.settings[.init(parameter)], !path.isEmpty else { return nil }
    return FileWish(
      path: absolute(path), purpose: node.kind == "sampler" ? .instrument : .audio(rate: engine.rate))
  }

  /// Sees to it that each node gets the file that its settings name.
  func wishForFiles() { wishForFiles(of: patch.nodes.keys + wishes.keys.filter { patch[$0] == nil }) }

  /// The same for nodes that may want another one.
  func wishForFiles(of nodes: some Sequence<NodeID>) {
    for id in nodes {
      let node = patch[id]
      let wish = node.flatMap { self.wish(of: $0) }
      guard wish != wishes[id] else { continue }
      wishes[id] = wish
      if let wish {
        fulfil(wish, for: id)
      } else if node != nil {
        engine.use(nil, for: id)
      }
    }
  }

  private func fulfil(_ wish: FileWish, for node: NodeID) {
    if options.isOffline {
      give(library.load(wish), to: node)
      for finding in library.load(wish).findings { notice(finding) }
    } else if let known = library.known(wish) {
      give(known, to: node)
    } else {
      library.begin(wish)
    }
  }

  private func give(_ file: LoadedFile, to node: NodeID) {
    if let resource = file.resource {
      engine.use(resource, for: node)
    } else {
      engine.markPlaceholder(node, file.findings.first ?? "cannot be loaded")
    }
  }

  func takeUpLoaded() {
    for file in library.take() {
      for finding in file.findings { notice(finding) }
      for (node, wish) in wishes where wish == file.wish { give(file, to: node) }
    }
    // A driver of another rate: files are converted anew.
    for (node, wish) in wishes {
      if case .audio(let rate) = wish.purpose, rate != engine.rate {
        wishes[node] = FileWish(path: wish.path, purpose: .audio(rate: engine.rate))
        fulfil(wishes[node]!, for: node)
      }
    }
  }

  /// Whether every file that the patch names has been loaded or refused.
  public var isLoaded: Bool { library.loading.isEmpty }
}
