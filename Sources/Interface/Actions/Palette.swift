import Patch
import PatchLanguage
import Session

/// Everything by its name: nodes, parameters, scenes, actions with their keys, kinds to add, the verbs of the language and
/// the commands of the prompt.
@MainActor enum Palette {
  /// Parameters are left out of patches with more nodes than this.
  private static let mostNodes = 500

  private struct Entry {
    let name: String
    let detail: String
    let effect: @MainActor (Desk) -> Void
  }

  nonisolated static let actions: [Action] = [
    Action(
      "palette",
      "Find anything: nodes, parameters, scenes, themes, actions, kinds, verbs, commands, recent files",
      [.anywhere: "ctrl-p"]
    ) {
      open($0)
    }
  ]

  static func open(_ desk: Desk) {
    var entries: [Entry] = []
    var names: Set<String> = []
    for entry in nodes(desk) + scenes(desk) + layouts + themes(desk) + actionEntries + kinds(desk) + verbs
      + commands + files
    where names.insert(entry.name).inserted {
      entries.append(entry)
    }
    let effects = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.effect) })
    desk.state.overlay = Chooser(title: "go to or do", items: entries.map { ($0.name, $0.detail) }) {
      name, desk in
      effects[name]?(desk)
    }
  }

  private static func nodes(_ desk: Desk) -> [Entry] {
    let nodes = desk.scene.patch.nodes.values
    let places = nodes.map { node in
      Entry(name: node.name, detail: "node: \(node.kind)") { desk in
        if let id = desk.scene.patch.id(named: node.name) { desk.focus(id) }
      }
    }
    guard nodes.count <= mostNodes else { return places }
    return places
      + nodes.flatMap { node in
        let facts = NodeFacts(node, desk.scene)
        return facts.lines.map { path in
          let value = facts.node.value(at: path, description: facts.kind)
          return Entry(
            name: node.name + path.suffix,
            detail: [value?.display, facts.kind?[parameter: path.name]?.summary].compactMap(\.self)
              .filter { !$0.isEmpty }.joined(separator: "  ")
          ) { desk in
            let facts = desk.scene.patch[node.id].map { NodeFacts($0, desk.scene) }
            let value = facts?.node.value(at: path, description: facts?.kind)
            Prompt.open("set \(node.name)\(path.suffix) ", value: value?.line ?? "", desk)
          }
        }
      }
  }

  private static func themes(_ desk: Desk) -> [Entry] {
    desk.themes.map { name in
      Entry(name: "theme \(name)", detail: "other colours") { $0.chosenTheme = name }
    }
  }

  /// Patches that were open before.
  private static var files: [Entry] {
    RecentFiles.list().map { path in
      Entry(name: "open \(path)", detail: "recent") { Opening($0).open(path) }
    }
  }

  private static func scenes(_ desk: Desk) -> [Entry] {
    desk.scene.patch.scenes.sorted { $0.key < $1.key }.map { number, scene in
      Entry(name: "scene \(number)" + (scene.name.isEmpty ? "" : " \(scene.name)"), detail: "recall it") {
        Scenes($0).recall(number)
      }
    }
  }

  private static var layouts: [Entry] {
    KeyboardLayout.builtIn.map { layout in
      Entry(name: "layout \(layout.name)", detail: "notes on the keys of play mode") { $0.use(layout) }
    }
  }

  private static var actionEntries: [Entry] {
    ActionTable.all.filter { $0.name != "palette" && $0.shownKeys == nil }.map { action in
      let context = ActionTable.entries.first { $0.action.name == action.name }?.context ?? .anywhere
      let keys = Keymap.standard.keys(for: action.name, in: context).map(Keymap.display).joined(
        separator: " ")
      return Entry(name: action.name, detail: "\(keys)  \(action.help(in: context))") {
        $0.requests.append(action.name)
      }
    }
  }

  private static func kinds(_ desk: Desk) -> [Entry] {
    desk.scene.catalogue.kinds.map { kind in
      Entry(name: "add \(kind.name)", detail: kind.summary) { desk in
        let name = desk.scene.freshName(kind.name, inside: desk.state.graph.inside)
        if desk.perform(.add(Node(name: name, kind: kind.name), before: nil)),
          let id = desk.scene.patch.id(named: name)
        {
          desk.focus(id)
        }
      }
    }
  }

  /// Without those that are actions of the same name, since nothing follows them.
  private static var verbs: [Entry] {
    Verb.all.filter { $0.usage != $0.name || ActionTable[$0.name] == nil }.map { verb in
      Entry(name: ":\(verb.name)", detail: verb.summary.filter { $0 != "`" }) {
        Prompt.open(verb.name + " ", $0)
      }
    }
  }

  /// The commands of the prompt. What stands behind one is asked for there; what quits without a question is typed there.
  private static var commands: [Entry] {
    PromptCommand.all.filter {
      $0.takesArgument || ActionTable[$0.names[0]] == nil && !$0.names[0].hasSuffix("!")
    }.map { command in
      Entry(name: ":\(command.names[0])", detail: command.help) { desk in
        guard !command.takesArgument else { return Prompt.open(command.names[0] + " ", desk) }
        desk.attempt { try command.effect(desk, "") }
      }
    }
  }
}
