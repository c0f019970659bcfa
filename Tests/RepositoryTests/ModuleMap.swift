import Foundation

/// The modules of the program and their folders, with what each uses, as the sources say.
struct ModuleMap {
  /// A directed graph of names.
  typealias Graph = [String: Set<String>]

  /// Imports among the modules in `Sources`, bindings to C left out.
  let modules: Graph
  /// Folders of each module that has several, and the folders whose declarations they use. Files beside the folders
  /// count as one more, with the module's name.
  let folders: [String: Graph]

  init(_ sources: [SourceFile] = Repository.sources) {
    let own = sources.filter { $0.folder.first == "Sources" && $0.folder.count > 1 }
    let byModule = Dictionary(grouping: own) { $0.folder[1] }
    modules = byModule.mapValues { files in
      Set(files.flatMap(\.imports)).filter { byModule[$0] != nil }
    }
    var folders: [String: Graph] = [:]
    for (module, files) in byModule {
      let rooms = Dictionary(grouping: files) { $0.folder.count > 2 ? $0.folder[2] : module }
      if rooms.keys.count(where: { $0 != module }) > 1 { folders[module] = Self.uses(rooms) }
    }
    self.folders = folders
  }

  /// Folders that use a name which another one alone declares at its top level.
  private static func uses(_ rooms: [String: [SourceFile]]) -> Graph {
    var owners: [Substring: Set<String>] = [:]
    for (room, files) in rooms {
      for name in files.flatMap(\.declared) { owners[Substring(name), default: []].insert(room) }
    }
    return Dictionary(
      uniqueKeysWithValues: rooms.map { room, files in
        let used = Set(files.flatMap(\.tokens)).compactMap { owners[$0] }.filter { $0.count == 1 }
        return (room, Set(used.joined()).subtracting([room]))
      })
  }

  // MARK: Circles

  /// Groups of names that use each other, directly or not, in alphabetical order.
  static func circles(in graph: Graph) -> [[String]] {
    var left = Set(graph.keys)
    var circles: [[String]] = []
    for name in graph.keys.sorted() where left.contains(name) {
      let group = reachable(from: name, in: graph).filter { reachable(from: $0, in: graph).contains(name) }
      left.subtract(group)
      if !group.isEmpty { circles.append(group.sorted()) }
    }
    return circles
  }

  /// Everything that `name` uses, directly or not; `name` itself only if it is in a circle.
  static func reachable(from name: String, in graph: Graph) -> Set<String> {
    var found: Set<String> = []
    var waiting = Array(graph[name] ?? [])
    while let next = waiting.popLast() {
      if found.insert(next).inserted { waiting += graph[next] ?? [] }
    }
    return found
  }

  /// Circles of modules, and of folders as `Module: A, B`.
  var circles: [String] {
    Self.circles(in: modules).map { $0.joined(separator: ", ") }
      + folders.keys.sorted().flatMap { module in
        Self.circles(in: folders[module]!).map { "\(module): \($0.joined(separator: ", "))" }
      }
  }

  // MARK: The picture

  /// Each name with those that it uses, above all that it uses; what follows from another arrow is left out.
  private static func rows(_ graph: Graph) -> [(name: String, uses: [String])] {
    var heights: [String: Int] = [:]
    func height(_ name: String) -> Int {
      if let known = heights[name] { return known }
      // A circle, which another test reports, ends here.
      heights[name] = 0
      let result = 1 + ((graph[name] ?? []).sorted().map(height).max() ?? 0)
      heights[name] = result
      return result
    }
    let names = graph.keys.sorted()
    for name in names { _ = height(name) }
    return names.sorted { (heights[$1]!, $0) < (heights[$0]!, $1) }.map { name in
      let uses = graph[name] ?? []
      let others = uses.filter { use in
        !uses.contains { $0 != use && reachable(from: $0, in: graph).contains(use) }
      }
      return (name, others.sorted())
    }
  }

  private static func lines(_ graph: Graph, indented indent: String = "") -> String {
    let rows = rows(graph)
    let width = rows.map(\.name.count).max() ?? 0
    return rows.map { row in
      let name = indent + row.name.padding(toLength: width, withPad: " ", startingAt: 0)
      return row.uses.isEmpty ? indent + row.name + "\n" : "\(name)  → \(row.uses.joined(separator: ", "))\n"
    }
    .joined()
  }

  /// The picture for ARCHITECTURE.md.
  var picture: String {
    var text = "```\n" + Self.lines(modules)
    for module in folders.keys.sorted() {
      text += "\n\(module)/\n" + Self.lines(folders[module]!, indented: "  ")
    }
    return text + "```\n"
  }
}
